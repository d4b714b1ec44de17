#include <algorithm>
#include <vector>

#include "engine/ppr/adjacency/feeder.hpp"

namespace sluice::ppr {

SweepRows rows_of(const Graph& graph, const Options& options, const Communicator* ranks) {
  const OwnRows own = OwnRows::of(graph.out.offsets.span(), ranks);
  return SweepRows::of(graph.out.view(), graph.edges_elsewhere.get(), options.weighted, own.first,
                       own.first + own.rows());
}

namespace {

class PageFeeder final : public ListFeeder {
 public:
  PageFeeder(const Device& device, const Graph& graph, const Options& options, const PagingOptions& paging,
             std::uint64_t bytes)
      : pages_(device, rows_of(graph, options, nullptr), options.weighted, paging, bytes) {}

  void feed(const WantedLists& wanted, const Work& work) override {
    pages_.for_each([&](std::uint32_t p) { return wanted.count(pages_.begin(p), pages_.end(p)); },
                    [&](std::span<const SweepPage> pages) {
                      ranges_.clear();
                      for (const SweepPage& page : pages)
                        ranges_.push_back({page.begin, page.end, {page.sources, page.weights}});
                      std::ranges::sort(ranges_, {}, &ListRange::begin);
                      work(ListsAtHand(ranges_));
                    });
  }

  ListTraffic traffic() const override { return {pages_.traffic()}; }

 private:
  SweepPages pages_;
  std::vector<ListRange> ranges_;
};

}  // namespace

std::unique_ptr<ListFeeder> make_feeder(const Device& device, const Graph& graph, const Options& options,
                                        const PagingOptions& paging, std::uint64_t bytes) {
  if (paging.shard) return make_rank_feeder(device, graph, options, paging);
  return std::make_unique<PageFeeder>(device, graph, options, paging, bytes);
}

}  // namespace sluice::ppr
