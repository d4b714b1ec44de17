// The lists of a whole graph in fewer bits, in host memory, from which partitions are brought to the device.
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

/// How many words the lists' codes take, and alias slots beside them, from degrees alone; keeps the view.
class CodedSizes {
 public:
  /// `targets`: what is in lists is below it; 0: below the number of lists.
  CodedSizes(const CsrView& lists, unsigned threads, bool slots, std::uint64_t targets = 0);

  /// Of all lists.
  EdgeIndex words() const { return before_.back(); }
  /// Is no list too long, and every beginning below 2^32?
  bool codable() const { return codable_; }
  bool slots() const { return slots_; }
  std::uint64_t targets() const { return targets_; }
  /// Of all lists, and of their rows.
  std::uint64_t word_bytes() const { return words() * sizeof(std::uint32_t); }
  std::uint64_t row_bytes() const { return (lists_.vertices + 1) * sizeof(CodedRow); }
  /// Do codes take fewer bytes than lists of so many an edge? Short lists gain nothing: each ends with a
  /// word.
  bool pay(std::uint64_t edge_bytes) const { return word_bytes() < lists_.edges * edge_bytes / 8 * 7; }
  /// [vertices + 1] where each list's code begins, in words.
  HostArray<EdgeIndex> offsets() const;
  /// [vertices + 1], the last of them where the words end.
  void fill(CodedRow* rows) const;

 private:
  static constexpr std::uint64_t kBlock = 1u << 14;

  EdgeIndex words_of(std::uint64_t v) const;
  template <class Put>
  void for_each_begin(const Put& put) const;

  CsrView lists_;
  std::uint64_t targets_;
  unsigned threads_;
  bool slots_;
  bool codable_ = false;
  std::vector<EdgeIndex> before_;  ///< [blocks of vertices + 1] words before each
};

/// What partitions are cut from: lists as they are, or their codes in words. Keeps the view.
class CutLists {
 public:
  CutLists(const CsrView& lists, const PageColumns& columns, unsigned threads);

  std::span<const EdgeIndex> offsets() const { return offsets_; }
  const PartitionBytes& bytes() const { return bytes_; }
  /// Of all lists.
  std::uint64_t sum() const {
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
  /// Codes all lists, and the slots of each behind it where `sizes` counts them; page-locked where the device
  /// is a GPU, which has the rows in its own memory. Nothing where a list is not sorted, is too long, or
  /// memory cannot hold the codes.
  static std::optional<CodedGraph> of(const Device& device, const CsrView& lists, const CodedSizes& sizes,
                                      const AliasSlotsOf* slots);

  /// [vertices + 1], the last of them where the words end.
  const CodedRow* rows() const { return rows_.data(); }
  std::span<const std::uint32_t> words_of(std::uint64_t begin, std::uint64_t end) const {
    return words_.span().subspan(rows()[begin].begin, rows()[end].begin - rows()[begin].begin);
  }
  /// As the device reads all of them: words in host memory.
  CodedLists lists() const { return {there_.empty() ? rows() : there_.data(), words_.data()}; }
  /// [edges] of the slots, whole
  const std::uint64_t* thresholds() const { return thresholds_.data(); }
  std::uint64_t bytes() const { return rows_.bytes() + words_.bytes() + thresholds_.bytes(); }

 private:
  bool write(const CsrView& lists, const CodedSizes& sizes, std::uint64_t v, const AliasSlotsOf* slots_of);

  HostArray<CodedRow> rows_;
  Buffer<CodedRow> there_;  ///< rows in a GPU's memory
  HostArray<std::uint32_t> words_;
  HostArray<std::uint64_t> thresholds_;
  std::vector<PageLock> locks_;
};

/// Lists of a graph in fewer bits, each part made when it is first asked for.
struct CodedSet {
  std::optional<CodedSizes> sizes;
  std::optional<CodedGraph> graph;
};

/// Would a run that reads no list itself have `columns` of them coded? Where partitions cross a link fewer
/// bytes pay; the host backend would only decode. Throws UsageError where `layout` asks for what cannot be.
bool wants_codes(const Device& device, const Graph& graph, Layout layout, const PageColumns& columns,
                 CodedSet& set);

}  // namespace sluice
