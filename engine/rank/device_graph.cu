#include "engine/rank/device_graph.cuh"

#include <algorithm>
#include <bit>
#include <type_traits>
#include <vector>

#include "engine/core/error.hpp"
#include "engine/core/search.hpp"
#include "engine/exec/scan.hpp"
#include "engine/exec/sort.hpp"
#include "engine/exec/threads.hpp"

namespace sluice::cuda {

namespace {

constexpr unsigned kBlock = 256;
constexpr unsigned kMostBlocks = 4096;          // beyond them blocks take further tiles
constexpr std::uint64_t kTile = 16 * kBlock;    // entries for which a block looks up edits at a time
constexpr std::uint64_t kColumnSlackPart = 64;  // so that growing graphs seldom need new columns
constexpr std::uint64_t kLeastChanges = 4096;   // the least that room is taken for
constexpr std::uint64_t kChangesAtOnce = std::uint64_t{1} << 16;  // copied by one thread of the host

// ---- kernels
// -------------------------------------------------------------------------------------------------

__global__ void __launch_bounds__(kBlock) list_targets_kernel(const EdgeChange* changes, std::uint64_t count,
                                                              std::uint32_t* targets, std::uint32_t* places) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * kBlock + threadIdx.x;
  if (i >= count) return;
  targets[i] = changes[i].target;
  places[i] = static_cast<std::uint32_t>(i);
}

/// Looks up every change in the old lists. `order` null: lists of sources; else those of targets, in that
/// order.
__global__ void __launch_bounds__(kBlock)
    find_edits_kernel(CsrView old, const EdgeChange* changes, const std::uint32_t* order,
                      const std::uint64_t* first_weights, std::uint64_t count, ListEdit* edits,
                      std::uint64_t* growth) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * kBlock + threadIdx.x;
  if (i >= count) return;
  const std::uint64_t at = order != nullptr ? order[i] : i;
  const EdgeChange change = changes[at];
  ListEdit edit;
  edit.row = order != nullptr ? change.target : change.source;
  edit.column = order != nullptr ? change.source : change.target;
  edit.removed = change.removed, edit.inserted = change.inserted;
  if (first_weights != nullptr) edit.weight = first_weights[at];
  edit.begin = old.edges;
  if (edit.row < old.vertices) {
    const EdgeIndex first = old.offsets[edit.row], last = old.offsets[edit.row + 1];
    // What goes away is replaced; else new entries come behind those that are there.
    const Vertex bound = edit.removed > 0 ? edit.column : edit.column + 1;
    edit.begin = first + count_below(old.targets + first, last - first, bound);
  }
  edits[i] = edit;
  growth[i] = std::uint64_t{edit.inserted} - edit.removed;
}

/// The edits of some lists, and where they come to lie.
struct EditView {
  const ListEdit* edits;
  const std::uint64_t* shifts;  ///< [count + 1]
  std::uint64_t count;

  __device__ std::uint64_t place(std::uint64_t i) const { return edits[i].begin + shifts[i]; }
  /// How many edits, of [low, high) at least `low`, come to lie at `place` or before it.
  __device__ std::uint64_t up_to(std::uint64_t at, std::uint64_t low, std::uint64_t high) const {
    while (low < high) {
      const std::uint64_t middle = low + (high - low) / 2;
      place(middle) <= at ? low = middle + 1 : high = middle;
    }
    return low;
  }
  /// How many edits, of [low, high) at least `low`, are of rows before `row`.
  __device__ std::uint64_t before_row(std::uint64_t row, std::uint64_t low, std::uint64_t high) const {
    while (low < high) {
      const std::uint64_t middle = low + (high - low) / 2;
      edits[middle].row < row ? low = middle + 1 : high = middle;
    }
    return low;
  }
};

/// A column of the new lists: entries between edits move as they are. `weights`: of inserted edges, null for
/// the column of targets.
template <class T>
__global__ void __launch_bounds__(kBlock)
    rewrite_column_kernel(const T* old, T* column, std::uint64_t size, EditView view, const float* weights) {
  for (std::uint64_t begin = blockIdx.x * kTile; begin < size; begin += gridDim.x * kTile) {
    const std::uint64_t end = std::min(begin + kTile, size);
    const std::uint64_t low = view.up_to(begin, 0, view.count), high = view.up_to(end - 1, low, view.count);
    for (std::uint64_t place = begin + threadIdx.x; place < end; place += kBlock) {
      const std::uint64_t edits = view.up_to(place, low, high);
      if (edits == 0) {
        column[place] = old[place];
        continue;
      }
      const ListEdit& edit = view.edits[edits - 1];
      const std::uint64_t behind = place - view.place(edits - 1);
      if (behind >= edit.inserted) {
        column[place] = old[edit.begin + edit.removed + (behind - edit.inserted)];
      } else if constexpr (std::is_same_v<T, Vertex>) {
        column[place] = edit.column;
      } else {
        column[place] = weights[edit.weight + behind];
      }
    }
  }
}

