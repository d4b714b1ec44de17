#include "engine/pagerank/changes/csr_update.cuh"

#include <algorithm>

#include "engine/exec/algorithms/scan.hpp"
#include "engine/exec/occupancy.cuh"

namespace sluice::pagerank {

namespace {

constexpr unsigned kBlock = 128;
constexpr unsigned kEntriesPerThread = 8;  // entries of a thread, and its reads in flight
constexpr unsigned kTile = kBlock * kEntriesPerThread;
constexpr std::uint64_t kSlackFraction = 64;  // columns get capacity for this part more

/// Values in shared memory for a tile. Each holds from its place up to the next place with a value. All
/// threads of a block call clear() and settle().
class Tile {
  static constexpr unsigned kWords = kTile / 32;
  static_assert(kWords % 32 == 0, "a warp takes the words of a tile 32 at a time");

 public:
  __device__ void clear() {
    for (unsigned w = threadIdx.x; w < kWords; w += kBlock) bits_[w] = 0;
    __syncthreads();
  }
  /// At most once for each place.
  __device__ void set(unsigned position, std::uint64_t value) {
    values_[position] = value;
    atomicOr(&bits_[position / 32], 1u << position % 32);
  }
  /// After the last set(). `before` holds from the tile's beginning.
  __device__ void propagate(std::uint64_t before) {
    __syncthreads();
    const unsigned lane = threadIdx.x % 32;
    int top = -1;  // last place with a value, in the words so far
    for (unsigned w = lane; threadIdx.x < 32 && w < kWords; w += 32) {
      int last = bits_[w] != 0 ? static_cast<int>(w * 32 + 31 - __clz(bits_[w])) : -1;
      for (unsigned step = 1; step < 32; step *= 2) {
        const int other = __shfl_up_sync(~0u, last, step);
        if (lane >= step) last = max(last, other);
      }
      last = max(last, top);
      const int above = __shfl_up_sync(~0u, last, 1);
      const int from = lane > 0 ? above : top;
      before_[w] = from < 0 ? before : values_[from];
      top = __shfl_sync(~0u, last, 31);
    }
    __syncthreads();
  }
  /// The value that holds at a place. A warp asks for the 32 places of a word.
  __device__ std::uint64_t at(unsigned position) const {
    const unsigned w = position / 32, below = bits_[w] & ~0u >> (31 - position % 32);
    return below != 0 ? values_[w * 32 + 31 - __clz(below)] : before_[w];
  }

 private:
  std::uint32_t bits_[kWords];
  std::uint64_t before_[kWords];
  std::uint64_t values_[kTile];
};

/// The edits that are known so far.
struct EditView {
  const ListEdit* edits;
  const std::uint64_t* shifts;  ///< [count + 1]
  const std::uint32_t* order;   ///< the change of each edit; null: the same index
  std::uint64_t count;

