// How a candidate is proposed from a list: one small reference type per technique, passed to kernels by
// value. A table splits a pick in two, so that the host can prefetch between the halves and a GPU can overlap
// its reads:
//   locate(view, v, row, block, probe)   random bits -> where to read; false: no candidate has positive bias
//   resolve(view, probe)                 reads there -> the edge and its target's row
// and, if it can draw from a graph in partitions,
//   read_bytes(row)                      the bytes that both read of the list
#pragma once

#include <cstdint>

#include "engine/core/macros.hpp"
#include "engine/graph/elias_fano.hpp"
#include "engine/graph/graph_view.hpp"
#include "engine/graph/read_bytes.hpp"
#include "engine/graph/wide.hpp"
#include "engine/random/philox.hpp"
#include "engine/random/uniform.hpp"
#include "engine/select/candidates.hpp"
#include "engine/select/coded_slots.hpp"

namespace sluice {

/// Where to read the candidate.
struct Probe {
  EdgeIndex position = 0;
  Vertex target = kNoVertex;  ///< the target, if locate() has read it already
  std::uint64_t random = 0;   ///< second word of the block
};

/// A candidate as read: kNoVertex if the list has none of positive bias.
struct Hop {
  Vertex target = kNoVertex;
  Row row;  ///< the target's list
  EdgeIndex position = 0;
};

SLUICE_HD void prefetch(const void* address) {
#if !defined(__CUDA_ARCH__)
  __builtin_prefetch(address);
#else
  (void)address;
#endif
}

/// Plain CSR: reads the target, then its row.
struct CsrEdges {
  SLUICE_HD void prefetch_at(const GraphView& view, EdgeIndex position) const {
    prefetch(view.csr.targets + position);
  }
  SLUICE_HD Hop read(const GraphView& view, EdgeIndex position) const {
    const Vertex target = view.target(position);
    return {target, view.row(target), position};
  }
};

/// Wide edges: target and row in one read.
struct WideEdges {
  const WideEdge* edges = nullptr;

  SLUICE_HD void prefetch_at(const GraphView&, EdgeIndex position) const { prefetch(edges + position); }
  SLUICE_HD Hop read(const GraphView&, EdgeIndex position) const {
#if defined(__CUDA_ARCH__)
    const uint4 raw = __ldg(reinterpret_cast<const uint4*>(edges + position));
    const PackedRow packed{raw.x | static_cast<std::uint64_t>(raw.y) << 32};
    return {raw.z, packed.row(), position};
#else
    const WideEdge& edge = edges[position];
    return {edge.target, edge.row.row(), position};
#endif
  }
};

/// Packed wide edges: target and row in one read of half the size.
struct PackedEdges {
  const std::uint64_t* edges = nullptr;
  EdgePacking packing;

  SLUICE_HD void prefetch_at(const GraphView&, EdgeIndex position) const { prefetch(edges + position); }
  SLUICE_HD Hop read(const GraphView& view, EdgeIndex position) const {
    const std::uint64_t bits = edges[position];
    return {packing.target(bits), packing.row(bits, view), position};
  }
};

/// The common part of tables whose locate() gives a position: resolve() reads the edge there by `Edges`.
template <class Edges>
struct PositionTable {
  static constexpr bool kSpareWord = true;  ///< the block's high word is free for the sampler
  Edges edges;

  SLUICE_HD void prefetch_probe(const GraphView& view, const Probe& probe) const {
    edges.prefetch_at(view, probe.position);
  }
  SLUICE_HD Hop resolve(const GraphView& view, const Probe& probe) const {
    return edges.read(view, probe.position);
  }
};

/// Uniform bias: an index.
template <class Edges>
struct IndexTable : PositionTable<Edges> {
  SLUICE_HD bool locate(const GraphView&, Vertex, const Row& row, const PhiloxBlock& block,
                        Probe& probe) const {
    if (row.degree == 0) return false;
    probe.position = row.offset + uniform_index(block.low(), row.degree);
    return true;
  }
  SLUICE_HD static std::uint32_t read_bytes(const Row&) { return kTargetBytes; }
};

/// The common part of tables over coded lists: locate() reads the target too.
struct CodedTable {
  CodedLists lists;

  /// If the offset is unused, only one read, which locate() makes too.
  SLUICE_HD Row row(const GraphView& view, Vertex v) const {
    return {view.csr.offsets[v], lists.rows[v].degree};
  }
  SLUICE_HD void prefetch_probe(const GraphView&, const Probe& probe) const {
    prefetch(lists.rows + probe.target);
  }
  SLUICE_HD Hop resolve(const GraphView& view, const Probe& probe) const {
    return {probe.target, row(view, probe.target), probe.position};
  }
};

/// Uniform bias over coded lists: an index.
struct CodedIndexTable : CodedTable {
  static constexpr bool kSpareWord = true;

  SLUICE_HD bool locate(const GraphView& view, Vertex v, const Row& row, const PhiloxBlock& block,
                        Probe& probe) const {
    if (row.degree == 0) return false;
    const auto index = static_cast<std::uint32_t>(uniform_index(block.low(), row.degree));
    probe.position = row.offset + index;
    probe.target = lists.target(view.vertices(), v, index);
    return true;
  }
  SLUICE_HD static std::uint32_t read_bytes(const Row&) { return kCodedBytes; }
};

/// Inverse transform over a CTPS kept as inclusive integer prefix sums within each list.
template <class Edges>
struct CtpsTable : PositionTable<Edges> {
  const std::uint64_t* cumulative = nullptr;  ///< [edges]

