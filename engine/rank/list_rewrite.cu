#include "engine/rank/list_rewrite.cuh"

#include <algorithm>

#include "engine/exec/scan.hpp"
#include "engine/rank/tile_values.cuh"

namespace sluice::cuda {

namespace {

constexpr unsigned kBlock = 128;
constexpr unsigned kEach = 8;              // entries of a thread: as many reads are under way at once
constexpr unsigned kThreadsAtOnce = 2048;  // of a processor: many tiles are under way, none of them is alone
constexpr unsigned kTile = kBlock * kEach;
using Tile = TileValues<kBlock, kTile>;
constexpr std::uint64_t kSlackPart = 64;  // room in columns beyond what they hold

/// The edits of some lists, and where they come to lie.
struct EditView {
  const ListEdit* edits;
  const std::uint64_t* shifts;  ///< [count + 1]
  const std::uint32_t* order;   ///< changes in the order of edits; null: they are
  std::uint64_t count;

  __device__ std::uint64_t place(std::uint64_t i) const { return edits[i].begin + shifts[i]; }
  __device__ std::uint64_t change(std::uint64_t i) const { return order != nullptr ? order[i] : i; }
};

// ---- kernels
// -------------------------------------------------------------------------------------------------

/// count_below() with three reads under way at once: what looking up takes is their time.
__device__ std::uint64_t entries_below(const Vertex* entries, std::uint64_t count, Vertex bound) {
  std::uint64_t low = 0, high = count;  // all before low are below, none from high on is
  while (high - low > 3) {
    const std::uint64_t step = (high - low) / 4;
    const Vertex* const at = entries + low;
    const Vertex first = at[step], second = at[2 * step], third = at[3 * step];
    const std::uint64_t below = (first < bound) + (second < bound) + (third < bound);
    if (below < 3) high = low + (below + 1) * step;
    if (below > 0) low += below * step + 1;
  }
  while (low < high && entries[low] < bound) ++low;
  return low;
}

/// How many of `count` entries, which begin where `column` would, are copies of it.
__device__ std::uint64_t copies_of(const Vertex* entries, std::uint64_t count, Vertex column) {
  if (count == 0 || entries[0] != column) return 0;
  if (count == 1 || entries[1] != column) return 1;
  return entries_below(entries, count, column + 1);
}

__global__ void __launch_bounds__(kBlock)
    find_edits_kernel(CsrView old, ChangeView changes, const std::uint32_t* order, ListEdit* edits,
                      std::uint64_t* growth, std::uint64_t* came) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * kBlock + threadIdx.x;
  if (i >= changes.count) return;
  const std::uint64_t at = order != nullptr ? order[i] : i;
  const bool packed = order == nullptr && changes.pairs != nullptr;
  EdgeChange change;
  if (packed) {
    const std::uint64_t pair = changes.pairs[at];
    const unsigned kind = changes.kinds[at / 16] >> (at % 16 * 2) & 3;
    change = {static_cast<Vertex>(pair >> 32), static_cast<Vertex>(pair), kind & 1, kind >> 1};
  } else {
    change = changes.changes[at];
  }
  const Vertex row = order != nullptr ? change.target : change.source;
  const Vertex column = order != nullptr ? change.source : change.target;
  EdgeIndex begin = old.edges, last = old.edges;
  if (row < old.vertices) {
    begin = old.offsets[row], last = old.offsets[row + 1];
    // What goes away is replaced; else new entries come behind those that are there.
    const Vertex bound = change.removed > 0 ? column : column + 1;
    begin += entries_below(old.targets + begin, last - begin, bound);
  }
  if (packed) {
    if (change.removed > 0)
      change.removed = static_cast<std::uint32_t>(copies_of(old.targets + begin, last - begin, column));
    changes.changes[at] = change;
  }
  edits[i] = {begin, row, change.inserted};
  growth[i] = std::uint64_t{change.inserted} - change.removed;
  if (came != nullptr) came[i] = change.inserted;
}

/// How many edits come before each tile: of entries, by their place; of offsets, by the first that they move.
__global__ void __launch_bounds__(kBlock)
    cut_kernel(EditView view, std::uint64_t entry_tiles, std::uint64_t row_tiles, std::uint64_t* by_place,
               std::uint64_t* by_row) {
  std::uint64_t tile = std::uint64_t{blockIdx.x} * kBlock + threadIdx.x;
  const bool rows = tile > entry_tiles;
  if (rows) tile -= entry_tiles + 1;
  if (rows && tile > row_tiles) return;
  std::uint64_t low = 0, high = view.count;
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    const std::uint64_t at = rows ? std::uint64_t{view.edits[middle].row} + 1 : view.place(middle);
    at < tile* kTile ? low = middle + 1 : high = middle;
  }
  (rows ? by_row : by_place)[tile] = low;
}

