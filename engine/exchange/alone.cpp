// The communicator of a job of one rank, or of the one rank that is planned: collectives return at once.
#include <algorithm>
#include <cstdlib>

#include "engine/exchange/launch.hpp"

namespace sluice {
namespace {

class Alone final : public Communicator {
 public:
  explicit Alone(int rank = 0, int ranks = 1) {
    place_.rank = place_.node_leader = rank;
    place_.size = ranks;
  }

  void barrier(const char*) override {}
  void broadcast(std::span<std::byte>, int, const char*) override {}
  void all_reduce(std::span<std::uint64_t>, Reduce, const char*) override {}
  void all_reduce(std::span<double>, Reduce, const char*) override {}
  std::vector<std::string> all_gather(const std::string& bytes, const char*) override {
    return std::vector(all(), bytes);
  }
  void exchange(std::span<const std::span<const std::byte>> send,
                std::span<const std::span<std::byte>> receive, const char*) override {
    std::ranges::copy(send[own()], receive[own()].begin());
  }
  void swap(std::span<const std::byte> send, std::span<std::byte> received, const char*) override {
    const std::size_t each = send.size() / all();
    std::ranges::copy(send.subspan(own() * each, each), received.begin() + own() * each);
  }
  void announce_failure() noexcept override {}
  void throw_if_failed(const char*) override {}
  std::vector<std::string> last_words(const std::string& bytes, Timeout) noexcept override {
    return std::vector(all(), bytes);
  }
  void close() noexcept override {}
  void abort(int status) noexcept override { std::_Exit(status); }

 private:
  std::size_t own() const { return static_cast<std::size_t>(rank()); }
  std::size_t all() const { return static_cast<std::size_t>(size()); }
};

}  // namespace

std::unique_ptr<Communicator> make_alone() {
  return std::make_unique<Alone>();
}

std::unique_ptr<Communicator> make_planned(int rank, int ranks) {
  return std::make_unique<Alone>(rank, ranks);
}

std::string broadcast_text(Communicator& ranks, std::string text, int root, const char* label) {
  std::uint64_t size = ranks.rank() == root ? text.size() : 0;
  ranks.all_reduce(std::span(&size, 1), Reduce::max, label);
  text.resize(size);
  ranks.broadcast(std::as_writable_bytes(std::span(text)), root, label);
  return text;
}

}  // namespace sluice