__global__ void __launch_bounds__(kBlock)
    rewrite_offsets_kernel(CsrView old, EdgeIndex* offsets, std::uint64_t size, EditView view) {
  for (std::uint64_t begin = blockIdx.x * kTile; begin < size; begin += gridDim.x * kTile) {
    const std::uint64_t end = std::min(begin + kTile, size);
    const std::uint64_t low = view.before_row(begin, 0, view.count),
                        high = view.before_row(end - 1, low, view.count);
    for (std::uint64_t row = begin + threadIdx.x; row < end; row += kBlock) {
      // shifts[i] is what edits before i add up to.
      offsets[row] =
          (row <= old.vertices ? old.offsets[row] : old.edges) + view.shifts[view.before_row(row, low, high)];
    }
  }
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

// ---- launchers
// -----------------------------------------------------------------------------------------------

unsigned grid_of(std::uint64_t size) {
  return static_cast<unsigned>(std::clamp<std::uint64_t>((size + kTile - 1) / kTile, 1, kMostBlocks));
}

/// Room for so many changes that the next batches of about this size find it: memory of a GPU takes longer to
/// get than a small batch to apply.
std::uint64_t room_for(std::uint64_t changes) {
  return std::max(changes + changes / 8, kLeastChanges);
}

/// Where the weights of inserted edges lie in the new graph: they are the last of their pair's entries.
const float* weights_of(const Csr& out, const EdgeChange& change) {
  const Vertex* const targets = out.targets.data();
  const Vertex* const end = std::upper_bound(targets + out.offsets[change.source],
                                             targets + out.offsets[change.source + 1], change.target);
  return out.weights.data() + (end - targets) - change.inserted;
}

}  // namespace

DeviceGraph::DeviceGraph(const Device& device, const Graph& graph, bool weighted)
    : device_(device),
      weighted_(weighted),
      measured_(device, 1, "the longest list"),
      longest_(device, 1, "the longest list") {
  upload(out_, graph.out);
  if (graph.directed) upload(in_, graph.in);
  set_views();
  // A graph that can be held but not rewritten is refused at once.
  const std::uint64_t edges = graph.edges() + graph.edges() / kColumnSlackPart;
  spare_.offsets.reserve(device, graph.vertices() + 1, "offsets");
  spare_.targets.reserve(device, edges, "edges");
  if (weighted) spare_.weights.reserve(device, edges, "weights");
  const Stream stream;
  measure(stream);
  stream.wait("the longest list");
}

void DeviceGraph::measure(const Stream& stream) {
  check(cudaMemsetAsync(measured_.data(), 0, measured_.bytes(), stream.get()), "clearing");
  longest_row_kernel<<<grid_of(out_.vertices), kBlock, 0, stream.get()>>>(out_.offsets.data(), out_.vertices,
                                                                          measured_.data());
  check_launch("longest_row_kernel");
  check(cudaMemcpyAsync(longest_.data(), measured_.data(), measured_.bytes(), cudaMemcpyDeviceToHost,
                        stream.get()),
        "copying the longest list");
}

template <class Memory>
void DeviceGraph::reserve_changes(Memory& memory, const char* purpose) {
  if (memory.size() <= count_) memory.reserve(device_, room_for(count_ + 1), purpose);
}

void DeviceGraph::upload(DeviceRows& rows, const Csr& from) {
  rows.vertices = from.vertices(), rows.edges = from.edges();
  const auto copy = [&]<class T>(Buffer<T>& to, const HostArray<T>& column, const char* purpose) {
    to = Buffer<T>(device_, column.size(), purpose);
    copy_to_device(device_, to.data(), column.data(), to.bytes());
  };
  copy(rows.offsets, from.offsets, "offsets");
  copy(rows.targets, from.targets, "edges");
  if (weighted_) copy(rows.weights, from.weights, "weights");
}

void DeviceGraph::set_views() {
  out_view_ = out_.view();
  in_view_ = in_.offsets.empty() ? out_view_ : in_.view();
}

