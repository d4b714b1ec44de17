// A batch of `node` samples on a graph in partitions, and what is done of it by one group: drawing,
// measuring, writing, counting.
#pragma once

#include <cstdint>

#include "engine/graph/graph_view.hpp"
#include "engine/samples/one_pass/step.hpp"
#include "engine/samples/partitioned/items.hpp"
#include "engine/samples/partitioned/sample_origins.hpp"

namespace sluice {

/// A batch as its work sees it; item i is drawn vertex i % count of instance i / count.
struct PagedNodeBatch {
  OnePassProgram program;
  std::uint64_t* values;   ///< [items] drawn vertices
  std::uint64_t* sets;     ///< [instances * capacity]
  std::uint64_t* offsets;  ///< [items + 1] first counts, then edges before a vertex's
  Edge* edges;
  std::uint64_t own_begin, own_end;  ///< vertices whose lists are this rank's
  bool hubs_to_blocks;               ///< a warp leaves long lists to a block

  struct Draw;
  struct Waits;
  struct Measure;
  struct Write;
  struct Count;

  /// The edges of an item to drawn vertices. False: its list is left to a block.
  template <class Group, class Emit>
  SLUICE_HD bool induced(const Group& group, const PageItems& present, std::uint64_t item,
                         std::uint64_t& size, PickCounters& counters, Emit&& emit) const {
    const auto v = static_cast<Vertex>(values[item]);
    if (Group::kSize <= 32 && hubs_to_blocks && program.graph.degree(v) > GraphView::kHubDegree) return false;
    OnePassProgram local = program;
    local.graph = present.of(program.graph);
    present.note(group, std::uint64_t{program.graph.degree(v)} * kTargetBytes, counters);
    size = local.induced(group, v, sets + item / program.count * program.capacity, emit);
    return true;
  }
};

struct PagedNodeBatch::Draw {
  PagedNodeBatch batch;
  OriginBatch origin;
  std::uint64_t begin;  ///< instances of the batch before the origin rank's

  template <class Group>
  SLUICE_HD bool operator()(const Group& group, std::uint64_t instance, PickCounters&) const {
    const OnePassProgram& program = batch.program;
    const std::uint64_t at = begin + instance;
    program.draw(group, origin.first + instance, batch.values + at * program.count,
                 batch.sets + at * program.capacity);
    std::uint64_t* const offsets = batch.offsets + at * program.count;
    for (std::uint64_t i = group.rank(); i < program.count; i += Group::kSize) offsets[i] = 0;
    return true;
  }
};

struct PagedNodeBatch::Waits {
  PagedNodeBatch batch;
  bool measured;

  SLUICE_HD Vertex operator()(std::uint64_t item) const {
    const auto v = static_cast<Vertex>(batch.values[item]);
    const bool own = v >= batch.own_begin && v < batch.own_end;
    const bool waits =
        measured ? batch.offsets[item + 1] > batch.offsets[item] : own && batch.program.graph.degree(v) > 0;
    return waits ? v : kNoVertex;
  }
};

struct PagedNodeBatch::Measure {
  PagedNodeBatch batch;

  template <class Group>
  SLUICE_HD bool operator()(const Group& group, const PageItems& present, std::uint64_t k,
                            PickCounters& counters) const {
    const std::uint64_t item = present.item(k);
    std::uint64_t size = 0;
    if (!batch.induced(group, present, item, size, counters, [](std::uint64_t, const Edge&) {})) return false;
    if (group.rank() == 0) batch.offsets[item] = size;
    return true;
  }
};

struct PagedNodeBatch::Write {
  PagedNodeBatch batch;

  template <class Group>
  SLUICE_HD bool operator()(const Group& group, const PageItems& present, std::uint64_t k,
                            PickCounters& counters) const {
    const std::uint64_t item = present.item(k);
    Edge* const to = batch.edges + batch.offsets[item];
    std::uint64_t size = 0;
    return batch.induced(group, present, item, size, counters,
                         [&](std::uint64_t i, const Edge& edge) { to[i] = edge; });
  }
};

/// The edges of an instance.
struct PagedNodeBatch::Count {
  const std::uint64_t* offsets;  ///< [items + 1]
  std::uint64_t each;            ///< items of an instance
  std::uint64_t* counts;

  template <class Group>
  SLUICE_HD bool operator()(const Group& group, std::uint64_t instance, PickCounters&) const {
    if (group.rank() == 0) counts[instance] = offsets[(instance + 1) * each] - offsets[instance * each];
    return true;
  }
};

}  // namespace sluice
