// The work on single entries of a depth on a graph in partitions that both backends share: the program that
// reads a partition, and bodies that either executor runs.
#pragma once

#include <cstdint>

#include "engine/core/macros.hpp"
#include "engine/graph/graph_view.hpp"
#include "engine/graph/partition_map.hpp"
#include "engine/graph/read_bytes.hpp"
#include "engine/samples/level.hpp"
#include "engine/samples/step.hpp"

namespace sluice::samples {

/// The program for vertices of one partition: it reads the partition's own edges and tables.
template <class Sampler>
SampleProgram<Sampler> on_page(SampleProgram<Sampler> program, const PageView& page) {
  program.graph.csr.targets = page.targets;
  program.graph.csr.weights = page.weights;
  program.coded = page.coded;
  program.tables.cumulative = page.cumulative;
  program.tables.thresholds = page.thresholds;
  program.tables.others = page.others;
  return program;
}

/// Bytes of a vertex's list that an entry reads to select `edges` edges.
template <class Sampler>
SLUICE_HD std::uint64_t read_bytes(const SampleProgram<Sampler>& program, Vertex v, std::uint64_t edges) {
  using Program = SampleProgram<Sampler>;
  const Row row = program.graph.row(v);
  const std::uint32_t weight = program.graph.csr.weights ? kWeightBytes : 0;
  const std::uint64_t targets = edges * (program.coded.words ? kCodedBytes : kTargetBytes);
  if (program.select == Select::rejection) return edges * weight + targets;
  if (Program::kDynamic) return row.degree * std::uint64_t{kTargetBytes + weight} + targets;
  const bool takes_all = !program.sampler.replacement() && edges == program.candidates(v, row);
  if (takes_all) return (program.tables.positive ? std::uint64_t{row.degree} * weight : 0) + targets;
  if (program.uniform) return targets;
  return edges * (program.select == Select::alias ? kAliasBytes : ctps_bytes(row.degree)) + targets;
}

/// The entries of a level that wait for lists. If `offsets` is null, every entry with a list that is not
/// empty waits; otherwise every entry that selects edges.
struct WaitingEntries {
  GraphView graph;
  const FrontierEntry* frontier;
  const std::uint64_t* offsets;

  SLUICE_HD Vertex awaited_vertex(std::uint64_t entry) const {
    const Vertex v = frontier[entry].vertex;
    const bool waits = offsets ? offsets[entry + 1] > offsets[entry] : graph.degree(v) > 0;
    return waits ? v : kNoVertex;
  }
};

/// Copies the entries of a level that `order` lists.
struct GatherEntries {
  const std::uint32_t* order;
  const FrontierEntry* source;
  const Vertex* source_parents;
  FrontierEntry* target;
  Vertex* target_parents;  ///< null: parents are not copied

  template <class Lane>
  SLUICE_HD void operator()(std::uint64_t i, Lane&) const {
    target[i] = source[order[i]];
    if (target_parents) target_parents[i] = source_parents[order[i]];
  }
};

/// Renumbers the instances of another rank's entries, relative to all ranks that are worked on together.
struct ShiftInstances {
  FrontierEntry* frontier;
  std::uint32_t shift;

  template <class Lane>
  SLUICE_HD void operator()(std::uint64_t entry, Lane&) const {
    frontier[entry].instance += shift;
  }
};

/// Computes the number of edges of each entry from the offsets.
struct EntrySizes {
  const std::uint64_t* offsets;
  std::uint32_t* sizes;

  template <class Lane>
  SLUICE_HD void operator()(std::uint64_t entry, Lane&) const {
    sizes[entry] = static_cast<std::uint32_t>(offsets[entry + 1] - offsets[entry]);
  }
};

/// Writes received sizes to their entries, and to `begins` in the order in which their edges arrive. The
/// lane's minimum is the complement of the largest size.
struct ScatterSizes {
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
struct ScatterEdges {
  const std::uint32_t* order;  ///< the level's entry of each packed entry
  const std::uint64_t *begins, *offsets;
  EdgeColumns received, level;

  template <class Group, class Counters>
  SLUICE_HD bool operator()(const Group& group, std::uint64_t i, Counters&) const {
    const std::uint64_t source = begins[i], size = begins[i + 1] - source, target = offsets[order[i]];
    if (Group::kSize == 32 && size > GraphView::kHubDegree) return false;
    for (std::uint64_t k = group.rank(); k < size; k += Group::kSize) {
      level.indices[target + k] = received.indices[source + k];
      level.targets[target + k] = received.targets[source + k];
      if (received.arrivals) level.arrivals[target + k] = received.arrivals[source + k];
      if (level.owners) level.owners[target + k] = order[i];
    }
    return true;
  }
};

}  // namespace sluice::samples
