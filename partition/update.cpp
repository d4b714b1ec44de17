#include "partition/update.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <string>

#include "engine/core/error.hpp"
#include "partition/radix_sort.hpp"
#include "partition/row_edits.hpp"

namespace sluice {
namespace {

using Ends = EdgeRecord<false, false>;

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

template <class Record>
void sort(std::vector<Record>& records, unsigned threads) {
  std::vector<Record> spare(records.size());
  sort_records(std::span(records), std::span(spare), threads);
}

/// The edges as they are stored, sorted; those that `keep` refuses are left out.
template <class Record, class Keep>
std::vector<Record> stored_records(const EdgeColumns& edges, bool undirected, unsigned threads, Keep keep) {
  std::vector<Record> records;
  records.reserve(edges.size() * (undirected ? 2 : 1));
  for (std::size_t i = 0; i < edges.size(); ++i) {
    const Record record = record_of<Record>(edges, i);
    if (!keep(record)) continue;
    records.push_back(record);
    if (undirected && record.source() != record.target()) records.push_back(reversed(record));
  }
  sort(records, threads);
  return records;
}

template <class Record>
Csr rewrite_rows(const Csr& old, std::uint64_t vertices, std::span<const RowEdit> edits,
                 const std::vector<Record>& insertions, unsigned threads) {
  Csr rows;
  rows.offsets = rewrite_offsets(old.offsets, vertices, edits, threads);
  rows.targets = rewrite_column(
      old.targets, edits, [&](std::uint64_t i) { return insertions[i].target(); }, "targets", threads);
  if constexpr (Record::kWeighted) {
    rows.weights = rewrite_column(
        old.weights, edits, [&](std::uint64_t i) { return insertions[i].weight(); }, "weights", threads);
  }
  if constexpr (Record::kTimed) {
    rows.times = rewrite_column(
        old.times, edits, [&](std::uint64_t i) { return insertions[i].time(); }, "times", threads);
  }
  return rows;
}

/// The same changes as the in-lists see them.
template <class Record>
Csr rewrite_in_rows(const Csr& old, std::uint64_t vertices, std::span<const RowEdit> out_edits,
                    const std::vector<Record>& out_insertions, unsigned threads) {
  std::vector<Record> insertions;
  std::vector<Ends> deletions;
  for (const RowEdit& edit : out_edits) {
    for (std::uint64_t i = 0; i < edit.inserted; ++i) {
      insertions.push_back(reversed(out_insertions[edit.first + i]));
    }
    if (edit.removed == 0) continue;
    deletions.emplace_back().set_ends(edit.target, edit.source);
  }
  sort(insertions, threads);
  sort(deletions, threads);
  const RowEdits found =
      find_edits(old, std::span<const Record>(insertions), std::span<const Ends>(deletions), false, threads);
  return rewrite_rows(old, vertices, found.edits.span(), insertions, threads);
}

void check_weights(const EdgeColumns& edges) {
  const bool good = std::all_of(edges.weight.begin(), edges.weight.end(),
                                [](float weight) { return std::isfinite(weight) && weight >= 0; });
  if (!good) throw InputError("the edges to insert: a weight is negative or not finite");
}

/// How many vertices there are once the edges are in.
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

HostArray<std::int64_t> append_ids(const HostArray<std::int64_t>& old,
                                   const std::vector<std::int64_t>& added) {
  HostArray<std::int64_t> ids(old.size() + added.size(), "original ids");
  std::copy(old.begin(), old.end(), ids.begin());
  std::copy(added.begin(), added.end(), ids.begin() + old.size());
  return ids;
}

/// Changes, and how many edges came and went.
void report_changes(std::span<const RowEdit> edits, bool undirected, unsigned threads, UpdateResult& result) {
  constexpr std::uint64_t kEditsAtOnce = 1u << 14;
  result.changes.resize(edits.size());
  std::atomic<std::uint64_t> inserted{0}, deleted{0};
  parallel_blocks(threads, edits.size(), kEditsAtOnce, [&](std::uint64_t begin, std::uint64_t end, unsigned) {
    std::uint64_t came = 0, went = 0;
    for (std::uint64_t i = begin; i < end; ++i) {
      const RowEdit& edit = edits[i];
      result.changes[i] = {edit.source, edit.target, static_cast<std::uint32_t>(edit.removed),
                           static_cast<std::uint32_t>(edit.inserted)};
      if (!rows::counts(undirected, edit.source, edit.target)) continue;
      came += edit.inserted, went += edit.removed;
    }
    inserted += came, deleted += went;
  });
  result.counts.inserted = inserted;
  result.counts.deleted = deleted;
}

template <class Record>
UpdateResult update(Graph graph, const UpdateBatch& batch, std::uint64_t vertices, unsigned threads) {
  const bool undirected = !graph.directed;
  const std::uint64_t old_vertices = graph.vertices();
  std::uint64_t unknown = 0;  // deletions that name no vertex of the graph
  const auto insertions =
      stored_records<Record>(batch.insertions, undirected, threads, [](const Record&) { return true; });
  const auto deletions = stored_records<Ends>(batch.deletions, undirected, threads, [&](const Ends& edge) {
    const bool known = edge.source() < old_vertices && edge.target() < old_vertices;
    unknown += !known;
    return known;
  });
  const RowEdits found = find_edits(graph.out, std::span<const Record>(insertions),
                                    std::span<const Ends>(deletions), undirected, threads);
  UpdateResult result;
  result.counts.present = found.present;
  result.counts.missing = found.missing + unknown;
  result.counts.new_vertices = vertices - old_vertices;
  report_changes(found.edits.span(), undirected, threads, result);
  result.graph = std::move(graph);
  Graph& changed = result.graph;
  if (found.edits.empty() && vertices == old_vertices) return result;
  changed.checksum = 0;
  // One direction after the other, so that old and new lists are side by side for one of them only.
  changed.out = rewrite_rows(changed.out, vertices, found.edits.span(), insertions, threads);
  if (!changed.in.offsets.empty()) {
    changed.in = rewrite_in_rows(changed.in, vertices, found.edits.span(), insertions, threads);
  }
  if (!changed.original_ids.empty()) changed.original_ids = append_ids(changed.original_ids, batch.new_ids);
  return result;
}

}  // namespace

UpdateResult update_graph(Graph graph, const UpdateBatch& batch, unsigned threads) {
  if (graph.edges_elsewhere) {
    throw BudgetError("a graph whose edges stay in their file cannot be updated (raise --host-memory)");
  }
  const bool timed = !graph.out.times.empty();
  if (graph.weighted) check_weights(batch.insertions);
  const std::uint64_t vertices = vertices_with(batch.insertions, graph.vertices());
  if (!graph.original_ids.empty() && batch.new_ids.size() != vertices - graph.vertices()) {
    throw InputError("the edges to insert: the graph keeps original ids, and not every new vertex has one");
  }
  return with_record_type(graph.weighted, timed, [&]<class Record>() {
    return update<Record>(std::move(graph), batch, vertices, std::max(threads, 1u));
  });
}

}  // namespace sluice
