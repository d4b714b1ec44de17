// The sweep over in-edges that all fit the GPUs, as sliced rows (sliced_rows.cuh). Vertex state is ordered by
// number; only reported ranks are put back in vertex order. An iteration starts before the last is known to
// have converged, and ranks are kept twice, as in static/sweep_cuda.cu. Or one kernel makes several
// iterations, and stops after one that may be the last. Several ranks gather all contributions and totals
// from GPU to GPU, without waiting for a host. They gather piece by piece (sweep_pieces.hpp), on a separate
// stream, while all multiprocessors but those that NCCL uses sweep the next piece.
#include <algorithm>
#include <array>
#include <span>

#include "engine/core/error.hpp"
#include "engine/exchange/router.hpp"
#include "engine/exchange/values_of_ranks.hpp"
#include "engine/exec/occupancy.cuh"
#include "engine/exec/stream.cuh"
#include "engine/pagerank/stall.hpp"
#include "engine/pagerank/static/sliced_kernels.cuh"
#include "engine/pagerank/static/sliced_sweep.hpp"
#include "engine/pagerank/static/totals_in_flight.cuh"

namespace sluice::pagerank {

namespace {

constexpr std::uint64_t kIterationsInFlight = 2;

/// Multiprocessors left to NCCL while a piece is swept. On an H200, 100 multiprocessors sweep a piece in 2%
/// more time than 116, and transfers take a fifth less time with 32 than with 16.
constexpr unsigned kExchangeBlocks = 32;

/// Iterations of a fused kernel, and the most edges and vertices of a graph whose iterations are fused. In
/// larger graphs the time between two iterations is negligible.
constexpr unsigned kFusedIterations = 64;
constexpr std::uint64_t kMaxFusedSize = 1u << 26;

/// Divisors that the host reads at a time.
constexpr std::uint64_t kDivisorsPerRead = 1u << 16;

/// Normalises `ranks`, which are by number; to[v] is the rank of vertex v.
__global__ void __launch_bounds__(kRowBlock)
    hand_out_kernel(const FixedRank* ranks, const Vertex* order, FixedRank total, std::uint64_t count,
                    double* to) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * kRowBlock + threadIdx.x;
  if (i < count) to[order[i]] = normalised(ranks[i], total);
}

template <class Share>
class SlicedSweep final : public Sweep {
 public:
  SlicedSweep(const Device& device, const RankGraph& graph, const Options& options, const SweepPieces& pieces,
              std::unique_ptr<DeviceRanks> link, Communicator& ranks, RankFusion fusion)
      : device_(device),
        link_(std::move(link)),
        router_(ranks, device, link_.get(), Router::kPieceBytes, graph.owners()),
        n_(graph.in().vertices),
        first_(graph.first()),
        options_(options),
        update_(make_update(options, graph.vertices())),
        rows_(device, graph, options.weighted, pieces, stream_, router_),
        pieces_(rows_.pieces()),
        blocks_(cuda::resident_blocks(sweep_sliced_kernel<Share>, kRowBlock, 0)),
        overlap_blocks_(overlap_blocks()),
        totals_(device, std::max(blocks_ + (pieces.count - 1) * overlap_blocks_ * kTeams, kMaxBlocks)),
        by_rank_(device, router_.size(), "totals by rank"),
        claimed_(device, pieces.count, "claimed rows"),
        divisors_(device, n_, "out-degrees"),
        read_bytes_(bytes_in_file(graph, options.weighted)) {
    for (SlicedView& piece : pieces_) piece.balance_claims(std::uint64_t{blocks_} * kWarps);
    if (should_fuse(fusion, graph.edges() + graph.vertices(), pieces)) {
      fused_blocks_ = std::min(blocks_, cuda::resident_blocks(fused_sweeps_kernel<Share>, kRowBlock, 0));
      stall_floor_ = StallDetector(options, graph.edges(), graph.vertices()).floor();
      fused_totals_ = Buffer<SweepTotals>(device, kFusedIterations, "totals of iterations");
      fused_claims_ = Buffer<unsigned long long>(device, 2, "claimed rows");
      completed_ = Buffer<unsigned>(device, 1, "iterations");
      fused_times_ = Buffer<unsigned long long>(device, kFusedIterations + 1, "times of iterations");
    }
    rows_.copy_by_number(graph.divisors(), divisors_.data(), stream_);
    if (!router_.is_single_rank()) exchange_ranges();
    if (graph.loops() != nullptr) {
      loops_ = Buffer<Loop>(device, n_, "self-loops");
      rows_.copy_by_number(graph.loops(), loops_.data(), stream_);
    }
    for (auto& rank : rank_) rank = Buffer<FixedRank>(device, n_, "ranks");
    for (auto& shares : shares_) {
      shares = Buffer<Stored>(device, graph.vertices() + 1, "contributions");  // the last is for padding: 0
      cuda::check(cudaMemsetAsync(shares.data(), 0, shares.bytes(), stream_.get()), "clearing contributions");
    }
    start();
  }

