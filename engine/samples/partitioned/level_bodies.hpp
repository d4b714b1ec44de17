// Bodies for single entries of a depth on a graph in partitions; either executor runs them.
#pragma once

#include <cstdint>

#include "engine/core/macros.hpp"
#include "engine/graph/graph_view.hpp"
#include "engine/samples/level.hpp"

namespace sluice::samples {

/// The vertex whose list an entry waits for. If `offsets` is null, every entry with a list that is not empty
/// waits; otherwise every entry that selects edges.
struct EntryWaits {
  GraphView graph;
  const FrontierEntry* frontier;
  const std::uint64_t* offsets;

  SLUICE_HD Vertex operator()(std::uint64_t at) const {
    const Vertex v = frontier[at].vertex;
    const bool waits = offsets ? offsets[at + 1] > offsets[at] : graph.degree(v) > 0;
    return waits ? v : kNoVertex;
  }
};

/// Copies the entries of a level that `order` lists.
struct TakeEntries {
  const std::uint32_t* order;
  const FrontierEntry* from;
  const Vertex* from_parents;
  FrontierEntry* to;
  Vertex* to_parents;  ///< null: parents are not copied

  template <class Lane>
  SLUICE_HD void operator()(std::uint64_t i, Lane&) const {
    to[i] = from[order[i]];
    if (to_parents) to_parents[i] = from_parents[order[i]];
  }
};

/// Renumbers the instances of another rank's entries, relative to all ranks that are worked on together.
struct ShiftInstances {
  FrontierEntry* frontier;
  std::uint32_t shift;

  template <class Lane>
  SLUICE_HD void operator()(std::uint64_t at, Lane&) const {
    frontier[at].instance += shift;
  }
};

/// Computes the number of edges of each entry from the offsets.
struct EntrySizes {
  const std::uint64_t* offsets;
  std::uint32_t* sizes;

  template <class Lane>
  SLUICE_HD void operator()(std::uint64_t at, Lane&) const {
    sizes[at] = static_cast<std::uint32_t>(offsets[at + 1] - offsets[at]);
  }
};

/// Writes received sizes to their entries, and to `begins` in the order in which their edges arrive. The
/// lane's minimum is the complement of the largest size.
struct PlaceSizes {
  const std::uint32_t *sizes, *order;
  std::uint64_t *offsets, *begins;

  template <class Lane>
  SLUICE_HD void operator()(std::uint64_t i, Lane& lane) const {
    offsets[order[i]] = begins[i] = sizes[i];
    lane.lowest(~static_cast<unsigned long long>(sizes[i]));
  }
};

/// The edge columns of a level; a column that the level does not have is null.
struct EdgeColumns {
  std::uint32_t* indices;
  Vertex *targets, *arrivals;
  std::uint32_t* owners;

  explicit EdgeColumns(const SampleLevel& level)
      : indices(level.indices.data()),
        targets(level.targets.data()),
        arrivals(level.arrivals.data()),
        owners(level.owners.data()) {}
};

/// Copies received edges, those of packed entry i from begins[i] on, to their places in the level.
struct PlaceEdges {
  const std::uint32_t* order;  ///< the level's entry of each packed entry
  const std::uint64_t *begins, *offsets;
  EdgeColumns came, level;

  template <class Group, class Counters>
  SLUICE_HD bool operator()(const Group& group, std::uint64_t i, Counters&) const {
    const std::uint64_t from = begins[i], size = begins[i + 1] - from, to = offsets[order[i]];
    if (Group::kSize == 32 && size > GraphView::kHubDegree) return false;
    for (std::uint64_t k = group.rank(); k < size; k += Group::kSize) {
      level.indices[to + k] = came.indices[from + k];
      level.targets[to + k] = came.targets[from + k];
      if (came.arrivals) level.arrivals[to + k] = came.arrivals[from + k];
      if (level.owners) level.owners[to + k] = order[i];
    }
    return true;
  }
};

}  // namespace sluice::samples
