#include "engine/pagerank/static/sliced_rows.cuh"

#include <algorithm>
#include <array>

#include "engine/core/search.hpp"
#include "engine/exec/algorithms/scan.hpp"
#include "engine/exec/algorithms/sort.hpp"
#include "engine/exec/memory/take_turns.cuh"
#include "engine/exec/memory/threaded_copies.hpp"
#include "engine/graph/partition_map.hpp"
#include "engine/memory/sweep_lists.hpp"
#include "partition/edges_beside.hpp"
#include "partition/ranges.hpp"

namespace sluice::pagerank {

namespace {

constexpr unsigned kBlock = 256;
/// Edges that are rewritten at a time, unless one row has more.
constexpr std::uint64_t kEdgesPerChunk = 1u << 24;

__device__ std::uint64_t thread() {
  return std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
}

/// Sort keys for degrees from high to low.
__host__ __device__ constexpr std::uint32_t descending_key(std::uint64_t degree) {
  return ~static_cast<std::uint32_t>(degree < 0xffffffffu ? degree : 0xffffffffu);
}

/// Keys of sources by out-degree, or by the sum of out-weights.
__global__ void __launch_bounds__(kBlock)
    key_sources_kernel(const double* divisors, std::uint64_t count, std::uint32_t* keys, Vertex* vertices) {
  const std::uint64_t v = thread();
  if (v >= count) return;
  keys[v] = descending_key(static_cast<std::uint64_t>(divisors[v]));
  vertices[v] = static_cast<Vertex>(v);
}

/// Keys of rows by in-degree: row i is vertex order[i], or vertex i if `order` is null.
__global__ void __launch_bounds__(kBlock)
    key_rows_kernel(const EdgeIndex* offsets, const Vertex* order, std::uint64_t count, std::uint32_t* keys,
                    std::uint32_t* rows) {
  const std::uint64_t i = thread();
  if (i >= count) return;
  const std::uint64_t v = order == nullptr ? i : order[i];
  keys[i] = descending_key(offsets[v + 1] - offsets[v]);
  rows[i] = static_cast<std::uint32_t>(i);
}

/// numbers[order[i]] = first + i, with rows[i] in place of i on the left if `rows` is given.
__global__ void __launch_bounds__(kBlock)
    invert_kernel(const Vertex* order, const std::uint32_t* rows, std::uint64_t count, std::uint64_t first,
                  std::uint32_t* numbers) {
  const std::uint64_t i = thread();
  if (i < count) numbers[order[rows == nullptr ? i : rows[i]]] = static_cast<std::uint32_t>(first + i);
}

/// How many rows, by falling in-degree, have more in-edges than the limit of a class. A thread a class.
__global__ void find_borders_kernel(const std::uint32_t* keys, std::uint64_t count, std::uint64_t* borders) {
  constexpr std::uint64_t kLimits[] = {kMaxLongDegree, kMaxListDegree, kMaxSliceDegree};
  borders[threadIdx.x] = count_below(keys, count, std::uint32_t{descending_key(kLimits[threadIdx.x])});
}

/// The work of row i; 0 for long rows, which are swept before all pieces.
__global__ void __launch_bounds__(kBlock)
    work_kernel(const std::uint32_t* keys, std::uint64_t count, std::uint64_t* work) {
  const std::uint64_t i = thread();
  if (i >= count) return;
  const std::uint32_t degree = ~keys[i];
  work[i] = degree > kMaxListDegree ? 0 : degree + kEdgesPerVertex;
}

/// Entries of list or slice i, with padding.
__global__ void __launch_bounds__(kBlock)
    size_kernel(const std::uint32_t* keys, std::uint64_t lists, std::uint64_t slices, std::uint64_t* sizes) {
  const std::uint64_t i = thread();
  if (i >= lists + slices) return;
  const std::uint64_t row = i < lists ? i : lists + (i - lists) * kSlice;
  const std::uint64_t degree = static_cast<std::uint32_t>(~keys[row]);
  sizes[i] = i < lists ? (degree + kSlice - 1) / kSlice * kSlice : degree * kSlice;
}

/// Replaces sources by their numbers.
__global__ void __launch_bounds__(kBlock)
    renumber_kernel(std::uint32_t* sources, std::uint64_t count, const std::uint32_t* number_of) {
  for (std::uint64_t i = thread(); i < count; i += std::uint64_t{gridDim.x} * kBlock)
    sources[i] = number_of[sources[i]];
}

/// Copies rows [begin, end) to their places. `sources` and `weights` are indexed by position in the graph. A
/// warp a row.
__global__ void __launch_bounds__(kBlock)
    fill_kernel(const EdgeIndex* offsets, std::uint64_t begin, std::uint64_t end,
                const std::uint32_t* sources, const float* weights, const std::uint32_t* row_of,
                __grid_constant__ const SlicedPieces pieces, std::uint32_t* to_sources, float* to_weights) {
  const std::uint64_t v = begin + thread() / kSlice;
  if (v >= end) return;
  unsigned piece = 0;
  while (piece + 1 < pieces.size() && row_of[v] >= pieces[piece + 1].first) ++piece;
  const SlicedView& to = pieces[piece];
  const std::uint64_t row = row_of[v] - to.first, first = offsets[v], degree = offsets[v + 1] - first;
  const bool listed = row < to.lists;
  const std::uint64_t slice = listed ? 0 : (row - to.lists) / kSlice;
  const std::uint64_t item = listed ? row : to.lists + slice;
  const std::uint64_t stride = listed ? 1 : kSlice;
  const std::uint64_t start = to.starts[item] + (listed ? 0 : (row - to.lists) % kSlice);
  const std::uint64_t size = (to.starts[item + 1] - to.starts[item]) / stride;
  for (std::uint64_t i = threadIdx.x % kSlice; i < size; i += kSlice) {
    to_sources[start + i * stride] = i < degree ? sources[first + i] : to.no_source;
    if (weights != nullptr) to_weights[start + i * stride] = i < degree ? weights[first + i] : 0;
  }
}

template <class T>
__global__ void __launch_bounds__(kBlock)
    permute_kernel(const T* from, const Vertex* order, std::uint64_t count, T* to) {
  const std::uint64_t i = thread();
  if (i < count) to[i] = from[order[i]];
}

}  // namespace

/// In-edges of some rows, copied to the device while another chunk is rewritten.
struct SlicedRows::Chunk {
  Buffer<std::uint32_t> sources, sorted;
  Buffer<float> weights, sorted_weights;
  Buffer<unsigned char> scratch;
};

/// State that only the construction of the rows needs.
struct SlicedRows::BuildState {
  BuildState(const Device& target, const RankGraph& graph, bool with_weights,
             const cuda::Stream& build_stream)
      : pending(graph.pending_edges(), target.threads()),
        device(target),
        rank_graph(graph),
        in(graph.in()),
        weighted(with_weights),
        stream(build_stream),
        n(in.vertices),
        uploads(target, edge_bytes(in.edges, weighted)) {
    number_of = Buffer<std::uint32_t>(device, rank_graph.vertices(), "numbers of vertices");
    for (auto* words : {&keys, &sorted_keys, &row_of})
      *words = Buffer<std::uint32_t>(device, n, "rows by in-degree");
    offsets = Buffer<EdgeIndex>(device, n + 1, "offsets of in-edges");
    uploads.to_device(offsets.data(), in.offsets, offsets.bytes());
  }
  ~BuildState() { cudaStreamSynchronize(stream.get()); }  // running kernels use the buffers