  ~SlicedSweep() override {
    router_.abort_if_unwinding();
    cudaStreamSynchronize(exchange_.get());  // running work uses the buffers
    cudaStreamSynchronize(stream_.get());
  }

  RankChange step() override {
    if (fused_blocks_ > 0) return fused_step();
    while (launched_ < returned_ + kIterationsInFlight) launch();
    return (last_totals_ = totals_of(++returned_)).change;
  }

  std::optional<double> seconds() const override {
    if (fused_blocks_ == 0) return std::nullopt;
    const std::uint64_t last = returned_ - fused_begin_;
    return static_cast<double>(times_[last] - times_[last - 1]) * 1e-9;
  }

  void read_ranks(std::span<double> ranks) override {
    if (fused_blocks_ == 0) totals_of(launched_);
    // Iterations after the last returned one are not needed; their memory takes the ranks by vertex.
    auto* const by_vertex = reinterpret_cast<double*>(rank_[(returned_ + 1) % 2].data());
    static_assert(sizeof(*by_vertex) == sizeof(FixedRank));
    hand_out_kernel<<<cuda::grid_for(n_, kRowBlock), kRowBlock, 0, stream_.get()>>>(
        rank_[returned_ % 2].data(), rows_.order().data(), last_totals_.rank, n_, by_vertex);
    cuda::check_launch("hand_out_kernel");
    stream_.wait("the ranks");
    copy_to_host(device_, ranks.data(), by_vertex, ranks.size_bytes());
  }

  SweepKernels kernels() const override {
    if (pieces_.size() > 1) return {};
    return {fused_blocks_ > 0 ? cuda::registers_of(fused_sweeps_kernel<Share>)
                              : cuda::registers_of(sweep_sliced_kernel<Share>),
            launches_};
  }
  Traffic traffic() const override {
    Traffic traffic;
    traffic.host_to_device_bytes = rows_.uploaded_bytes() + divisors_.bytes() + loops_.bytes();
    traffic.read_bytes = read_bytes_;
    traffic.exchanged_bytes = router_.link_bytes_sent();
    return traffic;
  }

 private:
  using Stored = typename Share::Stored;
  static constexpr unsigned kWarps = kRowBlock / kWarpLanes;
  static constexpr unsigned kTeams = kSlicedBlocks;  ///< of a block that fills a multiprocessor

  static unsigned overlap_blocks() {
    const unsigned all = cuda::resident_blocks(sweep_piece_kernel<Share, kTeams>, kTeams * kRowBlock, 0);
    return std::max(1u, all - std::min(kExchangeBlocks, all / 2));
  }

  /// The contributions that each rank sends for each piece. The last numbers, of vertices without out-edges,
  /// are left out: their contributions stay 0.
  void exchange_ranges() {
    std::vector<ElementRange> own;
    const std::uint64_t limit = sources_end();
    for (const SlicedView& piece : pieces_) {
      const std::uint64_t end = piece.first + piece.count;
      own.push_back({first_ + std::min(piece.first, limit), first_ + std::min(end, limit)});
    }
    const auto all =
        values_of_ranks(&router_.ranks(), std::span<const ElementRange>(own), "pieces of the sweep");
    ranges_.resize(own.size());
    for (std::size_t i = 0; i < all.size(); ++i) ranges_[i % own.size()].push_back(all[i]);
  }

