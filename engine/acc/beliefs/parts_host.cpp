// Parts of belief propagation on host threads. Messages are used in place; weights come in partitions if they
// are not in memory. A whole graph is one part.
#include <algorithm>
#include <mutex>
#include <span>

#include "engine/acc/beliefs/part_backend.hpp"
#include "engine/exec/group.hpp"
#include "engine/exec/thread_pool.hpp"
#include "engine/graph/partition_map.hpp"
#include "partition/plan.hpp"
#include "partition/ranges.hpp"

namespace sluice::acc {

namespace {

/// A thread takes ranges of rows with about equally many edges: at least kMinEdges, and enough ranges that
/// no thread waits long for the last.
constexpr std::uint64_t kRangesPerThread = 16, kMinEdges = 1024;

class HostBeliefParts final : public BeliefPartBackend {
 public:
  HostBeliefParts(const Device& device, const RankPart& rank_part, const MessageParts& messages)
      : rank_part_(rank_part), messages_(messages), pool_(device.threads()) {
    // Once departures and arrivals are known, targets are not read any more.
    if (rank_part.weighted()) pages_ = rank_part.make_pages(rank_part.out(), locks_);
  }

  Ownership parts() const override {
    if (pages_ != nullptr) return pages_->plan().ranges();
    const CsrView& lists = rank_part_.lists();
    const std::uint64_t count =
        std::max(rank_part_.paging().partitions, lists.edges / (BeliefPart::kMaxEdges / 2) + 1);
    return PartitionPlan::of_count({lists.offsets, lists.vertices + 1}, {0, 1}, count).ranges();
  }

  BeliefRound round(const BeliefPropagation& program, bool sends) override {
    BeliefRound result;
    dispatch_states(program.states, [&](auto states) {
      for_each_part([&](std::uint64_t part, const float* weights) {
        BeliefPart view = belief_part(program, rank_part_, messages_, part);
        view.program.weights = weights;
        process<decltype(states)::value>(view, sends, result);
      });
    });
    return result;
  }

  void count(AccStats& stats) const override {
    stats.partitions = std::max<std::uint64_t>(messages_.size(), 1);
    if (pages_ != nullptr) stats.add_traffic(pages_->traffic());
  }

 private:
  template <class Use>
  void for_each_part(Use&& use) {
    if (pages_ == nullptr) {
      for (std::uint64_t part = 0; part < messages_.size(); ++part) use(part, rank_part_.lists().weights);
      return;
    }
    pages_->for_each([](std::uint32_t) { return 1; },
                     [&](std::span<const SweepPage> pages) {
                       for (const SweepPage& page : pages) use(page.partition, page.weights);
                     });
  }

  template <unsigned kStates>
  void process(const BeliefPart& part, bool sends, BeliefRound& result) {
    const std::uint64_t edges = part.offsets[part.rows] - part.offsets[0],
                        max_ranges = pool_.size() * kRangesPerThread;
    const Ownership ranges = balanced_ranges({part.offsets, part.rows + 1},
                                             std::min(max_ranges, (edges + part.rows) / kMinEdges + 1));
    std::mutex mutex;
    pool_.for_each_block(ranges.size(), 1, [&](std::uint64_t begin, std::uint64_t end, unsigned) {
      BeliefRound partial;
      for (std::uint64_t row = ranges.begin(begin); row < ranges.begin(end); ++row) {
        const EdgeIndex first = part.offsets[row], last = part.offsets[row + 1];
        const double change = part.combine(SingleLane{}, static_cast<Vertex>(row), first, last);
        partial.no_state |= change < 0;
        partial.change = std::max(partial.change, change);
        for (EdgeIndex e = first; sends && e < last; ++e)
          partial.nothing_sent |= !part.template send<kStates>(row, e);
      }
      const std::lock_guard lock(mutex);
      result.change = std::max(result.change, partial.change);
      result.no_state |= partial.no_state, result.nothing_sent |= partial.nothing_sent;
    });
  }

  const RankPart& rank_part_;
  const MessageParts& messages_;
  ThreadPool pool_;
  std::vector<PageLock> locks_;
  std::unique_ptr<SweepPages> pages_;
};

}  // namespace

std::unique_ptr<BeliefPartBackend> make_host_belief_parts(const Device& device, const RankPart& rank_part,
                                                          const MessageParts& messages) {
  return std::make_unique<HostBeliefParts>(device, rank_part, messages);
}

BeliefPart belief_part(const BeliefPropagation& program, const RankPart& rank_part,
                       const MessageParts& messages, std::uint64_t part) {
  const std::uint64_t begin = messages.begin(part), state = begin * program.states;
  const EdgeIndex first = rank_part.lists().offsets[0];
  BeliefPart view;
  view.program = program;
  view.program.priors += state, view.program.products += state, view.program.beliefs += state;
  view.program.incoming = messages.received(part);
  view.rows = messages.end(part) - begin;
  view.offsets = rank_part.lists().offsets + begin;
  view.arrivals = rebase(messages.arrivals(), first);
  view.departures = rebase(messages.departures(), first);
  view.sent = messages.sent(part);
  return view;
}

}  // namespace sluice::acc
