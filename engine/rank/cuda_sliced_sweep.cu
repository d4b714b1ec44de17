// The sweep of one process over in-edges that all fit the GPU: see sliced_rows.cuh for how they lie there.
// Vertex state is kept by number and only ranks that are handed out go back to their vertices. An iteration
// is started before the last is known to have converged, and ranks are kept twice, as in cuda_sweep.cu.
#include <array>

#include "engine/rank/cuda_sliced_sweep.hpp"
#include "engine/rank/sliced_kernels.cuh"
#include "engine/rank/totals_in_flight.cuh"

namespace sluice {

namespace {

constexpr std::uint64_t kAhead = 2;

template <class Share>
class SlicedSweep final : public Sweep {
 public:
  SlicedSweep(const Device& device, const RankGraph& graph, const PageRankOptions& options)
      : device_(device),
        n_(graph.in().vertices),
        options_(options),
        update_(make_update(options, n_)),
        rows_(device, graph, options.weighted, stream_),
        blocks_(resident_blocks()),
        totals_(device, std::max(blocks_, cuda::kMostBlocks)),
        claimed_(device, 1, "claimed rows"),
        divisors_(device, n_, "out-degrees") {
    rows_.number(graph.divisors(), divisors_.data(), stream_);
    if (graph.added_loops() != nullptr) {
      loops_ = Buffer<std::uint8_t>(device, n_, "self-loops");
      rows_.number(graph.added_loops(), loops_.data(), stream_);
    }
    for (auto& rank : rank_) rank = Buffer<FixedRank>(device, n_, "ranks");
    for (auto& shares : shares_) {
      shares = Buffer<Stored>(device, n_ + 1, "contributions");  // the last is nobody's, and stays 0
      cuda::check(cudaMemsetAsync(shares.data(), 0, shares.bytes(), stream_.get()), "clearing contributions");
    }
    start();
  }

  ~SlicedSweep() override { cudaStreamSynchronize(stream_.get()); }  // what is under way uses the buffers

  RankChange step() override {
    while (launched_ < returned_ + kAhead) launch();
    return totals_.receive(++returned_).change;
  }

  void read_ranks(std::span<double> ranks) override {
    stream_.wait("an iteration");
    HostArray<FixedRank> fixed(ranks.size(), "ranks");
    HostArray<Vertex> order(ranks.size(), "ranks");
    copy_to_host(device_, fixed.data(), rank_[returned_ % 2].data(), fixed.bytes());
    copy_to_host(device_, order.data(), rows_.order().data(), order.bytes());
    const FixedRank total = totals_.receive(returned_).rank;
    for (std::size_t i = 0; i < fixed.size(); ++i) ranks[order[i]] = normalised(fixed[i], total);
  }

  SweepTraffic traffic() const override {
    SweepTraffic traffic;
    traffic.host_to_device_bytes = rows_.uploaded_bytes() + divisors_.bytes() + loops_.bytes();
    return traffic;
  }

 private:
  using Stored = typename Share::Stored;

  static unsigned resident_blocks() {
    int gpu = 0, processors = 0, blocks = 0;
    cuda::check(cudaGetDevice(&gpu), "cudaGetDevice");
    cuda::check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, gpu), "SMs of the GPU");
    cuda::check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, cuda::sweep_sliced_kernel<Share>,
                                                              cuda::kSweepBlock, 0),
                "blocks of an SM");
    return static_cast<unsigned>(processors * std::max(blocks, 1));
  }

  /// As iteration `iteration` sees the state.
  SweepView<Share> view(std::uint64_t iteration) const {
    return {nullptr,
            divisors_.data(),
            loops_.empty() ? nullptr : loops_.data(),
            rank_[(iteration + 1) % 2].data(),
            rank_[iteration % 2].data(),
            shares_[(iteration + 1) % 2].data(),
            shares_[iteration % 2].data(),
            0,
            options_.norm,
            update_};
  }

  void start() {
    totals_.clear(0, stream_);
    cuda::put_rows(view(0), to_fixed(1 / static_cast<double>(n_)), n_, totals_.partial(),
                   totals_.on_device(0), stream_);
    totals_.send(0, stream_);
    stream_.wait("the first ranks");
  }

  void launch() {
    const std::uint64_t iteration = ++launched_;
    totals_.clear(iteration, stream_);
    cuda::check(cudaMemsetAsync(claimed_.data(), 0, claimed_.bytes(), stream_.get()), "clearing claims");
    cuda::sweep_sliced_kernel<Share><<<blocks_, cuda::kSweepBlock, 0, stream_.get()>>>(
        view(iteration), rows_.view(), totals_.dangling(iteration - 1), claimed_.data(), totals_.partial());
    cuda::check_launch("sweep_sliced_kernel");
    cuda::fold_totals(totals_.partial(), blocks_, options_.norm, totals_.on_device(iteration), stream_);
    totals_.send(iteration, stream_);
  }

  const Device& device_;
  std::uint64_t n_;
  PageRankOptions options_;
  RankUpdate update_;
  cuda::Stream stream_;
  cuda::SlicedRows rows_;
  unsigned blocks_;
  cuda::TotalsInFlight totals_;
  Buffer<unsigned long long> claimed_;
  Buffer<double> divisors_;
  Buffer<std::uint8_t> loops_;
  std::array<Buffer<FixedRank>, 2> rank_;
  std::array<Buffer<Stored>, 2> shares_;
  std::uint64_t launched_ = 0, returned_ = 0;
};

/// Ranks and contributions twice, divisors and loops: bytes a vertex.
constexpr std::uint64_t kStateBytes = 5 * 8 + 1;

}  // namespace

bool sliced_rows_fit(const Device& device, const RankGraph& graph, const PageRankOptions& options) {
  return cuda::SlicedRows::most_bytes(graph, options.weighted) + (graph.in().vertices + 1) * kStateBytes <=
         device.memory().available();
}

std::unique_ptr<Sweep> make_sliced_sweep(const Device& device, const RankGraph& graph,
                                         const PageRankOptions& options) {
  const auto make = [&]<class Share>(Share) -> std::unique_ptr<Sweep> {
    return std::make_unique<SlicedSweep<Share>>(device, graph, options);
  };
  if (options.weighted) return make(WeightedShare{});
  return options.precision == RankPrecision::f32 ? make(EvenShare32{}) : make(EvenShare{});
}

}  // namespace sluice
