// The sweep over in-edges that all fit the GPUs: see sliced_rows.cuh for how they lie there. Vertex state is
// kept by number and only ranks that are handed out go back to their vertices. An iteration is started before
// the last is known to have converged, and ranks are kept twice, as in cuda_sweep.cu. Several ranks gather
// everybody's contributions and totals from GPU to GPU, so that no host is waited for there either.
#include <array>
#include <exception>

#include "engine/core/error.hpp"
#include "engine/exchange/nccl.hpp"
#include "engine/rank/cuda_sliced_sweep.hpp"
#include "engine/rank/sliced_kernels.cuh"
#include "engine/rank/totals_in_flight.cuh"

namespace sluice {

namespace {

constexpr std::uint64_t kAhead = 2;

template <class Share>
class SlicedSweep final : public Sweep {
 public:
  SlicedSweep(const Device& device, const RankGraph& graph, const PageRankOptions& options,
              std::unique_ptr<DeviceRanks> ranks, int size)
      : device_(device),
        ranks_(std::move(ranks)),
        size_(size),
        n_(graph.in().vertices),
        first_(graph.first()),
        boundaries_(graph.boundaries()),
        options_(options),
        update_(make_update(options, graph.vertices())),
        rows_(device, cuda::RowsToSlice(graph, options.weighted), stream_, ranks_.get()),
        blocks_(resident_blocks()),
        totals_(device, std::max(blocks_, cuda::kMostBlocks)),
        by_rank_(device, static_cast<std::size_t>(size), "totals by rank"),
        claimed_(device, 1, "claimed rows"),
        divisors_(device, n_, "out-degrees") {
    rows_.number(graph.divisors(), divisors_.data(), stream_);
    if (graph.added_loops() != nullptr) {
      loops_ = Buffer<std::uint8_t>(device, n_, "self-loops");
      rows_.number(graph.added_loops(), loops_.data(), stream_);
    }
    for (auto& rank : rank_) rank = Buffer<FixedRank>(device, n_, "ranks");
    for (auto& shares : shares_) {
      shares = Buffer<Stored>(device, graph.vertices() + 1, "contributions");  // the last is nobody's: 0
      cuda::check(cudaMemsetAsync(shares.data(), 0, shares.bytes(), stream_.get()), "clearing contributions");
    }
    start();
  }

  ~SlicedSweep() override {
    if (ranks_ && std::uncaught_exceptions() > 0) ranks_->abort();  // others may not come any more
    cudaStreamSynchronize(stream_.get());                           // what is under way uses the buffers
  }

  RankChange step() override {
    while (launched_ < returned_ + kAhead) launch();
    return totals_of(++returned_).change;
  }

  void read_ranks(std::span<double> ranks) override {
    totals_of(launched_);
    HostArray<FixedRank> fixed(ranks.size(), "ranks");
    HostArray<Vertex> order(ranks.size(), "ranks");
    copy_to_host(device_, fixed.data(), rank_[returned_ % 2].data(), fixed.bytes());
    copy_to_host(device_, order.data(), rows_.order().data(), order.bytes());
    const FixedRank total = totals_of(returned_).rank;
    for (std::size_t i = 0; i < fixed.size(); ++i) ranks[order[i]] = normalised(fixed[i], total);
  }

  SweepTraffic traffic() const override {
    SweepTraffic traffic;
    traffic.host_to_device_bytes = rows_.uploaded_bytes() + divisors_.bytes() + loops_.bytes();
    if (ranks_) traffic.exchanged_bytes = ranks_->bytes_sent();
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
            shares_[iteration % 2].data() + first_,
            first_,
            options_.norm,
            update_};
  }

  void start() {
    totals_.clear(0, stream_);
    cuda::put_rows(view(0), to_fixed(1 / update_.vertices), n_, totals_.partial(), totals_.on_device(0),
                   stream_);
    end(0);
    totals_of(0);
  }

