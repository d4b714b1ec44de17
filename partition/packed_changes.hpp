// The changes of a batch in as few bits as possible, for a device that holds the lists to be changed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/core/host_array.hpp"
#include "engine/core/host_memory.hpp"
#include "engine/core/macros.hpp"
#include "engine/core/types.hpp"

namespace sluice {

struct RowEdit;

/// A pair of vertices whose entries in the out-lists changed.
struct EdgeChange {
  Vertex source, target;
  std::uint32_t removed, inserted;  ///< numbers of entries
};

/// Changes per packed block. Their records follow one another without a gap. The fields of a record are
/// source and begin, both relative to the block's, target, and the numbers of removed and inserted entries.
inline constexpr std::uint64_t kPackedChanges = 128;

/// Header of a block: what its changes have in common.
struct PackedBlock {
  EdgeIndex begin;         ///< position of the first change in the old columns
  std::uint64_t shift;     ///< shift of the entries before the block, modulo 2^64
  std::uint64_t inserted;  ///< entries inserted before the block
  std::uint64_t word;      ///< index of the first word of its records
  Vertex source;           ///< of the first change
  std::uint8_t source_bits, begin_bits, target_bits, removed_bits, inserted_bits;

  SLUICE_HD unsigned record_bits() const {
    return unsigned{source_bits} + begin_bits + target_bits + removed_bits + inserted_bits;
  }
};

/// One change and its first position in the old columns.
struct PlacedChange {
  EdgeChange change;
  EdgeIndex begin;
};

/// Unpacks change `i` of a block from the words of the block's records.
SLUICE_HD PlacedChange unpack_change(const PackedBlock& block, const std::uint64_t* words, unsigned i) {
  std::uint64_t bit = std::uint64_t{i} * block.record_bits();
  const auto next = [&](unsigned bits) -> std::uint64_t {
    if (bits == 0) return 0;
    const std::uint64_t* const at = words + bit / 64;
    const unsigned skipped = bit % 64;
    bit += bits;
    std::uint64_t value = at[0] >> skipped;
    if (skipped + bits > 64) value |= at[1] << (64 - skipped);
    return value & ~std::uint64_t{0} >> (64 - bits);
  };
  PlacedChange placed;
  placed.change.source = block.source + static_cast<Vertex>(next(block.source_bits));
  placed.begin = block.begin + next(block.begin_bits);
  placed.change.target = static_cast<Vertex>(next(block.target_bits));
  placed.change.removed = static_cast<std::uint32_t>(next(block.removed_bits));
  placed.change.inserted = static_cast<std::uint32_t>(next(block.inserted_bits));
  return placed;
}

/// The changes of a batch, ordered by (source, target): block headers, followed by the words of records.
struct PackedChanges {
  HostArray<std::byte> bytes;
  std::uint64_t count = 0;
  std::uint64_t growth = 0;  ///< inserted minus removed entries, modulo 2^64
  bool repeats = false;      ///< whether a change inserts more than one entry
  HostArray<float> weights;  ///< of inserted entries, where the graph is weighted

  static std::uint64_t blocks_of(std::uint64_t changes) {
    return (changes + kPackedChanges - 1) / kPackedChanges;
  }
  std::span<const PackedBlock> blocks() const {
    return {reinterpret_cast<const PackedBlock*>(bytes.data()), blocks_of(count)};
  }
  const std::uint64_t* words() const {
    return reinterpret_cast<const std::uint64_t*>(bytes.data() + blocks().size_bytes());
  }
};

/// Packs edits, ordered by position; `memory`, if given, allocates the result. Leaves out weights.
PackedChanges pack_changes(std::span<const RowEdit> edits, unsigned threads, HostMemory* memory);

}  // namespace sluice