/// An entry, of 4 bytes, of a place in a tile. `source`: where the tile's first place would have it from.
__device__ std::uint32_t read_entry(std::uint64_t source, unsigned place) {
  return __ldg(reinterpret_cast<const std::uint32_t*>(source) + place);
}

/// What is inserted: the other end of a change, or weights.
struct InsertedView {
  const EdgeChange* changes;
  bool reversed;
  const std::uint64_t* first_weights;  ///< null: the column of targets
  const float* weights;

  /// Where the value of a change's entry `k` is.
  __device__ std::uint64_t address(std::uint64_t change, std::uint64_t k) const {
    const void* value = reversed ? &changes[change].source : &changes[change].target;
    if (first_weights != nullptr) value = weights + first_weights[change] + k;
    return reinterpret_cast<std::uint64_t>(value);
  }
};

/// A column of the new lists. An entry is read where its source says, which is an address less that of its
/// place: entries between two edits have one, and inserted ones have one each.
__global__ void __launch_bounds__(kBlock, kThreadsAtOnce / kBlock)
    rewrite_column_kernel(const std::uint32_t* old, std::uint64_t old_size, std::uint32_t* column,
                          std::uint64_t size, EditView view, InsertedView inserted, bool repeats,
                          const std::uint64_t* by_place) {
  __shared__ Tile sources;
  const std::uint64_t begin = std::uint64_t{blockIdx.x} * kTile, end = std::min(begin + kTile, size);
  const auto entries = static_cast<unsigned>(end - begin);
  std::uint64_t first = by_place[blockIdx.x];
  const std::uint64_t last = by_place[blockIdx.x + 1];
  const auto source_behind = [&](std::uint64_t edits) {
    return reinterpret_cast<std::uint64_t>(old) + (begin - view.shifts[edits]) * sizeof(*old);
  };
  const std::uint64_t before = source_behind(first);
  // Of several entries some may come to lie in the next tile.
  if (repeats && first > 0) --first;
  std::uint32_t values[kEach];
  if (first == last) {
    for (unsigned k = 0; k < kEach; ++k) {
      const unsigned place = k * kBlock + threadIdx.x;
      if (place < entries) values[k] = read_entry(before, place);
    }
  } else {
    // About what will be read, while it is found out.
    const std::uint64_t near = begin - view.shifts[first] + threadIdx.x * 32;
    if (threadIdx.x < kTile / 32 && near < old_size)
      asm volatile("prefetch.global.L2 [%0];" ::"l"(old + near));
    sources.clear();
    for (std::uint64_t i = first + threadIdx.x; i < last; i += kBlock) {
      const std::uint64_t from = view.place(i), until = from + view.edits[i].inserted;
      const std::uint64_t next = i + 1 < view.count ? view.place(i + 1) : ~std::uint64_t{0};
      for (std::uint64_t at = std::max(from, begin); at < std::min(until, end); ++at) {
        const std::uint64_t value = inserted.address(view.change(i), at - from);
        sources.put(static_cast<unsigned>(at - begin), value - (at - begin) * sizeof(*old));
      }
      // Of edits at one place the last one says what is behind them.
      if (until < next && until >= begin && until < end)
        sources.put(static_cast<unsigned>(until - begin), source_behind(i + 1));
    }
    sources.settle(before);
    for (unsigned k = 0; k < kEach; ++k) {
      const unsigned place = k * kBlock + threadIdx.x;
      if (place < entries) values[k] = read_entry(sources.at(place), place);
    }
  }
  for (unsigned k = 0; k < kEach; ++k) {
    const unsigned place = k * kBlock + threadIdx.x;
    if (place < entries) column[begin + place] = values[k];
  }
}