  __device__ std::uint64_t position(std::uint64_t i) const { return edits[i].begin + shifts[i]; }
  __device__ std::uint64_t change(std::uint64_t i) const { return order != nullptr ? order[i] : i; }
};

// ---- kernels

/// How many of `count` ordered items are below, by below(i). A step tests three at once, since latency of
/// reads bounds the search.
template <class Below>
__device__ std::uint64_t count_below(std::uint64_t count, Below&& below) {
  std::uint64_t low = 0, high = count;  // all before low are below, none from high on is
  while (high - low > 3) {
    const std::uint64_t step = (high - low) / 4;
    const bool first = below(low + step), second = below(low + 2 * step), third = below(low + 3 * step);
    const unsigned steps = unsigned{first} + second + third;
    if (steps < 3) high = low + (steps + 1) * step;
    if (steps > 0) low += steps * step + 1;
  }
  while (low < high && below(low)) ++low;
  return low;
}

__global__ void __launch_bounds__(kBlock)
    find_edits_kernel(CsrView old, ChangeView changes, const std::uint32_t* order, ListEdit* edits,
                      std::uint64_t* growth) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * kBlock + threadIdx.x;
  if (i >= changes.count) return;
  const EdgeChange change = changes.changes[order[i]];
  const Vertex row = change.target, column = change.source;
  EdgeIndex begin = old.edges;
  if (row < old.vertices) {
    begin = old.offsets[row];
    const Vertex* const entries = old.targets + begin;
    // Inserted entries replace removed ones; else they follow the entries of the same pair.
    const std::uint64_t bound = std::uint64_t{column} + (change.removed > 0 ? 0 : 1);
    begin += count_below(old.offsets[row + 1] - begin, [&](std::uint64_t e) { return entries[e] < bound; });
  }
  edits[i] = {begin, row, change.inserted};
  growth[i] = std::uint64_t{change.inserted} - change.removed;
}

/// Finds the cuts of tiles [from, to]: of entries by the place of edits, of offsets by the first moved one.
__global__ void __launch_bounds__(kBlock)
    cut_kernel(EditView view, std::uint64_t entry_from, std::uint64_t entry_to, std::uint64_t row_from,
               std::uint64_t row_to, TileCut* by_position, TileCut* by_row) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * kBlock + threadIdx.x,
                      entries = entry_to - entry_from + 1;
  const bool rows = i >= entries;
  const std::uint64_t tile = rows ? row_from + (i - entries) : entry_from + i, bound = tile * kTile;
  if (rows && tile > row_to) return;
  const std::uint64_t before = count_below(view.count, [&](std::uint64_t edit) {
    return (rows ? std::uint64_t{view.edits[edit].row} + 1 : view.position(edit)) < bound;
  });
  (rows ? by_row : by_position)[tile] = {before, view.shifts[before]};
}

/// The entry of 4 bytes for a place of a tile. `source` is the address for the first place of the tile.
__device__ std::uint32_t read_entry(std::uint64_t source, unsigned position) {
  return __ldg(reinterpret_cast<const std::uint32_t*>(source) + position);
}

/// Inserted entries: the other vertex of a change, or weights.
struct InsertedView {
  const EdgeChange* changes;
  bool reversed;
  const std::uint64_t* first_weights;  ///< null: the column of targets
  const float* weights;

  /// The address of the value of a change's entry `k`.
  __device__ std::uint64_t address(std::uint64_t change, std::uint64_t k) const {
    const void* value = reversed ? &changes[change].source : &changes[change].target;
    if (first_weights != nullptr) value = weights + first_weights[change] + k;
    return reinterpret_cast<std::uint64_t>(value);
  }
};

/// A column of the lists, old and new.
struct ColumnView {
  const std::uint32_t* old;
  std::uint64_t old_size;
  std::uint32_t* column;
  std::uint64_t size;
  InsertedView inserted;
  bool repeats;
};

/// Rewrites a tile of a column. An entry is read at its source plus its place in the tile. Entries between
/// two edits have the same source, and each inserted entry has its own.
__device__ void rewrite_column(const ColumnView& to, const EditView& view, const TileCut* cuts,
                               std::uint64_t tile, Tile& sources) {
  const std::uint64_t begin = tile * kTile, end = std::min(begin + kTile, to.size);
  const auto entries = static_cast<unsigned>(end - begin);
  const TileCut cut = cuts[tile];
  std::uint64_t first = cut.edits;
  const std::uint64_t last = cuts[tile + 1].edits;
  const auto source_after = [&](std::uint64_t shift) {
    return reinterpret_cast<std::uint64_t>(to.old) + (begin - shift) * sizeof(*to.old);
  };
  const std::uint64_t before = source_after(cut.shift);
  // Entries that the last edit before the tile inserts may reach into it.
  if (to.repeats && first > 0) --first;
  std::uint32_t values[kEntriesPerThread];
  if (first == last) {
    for (unsigned k = 0; k < kEntriesPerThread; ++k) {
      const unsigned position = k * kBlock + threadIdx.x;
      if (position < entries) values[k] = read_entry(before, position);
    }
  } else {
    // Prefetches about what will be read, while the sources are found.
    const std::uint64_t prefetch_index = begin - cut.shift + threadIdx.x * 32;
    if (threadIdx.x < kTile / 32 && prefetch_index < to.old_size)
      asm volatile("prefetch.global.L2 [%0];" ::"l"(to.old + prefetch_index));
    sources.clear();
    for (std::uint64_t i = first + threadIdx.x; i < last; i += kBlock) {
      const std::uint64_t insert_begin = view.position(i), insert_end = insert_begin + view.edits[i].inserted;
      const std::uint64_t next = i + 1 < view.count ? view.position(i + 1) : ~std::uint64_t{0};
      for (std::uint64_t at = std::max(insert_begin, begin); at < std::min(insert_end, end); ++at) {
        const std::uint64_t value = to.inserted.address(view.change(i), at - insert_begin);
        sources.set(static_cast<unsigned>(at - begin), value - (at - begin) * sizeof(*to.old));
      }
      // Of edits at one place, the last one decides the source of the entries after them.
      if (insert_end < next && insert_end >= begin && insert_end < end)
        sources.set(static_cast<unsigned>(insert_end - begin), source_after(view.shifts[i + 1]));
    }
    sources.propagate(before);
    for (unsigned k = 0; k < kEntriesPerThread; ++k) {
      const unsigned position = k * kBlock + threadIdx.x;
      if (position < entries) values[k] = read_entry(sources.at(position), position);
    }
  }
  for (unsigned k = 0; k < kEntriesPerThread; ++k) {
    const unsigned position = k * kBlock + threadIdx.x;
    if (position < entries) to.column[begin + position] = values[k];
  }
}