  SLUICE_HD bool locate(const GraphView&, Vertex, const Row& row, const PhiloxBlock& block,
                        Probe& probe) const {
    if (row.degree == 0) return false;
    const std::uint64_t* sums = cumulative + row.offset;
    if (sums[row.degree - 1] == 0) return false;
    probe.position = row.offset + inverse_transform(sums, row.degree, block.low());
    return true;
  }
  SLUICE_HD static std::uint32_t read_bytes(const Row& row) { return ctps_bytes(row.degree) + kTargetBytes; }
};

/// Alias slots of the plain layout: threshold and other index in two arrays.
struct AliasTable {
  static constexpr bool kSpareWord = false;
  const std::uint64_t* thresholds = nullptr;  ///< [edges]
  const std::uint32_t* others = nullptr;      ///< [edges], index in the list

  SLUICE_HD bool locate(const GraphView&, Vertex, const Row& row, const PhiloxBlock& block,
                        Probe& probe) const {
    if (row.degree == 0) return false;
    const std::uint64_t index = uniform_index(block.low(), row.degree);
    const std::uint32_t other = others[row.offset + index];
    if (other == kNoVertex) return false;
    probe.position = row.offset + (block.high() < thresholds[row.offset + index] ? index : other);
    return true;
  }
  SLUICE_HD static std::uint32_t read_bytes(const Row&) { return kAliasBytes + kTargetBytes; }
  SLUICE_HD void prefetch_probe(const GraphView& view, const Probe& probe) const {
    prefetch(view.csr.targets + probe.position);
  }
  SLUICE_HD Hop resolve(const GraphView& view, const Probe& probe) const {
    return CsrEdges{}.read(view, probe.position);
  }
};

/// Alias slots beside coded lists (CodedSlots).
struct CodedAliasTable : CodedTable {
  static constexpr bool kSpareWord = false;
  const std::uint64_t* thresholds = nullptr;  ///< [edges] whole, in host memory; one draw in 256 reads it

  SLUICE_HD bool locate(const GraphView& view, Vertex v, const Row& row, const PhiloxBlock& block,
                        Probe& probe) const {
    if (row.degree == 0) return false;
    const auto index = static_cast<std::uint32_t>(uniform_index(block.low(), row.degree));
    const std::uint32_t* const words = lists.words + lists.rows[v].begin;
    const EliasFano code = EliasFano::of(view.vertices(), row.degree);
    const CodedSlots::Slot slot = CodedSlots::of(row.degree).read(words + code.words(), index);
    if (slot.other == row.degree) return false;
    const std::uint32_t head = CodedSlots::head(block.high());
    bool picks_own = head < slot.head || slot.other == index;
    if (!picks_own && head == slot.head) picks_own = block.high() < thresholds[view.csr.offsets[v] + index];
    const std::uint32_t picked = picks_own ? index : slot.other;
    probe.position = row.offset + picked;
    probe.target = code.read(words, picked);
    return true;
  }
  /// A whole threshold is not counted: it is read from host memory wherever the list is.
  SLUICE_HD static std::uint32_t read_bytes(const Row&) { return kCodedBytes + kCodedSlotBytes; }
};

/// Alias slots that carry both targets and their rows: one read a step.
struct WideAliasTable {
  static constexpr bool kSpareWord = false;
  const WideAlias* slots = nullptr;  ///< [edges]

  SLUICE_HD bool locate(const GraphView&, Vertex, const Row& row, const PhiloxBlock& block,
                        Probe& probe) const {
    if (row.degree == 0) return false;
    probe.position = row.offset + uniform_index(block.low(), row.degree);
    probe.random = block.high();
    return true;
  }
  SLUICE_HD void prefetch_probe(const GraphView&, const Probe& probe) const {
    prefetch(slots + probe.position);
  }
  SLUICE_HD static std::uint32_t read_bytes(const Row&) { return sizeof(WideAlias); }
  /// The position is the slot's; the picked edge is there or elsewhere in the list.
  SLUICE_HD Hop resolve(const GraphView&, const Probe& probe) const {
#if defined(__CUDA_ARCH__)
    const uint4* raw = reinterpret_cast<const uint4*>(slots + probe.position);
    const uint4 head = __ldg(raw), tail = __ldg(raw + 1);
    const std::uint64_t threshold = head.x | static_cast<std::uint64_t>(head.y) << 32;
    const bool picks_own = probe.random < threshold;
    const std::uint64_t bits = picks_own ? head.z | static_cast<std::uint64_t>(head.w) << 32
                                         : tail.x | static_cast<std::uint64_t>(tail.y) << 32;
    return {picks_own ? tail.z : tail.w, PackedRow{bits}.row(), probe.position};
#else
    const WideAlias& slot = slots[probe.position];
    const bool picks_own = probe.random < slot.threshold;
    return {picks_own ? slot.own : slot.other, (picks_own ? slot.own_row : slot.other_row).row(),
            probe.position};
#endif
  }
};

}  // namespace sluice