  /// One past the number of the last own vertex with out-edges. Most of these have the first numbers.
  std::uint64_t sources_end() const {
    std::vector<double> divisors(std::min(n_, kDivisorsPerRead));
    for (std::uint64_t end = n_; end > 0;) {
      const std::uint64_t begin = end - std::min(end, kDivisorsPerRead);
      copy_to_host(device_, divisors.data(), divisors_.data() + begin, (end - begin) * sizeof(double));
      for (; end > begin; --end)
        if (divisors[end - begin - 1] > 0) return end;
    }
    return 0;
  }

  bool should_fuse(RankFusion fusion, std::uint64_t size, const SweepPieces& pieces) const {
    if (!router_.is_single_rank() || pieces.count > 1 || fusion == RankFusion::none) return false;
    return fusion == RankFusion::all || size <= kMaxFusedSize;
  }

  /// How many of `max_blocks` blocks get a hub, or claims for all their warps, in the only piece.
  unsigned busy_blocks(unsigned max_blocks) const {
    const SlicedView& rows = pieces_[0];
    const std::uint64_t claims = rows.long_tasks() + rows.list_tasks() + rows.slice_tasks();
    return static_cast<unsigned>(
        std::clamp<std::uint64_t>(std::max(rows.hubs, (claims + kWarps - 1) / kWarps), 1, max_blocks));
  }

  /// A launch makes several iterations, but none after one that may be the last.
  RankChange fused_step() {
    if (returned_ == launched_) launch_fused();
    return (last_totals_ = fused_results_[returned_++ - fused_begin_]).change;
  }

  void launch_fused() {
    const std::uint64_t first = launched_ + 1;
    const SweepTotals* const before =
        launched_ == 0 ? totals_.on_device(0) : fused_totals_.data() + (fused_results_.size() - 1);
    FusedSweeps run{.max_iterations = static_cast<unsigned>(
                        std::min<std::uint64_t>(kFusedIterations, options_.max_iterations - launched_)),
                    .tolerance = options_.tolerance,
                    .stall_floor = stall_floor_,
                    .claimed = fused_claims_.data(),
                    .partial = totals_.partial(),
                    .totals = fused_totals_.data(),
                    .completed = completed_.data(),
                    .times = fused_times_.data()};
    cuda::check(cudaMemsetAsync(fused_claims_.data(), 0, fused_claims_.bytes(), stream_.get()),
                "clearing claims");
    cuda::check(cudaMemsetAsync(completed_.data(), 0, completed_.bytes(), stream_.get()),
                "clearing iterations");
    cuda::launch_cooperative(fused_sweeps_kernel<Share>, busy_blocks(fused_blocks_), kRowBlock, stream_.get(),
                             SlicedSweepView<Share, true>{view(first)},
                             SlicedSweepView<Share, true>{view(first + 1)}, pieces_[0], before, run);
    ++launches_;
    stream_.wait("iterations");
    unsigned completed = 0;
    copy_to_host(device_, &completed, completed_.data(), sizeof completed);
    fused_results_.resize(completed);
    copy_to_host(device_, fused_results_.data(), fused_totals_.data(), completed * sizeof(SweepTotals));
    times_.resize(completed + std::size_t{1});
    copy_to_host(device_, times_.data(), fused_times_.data(), times_.size() * sizeof times_[0]);
    fused_begin_ = launched_;
    launched_ += completed;
  }

  /// The state as iteration `iteration` reads and writes it.
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
    put_rows(view(0), to_fixed(1 / update_.vertices), n_, totals_.partial(), totals_.on_device(0), stream_);
    for (std::size_t p = 0; p < ranges_.size(); ++p) exchange(0, p);
    finish(0);
    totals_of(0);
    launches_ = 0;
  }

