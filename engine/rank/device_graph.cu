#include "engine/rank/device_graph.cuh"

#include <algorithm>
#include <bit>

#include "engine/core/error.hpp"
#include "engine/exec/sort.hpp"

namespace sluice::cuda {

namespace {

constexpr unsigned kBlock = 256;
constexpr std::uint64_t kRowsOfBlock = 16 * kBlock;
constexpr unsigned kMostBlocks = 4096;  // beyond them blocks take further rows

// ---- kernels
// -------------------------------------------------------------------------------------------------

__global__ void __launch_bounds__(kBlock) list_targets_kernel(const EdgeChange* changes, std::uint64_t count,
                                                              std::uint32_t* targets, std::uint32_t* places) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * kBlock + threadIdx.x;
  if (i >= count) return;
  targets[i] = changes[i].target;
  places[i] = static_cast<std::uint32_t>(i);
}

__global__ void __launch_bounds__(kBlock)
    longest_row_kernel(const EdgeIndex* offsets, std::uint64_t rows, unsigned long long* longest) {
  unsigned long long mine = 0;
  for (std::uint64_t row = std::uint64_t{blockIdx.x} * kBlock + threadIdx.x; row < rows;
       row += std::uint64_t{gridDim.x} * kBlock) {
    mine = max(mine, static_cast<unsigned long long>(offsets[row + 1] - offsets[row]));
  }
  for (int stride = 16; stride > 0; stride /= 2) mine = max(mine, __shfl_xor_sync(~0u, mine, stride));
  if (threadIdx.x % 32 == 0 && mine > 0) atomicMax(longest, mine);
}

}  // namespace

// ---- launchers
// -----------------------------------------------------------------------------------------------

UrgentStream::UrgentStream() {
  int least = 0, greatest = 0;
  check(cudaDeviceGetStreamPriorityRange(&least, &greatest), "the priorities of streams");
  check(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking, greatest), "cudaStreamCreate");
}

void UrgentStream::follow(const Stream& stream) {
  there_.record(stream);
  check(cudaStreamWaitEvent(stream_, there_.get(), 0), "cudaStreamWaitEvent");
}

void UrgentStream::lead(const Stream& stream) {
  check(cudaEventRecord(here_.get(), stream_), "cudaEventRecord");
  check(cudaStreamWaitEvent(stream.get(), here_.get(), 0), "cudaStreamWaitEvent");
}

DeviceGraph::DeviceGraph(const Device& device, const Graph& graph, bool weighted)
    : device_(device),
      weighted_(weighted),
      upload_(device),
      out_rewriter_(device),
      in_rewriter_(device),
      measured_(device, 1, "the longest list"),
      longest_(device, 1, "the longest list") {
  copy_lists(out_, graph.out);
  if (graph.directed) copy_lists(in_, graph.in);
  set_views();
  // A graph that can be held but not rewritten is refused at once.
  spare_.reserve(device, graph.vertices(), graph.edges(), weighted);
  const Stream stream;
  measure(out_, stream.get());
  stream.wait("the longest list");
}

void DeviceGraph::measure(const DeviceRows& out, cudaStream_t stream) {
  check(cudaMemsetAsync(measured_.data(), 0, measured_.bytes(), stream), "clearing");
  const unsigned blocks = std::min(grid_for(out.vertices, kRowsOfBlock), kMostBlocks);
  longest_row_kernel<<<blocks, kBlock, 0, stream>>>(out.offsets.data(), out.vertices, measured_.data());
  check_launch("longest_row_kernel");
  check(cudaMemcpyAsync(longest_.data(), measured_.data(), measured_.bytes(), cudaMemcpyDeviceToHost, stream),
        "copying the longest list");
}

void DeviceGraph::copy_lists(DeviceRows& rows, const Csr& from) {
  rows.vertices = from.vertices(), rows.edges = from.edges();
  rows.reserve(device_, rows.vertices, rows.edges, weighted_);
  const auto copy = [&]<class T>(const Buffer<T>& to, const HostArray<T>& column) {
    copy_to_device(device_, to.data(), column.data(), column.bytes());
  };
  copy(rows.offsets, from.offsets);
  copy(rows.targets, from.targets);
  if (weighted_) copy(rows.weights, from.weights);
}

void DeviceGraph::set_views() {
  out_view_ = out_.view();
  in_view_ = in_.offsets.empty() ? out_view_ : in_.view();
}

void DeviceGraph::apply(const Graph& graph, std::span<const EdgeChange> changes, const Stream& stream) {
  const std::uint64_t vertices = graph.vertices(), edges = graph.edges();
  const std::uint64_t grown = upload_.send(graph, changes, weighted_, stream);
  if (out_.edges + grown != edges || vertices < out_.vertices) {
    stream.wait("changes");
    throw InputError("dynamic PageRank: the changes do not lead from the graph before to this one");
  }
  changed_ = !changes.empty() || vertices > out_.vertices;
  if (!changed_) return;
  rewriting_.start(stream);
  out_rewriter_.find(out_.view(), upload_.view(), nullptr, upload_.came(), stream.get());
  upload_.number_weights(stream);
  if (!in_.offsets.empty()) find_in(vertices, stream);
  rewrite(out_, out_rewriter_, graph, stream);
  beside_.lead(stream);
  if (!in_.offsets.empty()) rewrite(in_, in_rewriter_, graph, stream);
  set_views();
  rewriting_.stop(stream);
}

void DeviceGraph::find_in(std::uint64_t vertices, const Stream& stream) {
  beside_.follow(stream);  // the changes are whole then
  order_by_target(vertices, beside_.get());
  in_rewriter_.find(in_.view(), upload_.view(), order_.data(), nullptr, beside_.get());
}

void DeviceGraph::order_by_target(std::uint64_t vertices, cudaStream_t stream) {
  const std::uint64_t count = upload_.view().count;
  for (Buffer<std::uint32_t>* column : {&keys_, &sorted_keys_, &places_, &order_})
    reserve_for_batch(*column, device_, count, "changes by target");
  if (count == 0) return;
  list_targets_kernel<<<grid_for(count, kBlock), kBlock, 0, stream>>>(changes(), count, keys_.data(),
                                                                      places_.data());
  check_launch("list_targets_kernel");
  const auto bits = static_cast<unsigned>(std::bit_width(vertices));
  reserve_for_batch(scratch_, device_, sort_scratch_bytes(count, bits), "scratch of sorts");
  // Stable: changes of one target stay in order of their sources.
  sort_by_key(device_, keys_.data(), sorted_keys_.data(), places_.data(), order_.data(), count, bits,
              scratch_, stream);
}

void DeviceGraph::rewrite(DeviceRows& rows, ListRewriter& rewriter, const Graph& graph,
                          const Stream& stream) {
  const bool reversed = &rows == &in_;
  spare_.vertices = graph.vertices(), spare_.edges = graph.edges();
  spare_.reserve(device_, spare_.vertices, spare_.edges, weighted_);
  const CsrView old = rows.view();
  rewriter.rewrite_offsets(old, spare_, stream);
  if (!reversed) {
    beside_.follow(stream);
    measure(spare_, beside_.get());
  }
  rewriter.rewrite_edges(old, spare_, upload_.view(), reversed, upload_.repeats(), weighted_, stream);
  std::swap(rows, spare_);
}

}  // namespace sluice::cuda
