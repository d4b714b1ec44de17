// Tables of a fixed bias, built list by list by a body over a group of lanes: one lane on the host, a warp or
// a block on the GPU (build_tables.cuh). Every entry is a pure integer function of the list's biases, so the
// tables are the same for any group and any number of threads.
#pragma once

#include <algorithm>
#include <cstdint>

#include "engine/exec/device.hpp"
#include "engine/exec/group.hpp"
#include "engine/exec/threads.hpp"
#include "engine/graph/graph_view.hpp"
#include "engine/graph/wide.hpp"
#include "engine/select/alias.hpp"

namespace sluice {

/// Scratch bytes per entry of a hub's list while its alias slots are built: a sum, and an index.
inline constexpr std::uint64_t kHubScratchEntryBytes = 16 + sizeof(std::uint32_t);
/// Blocks of a GPU that build the alias slots of hubs: one per multiprocessor and no more than hubs, or as
/// many as half of the available memory has scratch for. Each has scratch for the largest list.
inline unsigned hub_blocks(const Device& device, std::uint64_t hubs, std::uint64_t max_degree) {
  const std::uint64_t bytes_per_block = std::max<std::uint64_t>(max_degree * kHubScratchEntryBytes, 1);
  return static_cast<unsigned>(
      std::clamp<std::uint64_t>(device.memory().available() / 2 / bytes_per_block, 1,
                                std::min<std::uint64_t>(device.multiprocessors(), hubs)));
}
/// Scratch bytes of these blocks.
inline std::uint64_t hub_scratch_bytes(const Device& device, std::uint64_t hubs, std::uint64_t max_degree) {
  return hubs == 0 ? 0 : hub_blocks(device, hubs, max_degree) * max_degree * kHubScratchEntryBytes;
}

/// Inclusive prefix sums of a list's biases.
template <class BiasOf>
struct MakeCtps {
  GraphView graph;
  BiasOf bias;
  std::uint64_t* cumulative;

  template <class Group>
  SLUICE_HD void operator()(const Group& group, Vertex v, const Row& row) const {
    std::uint64_t below = 0;
    for (std::uint32_t base = 0; base < row.degree; base += Group::kSize) {
      const EdgeIndex edge = row.offset + base + group.rank();
      const bool in_range = base + group.rank() < row.degree;
      const std::uint64_t entry_bias = in_range ? bias.edge_bias(graph, {v, graph.target(edge), edge}) : 0;
      const std::uint64_t sum = below + group.inclusive_scan(entry_bias);
      if (in_range) cumulative[edge] = sum;
      below = group.broadcast(sum, Group::kSize - 1);
    }
  }
};

/// Largest bias and number of positive biases of a list.
template <class BiasOf>
struct MakeBounds {
  GraphView graph;
  BiasOf bias;
  std::uint64_t* bounds;
  std::uint32_t* positive;

  template <class Group>
  SLUICE_HD void operator()(const Group& group, Vertex v, const Row& row) const {
    std::uint64_t largest = 0;
    std::uint32_t count = 0;
    for (std::uint32_t i = group.rank(); i < row.degree; i += Group::kSize) {
      const std::uint64_t entry_bias =
          bias.edge_bias(graph, {v, graph.target(row.offset + i), row.offset + i});
      largest = entry_bias > largest ? entry_bias : largest;
      count += entry_bias > 0;
    }
    largest = group.maximum(largest), count = group.sum(count);
    if (group.rank() == 0) bounds[v] = largest, positive[v] = count;
  }
};

/// Exponent of a list's largest weight.
struct MakeExponents {
  GraphView graph;
  std::int16_t* exponents;

  template <class Group>
  SLUICE_HD void operator()(const Group& group, Vertex v, const Row& row) const {
    float largest = 0;
    for (std::uint32_t i = group.rank(); i < row.degree; i += Group::kSize) {
      const float weight = graph.weight(row.offset + i);
      largest = weight > largest ? weight : largest;
    }
    const int exponent = group.maximum(weight_exponent(largest));  // block groups exchange integers only
    if (group.rank() == 0) exponents[v] = static_cast<std::int16_t>(exponent);
  }
};

/// Calls emit(index, AliasSlot) for every entry of a list.
template <template <class, bool> class Entries = AliasEntries, class BiasOf, class Emit>
SLUICE_HD void list_alias(const GraphView& graph, const BiasOf& bias, Vertex v, const Row& row,
                          const Emit& emit) {
  const auto bias_at = [&](std::uint32_t i) {
    return static_cast<std::uint64_t>(
        bias.edge_bias(graph, {v, graph.target(row.offset + i), row.offset + i}));
  };
  std::uint64_t total = 0;
  for (std::uint32_t i = 0; i < row.degree; ++i) total += bias_at(i);
  build_alias<Entries>(row.degree, total, bias_at, emit);
}

/// Writes the slots of an alias table to the two arrays of the plain layout.
struct PutAliasSlots {
  std::uint64_t* thresholds;
  std::uint32_t* others;