  void launch() {
    const std::uint64_t iteration = ++launched_;
    totals_.clear(iteration, stream_);
    cuda::check(cudaMemsetAsync(claimed_.data(), 0, claimed_.bytes(), stream_.get()), "clearing claims");
    unsigned partials = 0;
    for (std::size_t p = pieces_.size(); p-- > 0;) {
      partials += sweep(iteration, p, totals_.partial() + partials);
      if (!router_.is_single_rank()) exchange(iteration, p);
    }
    fold_totals(totals_.partial(), partials, options_.norm, true, totals_.on_device(iteration),
                stream_.get());
    ++launches_;
    finish(iteration);
  }

  /// Sweeps the rows of a piece. Returns how many totals it writes to `partial`.
  unsigned sweep(std::uint64_t iteration, std::size_t p, SweepTotals* partial) {
    const SlicedSweepView<Share> state{view(iteration)};
    const FixedRank* const dangling = totals_.dangling(iteration - 1);
    if (pieces_.size() == 1) {
      const unsigned blocks = busy_blocks(blocks_);
      sweep_sliced_kernel<Share><<<blocks, kRowBlock, 0, stream_.get()>>>(state, pieces_[p], dangling,
                                                                          claimed_.data() + p, partial);
      cuda::check_launch("sweep_sliced_kernel");
      ++launches_;
      return blocks;
    }
    if (p + 1 == pieces_.size()) {
      // With the long rows of all pieces: at the end of a small piece all ranks would wait for them.
      sweep_piece_kernel<Share, 1><<<blocks_, kRowBlock, 0, stream_.get()>>>(
          state, SlicedPieces(pieces_), pieces_[p], dangling, claimed_.data() + p, partial);
      cuda::check_launch("sweep_piece_kernel");
      return blocks_;
    }
    if (pieces_[p].count == pieces_[p].longs) return 0;
    // The contributions of the piece swept before are sent meanwhile.
    sweep_piece_kernel<Share, kTeams><<<overlap_blocks_, kTeams * kRowBlock, 0, stream_.get()>>>(
        state, SlicedPieces(), pieces_[p], dangling, claimed_.data() + p, partial);
    cuda::check_launch("sweep_piece_kernel");
    return overlap_blocks_ * kTeams;
  }

  /// Sends the contributions of a swept piece to all ranks, while the next piece is swept.
  void exchange(std::uint64_t iteration, std::size_t p) {
    exchange_.fork_from(stream_);
    router_.begin_all_gather_ranges(shares_[iteration % 2].data(), ranges_[p], exchange_.get());
  }

  /// Joins the totals of all ranks, after all own rows were swept and their contributions are being sent.
  /// Later work on the stream finds the contributions of all ranks.
  void finish(std::uint64_t iteration) {
    if (!router_.is_single_rank()) {
      SweepTotals* const totals = totals_.on_device(iteration);
      const auto ranks = static_cast<int>(router_.size());
      exchange_.fork_from(stream_);
      router_.begin_all_gather(totals, by_rank_.data(), sizeof(SweepTotals), exchange_.get());
      exchange_.join_into(stream_);
      join_ranks_kernel<<<1, 1, 0, stream_.get()>>>(by_rank_.data(), ranks, options_.norm, totals);
      cuda::check_launch("join_ranks_kernel");
      ++launches_;
    }
    totals_.send(iteration, stream_);
  }

  const SweepTotals& totals_of(std::uint64_t iteration) {
    if (router_.is_single_rank()) return totals_.receive(iteration);
    return totals_.receive(
        iteration, [this] { router_.throw_if_failed("an iteration"); }, kNoTimeout);
  }

