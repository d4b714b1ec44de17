// The lists of a whole graph in fewer bits, in host memory, from which partitions are brought to the device.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/core/host_array.hpp"
#include "engine/core/types.hpp"
#include "engine/exec/memory/buffer.hpp"
#include "engine/graph/layout.hpp"
#include "partition/graph.hpp"

namespace sluice {

/// How many words the lists' codes take, from degrees alone; keeps the view.
class CodedSizes {
 public:
  CodedSizes(const CsrView& graph, unsigned threads);

  /// Of all lists.
  EdgeIndex words() const { return before_.back(); }
  /// Is no list too long, and every beginning below 2^32?
  bool codable() const { return codable_; }
  /// [vertices + 1] where each list's code begins, in words.
  HostArray<EdgeIndex> offsets() const;
  template <class Word>
  void fill(Word* begins) const;

 private:
  static constexpr std::uint64_t kBlock = 1u << 14;

  EdgeIndex words_of(std::uint64_t v) const;

  CsrView graph_;
  unsigned threads_;
  bool codable_ = false;
  std::vector<EdgeIndex> before_;  ///< [blocks of vertices + 1] words before each
};

/// Would a run that reads no list itself have them coded? Where partitions cross a link fewer bytes pay; the
/// host backend would only decode. Throws UsageError where `layout` asks for what cannot be. `sizes` is made
/// if it is needed and not there.
bool wants_codes(const Device& device, const Graph& graph, Layout layout, std::optional<CodedSizes>& sizes);

class CodedGraph {
 public:
  /// Codes all lists, page-locked where the device is a GPU; nothing where a list is not sorted, is too long,
  /// or the host's memory cannot hold the codes.
  static std::optional<CodedGraph> of(const Device& device, const CsrView& graph, const CodedSizes& sizes);

  /// [vertices + 1], where each list begins in words()
  const std::uint32_t* begins() const { return begins_.data(); }
  const std::uint32_t* words() const { return words_.data(); }
  std::uint64_t bytes() const { return begins_.bytes() + words_.bytes(); }

 private:
  Staging<std::uint32_t> begins_, words_;
};

}  // namespace sluice
