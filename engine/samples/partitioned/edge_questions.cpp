#include "engine/samples/partitioned/edge_questions.hpp"

#include <numeric>
#include <vector>

#include "engine/core/host_array.hpp"
#include "engine/exchange/router.hpp"

namespace sluice::samples {

void EdgeQuestions::ask(std::span<const EdgeIndex> positions, std::span<Vertex> targets,
                        const Answer& answer) {
  constexpr const char* kQuestions = "questions of ranks";
  const auto ranks = static_cast<std::size_t>(ranks_.size()), own = static_cast<std::size_t>(ranks_.rank());
  std::vector<std::uint64_t> counts(ranks, 0), next(ranks, 0);
  for (const EdgeIndex position : positions) ++counts[owners_.owner(position)];
  for (std::size_t rank = 1; rank < ranks; ++rank) next[rank] = next[rank - 1] + counts[rank - 1];
  HostArray<EdgeIndex> asked(positions.size(), kQuestions);
  HostArray<std::uint64_t> order(positions.size(), kQuestions);  // where the answer to each belongs
  for (std::size_t i = 0; i < positions.size(); ++i) {
    const std::uint64_t to = next[owners_.owner(positions[i])]++;
    asked[to] = positions[i];
    order[to] = i;
  }

  Router router(ranks_);
  const std::vector<std::uint64_t> come = router.counts(counts, kQuestions);
  HostArray<EdgeIndex> questions(std::reduce(come.begin(), come.end()), kQuestions);
  router.send(asked.data(), questions.data(), counts, come, kQuestions);
  HostArray<Vertex> found(questions.size(), kQuestions), answers(positions.size(), kQuestions);
  answer(questions.span(), found.span());
  router.send(found.data(), answers.data(), come, counts, "answers of ranks");
  for (std::size_t i = 0; i < order.size(); ++i) targets[order[i]] = answers[i];

  stats_.entries_sent += positions.size() - counts[own];
  stats_.entries_received += found.size() - come[own];
}

}  // namespace sluice::samples