  const Device& device_;
  std::unique_ptr<DeviceRanks> link_;  ///< null if there is one rank
  Router router_;
  std::uint64_t n_, first_;                        ///< this rank's rows, and their first vertex
  std::vector<std::vector<ElementRange>> ranges_;  ///< [pieces][ranks] by number; empty if there is one rank
  Options options_;
  RankUpdate update_;
  cuda::Stream stream_;
  cuda::HighPriorityStream exchange_;  ///< transfers from GPU to GPU
  SlicedRows rows_;
  std::vector<SlicedView> pieces_;  ///< of the rows
  unsigned blocks_;                 ///< of a sweep on all multiprocessors
  unsigned overlap_blocks_;         ///< of a sweep that leaves some to NCCL
  TotalsInFlight totals_;
  Buffer<SweepTotals> by_rank_;
  Buffer<unsigned long long> claimed_;
  Buffer<double> divisors_;
  Buffer<Loop> loops_;
  std::array<Buffer<FixedRank>, 2> rank_;
  std::array<Buffer<Stored>, 2> shares_;
  std::uint64_t read_bytes_;
  std::uint64_t launched_ = 0, returned_ = 0;
  std::uint64_t launches_ = 0;  ///< of kernels of iterations, if there is one piece
  SweepTotals last_totals_;     ///< of the iteration that was returned last
  // For fused iterations:
  unsigned fused_blocks_ = 0;  ///< 0: iterations are not fused
  double stall_floor_ = 0;     ///< see FusedSweeps
  Buffer<SweepTotals> fused_totals_;
  Buffer<unsigned long long> fused_claims_;
  Buffer<unsigned> completed_;
  Buffer<unsigned long long> fused_times_;
  std::vector<SweepTotals> fused_results_;  ///< totals of the last kernel's iterations
  std::vector<unsigned long long> times_;
  std::uint64_t fused_begin_ = 0;  ///< iterations before that kernel
};

/// Bytes a vertex: of ranks twice, divisors and loops; and of contributions twice.
constexpr std::uint64_t kRowBytes = 3 * 8 + 1, kShareBytes = 2 * 8;

bool fits(const Device& device, const RankGraph& graph, const Options& options, const SweepPieces& pieces) {
  return SlicedRows::max_bytes(graph, options.weighted, pieces) + graph.in().vertices * kRowBytes +
             (graph.vertices() + 1) * kShareBytes <=
         device.memory().available();
}

}  // namespace

std::unique_ptr<Sweep> make_sliced_sweep(const Device& device, const RankGraph& graph, const Options& options,
                                         bool resident, const RankPlace& place, Communicator& ranks) {
  if (place.rows == RankRows::listed) return nullptr;
  const bool requested = place.rows == RankRows::sliced;
  const SweepPieces pieces = sweep_pieces(place.pieces, graph.vertices(), graph.edges(), ranks.size());
  const bool feasible = resident && (requested || fits(device, graph, options, pieces));
  std::uint64_t all_feasible = feasible ? 1 : 0;
  ranks.all_reduce(std::span(&all_feasible, 1), Reduce::min, "the layout of in-edges");
  std::unique_ptr<DeviceRanks> gpus;
  if (all_feasible == 1) gpus = connect_gpus(&ranks, device, pieces.count > 1 ? kExchangeBlocks : 0);
  if (all_feasible == 0 || (ranks.size() > 1 && gpus == nullptr)) {
    if (requested) {
      throw UsageError(
          "--rows sliced: all in-edges must be on GPUs, and several ranks need a GPU each and NCCL (omit "
          "it)");
    }
    return nullptr;
  }
  return sweep_sliced_rows(device, graph, options, pieces, std::move(gpus), ranks, place.fusion);
}

std::unique_ptr<Sweep> sweep_sliced_rows(const Device& device, const RankGraph& graph, const Options& options,
                                         const SweepPieces& pieces, std::unique_ptr<DeviceRanks> link,
                                         Communicator& ranks, RankFusion fusion) {
  return with_share(options, [&]<class Share>(Share) -> std::unique_ptr<Sweep> {
    return std::make_unique<SlicedSweep<Share>>(device, graph, options, pieces, std::move(link), ranks,
                                                fusion);
  });
}

}  // namespace sluice::pagerank
