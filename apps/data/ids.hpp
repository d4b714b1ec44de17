// Maps vertex ids of the graph file to external ids: the same, or with --original-ids those of the input.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "engine/core/host_array.hpp"
#include "engine/core/types.hpp"
#include "partition/graph.hpp"

namespace sluice::apps {

class IdMap {
 public:
  /// Keeps a reference to the graph. Without stored original ids, both kinds of ids are equal.
  IdMap(const Graph& graph, bool original);

  /// Returns the engine's id of a vertex; empty if the graph has no vertex with this external id.
  std::optional<Vertex> to_internal(std::int64_t id) const;
  /// Returns the external id; kNoVertex becomes -1.
  std::int64_t to_external(Vertex vertex) const {
    if (vertex == kNoVertex) return -1;
    return original_.empty() ? static_cast<std::int64_t>(vertex) : original_[vertex];
  }
  /// Host memory of the map, in bytes.
  std::uint64_t bytes() const { return by_id_.bytes(); }
  /// Do external ids differ from the engine's?
  bool translates() const { return !original_.empty(); }
  /// Are ids written as i64? True for original ids, and for more vertices than i32 can name.
  bool wide() const { return translates() || vertices_ > 0x7fffffffu; }

 private:
  std::uint64_t vertices_;
  std::span<const std::int64_t> original_;
  HostArray<Vertex> by_id_;  ///< vertices by original id; empty if in that order already
};

}  // namespace sluice::apps