/// Rewrites a tile of the offsets [0, size): list r begins after the edits of all rows before r.
__device__ void rewrite_offsets(const CsrView& old, EdgeIndex* offsets, std::uint64_t size,
                                const EditView& view, const TileCut* cuts, std::uint64_t tile, Tile& shifts,
                                unsigned long long* max_degree) {
  const std::uint64_t begin = tile * kTile, end = std::min(begin + kTile, size);
  const TileCut cut = cuts[tile];
  const std::uint64_t last = cuts[tile + 1].edits;
  const auto offset_in = [&](std::uint64_t row) {
    return row <= old.vertices ? old.offsets[row] : old.edges;
  };
  shifts.clear();
  for (std::uint64_t i = cut.edits + threadIdx.x; i < last; i += kBlock) {
    const std::uint64_t moved = std::uint64_t{view.edits[i].row} + 1;
    const bool last_of_row = i + 1 == view.count || view.edits[i + 1].row >= moved;
    if (last_of_row) shifts.set(static_cast<unsigned>(moved - begin), view.shifts[i + 1]);
  }
  shifts.propagate(cut.shift);
  unsigned long long largest = 0;
  for (unsigned k = 0; k < kEntriesPerThread; ++k) {
    const unsigned in_tile = k * kBlock + threadIdx.x;
    const std::uint64_t row = begin + in_tile;
    const EdgeIndex offset = row < end ? offset_in(row) + shifts.at(in_tile) : 0;
    EdgeIndex last_offset = __shfl_up_sync(~0u, offset, 1);
    if (row >= end) continue;
    offsets[row] = offset;
    if (row == 0) continue;
    if (threadIdx.x % 32 == 0)
      last_offset = offset_in(row - 1) + (in_tile > 0 ? shifts.at(in_tile - 1) : cut.shift);
    largest = max(largest, static_cast<unsigned long long>(offset - last_offset));
  }
  if (max_degree == nullptr) return;
  for (int stride = 16; stride > 0; stride /= 2)
    largest = max(largest, __shfl_xor_sync(~0u, largest, stride));
  const auto known = *static_cast<volatile unsigned long long*>(max_degree);
  if (threadIdx.x % 32 == 0 && largest > known) atomicMax(max_degree, largest);
}

/// Rewrites tiles of offsets from row_first on, then tiles of entries from entry_first on, a block a tile.
__global__ void __launch_bounds__(kBlock, cuda::kMaxResidentThreads / kBlock)
    rewrite_kernel(CsrView old, EdgeIndex* offsets, std::uint64_t size, std::uint64_t row_first,
                   std::uint64_t row_tiles, ColumnView column, std::uint64_t entry_first, EditView view,
                   const TileCut* by_position, const TileCut* by_row, unsigned long long* max_degree) {
  __shared__ Tile tile;
  if (blockIdx.x < row_tiles)
    rewrite_offsets(old, offsets, size, view, by_row, row_first + blockIdx.x, tile, max_degree);
  else
    rewrite_column(column, view, by_position, entry_first + (blockIdx.x - row_tiles), tile);
}