  SLUICE_HD void operator()(const Row& row, std::uint32_t i, const AliasSlot& slot) const {
    thresholds[row.offset + i] = slot.threshold;
    others[row.offset + i] = slot.other;
  }
};

/// Lists of the vertices [begin, end), clipped to the graph's.
struct ListRange {
  std::uint64_t begin = 0;
  std::uint64_t end = ~std::uint64_t{0};
};

}  // namespace sluice

namespace sluice::host {

inline constexpr std::uint64_t kVerticesPerBlock = 1024;

/// Calls body(lane, vertex, row) for every vertex of the range, in parallel.
template <class Body>
void for_each_list(unsigned threads, const GraphView& graph, const Body& body, const ListRange& range = {}) {
  const std::uint64_t last = std::min(range.end, graph.vertices());
  parallel_blocks(threads, last - std::min(range.begin, last), kVerticesPerBlock,
                  [&](std::uint64_t begin, std::uint64_t end, unsigned) {
                    for (std::uint64_t v = range.begin + begin; v < range.begin + end; ++v)
                      body(SingleLane{}, static_cast<Vertex>(v), graph.row(static_cast<Vertex>(v)));
                  });
}

inline constexpr std::uint64_t kPrefetchDistance = 32;

/// Starts to load the row of an edge's target into the cache; does nothing if there is no such edge.
inline void prefetch_row(const GraphView& graph, EdgeIndex edge) {
  if (edge < graph.edges()) __builtin_prefetch(graph.csr.offsets + graph.target(edge));
}

/// AliasEntries, found several at a time by a loop without branches. With branches, a core mispredicts at
/// every other entry whether it is light, and tables took 1.3 to 1.6 times as long.
template <class BiasOf, bool kHeavy>
class BufferedAliasEntries {
 public:
  BufferedAliasEntries(std::uint32_t degree, std::uint64_t mean, const BiasOf& bias)
      : bias_of_(bias), mean_(mean), degree_(degree) {
    fill();
  }
  explicit operator bool() const { return next_ < size_; }
  std::uint32_t index() const { return indices_[next_]; }
  std::uint64_t bias() const { return biases_[next_]; }
  void next() {
    if (++next_ == size_) fill();
  }

 private:
  static constexpr std::uint32_t kCapacity = 256;

  void fill() {
    next_ = size_ = 0;
    while (size_ == 0 && scanned_ < degree_) {
      const std::uint32_t end = std::min(degree_ - scanned_, kCapacity) + scanned_;
      for (; scanned_ < end; ++scanned_) {
        indices_[size_] = scanned_, biases_[size_] = bias_of_(scanned_);
        size_ += (biases_[size_] > mean_) == kHeavy;
      }
    }
  }

  const BiasOf& bias_of_;
  std::uint64_t mean_;
  std::uint32_t degree_, scanned_ = 0, next_ = 0, size_ = 0;
  std::uint32_t indices_[kCapacity];
  std::uint64_t biases_[kCapacity];
};

/// Calls emit(row, index, AliasSlot) for every entry of every list.
template <class BiasOf, class Emit>
void for_each_alias(unsigned threads, const GraphView& graph, const BiasOf& bias, const Emit& emit,
                    const ListRange& range = {}) {
  const auto make = [&](SingleLane, Vertex v, const Row& row) {
    list_alias<BufferedAliasEntries>(graph, bias, v, row,
                                     [&](std::uint32_t i, const AliasSlot& slot) { emit(row, i, slot); });
  };
  for_each_list(threads, graph, make, range);
}

template <class BiasOf>
void build_wide_alias(unsigned threads, const GraphView& graph, const BiasOf& bias, WideAlias* slots,
                      const ListRange& range = {}) {
  const auto put = [&](const Row& row, std::uint32_t i, const AliasSlot& slot) {
    prefetch_row(graph, row.offset + i + kPrefetchDistance);
    WideAlias& wide = slots[row.offset + i];
    wide = WideAlias{};
    if (slot.other == kNoVertex) return;
    wide.threshold = slot.threshold;
    wide.own = graph.target(row.offset + i);
    wide.other = graph.target(row.offset + slot.other);
    wide.own_row = PackedRow::of(graph.row(wide.own));
    wide.other_row = PackedRow::of(graph.row(wide.other));
  };
  for_each_alias(threads, graph, bias, put, range);
}

/// Calls emit(position, target) for every edge.
template <class Emit>
void for_each_edge(unsigned threads, const GraphView& graph, Emit&& emit) {
  parallel_blocks(threads, graph.edges(), 1u << 16, [&](std::uint64_t begin, std::uint64_t end, unsigned) {
    for (std::uint64_t edge = begin; edge < end; ++edge) {
      prefetch_row(graph, edge + kPrefetchDistance);
      emit(edge, graph.target(edge));
    }
  });
}

}  // namespace sluice::host
