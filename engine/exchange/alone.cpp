// The communicator of a job of one rank, or of the one rank that is planned: collectives return at once.
// Also the operations that every communicator makes of its others.
#include <algorithm>
#include <cstdlib>

#include "engine/exchange/launch.hpp"

namespace sluice {
namespace {

class SingleRank final : public Communicator {
 public:
  explicit SingleRank(int rank = 0, int ranks = 1) {
    topology_.rank = topology_.node_leader = rank;
    topology_.size = ranks;
  }

  void barrier(const char*) override {}
  void broadcast(std::span<std::byte>, int, const char*) override {}
  void all_reduce(std::span<std::uint64_t>, Reduce, const char*) override {}
  void all_reduce(std::span<double>, Reduce, const char*) override {}
  std::vector<std::string> all_gather(const std::string& bytes, const char*) override {
    return std::vector(rank_count(), bytes);
  }
  void exchange(std::span<const std::span<const std::byte>> send,
                std::span<const std::span<std::byte>> receive, const char*) override {
    std::ranges::copy(send[rank_index()], receive[rank_index()].begin());
  }
  void announce_failure() noexcept override {}
  void throw_if_failed(const char*) override {}
  std::vector<std::string> final_gather(const std::string& bytes, Timeout) noexcept override {
    return std::vector(rank_count(), bytes);
  }
  void close() noexcept override {}
  void abort(int status) noexcept override { std::_Exit(status); }

 private:
  std::size_t rank_index() const { return static_cast<std::size_t>(rank()); }
  std::size_t rank_count() const { return static_cast<std::size_t>(size()); }
};

}  // namespace

std::unique_ptr<Communicator> make_single_rank() {
  return std::make_unique<SingleRank>();
}

Communicator& ranks_or_single(Communicator* ranks) {
  static SingleRank single;  // without state: all threads may use it
  return ranks != nullptr ? *ranks : single;
}

std::unique_ptr<Communicator> make_planned(int rank, int ranks) {
  return std::make_unique<SingleRank>(rank, ranks);
}

void Communicator::all_to_all(std::span<const std::byte> send, std::span<std::byte> received,
                              const char* label) {
  const auto ranks = static_cast<std::size_t>(size());
  const std::size_t part_bytes = send.size() / ranks;
  std::vector<std::span<const std::byte>> to;
  std::vector<std::span<std::byte>> from;
  for (std::size_t r = 0; r < ranks; ++r) {
    to.push_back(send.subspan(r * part_bytes, part_bytes));
    from.push_back(received.subspan(r * part_bytes, part_bytes));
  }
  exchange(to, from, label);
}

std::string broadcast_text(Communicator& ranks, std::string text, int root, const char* label) {
  std::uint64_t size = ranks.rank() == root ? text.size() : 0;
  ranks.all_reduce(std::span(&size, 1), Reduce::max, label);
  text.resize(size);
  ranks.broadcast(std::as_writable_bytes(std::span(text)), root, label);
  return text;
}

}  // namespace sluice
