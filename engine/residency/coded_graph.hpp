// The lists of a whole graph in fewer bits, in host memory, from which partitions are brought to the device.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "engine/core/host_array.hpp"
#include "engine/core/types.hpp"
#include "engine/exec/buffer.hpp"
#include "engine/sampling/options.hpp"
#include "partition/graph.hpp"

namespace sluice {

/// [vertices + 1] where each list's code begins, in words. From degrees alone.
HostArray<EdgeIndex> coded_offsets(const CsrView& graph);

/// Would a run that reads no list itself have them coded? Where partitions cross a link fewer bytes pay; the
/// host backend would only decode. Throws UsageError where `layout` asks for what cannot be.
bool wants_codes(const Device& device, const Graph& graph, Layout layout);

class CodedGraph {
 public:
  /// Codes all lists, page-locked where the device is a GPU; nothing where a list is not sorted, is too long,
  /// or the host's memory has no room.
  static std::optional<CodedGraph> of(const Device& device, const CsrView& graph);

  /// [vertices + 1], where each list begins in words()
  const std::uint32_t* begins() const { return begins_.data(); }
  const std::uint32_t* words() const { return words_.data(); }
  std::uint64_t bytes() const { return begins_.bytes() + words_.bytes(); }

 private:
  Staging<std::uint32_t> begins_, words_;
};

}  // namespace sluice
