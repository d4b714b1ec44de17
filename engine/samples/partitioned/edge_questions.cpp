#include "engine/samples/partitioned/edge_questions.hpp"

#include <numeric>
#include <vector>

#include "engine/core/host_array.hpp"
#include "engine/exchange/router.hpp"

namespace sluice::samples {

namespace {

constexpr const char* kQuestions = "requests of ranks";

/// Questions and answers of this rank, and those of other ranks to it.
struct Questions {
  explicit Questions(std::uint64_t edges)
      : sent(edges, kQuestions), order(edges, kQuestions), answers(edges, kQuestions) {}
  void reserve_received(std::uint64_t edges) {
    received = HostArray<EdgeIndex>(edges, kQuestions);
    found = HostArray<Vertex>(edges, kQuestions);
  }

  HostArray<EdgeIndex> sent;
  HostArray<std::uint64_t> order;  ///< index of each question in the caller's order
  HostArray<Vertex> answers;
  HostArray<EdgeIndex> received;
  HostArray<Vertex> found;
};

}  // namespace

void request_targets(Communicator& ranks, const Ownership& owners, std::span<const EdgeIndex> positions,
                     std::span<Vertex> targets, const FindTargets& find, RunStats& stats) {
  const Router router(ranks);
  std::vector<std::uint64_t> counts(router.size(), 0), next(router.size(), 0);
  for (const EdgeIndex position : positions) ++counts[owners.owner(position)];
  for (std::size_t rank = 1; rank < router.size(); ++rank) next[rank] = next[rank - 1] + counts[rank - 1];
  Questions buffers(positions.size());
  for (std::size_t i = 0; i < positions.size(); ++i) {
    const std::uint64_t index = next[owners.owner(positions[i])]++;
    buffers.sent[index] = positions[i];
    buffers.order[index] = i;
  }

  const std::vector<std::uint64_t> receive_counts = router.exchange_counts(counts, kQuestions);
  buffers.reserve_received(std::reduce(receive_counts.begin(), receive_counts.end()));
  router.send(buffers.sent.data(), buffers.received.data(), counts, receive_counts, kQuestions);
  find(buffers.received.span(), buffers.found.span());
  router.send(buffers.found.data(), buffers.answers.data(), receive_counts, counts, "replies of ranks");
  for (std::size_t i = 0; i < buffers.order.size(); ++i) targets[buffers.order[i]] = buffers.answers[i];

  stats.entries_sent += positions.size() - counts[router.own_rank()];
  stats.entries_received += buffers.found.size() - receive_counts[router.own_rank()];
}

void plan_target_requests(Communicator& ranks, std::uint64_t edges) {
  // Draws are uniform over the edges, so each rank is asked for about the same number of them.
  constexpr std::uint64_t kSlack = 16;
  std::uint64_t sums[] = {edges, 1};
  ranks.all_reduce(sums, Reduce::sum, kQuestions);
  const std::uint64_t received = sums[0] / sums[1] * (kSlack + 1) / kSlack;
  Questions buffers(edges);
  buffers.reserve_received(received);
  const HostArray<std::uint64_t> read_in_order(received, kQuestions);  // scratch of read_targets()
}

}  // namespace sluice::samples
