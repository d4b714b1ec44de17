// Questions that ranks ask about the lists of layer samples, answered on the device of the rank that owns the
// lists.
#pragma once

#include <cstdint>
#include <numeric>
#include <span>

#include "engine/samples/layer/answers.hpp"
#include "engine/samples/layer/questions.hpp"
#include "engine/samples/partitioned/items.hpp"

namespace sluice {

/// The questions of a other ranks' instances and their answers, as kernels see them.
struct RemoteLayerWork {
  LayerLists program;
  LayerAnswersView answers;
  LayerRegion* regions;   ///< as `answers` says
  std::uint32_t longest;  ///< a warp leaves longer lists to a block

  struct Waits;

  template <class Group>
  SLUICE_HD bool operator()(const Group& group, const PageItems& present, std::uint64_t k,
                            PickCounters& counters) const {
    const std::uint64_t q = present.item(k);
    const LayerQuestion& asked = answers.asked[q];
    if (Group::kSize <= 32 && program.is_long(asked, longest)) return false;
    LayerRegion* const to = regions + answers.places[q];
    if (asked.phase == LayerPhase::all) {
      program.answer_all(group, asked, present, to, counters);
      return true;
    }
    const LayerRegion found = program.answer(group, asked, present, counters);
    if (group.rank() == 0) *to = found;
    return true;
  }
};

struct RemoteLayerWork::Waits {
  const LayerQuestion* asked;

  SLUICE_HD Vertex operator()(std::uint64_t q) const { return asked[q].vertex; }
};

template <Executor E>
class RemoteLayerRequests {
 public:
  RemoteLayerRequests(const Device& device, const LayerLists& program, PagedItems<E>& items)
      : device_(device), program_(program), items_(items), answers_(device, program, items) {}

  /// Takes memory for so many questions, and returns where they go. Throws BudgetError.
  LayerQuestion* expect(std::uint64_t questions) {
    questions_.reserve(device_, questions, kPurpose);
    return questions_.data();
  }
  /// Answers what came, `counts[r]` questions of rank r, all about lists of this rank. Throws BudgetError.
  void answer(std::span<const std::uint64_t> counts) {
    answers_.lay_out(questions_.data(), counts);
    regions_.reserve(device_, answers_.regions(), kPurpose);
    const RemoteLayerWork work{program_, answers_.view(), regions_.data(),
                               device_.is_cuda() ? GraphView::kHubDegree : LayerLists::kAnyLength};
    const std::uint64_t questions = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
    items_.visit(questions, RemoteLayerWork::Waits{questions_.data()}, work);
  }

  // In order of the questions; answers() says how many go to each rank.
  const LayerRegion* regions() const { return regions_.data(); }
  const LayerAnswers<E>& answers() const { return answers_; }

  std::uint64_t bytes() const { return questions_.bytes() + answers_.bytes() + regions_.bytes(); }

 private:
  static constexpr const char* kPurpose = "questions of other ranks";

  const Device& device_;
  const LayerLists& program_;
  PagedItems<E>& items_;
  Buffer<LayerQuestion> questions_;
  LayerAnswers<E> answers_;
  Buffer<LayerRegion> regions_;
};

}  // namespace sluice
