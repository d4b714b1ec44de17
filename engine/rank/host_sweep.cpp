// The sweep on the host: threads claim ranges of vertices that hold about equally many in-edges.
#include <algorithm>
#include <mutex>
#include <vector>

#include "engine/exec/buffer.hpp"
#include "engine/exec/threads.hpp"
#include "engine/rank/share.hpp"
#include "engine/rank/sweep.hpp"

namespace sluice {

namespace {

/// More blocks than threads, so that one which meets hubs and cache misses is not waited for.
constexpr std::uint64_t kBlocksPerThread = 16;
/// A vertex costs about as much as so many edges: its state is 40 bytes, read and written.
constexpr std::uint64_t kEdgesPerVertex = 4;

/// Boundaries of ranges of vertices of about equal cost.
std::vector<std::uint64_t> balanced_blocks(const CsrView& in, std::uint64_t blocks) {
  std::vector<std::uint64_t> boundaries{0};
  const std::uint64_t cost = in.edges + in.vertices * kEdgesPerVertex;
  for (std::uint64_t block = 1; block < blocks; ++block) {
    const std::uint64_t wanted = cost / blocks * block;
    std::uint64_t low = boundaries.back(), high = in.vertices;
    while (low < high) {
      const std::uint64_t middle = low + (high - low) / 2;
      (in.offsets[middle] + middle * kEdgesPerVertex < wanted) ? low = middle + 1 : high = middle;
    }
    boundaries.push_back(low);
  }
  boundaries.push_back(in.vertices);
  return boundaries;
}

template <class Share>
class HostSweep final : public Sweep {
 public:
  HostSweep(const Device& device, const RankGraph& graph, const PageRankOptions& options)
      : graph_(graph),
        options_(options),
        threads_(device.threads()),
        blocks_(balanced_blocks(graph.in(), threads_ * kBlocksPerThread)),
        ranks_(device, graph.vertices(), "ranks"),
        shares_(device, graph.vertices(), "contributions"),
        next_shares_(device, graph.vertices(), "contributions") {
    const FixedRank equal = to_fixed(1 / static_cast<double>(graph.vertices()));
    dangling_ = over_blocks([&](std::uint64_t v, Totals& totals) {
                  ranks_.data()[v] = equal;
                  offer(v, equal, shares_.data(), totals);
                }).dangling;
  }

  RankChange step() override {
    const RankUpdate update = make_update(options_, graph_.vertices(), dangling_);
    const Totals totals = over_blocks([&](std::uint64_t v, Totals& sums) {
      const FixedRank before = ranks_.data()[v], after = update(gather(v));
      ranks_.data()[v] = after;
      sums.change.add(before, after, options_.norm);
      offer(v, after, next_shares_.data(), sums);
    });
    std::swap(shares_, next_shares_);
    dangling_ = totals.dangling;
    return totals.change;
  }

  void read_ranks(std::span<double> ranks) override {
    std::transform(ranks_.data(), ranks_.data() + ranks.size(), ranks.begin(), from_fixed);
  }

 private:
  using Stored = typename Share::Stored;
  struct Totals {
    RankChange change;
    FixedRank dangling = 0;
  };

  FixedRank gather(std::uint64_t v) const {
    const CsrView& in = graph_.in();
    const EdgeIndex first = in.offsets[v];
    const FixedRank sum =
        pull<Share>(shares_.data(), in.targets + first, Share::kWeighted ? in.weights + first : nullptr,
                    in.offsets[v + 1] - first);
    if (const auto* loops = graph_.added_loops(); loops != nullptr && loops[v])
      return sum + Share::carried(shares_.data()[v], 1);
    return sum;
  }

  void offer(std::uint64_t v, FixedRank rank, Stored* shares, Totals& totals) const {
    const double divisor = graph_.divisors()[v];
    shares[v] = share_of<Share>(rank, divisor);
    if (!(divisor > 0)) totals.dangling += rank;
  }

  /// Calls body(v, totals) for every vertex; returns the totals of all threads.
  template <class Body>
  Totals over_blocks(Body&& body) {
    Totals all;
    std::mutex mutex;
    parallel_blocks(threads_, blocks_.size() - 1, 1, [&](std::uint64_t block, std::uint64_t, unsigned) {
      Totals totals;
      for (std::uint64_t v = blocks_[block]; v < blocks_[block + 1]; ++v) body(v, totals);
      const std::lock_guard lock(mutex);
      all.change.join(totals.change, options_.norm);
      all.dangling += totals.dangling;
    });
    return all;
  }

  const RankGraph& graph_;
  PageRankOptions options_;
  unsigned threads_;
  std::vector<std::uint64_t> blocks_;
  Buffer<FixedRank> ranks_;
  Buffer<Stored> shares_, next_shares_;
  FixedRank dangling_ = 0;
};

}  // namespace

RankUpdate make_update(const PageRankOptions& options, std::uint64_t vertices, FixedRank dangling) {
  const auto n = static_cast<double>(vertices);
  return {options.damping, (1 - options.damping) / n, from_fixed(dangling) / n};
}

std::unique_ptr<Sweep> make_host_sweep(const Device& device, const RankGraph& graph,
                                       const PageRankOptions& options) {
  if (options.weighted) return std::make_unique<HostSweep<WeightedShare>>(device, graph, options);
  if (options.precision == RankPrecision::f32)
    return std::make_unique<HostSweep<EvenShare32>>(device, graph, options);
  return std::make_unique<HostSweep<EvenShare>>(device, graph, options);
}

}  // namespace sluice