  BackgroundEdges pending;  ///< reads edges to come, also while rows are sorted
  const Device& device;
  const RankGraph& rank_graph;
  const CsrView& in;
  bool weighted;
  const cuda::Stream& stream;
  std::uint64_t n;
  Buffer<std::uint32_t> keys, sorted_keys;
  Buffer<std::uint32_t> number_of;  ///< [vertices]
  Buffer<std::uint32_t> row_of;     ///< [n] position of each row of the graph
  Buffer<EdgeIndex> offsets;
  Buffer<unsigned char> scratch;
  ThreadedCopies uploads;
  cuda::DoubleBuffer<Chunk> chunks;
};

SlicedRows::SlicedRows(const Device& device, const RankGraph& graph, bool weighted, const SweepPieces& pieces,
                       const cuda::Stream& stream, const Router& router)
    : device_(device), count_(graph.in().vertices), vertices_(graph.vertices()) {
  BuildState state(device, graph, weighted, stream);
  sort_rows(state, pieces);
  router.share(state.number_of.data(), "numbers of vertices", 1, stream.get());
  compute_layout(state);
  fill(state);
  uploaded_ = state.offsets.bytes() + edge_bytes(state.in.edges, weighted);
}

void SlicedRows::sort_rows(BuildState& m, const SweepPieces& pieces) {
  order_ = Buffer<Vertex>(device_, m.n, "order of vertices");
  const cudaStream_t stream = m.stream.get();
  const auto sort = [&](Buffer<std::uint32_t>& to, std::uint64_t first, std::uint64_t count) {
    if (count == 0) return;
    cuda::sort_by_key(device_, m.keys.data() + first, m.sorted_keys.data() + first, m.row_of.data() + first,
                      to.data() + first, count, 32, m.scratch, stream);
  };
  const unsigned grid = cuda::grid_for(m.n, kBlock);
  if (m.rank_graph.symmetric()) {
    key_rows_kernel<<<grid, kBlock, 0, stream>>>(m.offsets.data(), nullptr, m.n, m.keys.data(),
                                                 m.row_of.data());
    cuda::check_launch("key_rows_kernel");
    sort(order_, 0, m.n);
    cut_pieces(m, pieces, m.sorted_keys.data());
  } else {
    Buffer<double> divisors(device_, m.n, "out-degrees");
    m.uploads.to_device(divisors.data(), m.rank_graph.divisors(), divisors.bytes());
    key_sources_kernel<<<grid, kBlock, 0, stream>>>(divisors.data(), m.n, m.keys.data(), m.row_of.data());
    cuda::check_launch("key_sources_kernel");
    sort(order_, 0, m.n);
    rows_ = Buffer<std::uint32_t>(device_, m.n, "rows by in-degree");
    key_rows_kernel<<<grid, kBlock, 0, stream>>>(m.offsets.data(), order_.data(), m.n, m.keys.data(),
                                                 m.row_of.data());
    cuda::check_launch("key_rows_kernel");
    cut_pieces(m, pieces, m.keys.data());
    for (const SlicedView& piece : pieces_) sort(rows_, piece.first, piece.count);
    m.stream.wait("sorting rows");
  }
  invert_kernel<<<grid, kBlock, 0, stream>>>(order_.data(), nullptr, m.n, m.rank_graph.first(),
                                             m.number_of.data() + m.rank_graph.first());
  cuda::check_launch("invert_kernel");
  invert_kernel<<<grid, kBlock, 0, stream>>>(order_.data(), rows_.data(), m.n, 0, m.row_of.data());
  cuda::check_launch("invert_kernel");
}

void SlicedRows::cut_pieces(BuildState& m, const SweepPieces& pieces, const std::uint32_t* keys_by_number) {
  std::vector<std::uint64_t> cuts{0, m.n};
  if (pieces.count > 1) {
    const cudaStream_t stream = m.stream.get();
    Buffer<std::uint64_t> work(device_, m.n + 1, "work of rows");
    work_kernel<<<cuda::grid_for(m.n, kBlock), kBlock, 0, stream>>>(keys_by_number, m.n, work.data());
    cuda::check_launch("work_kernel");
    cuda::exclusive_sum(device_, work.data(), work.data(), m.n, m.scratch, stream);
    m.stream.wait("work of rows");
    const auto work_before = [&](std::uint64_t row) {
      std::uint64_t before = 0;
      copy_to_host(device_, &before, work.data() + row, sizeof before);
      return before;
    };
    const std::uint64_t all = m.in.edges + m.n * kEdgesPerVertex, own = work_before(m.n);
    cuts = cut_rows(m.n, pieces, all - own, work_before);
  }
  for (std::size_t p = 0; p + 1 < cuts.size(); ++p) {
    SlicedView piece;
    piece.first = cuts[p], piece.count = cuts[p + 1] - cuts[p];
    piece.no_source = static_cast<std::uint32_t>(vertices_);
    pieces_.push_back(piece);
  }
}

void SlicedRows::compute_layout(BuildState& m) {
  const cudaStream_t stream = m.stream.get();
  std::vector<std::array<std::uint64_t, 3>> found(pieces_.size());
  Buffer<std::uint64_t> borders(device_, 3 * found.size(), "borders between rows");
  for (std::size_t p = 0; p < pieces_.size(); ++p) {
    find_borders_kernel<<<1, 3, 0, stream>>>(m.sorted_keys.data() + pieces_[p].first, pieces_[p].count,
                                             borders.data() + 3 * p);
    cuda::check_launch("find_borders_kernel");
  }
  m.stream.wait("sorting rows");
  copy_to_host(device_, found.data(), borders.data(), borders.bytes());
  std::uint64_t items = 0;
  for (std::size_t p = 0; p < pieces_.size(); ++p) {
    SlicedView& piece = pieces_[p];
    piece.hubs = found[p][0], piece.longs = found[p][1], piece.lists = found[p][2];
    items += piece.lists + piece.slices();
  }

  starts_ = Buffer<std::uint64_t>(device_, items + 1, "offsets of rows");
  items = 0;
  for (SlicedView& piece : pieces_) {
    const std::uint64_t slices = piece.slices(), own = piece.lists + slices;
    piece.rows = rows_.empty() ? nullptr : rows_.data() + piece.first;
    piece.starts = starts_.data() + items;
    if (own > 0) {
      size_kernel<<<cuda::grid_for(own, kBlock), kBlock, 0, stream>>>(
          m.sorted_keys.data() + piece.first, piece.lists, slices, starts_.data() + items);
      cuda::check_launch("size_kernel");
    }
    items += own;
  }
  cuda::exclusive_sum(device_, starts_.data(), starts_.data(), items, m.scratch, stream);
  m.stream.wait("offsets of rows");
  std::uint64_t entries = 0;
  copy_to_host(device_, &entries, starts_.data() + items, sizeof entries);
  m.keys = {}, m.sorted_keys = {};
  entries = std::max<std::uint64_t>(entries, 1);  // for a graph without edges
  sources_ = Buffer<std::uint32_t>(device_, entries, "in-edges");
  if (m.weighted) weights_ = Buffer<float>(device_, entries, "weights of in-edges");
  for (SlicedView& piece : pieces_) {
    piece.sources = sources_.data();
    piece.weights = m.weighted ? weights_.data() : nullptr;
  }
}

void SlicedRows::fill(BuildState& m) {
  const EdgeIndex* const offsets = m.in.offsets;
  for_each_piece(m.in, m.rank_graph.file(), true, m.weighted,
                 [&](std::uint64_t begin, std::uint64_t last, const Vertex* sources, const float* weights) {
                   while (begin < last) {
                     const auto past = std::upper_bound(offsets + begin, offsets + last + 1,
                                                        offsets[begin] + kEdgesPerChunk);
                     const std::uint64_t end =
                         std::max(begin + 1, static_cast<std::uint64_t>(past - offsets) - 1);
                     m.pending.wait(end);
                     fill_rows(m, begin, end, sources, weights);
                     begin = end;
                   }
                 });
  m.pending.finish();
  m.stream.wait("rewriting in-edges");
}

/// Rewrites rows [begin, end). Columns are indexed by position in the whole graph.
void SlicedRows::fill_rows(BuildState& m, std::uint64_t begin, std::uint64_t end, const Vertex* sources,
                           const float* weights) {
  const cudaStream_t stream = m.stream.get();
  const EdgeIndex first = m.in.offsets[begin];
  const std::uint64_t edges = m.in.offsets[end] - first;
  Chunk& chunk = m.chunks.acquire("rewriting in-edges");
  const auto upload = [&]<class T>(Buffer<T>& to, Buffer<T>& sorted, const T* column) {
    const std::uint64_t capacity = std::max<std::uint64_t>(edges, 1);
    to.reserve(device_, capacity, "in-edges in transit");
    sorted.reserve(device_, capacity, "in-edges in transit");
    m.uploads.to_device(to.data(), column + first, edges * sizeof(T));
  };
  upload(chunk.sources, chunk.sorted, sources);
  if (m.weighted) upload(chunk.weights, chunk.sorted_weights, weights);
  renumber_kernel<<<4096, kBlock, 0, stream>>>(chunk.sources.data(), edges, m.number_of.data());
  cuda::check_launch("renumber_kernel");
  if (edges > 0) {
    cuda::sort_segments(device_, chunk.sources.data(), chunk.sorted.data(),
                        m.weighted ? chunk.weights.data() : nullptr, chunk.sorted_weights.data(), first,
                        edges, m.offsets.data() + begin, end - begin, chunk.scratch, stream);
  }
  fill_kernel<<<cuda::grid_for((end - begin) * kSlice, kBlock), kBlock, 0, stream>>>(
      m.offsets.data(), begin, end, rebase(chunk.sorted.data(), first),
      m.weighted ? rebase(chunk.sorted_weights.data(), first) : nullptr, m.row_of.data(),
      SlicedPieces(pieces_), sources_.data(), weights_.data());
  cuda::check_launch("fill_kernel");
  m.chunks.release(m.stream);
}

/// A formula instead of a counting run: the padding is known only once a GPU has sorted the rows.
std::uint64_t SlicedRows::max_bytes(const RankGraph& graph, bool weighted, const SweepPieces& pieces) {
  const CsrView& in = graph.in();
  const std::uint64_t n = graph.vertices(), m = in.edges, edge = edge_bytes(1, weighted);
  const std::uint64_t largest = longest_list({in.offsets, in.vertices + 1}, usable_cores());
  // Lists are padded by less than half of their own entries, a piece's slices by less than its largest one.
  const std::uint64_t padded = m + m / 2 + kSlice * kMaxSliceDegree * pieces.count;
  // Two chunks; sorting takes about as much memory again.
  const std::uint64_t staging = 2 * 4 * edge * std::min(m, std::max(kEdgesPerChunk, largest));
  return padded * edge + staging + n * (6 * sizeof(std::uint32_t) + 3 * sizeof(std::uint64_t)) + (1u << 20);
}

template <class T>
void SlicedRows::copy_by_number(const T* from, T* to, const cuda::Stream& stream) const {
  Buffer<T> by_vertex(device_, count_, "state by vertex");
  copy_to_device(device_, by_vertex.data(), from, by_vertex.bytes());
  permute_kernel<<<cuda::grid_for(count_, kBlock), kBlock, 0, stream.get()>>>(by_vertex.data(), order_.data(),
                                                                              count_, to);
  cuda::check_launch("permute_kernel");
  stream.wait("numbering vertices");
}

template void SlicedRows::copy_by_number(const double*, double*, const cuda::Stream&) const;
template void SlicedRows::copy_by_number(const Loop*, Loop*, const cuda::Stream&) const;

}  // namespace sluice::pagerank