/// List r begins behind the edits of all rows before r.
__global__ void __launch_bounds__(kBlock)
    rewrite_offsets_kernel(CsrView old, EdgeIndex* offsets, std::uint64_t size, EditView view,
                           const std::uint64_t* by_row) {
  __shared__ Tile shifts;
  const std::uint64_t begin = std::uint64_t{blockIdx.x} * kTile, end = std::min(begin + kTile, size);
  const std::uint64_t first = by_row[blockIdx.x], last = by_row[blockIdx.x + 1];
  EdgeIndex values[kEach];
  for (unsigned k = 0; k < kEach; ++k) {
    const std::uint64_t row = begin + k * kBlock + threadIdx.x;
    if (row < end) values[k] = row <= old.vertices ? old.offsets[row] : old.edges;
  }
  shifts.clear();
  for (std::uint64_t i = first + threadIdx.x; i < last; i += kBlock) {
    const std::uint64_t moved = std::uint64_t{view.edits[i].row} + 1;
    const bool last_of_row = i + 1 == view.count || view.edits[i + 1].row >= moved;
    if (last_of_row) shifts.put(static_cast<unsigned>(moved - begin), view.shifts[i + 1]);
  }
  shifts.settle(view.shifts[first]);
  for (unsigned k = 0; k < kEach; ++k) {
    const unsigned in_tile = k * kBlock + threadIdx.x;
    if (begin + in_tile < end) offsets[begin + in_tile] = values[k] + shifts.at(in_tile);
  }
}

// ---- launchers
// -----------------------------------------------------------------------------------------------

std::uint64_t tiles_of(std::uint64_t size) {
  return (size + kTile - 1) / kTile;
}

}  // namespace

void DeviceRows::reserve(const Device& device, std::uint64_t vertices, std::uint64_t edges, bool weighted) {
  const auto column = [&](auto& values, std::uint64_t size, const char* purpose) {
    if (size > values.size()) values.reserve(device, size + size / kSlackPart, purpose);
  };
  column(offsets, vertices + 1, "offsets");
  column(targets, edges, "edges");
  if (weighted) column(this->weights, edges, "weights");
}

void ListRewriter::find(const CsrView& old, const ChangeView& changes, const std::uint32_t* order,
                        std::uint64_t* came, cudaStream_t stream) {
  count_ = changes.count, order_ = order;
  reserve_for_batch(edits_, device_, count_, "edits of lists");
  reserve_for_batch(shifts_, device_, count_ + 1, "edits of lists");
  if (count_ > 0) {
    find_edits_kernel<<<grid_for(count_, kBlock), kBlock, 0, stream>>>(old, changes, order, edits_.data(),
                                                                       shifts_.data(), came);
    check_launch("find_edits_kernel");
  }
  exclusive_sum(device_, shifts_.data(), shifts_.data(), count_, scratch_, stream);
}

void ListRewriter::cut(const DeviceRows& to, const Stream& stream) {
  const std::uint64_t entry_tiles = tiles_of(to.edges), row_tiles = tiles_of(to.vertices + 1);
  reserve_for_batch(by_place_, device_, entry_tiles + 1, "tiles of lists");
  reserve_for_batch(by_row_, device_, row_tiles + 1, "tiles of lists");
  const EditView view{edits_.data(), shifts_.data(), order_, count_};
  cut_kernel<<<grid_for(entry_tiles + row_tiles + 2, kBlock), kBlock, 0, stream.get()>>>(
      view, entry_tiles, row_tiles, by_place_.data(), by_row_.data());
  check_launch("cut_kernel");
}

void ListRewriter::rewrite_offsets(const CsrView& old, DeviceRows& to, const Stream& stream) {
  cut(to, stream);
  const std::uint64_t size = to.vertices + 1;
  const EditView view{edits_.data(), shifts_.data(), order_, count_};
  rewrite_offsets_kernel<<<grid_for(size, kTile), kBlock, 0, stream.get()>>>(old, to.offsets.data(), size,
                                                                             view, by_row_.data());
  check_launch("rewrite_offsets_kernel");
}

void ListRewriter::rewrite_edges(const CsrView& old, DeviceRows& to, const ChangeView& changes, bool reversed,
                                 bool repeats, bool weighted, const Stream& stream) {
  if (to.edges == 0) return;
  const EditView view{edits_.data(), shifts_.data(), order_, count_};
  const auto column = [&](const void* from, void* into, const std::uint64_t* first_weights) {
    const InsertedView inserted{changes.changes, reversed, first_weights, changes.weights};
    rewrite_column_kernel<<<grid_for(to.edges, kTile), kBlock, 0, stream.get()>>>(
        static_cast<const std::uint32_t*>(from), old.edges, static_cast<std::uint32_t*>(into), to.edges, view,
        inserted, repeats, by_place_.data());
    check_launch("rewrite_column_kernel");
  };
  column(old.targets, to.targets.data(), nullptr);
  if (weighted) column(old.weights, to.weights.data(), changes.first_weights);
}

}  // namespace sluice::cuda
