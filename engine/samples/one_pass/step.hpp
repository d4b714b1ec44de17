// One-pass samples: distinct vertices or edges, drawn uniformly, one group per instance.
#pragma once

#include <cstdint>

#include "engine/core/macros.hpp"
#include "engine/core/search.hpp"
#include "engine/exec/group.hpp"
#include "engine/exec/group_sort.hpp"
#include "engine/graph/graph_view.hpp"
#include "engine/random/streams.hpp"
#include "engine/random/uniform.hpp"
#include "engine/select/group_set.hpp"

namespace sluice::samples {

struct OnePassProgram {
  GraphView graph;
  std::uint64_t seed = 1;
  std::uint64_t count = 0;     ///< C, at most `universe`
  std::uint64_t universe = 0;  ///< vertices or edges to draw from
  std::uint64_t capacity = 0;  ///< of the set: set_capacity(count)

  /// Writes the first C distinct values of the instance's draw sequence to values[count], ascending. `slots`
  /// is memory of a set of `capacity`, which contains them afterwards. In the random counter, the index of
  /// the draw takes the place of the vertex.
  template <class Group>
  SLUICE_HD void draw(const Group& group, Instance instance, std::uint64_t* values,
                      std::uint64_t* slots) const {
    const GroupSet<std::uint64_t> set{slots, capacity};
    set.clear(group);
    std::uint64_t length = 0;
    for (std::uint64_t base = 0; length < count; base += Group::kSize) {
      const SampleDraws draws{seed, base + group.rank(), instance};
      const std::uint64_t value = uniform_index(draws.block(Stream::one_pass).low(), universe);
      const bool is_new = !group.equals_lower(value) && !set.has(value);
      const std::uint32_t rank = group.inclusive_scan(is_new ? 1u : 0u);
      group.sync();
      if (is_new && length + rank <= count) {
        set.insert(value);
        values[length + rank - 1] = value;
      }
      group.sync();
      length += group.broadcast(rank, Group::kSize - 1);
    }
    group_sort(group, values, count);
  }

  /// `node`: calls emit(order, edge) for every edge of `v` to a drawn vertex, in order of position; returns
  /// their number.
  template <class Group, class Emit>
  SLUICE_HD std::uint64_t induced(const Group& group, Vertex v, std::uint64_t* slots, Emit&& emit) const {
    const GroupSet<std::uint64_t> set{slots, capacity};
    const Row row = graph.row(v);
    Vertex target = kNoVertex;
    const auto inside = [&](std::uint32_t i) { return set.has(target = graph.target(row.offset + i)); };
    return compact_in_order(group, row.degree, inside, [&](std::uint32_t order, std::uint32_t i) {
      emit(order, Edge{v, target, row.offset + i});
    });
  }

  /// The vertex whose list contains the edge at a position.
  SLUICE_HD Vertex source_of(EdgeIndex position) const {
    const auto begins = [&](std::uint64_t v) { return graph.csr.offsets[v] <= position; };
    return static_cast<Vertex>(count_while(graph.vertices(), begins) - 1);
  }
};

}  // namespace sluice::samples
