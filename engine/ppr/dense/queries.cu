#include "engine/ppr/dense/queries.cuh"

#include <algorithm>

#include "engine/exec/occupancy.cuh"
#include "engine/ppr/dense/kernels.cuh"
#include "engine/ppr/dense/select.cuh"

namespace sluice::ppr {

namespace {

/// Passes between two checks whether mass still moves.
constexpr std::uint32_t kPassesPerCheck = 16;
constexpr const char* kPurpose = "queries side by side";

void check_copy(cudaError_t status) {
  cuda::check(status, "queries side by side");
}

}  // namespace

DenseQueries::DenseQueries(const Device& device, GraphOnDevice& graph, const Options& options)
    : device_(device), graph_(graph), options_(options) {}

bool DenseQueries::prepare(std::uint64_t count) {
  if (graph_.in_edges() == nullptr) return false;
  const std::uint64_t memory = device_.memory().available() + bytes();
  const DenseFit fit = DenseFit::of(graph_.view().vertices, count, memory);
  shape_ = fit.shape, groups_ = fit.groups;
  if (groups_ == 0) return false;
  masses_.reserve(device_, groups_ * shape_.masses(), kPurpose);
  words_.reserve(device_, groups_ * shape_.words(), kPurpose);
  counts_.reserve(device_, groups_ * shape_.width, kPurpose);
  moving_.reserve(device_, 1, kPurpose);
  moving_on_host_.reserve(device_, 1, kPurpose);
  return true;
}

void DenseQueries::release() {
  masses_ = Buffer<Mass>();
  words_ = Buffer<std::uint32_t>();
  counts_ = Buffer<DenseCounts>();
}

bool DenseQueries::run(const BatchView& batch, const QueryRules& rules, const std::uint32_t* rows,
                       std::uint64_t count, const cuda::Stream& stream) {
  if (!prepare(count)) return false;
  const InEdgesOnDevice* const in = graph_.in_edges();
  const auto pass_kernel = options_.weighted ? dense_pass_kernel<true> : dense_pass_kernel<false>;
  const std::uint64_t resident = cuda::resident_blocks(pass_kernel, kDenseBlock, 0);
  DenseView view;
  view.rules = rules;
  view.in = in->view();
  view.long_rows = in->long_rows().data();
  view.long_count = static_cast<std::uint32_t>(in->long_rows().size());
  view.reciprocals = in->reciprocals();
  view.shape = shape_;
  view.masses = masses_.data(), view.words = words_.data();
  view.counts = counts_.data(), view.moving = moving_.data();
  view.batch = batch;
  for (std::uint64_t first = 0; first < count; first += view.count) {
    view.rows = rows + first;
    view.count = static_cast<std::uint32_t>(std::min(count - first, groups_ * shape_.width));
    const std::uint64_t groups = (view.count + shape_.width - 1) / shape_.width;
    // A few blocks for each block that runs at a time.
    view.rows_per_warp = static_cast<std::uint32_t>(
        std::clamp<std::uint64_t>(groups * shape_.vertices / (resident * kDenseWarps * 4), 1, 16));
    const std::uint64_t rows_per_block = kDenseWarps * view.rows_per_warp;
    const dim3 grid(
        static_cast<unsigned>(view.long_count + (shape_.vertices + rows_per_block - 1) / rows_per_block),
        static_cast<unsigned>(groups));
    check_copy(
        cudaMemsetAsync(words_.data(), 0, groups * shape_.words() * sizeof(std::uint32_t), stream.get()));
    check_copy(cudaMemsetAsync(moving_.data(), 0, moving_.bytes(), stream.get()));
    dense_begin_kernel<<<view.count, 32, 0, stream.get()>>>(view);
    cuda::check_launch("dense_begin_kernel");
    run_passes(
        [&](std::uint32_t pass) {
          pass_kernel<<<grid, kDenseBlock, 0, stream.get()>>>(view, pass);
          cuda::check_launch("dense_pass_kernel");
        },
        stream);
    dense_select_kernel<<<view.count, kSelectBlock, 0, stream.get()>>>(view);
    cuda::check_launch("dense_select_kernel");
  }
  return true;
}

/// GD(L) has one pass more than steps: in the last, arriving mass is score. Nothing changes once no mass
/// moves.
template <class Pass>
void DenseQueries::run_passes(Pass&& pass, const cuda::Stream& stream) {
  for (std::uint64_t done = 0; options_.length == 0 || done <= options_.length; ++done) {
    if (done > 0 && done % kPassesPerCheck == 0) {
      check_copy(cudaMemcpyAsync(moving_on_host_.data(), moving_.data(), moving_.bytes(),
                                 cudaMemcpyDeviceToHost, stream.get()));
      stream.wait(kPurpose);
      if (*moving_on_host_.data() < done) return;
    }
    pass(static_cast<std::uint32_t>(done));
  }
}

}  // namespace sluice::ppr
