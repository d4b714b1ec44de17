// The sweep on the host: threads claim some rows at a time. If one process has all in-edges in memory, and
// can hold them once more, contributions are ordered by number (numbered_sources.hpp).
#include <algorithm>
#include <optional>

#include "engine/core/charged_vector.hpp"
#include "engine/exchange/router.hpp"
#include "engine/exec/host_executor.hpp"
#include "engine/exec/memory/buffer.hpp"
#include "engine/memory/sweep_lists.hpp"
#include "engine/pagerank/static/numbered_sources.hpp"
#include "engine/pagerank/static/sweep.hpp"
#include "engine/pagerank/static/sweep_view.hpp"

namespace sluice::pagerank {

namespace {

/// Rows of a claim: few, so that threads do not wait for one with hubs and cache misses.
constexpr std::uint64_t kRowsPerClaim = 1024;

template <class Share>
class HostSweep final : public Sweep {
 public:
  HostSweep(const Device& device, const RankGraph& graph, const Options& options, const RankPlace& place,
            Communicator& ranks)
      : graph_(graph),
        options_(options),
        ranks_(ranks),
        executor_(device),
        rank_(device, graph.in().vertices, "ranks"),
        shares_(device, graph.vertices(), "contributions"),
        next_shares_(device, graph.in().vertices, "contributions"),
        router_(ranks, graph.owners()) {
    std::unique_ptr<SweepPages> pages;
    if (needs_sweep_pages(device, graph.lists(), options.weighted, place.paging))
      pages = std::make_unique<SweepPages>(device, graph.lists(), options.weighted, place.paging);
    lists_.emplace(device, graph.lists(), options.weighted, "in-edges", std::move(pages));
    if (device.is_planning()) return;
    if (place.rows == RankRows::automatic && !lists_->pages() && ranks.size() == 1 &&
        NumberedSources::bytes_of(graph) <= device.memory().available())
      numbered_.emplace(device, graph);
    graph.finish_reading(device.threads());
    start();
  }

  RankChange step() override {
    SweepTotals totals;
    const auto sweep = [&](const auto& state, const SweepPage& page) {
      const PlainSources sources{page.sources, page.weights};
      for_each_row(page.begin, page.end, totals, [=](std::uint64_t row, SweepTotals& sums) {
        state.update_row(row, sources.template gather<Share>(state, row, SingleLane{}), sums);
      });
    };
    if (numbered_) {
      const CsrView& in = graph_.in();
      sweep(view(ByNumber{numbered_->numbers()}), {0, 0, in.vertices, numbered_->sources(), in.weights});
    } else {
      lists_->for_each([&](std::span<const SweepPage> pages) {
        for (const SweepPage& page : pages) sweep(view(ByVertex{}), page);
      });
    }
    return finish(totals);
  }

  void read_ranks(std::span<double> ranks) override {
    std::transform(rank_.data(), rank_.data() + ranks.size(), ranks.begin(),
                   [this](FixedRank rank) { return normalised(rank, total_); });
  }

  Traffic traffic() const override { return lists_->traffic(); }
  std::uint64_t planned_list_bytes() const override { return lists_->planned_bytes(); }

 private:
  using Stored = typename Share::Stored;

  template <class Position>
  SweepView<Share, Position> view(Position position) const {
    SweepView<Share, Position> state{graph_.in().offsets,
                                     graph_.divisors(),
                                     graph_.loops(),
                                     rank_.data(),
                                     rank_.data(),
                                     shares_.data(),
                                     next_shares_.data(),
                                     graph_.first(),
                                     options_.norm,
                                     make_update(options_, graph_.vertices()),
                                     position};
    state.update.set_dangling(dangling_);
    return state;
  }

  void start() {
    const FixedRank equal = to_fixed(1 / static_cast<double>(graph_.vertices()));
    std::fill(shares_.data(), shares_.data() + shares_.size(), Stored{0});
    SweepTotals totals;
    const auto put_all = [&](const auto& state) {
      for_each_row(0, rank_.size(), totals,
                   [=](std::uint64_t row, SweepTotals& sums) { state.put(row, equal, sums); });
    };
    numbered_ ? put_all(view(ByNumber{numbered_->numbers()})) : put_all(view(ByVertex{}));
    finish(totals);
  }

  /// Ends an iteration after all own vertices were updated: exchanges totals and contributions.
  RankChange finish(const SweepTotals& own) {
    const SweepTotals totals = total_of(ranks_, own, options_.norm);
    if (ranks_.size() == 1) {
      std::swap(shares_, next_shares_);
    } else {
      share_contributions();
    }
    dangling_ = totals.dangling;
    total_ = totals.rank;
    return totals.change;
  }

  /// Sends this rank's changed contributions to all ranks; most may be unchanged.
  void share_contributions() {
    ChargedVector<Vertex> changed;
    for (std::uint64_t i = 0; i < next_shares_.size(); ++i) {
      Stored& known = shares_.data()[router_.first() + i];
      if (known == next_shares_.data()[i]) continue;
      known = next_shares_.data()[i];
      if (!router_.sends_all<Stored>(changed.size()))
        changed.push_back(static_cast<Vertex>(router_.first() + i));
    }
    router_.share_changed(shares_.data(), changed, "changed contributions");
  }

  /// Calls body(row, totals) for rows [begin, end), and joins the threads' totals to `totals`.
  template <class Body>
  void for_each_row(std::uint64_t begin, std::uint64_t end, SweepTotals& totals, const Body& body) {
    executor_.reduce(
        end - begin, {}, totals,
        [=](std::uint64_t i, SweepTotals& sums, HostLane&) { body(begin + i, sums); },
        [norm = options_.norm](SweepTotals& total, const SweepTotals& part) { total.join(part, norm); },
        kRowsPerClaim);
  }

  const RankGraph& graph_;
  Options options_;
  Communicator& ranks_;
  HostExecutor executor_;
  Buffer<FixedRank> rank_;
  Buffer<Stored> shares_, next_shares_;  ///< of all vertices, and of this rank's after the iteration
  Router router_;
  std::optional<SweepLists> lists_;
  std::optional<NumberedSources> numbered_;
  FixedRank dangling_ = 0, total_ = 0;
};

}  // namespace

RankUpdate make_update(const Options& options, std::uint64_t vertices) {
  const auto n = static_cast<double>(vertices);
  return {options.damping, (1 - options.damping) / n, 0, n};
}

std::unique_ptr<Sweep> make_host_sweep(const Device& device, const RankGraph& graph, const Options& options,
                                       const RankPlace& place, Communicator& ranks) {
  return with_share(options, [&]<class Share>(Share) -> std::unique_ptr<Sweep> {
    return std::make_unique<HostSweep<Share>>(device, graph, options, place, ranks);
  });
}

}  // namespace sluice::pagerank
