// Between the graph file's ids and those the user speaks: the same, or with --original-ids the input's own.
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
  /// Keeps a reference to the graph. Without stored original ids both kinds are the same.
  IdMap(const Graph& graph, bool original);

  /// The engine's id of what the user wrote, if the graph has such a vertex.
  std::optional<Vertex> to_internal(std::int64_t id) const;
  /// What the user reads; kNoVertex is -1.
  std::int64_t to_external(Vertex vertex) const {
    if (vertex == kNoVertex) return -1;
    return original_.empty() ? static_cast<std::int64_t>(vertex) : original_[vertex];
  }
  /// What it takes of host memory.
  std::uint64_t bytes() const { return by_id_.bytes(); }
  /// True where external ids are not the engine's.
  bool translates() const { return !original_.empty(); }
  /// True where ids are written as i64: original ids, or more vertices than i32 can name.
  bool wide() const { return translates() || vertices_ > 0x7fffffffu; }

 private:
  std::uint64_t vertices_;
  std::span<const std::int64_t> original_;
  HostArray<Vertex> by_id_;  ///< vertices in order of original id, where that is not their own order
};

}  // namespace sluice::apps
