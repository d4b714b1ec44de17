#include "engine/pagerank/changes/device_graph.cuh"

#include <algorithm>
#include <bit>

#include "engine/core/error.hpp"
#include "engine/exec/algorithms/sort.hpp"
#include "engine/memory/sweep_pages.hpp"

namespace sluice::pagerank {

namespace {

constexpr unsigned kBlock = 256;

// ---- kernels

__global__ void __launch_bounds__(kBlock)
    list_targets_kernel(const EdgeChange* changes, std::uint64_t count, std::uint32_t* targets,
                        std::uint32_t* positions) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * kBlock + threadIdx.x;
  if (i >= count) return;
  targets[i] = changes[i].target;
  positions[i] = static_cast<std::uint32_t>(i);
}

}  // namespace

// ---- launchers

DeviceGraph::DeviceGraph(const Device& device, const Graph& graph, bool weighted)
    : device_(device),
      weighted_(weighted),
      upload_(device),
      out_rewriter_(device),
      in_rewriter_(device),
      measured_max_degree_(device, 1, "the longest list"),
      max_degree_(device, 1, "the longest list") {
  copy_lists(out_, graph.out);
  // In-edges that a plan has not made are as many as out-edges.
  if (graph.directed)
    copy_lists(in_, device.is_planning() && graph.in.offsets.empty() ? graph.out : graph.in);
  // Refuses a graph at once if it fits, but not while it is rewritten.
  reserve_spare(graph);
  if (!device.is_planning()) *max_degree_.data() = longest_list(graph.out.offsets.span(), usable_cores());
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

void DeviceGraph::reserve_spare(const Graph& graph) {
  spare_.vertices = graph.vertices(), spare_.edges = graph.edges();
  spare_.reserve(device_, spare_.vertices, spare_.edges, weighted_);
}

void DeviceGraph::apply(const Graph& graph, const EdgeChanges& changes, const cuda::Stream& stream) {
  const std::uint64_t vertices = graph.vertices();
  const PackedChanges& packed = changes.packed();
  if (packed.count != changes.size() || out_.edges + packed.growth != graph.edges() ||
      vertices < out_.vertices) {
    throw InputError("dynamic PageRank: the changes do not lead from the previous graph to this one");
  }
  changed_ = !changes.empty() || vertices > out_.vertices;
  if (!changed_) return;
  upload_.begin(packed, weighted_);
  rewrite_out(graph, packed, stream);
  if (!in_.offsets.empty()) rewrite_in(graph, packed, stream);
  cuda::check(cudaMemcpyAsync(max_degree_.data(), measured_max_degree_.data(), measured_max_degree_.bytes(),
                              cudaMemcpyDeviceToHost, stream.get()),
              "copying the longest list");
  rewrite_timer_.stop(stream);
}

void DeviceGraph::rewrite_out(const Graph& graph, const PackedChanges& changes, const cuda::Stream& stream) {
  reserve_spare(graph);
  out_rewriter_.begin(changes.count, out_.view(), spare_);
  // A batch of one piece needs no second stream.
  const bool at_once = upload_.pieces() == 1;
  const cudaStream_t side_stream = at_once ? stream.get() : side_stream_.get();
  for (unsigned piece = 0; piece < upload_.pieces(); ++piece) {
    upload_.send(piece, side_stream);
    upload_.unpack(piece, out_rewriter_.buffers(), measured_max_degree_.data(), side_stream);
    out_rewriter_.cut(upload_.rewrite_limit(piece), side_stream);
    if (!at_once) side_stream_.join_into(stream);
    if (at_once && !in_.offsets.empty())
      side_stream_.fork_from(stream);  // to find edits of in-lists meanwhile
    if (piece == 0) rewrite_timer_.start(stream);
    out_rewriter_.rewrite(spare_, upload_.view(), false, changes.repeats, weighted_,
                          measured_max_degree_.data(), stream);
  }
  std::swap(out_, spare_);
}

void DeviceGraph::rewrite_in(const Graph& graph, const PackedChanges& changes, const cuda::Stream& stream) {
  order_by_target(graph.vertices(), side_stream_.get());
  reserve_spare(graph);
  in_rewriter_.begin(changes.count, in_.view(), spare_);
  in_rewriter_.find_edits(upload_.view(), order_.data(), side_stream_.get());
  in_rewriter_.cut(RewriteLimit::all(changes.count), side_stream_.get());
  side_stream_.join_into(stream);
  in_rewriter_.rewrite(spare_, upload_.view(), true, changes.repeats, weighted_, nullptr, stream);
  std::swap(in_, spare_);
}

void DeviceGraph::order_by_target(std::uint64_t vertices, cudaStream_t stream) {
  const std::uint64_t count = upload_.view().count;
  for (Buffer<std::uint32_t>* column : {&keys_, &sorted_keys_, &positions_, &order_})
    reserve_for_batch(*column, device_, count, "changes by target");
  if (count == 0) return;
  list_targets_kernel<<<cuda::grid_for(count, kBlock), kBlock, 0, stream>>>(changes(), count, keys_.data(),
                                                                            positions_.data());
  cuda::check_launch("list_targets_kernel");
  const auto bits = static_cast<unsigned>(std::bit_width(vertices));
  reserve_for_batch(scratch_, device_, cuda::sort_scratch_bytes(count, bits), "scratch of sorts");
  // The sort is stable: changes of one target stay in order of their sources.
  cuda::sort_by_key(device_, keys_.data(), sorted_keys_.data(), positions_.data(), order_.data(), count, bits,
                    scratch_, stream);
}

}  // namespace sluice::pagerank
