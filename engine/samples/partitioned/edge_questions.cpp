#include "engine/samples/partitioned/edge_questions.hpp"

#include <numeric>
#include <vector>

#include "engine/core/host_array.hpp"
#include "engine/exchange/router.hpp"

namespace sluice::samples {

namespace {

constexpr const char* kQuestions = "questions of ranks";

/// Questions and answers of this rank, and those of other ranks to it.
struct Questions {
  explicit Questions(std::uint64_t edges)
      : asked(edges, kQuestions), order(edges, kQuestions), answers(edges, kQuestions) {}
  void come(std::uint64_t edges) {
    questions = HostArray<EdgeIndex>(edges, kQuestions);
    found = HostArray<Vertex>(edges, kQuestions);
  }

  HostArray<EdgeIndex> asked;
  HostArray<std::uint64_t> order;  ///< index of each question in the caller's order
  HostArray<Vertex> answers;
  HostArray<EdgeIndex> questions;
  HostArray<Vertex> found;
};

}  // namespace

void ask_targets(Communicator& ranks, const Ownership& owners, std::span<const EdgeIndex> positions,
                 std::span<Vertex> targets, const FindTargets& find, RunStats& stats) {
  const Router router(ranks);
  std::vector<std::uint64_t> counts(router.size(), 0), next(router.size(), 0);
  for (const EdgeIndex position : positions) ++counts[owners.owner(position)];
  for (std::size_t rank = 1; rank < router.size(); ++rank) next[rank] = next[rank - 1] + counts[rank - 1];
  Questions of(positions.size());
  for (std::size_t i = 0; i < positions.size(); ++i) {
    const std::uint64_t to = next[owners.owner(positions[i])]++;
    of.asked[to] = positions[i];
    of.order[to] = i;
  }

  const std::vector<std::uint64_t> come = router.exchange_counts(counts, kQuestions);
  of.come(std::reduce(come.begin(), come.end()));
  router.send(of.asked.data(), of.questions.data(), counts, come, kQuestions);
  find(of.questions.span(), of.found.span());
  router.send(of.found.data(), of.answers.data(), come, counts, "answers of ranks");
  for (std::size_t i = 0; i < of.order.size(); ++i) targets[of.order[i]] = of.answers[i];

  stats.entries_sent += positions.size() - counts[router.own_rank()];
  stats.entries_received += of.found.size() - come[router.own_rank()];
}

void plan_asking(Communicator& ranks, std::uint64_t edges) {
  // Draws are uniform over the edges, so each rank is asked for about the same number of them.
  constexpr std::uint64_t kSlack = 16;
  std::uint64_t sums[] = {edges, 1};
  ranks.all_reduce(sums, Reduce::sum, kQuestions);
  const std::uint64_t come = sums[0] / sums[1] * (kSlack + 1) / kSlack;
  Questions of(edges);
  of.come(come);
  const HostArray<std::uint64_t> read_in_order(come, kQuestions);  // scratch of read_targets()
}

}  // namespace sluice::samples