// ---- launchers

std::uint64_t tiles_of(std::uint64_t size) {
  return (size + kTile - 1) / kTile;
}

}  // namespace

void DeviceRows::reserve(const Device& device, std::uint64_t vertices, std::uint64_t edges, bool weighted) {
  const auto column = [&](auto& values, std::uint64_t size, const char* purpose) {
    if (size > values.size()) values.reserve(device, size + size / kSlackFraction, purpose);
  };
  column(offsets, vertices + 1, "offsets");
  column(targets, edges, "edges");
  if (weighted) column(this->weights, edges, "weights");
}

void ListRewriter::begin(std::uint64_t count, const CsrView& old, const DeviceRows& to) {
  count_ = count, known_ = 0, old_ = old, order_ = nullptr;
  all_ = {tiles_of(to.edges), tiles_of(to.vertices + 1)}, cut_ = done_ = {};
  reserve_for_batch(edits_, device_, count_, "edits of lists");
  reserve_for_batch(shifts_, device_, count_ + 1, "edits of lists");
  reserve_for_batch(by_position_, device_, all_.entries + 1, "tiles of lists");
  reserve_for_batch(by_row_, device_, all_.rows + 1, "tiles of lists");
}

void ListRewriter::find_edits(const ChangeView& changes, const std::uint32_t* order, cudaStream_t stream) {
  order_ = order;
  if (count_ > 0) {
    find_edits_kernel<<<cuda::grid_for(count_, kBlock), kBlock, 0, stream>>>(old_, changes, order,
                                                                             edits_.data(), shifts_.data());
    cuda::check_launch("find_edits_kernel");
  }
  cuda::exclusive_sum(device_, shifts_.data(), shifts_.data(), count_, scratch_, stream);
}

void ListRewriter::cut(const RewriteLimit& limit, cudaStream_t stream) {
  // Only tiles that end at or before the next edit.
  const Tiles previous = cut_;
  cut_ = {std::min(limit.position / kTile, all_.entries), std::min(limit.row / kTile, all_.rows)};
  if (limit.edits == count_) cut_ = all_;
  known_ = limit.edits;
  const EditView view{edits_.data(), shifts_.data(), order_, known_};
  const std::uint64_t tiles = cut_.entries - previous.entries + 1 + cut_.rows - previous.rows + 1;
  cut_kernel<<<cuda::grid_for(tiles, kBlock), kBlock, 0, stream>>>(
      view, previous.entries, cut_.entries, previous.rows, cut_.rows, by_position_.data(), by_row_.data());
  cuda::check_launch("cut_kernel");
}

void ListRewriter::rewrite(DeviceRows& to, const ChangeView& changes, bool reversed, bool repeats,
                           bool weighted, unsigned long long* max_degree, const cuda::Stream& stream) {
  const EditView view{edits_.data(), shifts_.data(), order_, known_};
  const Tiles previous = done_;
  done_ = cut_;
  const auto rewrite_column_tiles = [&](const void* old, void* column, std::uint64_t rows,
                                        const std::uint64_t* first_weights) {
    const std::uint64_t tiles = done_.entries - previous.entries + rows;
    if (tiles == 0) return;
    const InsertedView inserted{changes.changes, reversed, first_weights, changes.weights};
    const ColumnView entries{static_cast<const std::uint32_t*>(old),
                             old_.edges,
                             static_cast<std::uint32_t*>(column),
                             to.edges,
                             inserted,
                             repeats};
    rewrite_kernel<<<cuda::grid_for(tiles, 1), kBlock, 0, stream.get()>>>(
        old_, to.offsets.data(), to.vertices + 1, previous.rows, rows, entries, previous.entries, view,
        by_position_.data(), by_row_.data(), max_degree);
    cuda::check_launch("rewrite_kernel");
  };
  rewrite_column_tiles(old_.targets, to.targets.data(), done_.rows - previous.rows, nullptr);
  if (weighted) rewrite_column_tiles(old_.weights, to.weights.data(), 0, changes.first_weights);
}

}  // namespace sluice::pagerank
