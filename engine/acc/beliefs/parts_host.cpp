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

/// A thread takes ranges of rows with about equally many edges: at least kLeastEdges, and enough ranges that
/// no thread waits long for the last.
constexpr std::uint64_t kRangesPerThread = 16, kLeastEdges = 1024;

class HostBeliefParts final : public BeliefPartBackend {
 public:
  HostBeliefParts(const Device& device, const RankPart& rows, const MessageParts& messages)
      : rows_(rows), messages_(messages), pool_(device.threads()) {
    // Once departures and arrivals are known, targets are not read any more.
    if (rows.weighted()) pages_ = rows.make_pages(rows.out(), locks_);
  }

  Ownership parts() const override {
    if (pages_ != nullptr) return pages_->plan().ranges();
    const CsrView& lists = rows_.lists();
    return PartitionPlan::of_count({lists.offsets, lists.vertices + 1}, {0, 1},
                                   host_belief_parts(rows_.paging(), lists.edges))
        .ranges();
  }

  BeliefRound round(const BeliefPropagation& program, bool sends) override {
    BeliefRound all;
    with_states(program.states, [&](auto states) {
      over_parts([&](std::uint64_t part, const float* weights) {
        BeliefPart here = belief_part(program, rows_, messages_, part);
        here.program.weights = weights;
        work<decltype(states)::value>(here, sends, all);
      });
    });
    return all;
  }

  void count(AccStats& stats) const override {
    stats.partitions = std::max<std::uint64_t>(messages_.size(), 1);
    if (pages_ != nullptr) stats.add_traffic(pages_->traffic());
  }

 private:
  template <class Work>
  void over_parts(Work&& work) {
    if (pages_ == nullptr) {
      for (std::uint64_t part = 0; part < messages_.size(); ++part) work(part, rows_.lists().weights);
      return;
    }
    pages_->for_each([](std::uint32_t) { return 1; },
                     [&](std::span<const SweepPage> pages) {
                       for (const SweepPage& page : pages) work(page.partition, page.weights);
                     });
  }

  template <unsigned kStates>
  void work(const BeliefPart& part, bool sends, BeliefRound& all) {
    const std::uint64_t edges = part.offsets[part.rows] - part.offsets[0],
                        most = pool_.size() * kRangesPerThread;
    const Ownership ranges =
        balanced_ranges({part.offsets, part.rows + 1}, std::min(most, (edges + part.rows) / kLeastEdges + 1));
    std::mutex mutex;
    pool_.for_each_block(ranges.size(), 1, [&](std::uint64_t begin, std::uint64_t end, unsigned) {
      BeliefRound of_block;
      for (std::uint64_t row = ranges.begin(begin); row < ranges.begin(end); ++row) {
        const EdgeIndex first = part.offsets[row], last = part.offsets[row + 1];
        const double change = part.combine(SingleLane{}, static_cast<Vertex>(row), first, last);
        of_block.no_state |= change < 0;
        of_block.change = std::max(of_block.change, change);
        for (EdgeIndex e = first; sends && e < last; ++e)
          of_block.nothing_sent |= !part.template send<kStates>(row, e);
      }
      const std::lock_guard lock(mutex);
      all.change = std::max(all.change, of_block.change);
      all.no_state |= of_block.no_state, all.nothing_sent |= of_block.nothing_sent;
    });
  }

  const RankPart& rows_;
  const MessageParts& messages_;
  ThreadPool pool_;
  std::vector<PageLock> locks_;
  std::unique_ptr<SweepPages> pages_;
};

}  // namespace

std::unique_ptr<BeliefPartBackend> make_host_belief_parts(const Device& device, const RankPart& rows,
                                                          const MessageParts& messages) {
  return std::make_unique<HostBeliefParts>(device, rows, messages);
}

BeliefPart belief_part(const BeliefPropagation& program, const RankPart& rows, const MessageParts& messages,
                       std::uint64_t part) {
  const std::uint64_t begin = messages.begin(part), state = begin * program.states;
  const EdgeIndex first = rows.lists().offsets[0];
  BeliefPart here;
  here.program = program;
  here.program.priors += state, here.program.after += state, here.program.beliefs += state;
  here.program.incoming = messages.received(part);
  here.rows = messages.end(part) - begin;
  here.offsets = rows.lists().offsets + begin;
  here.arrivals = rebase(messages.arrivals(), first);
  here.departures = rebase(messages.departures(), first);
  here.sent = messages.sent(part);
  return here;
}

}  // namespace sluice::acc
