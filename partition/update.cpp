#include "partition/update.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <string>

#include "engine/core/charged_vector.hpp"
#include "engine/core/error.hpp"
#include "partition/radix_sort.hpp"
#include "partition/row_edits.hpp"
#include "partition/updated_edges.hpp"

namespace sluice {
namespace {

using PlainRecord = EdgeRecord<false, false>;

template <class Record>
Record record_of(const EdgeColumns& edges, std::size_t i) {
  Record record;
  record.set_ends(edges.source[i], edges.target[i]);
  if constexpr (Record::kWeighted) record.set_weight(edges.weight[i]);
  if constexpr (Record::kTimed) record.set_time(edges.time[i]);
  return record;
}

template <class Record>
Record reversed(Record record) {
  record.set_ends(record.target(), record.source());
  return record;
}

constexpr const char* kRecords = "the batch in order";

template <class Record>
void sort(ChargedVector<Record>& records, unsigned threads) {
  HostArray<Record> spare(records.size(), kRecords);
  sort_records(std::span(records), spare.span(), threads);
}

/// The edges as they are stored, sorted, without those that accept() rejects.
template <class Record, class Accept>
ChargedVector<Record> stored_records(const EdgeColumns& edges, bool undirected, unsigned threads,
                                     Accept accept) {
  ChargedVector<Record> records{ChargedAllocator<Record>(kRecords)};
  records.reserve(edges.size() * (undirected ? 2 : 1));
  for (std::size_t i = 0; i < edges.size(); ++i) {
    const Record record = record_of<Record>(edges, i);
    if (!accept(record)) continue;
    records.push_back(record);
    if (undirected && record.source() != record.target()) records.push_back(reversed(record));
  }
  sort(records, threads);
  return records;
}

template <class T, class Record, class Value>
HostArray<T> column_of(const ChargedVector<Record>& records, Value&& value) {
  HostArray<T> column(records.size(), "inserted edges");
  std::transform(records.begin(), records.end(), column.begin(), value);
  return column;
}

/// One direction of a graph: its lists, and the source of its edges if these are not in memory.
struct Direction {
  Csr& rows;
  std::shared_ptr<const EdgeSource>& edge_source;