void DeviceGraph::apply(const Graph& graph, std::span<const EdgeChange> changes, const Stream& stream) {
  const std::uint64_t vertices = graph.vertices();
  std::uint64_t edges = out_.edges;
  for (const EdgeChange& change : changes) edges += std::uint64_t{change.inserted} - change.removed;
  if (edges != graph.edges() || vertices < out_.vertices) {
    throw InputError("dynamic PageRank: the changes do not lead from the graph before to this one");
  }
  count_ = changes.size();
  if (count_ == 0 && vertices == out_.vertices) return;
  upload_changes(graph, changes, stream);
  rewrite(out_, false, vertices, edges, stream);
  if (!in_.offsets.empty()) {
    order_by_target(vertices, stream);
    rewrite(in_, true, vertices, edges, stream);
  }
  set_views();
  measure(stream);
}

void DeviceGraph::upload_changes(const Graph& graph, std::span<const EdgeChange> changes,
                                 const Stream& stream) {
  reserve_changes(changes_, "changes");
  reserve_changes(staged_changes_, "changes");
  // From page-locked memory, which all threads fill: a large batch is bound by this copy.
  parallel_blocks(device_.threads(), count_, kChangesAtOnce,
                  [&](std::uint64_t begin, std::uint64_t end, unsigned) {
                    std::copy(changes.data() + begin, changes.data() + end, staged_changes_.data() + begin);
                  });
  if (count_ > 0) {
    check(cudaMemcpyAsync(changes_.data(), staged_changes_.data(), changes.size_bytes(),
                          cudaMemcpyHostToDevice, stream.get()),
          "copying changes");
  }
  if (!weighted_) return;
  std::vector<std::uint64_t> first;
  std::vector<float> inserted;
  for (const EdgeChange& change : changes) {
    first.push_back(inserted.size());
    if (change.inserted == 0) continue;
    const float* const weights = weights_of(graph.out, change);
    inserted.insert(inserted.end(), weights, weights + change.inserted);
  }
  first_weights_.reserve(device_, first.size(), "weights of a batch");
  inserted_weights_.reserve(device_, inserted.size(), "weights of a batch");
  copy_to_device(device_, first_weights_.data(), first.data(), first.size() * sizeof(std::uint64_t));
  copy_to_device(device_, inserted_weights_.data(), inserted.data(), inserted.size() * sizeof(float));
}

void DeviceGraph::order_by_target(std::uint64_t vertices, const Stream& stream) {
  for (Buffer<std::uint32_t>* column : {&keys_, &sorted_keys_, &places_, &order_}) {
    reserve_changes(*column, "changes by target");
  }
  if (count_ == 0) return;
  list_targets_kernel<<<grid_for(count_, kBlock), kBlock, 0, stream.get()>>>(changes_.data(), count_,
                                                                             keys_.data(), places_.data());
  check_launch("list_targets_kernel");
  // Stable: changes of one target stay in order of their sources.
  sort_by_key(device_, keys_.data(), sorted_keys_.data(), places_.data(), order_.data(), count_,
              static_cast<unsigned>(std::bit_width(vertices)), scratch_, stream.get());
}

void DeviceGraph::rewrite(DeviceRows& rows, bool reversed, std::uint64_t vertices, std::uint64_t edges,
                          const Stream& stream) {
  reserve_changes(edits_, "edits of lists");
  reserve_changes(shifts_, "edits of lists");
  if (count_ > 0) {
    find_edits_kernel<<<grid_for(count_, kBlock), kBlock, 0, stream.get()>>>(
        rows.view(), changes_.data(), reversed ? order_.data() : nullptr,
        weighted_ ? first_weights_.data() : nullptr, count_, edits_.data(), shifts_.data());
    check_launch("find_edits_kernel");
  }
  exclusive_sum(device_, shifts_.data(), shifts_.data(), count_, scratch_, stream.get());
  const EditView view{edits_.data(), shifts_.data(), count_};
  spare_.offsets.reserve(device_, vertices + 1, "offsets");
  rewrite_offsets_kernel<<<grid_of(vertices + 1), kBlock, 0, stream.get()>>>(
      rows.view(), spare_.offsets.data(), vertices + 1, view);
  check_launch("rewrite_offsets_kernel");
  const auto column = [&]<class T>(const Buffer<T>& old, Buffer<T>& to, const char* purpose) {
    if (edges > to.size()) to.reserve(device_, edges + edges / kColumnSlackPart, purpose);
    if (edges == 0) return;
    rewrite_column_kernel<T><<<grid_of(edges), kBlock, 0, stream.get()>>>(
        old.data(), to.data(), edges, view, weighted_ ? inserted_weights_.data() : nullptr);
    check_launch("rewrite_column_kernel");
  };
  column(rows.targets, spare_.targets, "edges");
  if (weighted_) column(rows.weights, spare_.weights, "weights");
  std::swap(rows, spare_);
  rows.vertices = vertices, rows.edges = edges;
}

}  // namespace sluice::cuda
