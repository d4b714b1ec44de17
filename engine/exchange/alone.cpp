// One rank: every collective is done as soon as it is asked for.
#include <algorithm>
#include <cstdlib>

#include "engine/exchange/communicator.hpp"

namespace sluice {
namespace {

class Alone final : public Communicator {
 public:
  void barrier(const char*) override {}
  void broadcast(std::span<std::byte>, int, const char*) override {}
  void all_reduce(std::span<std::uint64_t>, Reduce, const char*) override {}
  void all_reduce(std::span<double>, Reduce, const char*) override {}
  std::vector<std::string> all_gather(const std::string& bytes, const char*) override { return {bytes}; }
  void all_to_all(std::span<const std::span<const std::byte>> send, Inbox& received,
                  const char* label) override {
    const std::uint64_t size = send[0].size();
    std::copy(send[0].begin(), send[0].end(), received.open({&size, 1}, label));
  }
  void exchange(std::span<const std::span<const std::byte>> send,
                std::span<const std::span<std::byte>> receive, const char*) override {
    std::ranges::copy(send[0], receive[0].begin());
  }
  void swap(std::span<const std::byte> send, std::span<std::byte> received, const char*) override {
    std::copy(send.begin(), send.end(), received.begin());
  }
  void announce_failure() noexcept override {}
  void throw_if_failed(const char*) override {}
  std::vector<std::string> last_words(const std::string& bytes, Timeout) noexcept override { return {bytes}; }
  void close() noexcept override {}
  void abort(int status) noexcept override { std::_Exit(status); }
};

}  // namespace

std::unique_ptr<Communicator> make_alone() {
  return std::make_unique<Alone>();
}

void Communicator::swap(std::span<const std::byte> send, std::span<std::byte> received, const char* label) {
  const auto ranks = static_cast<std::size_t>(size());
  std::vector<std::span<const std::byte>> parts;
  for (std::size_t r = 0; r < ranks; ++r)
    parts.push_back(send.subspan(r * (send.size() / ranks), send.size() / ranks));
  Inbox all;
  all_to_all(parts, all, label);
  std::ranges::copy(all.bytes(), received.begin());
}

std::string broadcast_text(Communicator& ranks, std::string text, int root, const char* label) {
  std::uint64_t size = ranks.rank() == root ? text.size() : 0;
  ranks.all_reduce(std::span(&size, 1), Reduce::max, label);
  text.resize(size);
  ranks.broadcast(std::as_writable_bytes(std::span(text)), root, label);
  return text;
}

}  // namespace sluice