  void launch() {
    const std::uint64_t iteration = ++launched_;
    totals_.clear(iteration, stream_);
    cuda::check(cudaMemsetAsync(claimed_.data(), 0, claimed_.bytes(), stream_.get()), "clearing claims");
    cuda::sweep_sliced_kernel<Share><<<blocks_, cuda::kSweepBlock, 0, stream_.get()>>>(
        {view(iteration)}, rows_.view(), totals_.dangling(iteration - 1), claimed_.data(), totals_.partial());
    cuda::check_launch("sweep_sliced_kernel");
    cuda::fold_totals(totals_.partial(), blocks_, options_.norm, totals_.on_device(iteration), stream_);
    end(iteration);
  }

  /// After all own rows were renewed: what every rank needs for the next iteration, and the totals of all.
  void end(std::uint64_t iteration) {
    if (ranks_) {
      ranks_->all_gather_ranges(shares_[iteration % 2].data(), boundaries_, sizeof(Stored), stream_.get());
      SweepTotals* const totals = totals_.on_device(iteration);
      ranks_->all_gather(totals, by_rank_.data(), sizeof(SweepTotals), stream_.get());
      cuda::join_ranks_kernel<<<1, 1, 0, stream_.get()>>>(by_rank_.data(), size_, options_.norm, totals);
      cuda::check_launch("join_ranks_kernel");
    }
    totals_.send(iteration, stream_);
  }

  const SweepTotals& totals_of(std::uint64_t iteration) {
    return totals_.receive(iteration, [this] {
      if (ranks_) ranks_->throw_if_failed("an iteration");
    });
  }

  const Device& device_;
  std::unique_ptr<DeviceRanks> ranks_;  ///< null: alone
  int size_;
  std::uint64_t n_, first_;  ///< this rank's rows, and their first vertex
  std::vector<std::uint64_t> boundaries_;
  PageRankOptions options_;
  RankUpdate update_;
  cuda::Stream stream_;
  cuda::SlicedRows rows_;
  unsigned blocks_;
  cuda::TotalsInFlight totals_;
  Buffer<SweepTotals> by_rank_;
  Buffer<unsigned long long> claimed_;
  Buffer<double> divisors_;
  Buffer<std::uint8_t> loops_;
  std::array<Buffer<FixedRank>, 2> rank_;
  std::array<Buffer<Stored>, 2> shares_;
  std::uint64_t launched_ = 0, returned_ = 0;
};

/// Ranks twice, divisors and loops, and contributions twice: bytes a vertex.
constexpr std::uint64_t kRowBytes = 3 * 8 + 1, kShareBytes = 2 * 8;

bool fits(const Device& device, const RankGraph& graph, const PageRankOptions& options) {
  return cuda::SlicedRows::most_bytes(cuda::RowsToSlice(graph, options.weighted)) +
             graph.in().vertices * kRowBytes + (graph.vertices() + 1) * kShareBytes <=
         device.memory().available();
}

}  // namespace

std::unique_ptr<Sweep> make_sliced_sweep(const Device& device, const RankGraph& graph,
                                         const PageRankOptions& options, bool possible, RankRows rows,
                                         Communicator& ranks) {
  if (rows == RankRows::listed) return nullptr;
  const bool can = possible && (rows == RankRows::sliced || fits(device, graph, options));
  std::uint64_t all_can = can ? 1 : 0;
  ranks.all_reduce(std::span(&all_can, 1), Reduce::min, "how in-edges shall lie");
  std::unique_ptr<DeviceRanks> gpus;
  if (all_can == 1) gpus = make_device_ranks(ranks);
  if (all_can == 0 || (ranks.size() > 1 && gpus == nullptr)) {
    if (rows == RankRows::sliced) {
      throw UsageError(
          "--rows sliced: all in-edges must be on GPUs, and several ranks need a GPU each and NCCL (leave it "
          "out)");
    }
    return nullptr;
  }
  const auto make = [&]<class Share>(Share) -> std::unique_ptr<Sweep> {
    return std::make_unique<SlicedSweep<Share>>(device, graph, options, std::move(gpus), ranks.size());
  };
  if (options.weighted) return make(WeightedShare{});
  return options.precision == RankPrecision::f32 ? make(EvenShare32{}) : make(EvenShare{});
}

}  // namespace sluice
