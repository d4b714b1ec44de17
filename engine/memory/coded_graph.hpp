// The coded lists of a whole graph, in host memory, from which partitions are brought to the device.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/core/function_ref.hpp"
#include "engine/core/host_array.hpp"
#include "engine/core/types.hpp"
#include "engine/exec/device.hpp"
#include "engine/exec/memory/buffer.hpp"
#include "engine/exec/memory/copy_lane.hpp"
#include "engine/graph/elias_fano.hpp"
#include "engine/graph/layout.hpp"
#include "engine/graph/page_columns.hpp"
#include "engine/select/alias.hpp"
#include "partition/graph.hpp"
#include "partition/plan.hpp"

namespace sluice {

/// Sizes in words of the lists' codes, and of alias slots beside them, computed from degrees. Keeps the view.
class CodedSizes {
 public:
  /// `targets`: an upper bound of list entries; 0: the number of lists.
  CodedSizes(const CsrView& lists, unsigned threads, bool slots, std::uint64_t targets = 0);

  /// Words of all lists.
  EdgeIndex words() const { return block_begins_.back(); }
  /// True if no list is too long, and every list begins below word 2^32.
  bool codable() const { return codable_; }
  bool slots() const { return slots_; }
  std::uint64_t targets() const { return targets_; }
  /// Bytes of all lists' words, and of their rows.
  std::uint64_t word_bytes() const { return words() * sizeof(std::uint32_t); }
  std::uint64_t row_bytes() const { return (lists_.vertices + 1) * sizeof(CodedRow); }
  /// True if codes take fewer bytes than lists with `edge_bytes` an edge. Short lists gain nothing: each ends
  /// with a whole word.
  bool saves_space(std::uint64_t edge_bytes) const {
    return word_bytes() < lists_.edges * edge_bytes / 8 * 7;
  }
  /// [vertices + 1] The first word of each list.
  HostArray<EdgeIndex> offsets() const;
  /// [vertices + 1] Fills in rows; the last one is the end of the words.
  void fill(CodedRow* rows) const;

 private:
  static constexpr std::uint64_t kBlock = 1u << 14;

  EdgeIndex words_of(std::uint64_t v) const;
  template <class Use>
  void for_each_begin(const Use& use) const;

  CsrView lists_;
  std::uint64_t targets_;
  unsigned threads_;
  bool slots_;
  bool codable_ = false;
  std::vector<EdgeIndex> block_begins_;  ///< [blocks of vertices + 1] words before each
};

/// The lists that partitions are cut from: plain lists, or their codes in words. Keeps the view.
class ListExtents {
 public:
  ListExtents(const CsrView& lists, const PageColumns& columns, unsigned threads);

  std::span<const EdgeIndex> offsets() const { return offsets_; }
  const PartitionBytes& bytes() const { return bytes_; }
  /// Bytes of all lists.
  std::uint64_t total_bytes() const {
    return (offsets_.size() - 1) * bytes_.vertex + (offsets_.back() - offsets_.front()) * bytes_.edge;
  }

 private:
  HostArray<EdgeIndex> words_;
  std::span<const EdgeIndex> offsets_;
  PartitionBytes bytes_;
};

/// Calls emit(i, slot) for every alias slot of a vertex's list.
using AliasSlotsOf =
    FunctionRef<void(Vertex v, FunctionRef<void(std::uint32_t i, const AliasSlot& slot)> emit)>;

class CodedGraph {
 public:
  /// Codes all lists, each followed by its alias slots if `sizes` counts them. Codes are page-locked if the
  /// device is a GPU, which also gets the rows. Returns nullopt if a list is not sorted or too long, or
  /// memory cannot hold the codes.
  static std::optional<CodedGraph> of(const Device& device, const CsrView& lists, const CodedSizes& sizes,
                                      const AliasSlotsOf* slots);

  /// [vertices + 1]; the last row is the end of the words.
  const CodedRow* rows() const { return rows_.data(); }
  std::span<const std::uint32_t> words_of(std::uint64_t begin, std::uint64_t end) const {
    return words_.span().subspan(rows()[begin].begin, rows()[end].begin - rows()[begin].begin);
  }
  /// The lists as the device reads them; the words are in host memory.
  CodedLists lists() const { return {device_rows_.empty() ? rows() : device_rows_.data(), words_.data()}; }
  /// [edges] Thresholds of the alias slots, uncoded.
  const std::uint64_t* thresholds() const { return thresholds_.data(); }
  std::uint64_t bytes() const { return rows_.bytes() + words_.bytes() + thresholds_.bytes(); }

 private:
  bool write(const CsrView& lists, const CodedSizes& sizes, std::uint64_t v, const AliasSlotsOf* slots_of);

  HostArray<CodedRow> rows_;
  Buffer<CodedRow> device_rows_;  ///< rows in a GPU's memory
  HostArray<std::uint32_t> words_;
  HostArray<std::uint64_t> thresholds_;
  std::vector<PageLock> locks_;
};

/// Coded lists of a graph; each part is made when first needed.
struct CodedSet {
  std::optional<CodedSizes> sizes;
  std::optional<CodedGraph> graph;
};

/// True if a run that reads single list entries should have `columns` coded: fewer bytes pay over a link,
/// while the host backend would only decode. Throws UsageError if `layout` asks for the impossible.
bool should_code(const Device& device, const Graph& graph, Layout layout, const PageColumns& columns,
                 CodedSet& set);

}  // namespace sluice