  ListReader reader(unsigned threads) const { return {rows.view(), edge_source.get(), false, threads}; }
};

/// Applies the edits to one direction. Edges in a file stay there, and are changed as they are read.
template <class Record>
void rewrite(const Direction& direction, std::uint64_t vertices, HostArray<RowEdit> edits,
             const ChargedVector<Record>& insertions, unsigned threads, HostMemory* memory) {
  Csr& rows = direction.rows;
  rows.offsets = rewrite_offsets(rows.offsets, vertices, edits.span(), threads);
  const auto target = [](const Record& record) { return record.target(); };
  const auto weight = [](const Record& record) { return record.weight(); };
  const auto time = [](const Record& record) { return record.time(); };
  if (direction.edge_source) {
    InsertedEdges inserted;
    inserted.targets = column_of<Vertex>(insertions, target);
    if constexpr (Record::kWeighted) inserted.weights = column_of<float>(insertions, weight);
    if constexpr (Record::kTimed) inserted.times = column_of<std::int64_t>(insertions, time);
    direction.edge_source =
        std::make_shared<UpdatedEdges>(direction.edge_source, std::move(edits), std::move(inserted));
    return;
  }
  const auto rewrite_values = [&](auto& column, auto value, const char* purpose) {
    column = rewrite_column(
        column, edits.span(), [&](std::uint64_t i) { return value(insertions[i]); }, purpose, threads,
        memory);
  };
  rewrite_values(rows.targets, target, "targets");
  if constexpr (Record::kWeighted) rewrite_values(rows.weights, weight, "weights");
  if constexpr (Record::kTimed) rewrite_values(rows.times, time, "times");
}

/// Applies the same changes to the in-edges.
template <class Record>
void rewrite_in(const Direction& in, std::uint64_t vertices, std::span<const RowEdit> out_edits,
                const ChargedVector<Record>& out_insertions, unsigned threads, HostMemory* memory) {
  ChargedVector<Record> insertions{ChargedAllocator<Record>(kRecords)};
  ChargedVector<PlainRecord> deletions{ChargedAllocator<PlainRecord>(kRecords)};
  std::uint64_t inserted = 0, removed = 0;
  for (const RowEdit& edit : out_edits) inserted += edit.inserted, removed += edit.removed != 0;
  insertions.reserve(inserted), deletions.reserve(removed);
  for (const RowEdit& edit : out_edits) {
    for (std::uint64_t i = 0; i < edit.inserted; ++i) {
      insertions.push_back(reversed(out_insertions[edit.first + i]));
    }
    if (edit.removed == 0) continue;
    deletions.emplace_back().set_ends(edit.target, edit.source);
  }
  sort(insertions, threads);
  sort(deletions, threads);
  RowEdits found = find_edits(in.reader(threads), std::span<const Record>(insertions),
                              std::span<const PlainRecord>(deletions), false, threads);
  rewrite(in, vertices, std::move(found.edits), insertions, threads, memory);
}

void check_weights(const EdgeColumns& edges) {
  const bool valid = std::all_of(edges.weight.begin(), edges.weight.end(),
                                 [](float weight) { return std::isfinite(weight) && weight >= 0; });
  if (!valid) throw InputError("the edges to insert: a weight is negative or not finite");
}

HostArray<std::int64_t> append_ids(const HostArray<std::int64_t>& old,
                                   const std::vector<std::int64_t>& added) {
  HostArray<std::int64_t> ids(old.size() + added.size(), "original ids");
  std::copy(old.begin(), old.end(), ids.begin());
  std::copy(added.begin(), added.end(), ids.begin() + old.size());
  return ids;
}

/// Lists the changes one by one, and counts inserted and deleted edges.
ChargedVector<EdgeChange> list_changes(std::span<const RowEdit> edits, bool undirected, unsigned threads,
                                       UpdateCounts& counts) {
  constexpr std::uint64_t kEditsAtOnce = 1u << 14;
  ChargedVector<EdgeChange> changes(edits.size(), ChargedAllocator<EdgeChange>("what a batch changed"));
  std::atomic<std::uint64_t> inserted{0}, deleted{0};
  parallel_blocks(threads, edits.size(), kEditsAtOnce, [&](std::uint64_t begin, std::uint64_t end, unsigned) {
    std::uint64_t block_inserted = 0, block_deleted = 0;
    for (std::uint64_t i = begin; i < end; ++i) {
      const RowEdit& edit = edits[i];
      changes[i] = {edit.source, edit.target, static_cast<std::uint32_t>(edit.removed),
                    static_cast<std::uint32_t>(edit.inserted)};
      if (!rows::is_counted(undirected, edit.source, edit.target)) continue;
      block_inserted += edit.inserted, block_deleted += edit.removed;
    }
    inserted += block_inserted, deleted += block_deleted;
  });
  counts.inserted = inserted;
  counts.deleted = deleted;
  return changes;
}

template <class Record>
PackedChanges packed_changes(std::span<const RowEdit> edits, const ChargedVector<Record>& insertions,
                             unsigned threads, HostMemory* packed_memory) {
  PackedChanges packed = pack_changes(edits, threads, packed_memory);
  if constexpr (Record::kWeighted) {
    std::uint64_t inserted = 0;
    for (const RowEdit& edit : edits) inserted += edit.inserted;
    packed.weights = make_host_array<float>(packed_memory, inserted, "weights of changes");
    float* next = packed.weights.data();
    for (const RowEdit& edit : edits) {
      for (std::uint64_t i = 0; i < edit.inserted; ++i) *next++ = insertions[edit.first + i].weight();
    }
  }
  return packed;
}

template <class Record>
UpdateResult update(Graph graph, const UpdateBatch& batch, std::uint64_t vertices, unsigned threads,
                    HostMemory* memory, HostMemory* packed_memory) {
  const bool undirected = !graph.directed;
  const std::uint64_t old_vertices = graph.vertices();
  std::uint64_t unknown = 0;  // deletions with an id that is no vertex of the graph
  const auto insertions =
      stored_records<Record>(batch.insertions, undirected, threads, [](const Record&) { return true; });
  const auto deletions =
      stored_records<PlainRecord>(batch.deletions, undirected, threads, [&](const PlainRecord& edge) {
        const bool known = edge.source() < old_vertices && edge.target() < old_vertices;
        unknown += !known;
        return known;
      });
  UpdateResult result;
  result.graph = std::move(graph);
  Graph& changed = result.graph;
  const Direction out{changed.out, changed.edge_source}, in{changed.in, changed.in_edge_source};
  RowEdits found = find_edits(out.reader(threads), std::span<const Record>(insertions),
                              std::span<const PlainRecord>(deletions), undirected, threads);
  result.counts.present = found.present;
  result.counts.missing = found.missing + unknown;
  result.counts.new_vertices = vertices - old_vertices;
  const std::span<const RowEdit> edits = found.edits.span();
  ChargedVector<EdgeChange> changes = list_changes(edits, undirected, threads, result.counts);
  result.changes = {std::move(changes), packed_changes(edits, insertions, threads, packed_memory)};
  if (found.edits.empty() && vertices == old_vertices) return result;
  changed.checksum = 0;
  // One direction after the other, so that only one of them has old and new lists at the same time.
  if (!changed.in.offsets.empty()) rewrite_in(in, vertices, found.edits.span(), insertions, threads, memory);
  rewrite(out, vertices, std::move(found.edits), insertions, threads, memory);
  if (!changed.original_ids.empty()) changed.original_ids = append_ids(changed.original_ids, batch.new_ids);
  return result;
}

}  // namespace

std::uint64_t vertices_with(const EdgeColumns& insertions, std::uint64_t vertices) {
  for (const auto* ends : {&insertions.source, &insertions.target}) {
    for (const Vertex v : *ends) vertices = std::max<std::uint64_t>(vertices, std::uint64_t{v} + 1);
  }
  if (vertices > kMaxVertices) {
    throw InputError("the edges to insert: id " + std::to_string(vertices - 1) +
                     " is more than a graph can have");
  }
  return vertices;
}

UpdateResult update_graph(Graph graph, const UpdateBatch& batch, unsigned threads, HostMemory* memory,
                          HostMemory* packed_memory) {
  const bool timed = graph.timed();
  if (graph.weighted) check_weights(batch.insertions);
  const std::uint64_t vertices = vertices_with(batch.insertions, graph.vertices());
  if (!graph.original_ids.empty() && batch.new_ids.size() != vertices - graph.vertices()) {
    throw InputError("the edges to insert: the graph keeps original ids, and not every new vertex has one");
  }
  return with_record_type(graph.weighted, timed, [&]<class Record>() {
    return update<Record>(std::move(graph), batch, vertices, std::max(threads, 1u), memory, packed_memory);
  });
}

UpdateSize size_of_update(const Graph& graph, std::uint64_t lines, std::uint64_t vertices) {
  constexpr std::uint64_t kPackedBytes = 12;  // of a change that is far from the next one
  const std::uint64_t weight = graph.weighted ? sizeof(float) : 0,
                      time = graph.timed() ? sizeof(std::int64_t) : 0, values = weight + time,
                      stored = lines * (graph.directed ? 1 : 2), directions = graph.directed ? 2 : 1;
  // Bytes of records, edits and changes. Edits exist twice while they are found, and records while sorted.
  const std::uint64_t records = stored * (sizeof(PlainRecord) + values), edits = stored * sizeof(RowEdit),
                      changes = stored * (sizeof(EdgeChange) + kPackedBytes + weight),
                      offsets = (vertices + 1) * sizeof(EdgeIndex),
                      column = (graph.edges() + stored) * std::max<std::uint64_t>(sizeof(Vertex), time);
  const bool in_file = graph.edge_source != nullptr;
  const std::uint64_t inserted = stored * (sizeof(Vertex) + values) + (in_file ? edits : 0),
                      added = (vertices - graph.vertices()) * sizeof(EdgeIndex),
                      kept = changes + directions * (inserted + added),
                      rewriting = edits + directions * added + (directions - 1) * inserted +
                                  std::max(offsets, in_file ? inserted : column + inserted);
  // Columns that processes share become private to each process.
  std::uint64_t shared = 0;
  const auto add = [&](const auto& array) { shared += array.bytes() - array.charged(); };
  for (const Csr* rows : {&graph.out, &graph.in})
    add(rows->offsets), add(rows->targets), add(rows->weights), add(rows->times);
  const std::uint64_t peak = std::max({records, 2 * edits, rewriting + shared});
  return {vertices, stored, changes + directions * records + (directions - 1) * edits + peak, kept + shared};
}

}  // namespace sluice
