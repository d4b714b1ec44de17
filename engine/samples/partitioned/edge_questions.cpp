#include "engine/samples/partitioned/edge_questions.hpp"

#include <numeric>
#include <vector>

#include "engine/core/host_array.hpp"
#include "engine/exchange/router.hpp"

namespace sluice::samples {

void ask_targets(Communicator& ranks, const Ownership& owners, std::span<const EdgeIndex> positions,
                 std::span<Vertex> targets, const FindTargets& find, RunStats& stats) {
  constexpr const char* kQuestions = "questions of ranks";
  const Router router(ranks);
  std::vector<std::uint64_t> counts(router.size(), 0), next(router.size(), 0);
  for (const EdgeIndex position : positions) ++counts[owners.owner(position)];
  for (std::size_t rank = 1; rank < router.size(); ++rank) next[rank] = next[rank - 1] + counts[rank - 1];
  HostArray<EdgeIndex> asked(positions.size(), kQuestions);
  HostArray<std::uint64_t> order(positions.size(), kQuestions);  // where the answer to each belongs
  for (std::size_t i = 0; i < positions.size(); ++i) {
    const std::uint64_t to = next[owners.owner(positions[i])]++;
    asked[to] = positions[i];
    order[to] = i;
  }

  const std::vector<std::uint64_t> come = router.counts(counts, kQuestions);
  HostArray<EdgeIndex> questions(std::reduce(come.begin(), come.end()), kQuestions);
  router.send(asked.data(), questions.data(), counts, come, kQuestions);
  HostArray<Vertex> found(questions.size(), kQuestions), answers(positions.size(), kQuestions);
  find(questions.span(), found.span());
  router.send(found.data(), answers.data(), come, counts, "answers of ranks");
  for (std::size_t i = 0; i < order.size(); ++i) targets[order[i]] = answers[i];

  stats.entries_sent += positions.size() - counts[router.own()];
  stats.entries_received += found.size() - come[router.own()];
}

std::uint64_t asking_bytes(Communicator& ranks, std::uint64_t edges) {
  // Edges are drawn evenly: of what all ask, each rank owns about as much as the others.
  constexpr std::uint64_t kSlack = 16;
  std::uint64_t sums[] = {edges, 1};
  ranks.all_reduce(sums, Reduce::sum, "questions of ranks");
  const std::uint64_t come = sums[0] / sums[1] * (kSlack + 1) / kSlack;
  // To read what is asked, its positions are put in order.
  return edges * (sizeof(EdgeIndex) + sizeof(std::uint64_t) + sizeof(Vertex)) +
         come * (sizeof(EdgeIndex) + sizeof(Vertex) + sizeof(std::uint64_t));
}

}  // namespace sluice::samples
