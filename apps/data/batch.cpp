#include "apps/data/batch.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "apps/cli/console.hpp"
#include "engine/core/error.hpp"
#include "engine/core/memory_budget.hpp"
#include "io/edge_source.hpp"

namespace sluice::apps {

namespace {

/// Reads the edges of a file, in both directions if the format is undirected and the graph directed.
io::EdgeBatch read_edges(const std::string& file, const io::ReadOptions& options, bool directed) {
  io::EdgeBatch all, part;
  if (file.empty()) return all;
  const auto source = io::open_edge_file(file, options);
  const auto append = [](auto& to, const auto& from) { to.insert(to.end(), from.begin(), from.end()); };
  const auto append_part = [&] {
    append(all.source, part.source), append(all.target, part.target);
    append(all.weight, part.weight), append(all.time, part.time);
  };
  while (source->next(part)) {
    append_part();
    if (!directed || !source->info().undirected) continue;
    std::swap(part.source, part.target);
    append_part();
  }
  if (const std::string remark = source->remark(); !remark.empty())
    print_message(file + ": " + remark + '\n');
  return all;
}

/// Vertices that insertions add, by original id.
class NewVertices {
 public:
  NewVertices(const io::EdgeBatch& edges, const Graph& graph, const IdMap& ids) : first_(graph.vertices()) {
    if (!ids.translates()) return;
    for (const auto* ends : {&edges.source, &edges.target}) {
      for (const std::uint64_t id : *ends) {
        if (!ids.to_internal(static_cast<std::int64_t>(id))) ids_.push_back(static_cast<std::int64_t>(id));
      }
    }
    std::sort(ids_.begin(), ids_.end());
    ids_.erase(std::unique(ids_.begin(), ids_.end()), ids_.end());
  }

  Vertex vertex(std::int64_t id) const {
    const auto index = std::lower_bound(ids_.begin(), ids_.end(), id) - ids_.begin();
    return static_cast<Vertex>(first_ + static_cast<std::uint64_t>(index));
  }
  std::uint64_t end() const { return first_ + ids_.size(); }
  ChargedVector<std::int64_t>& ids() { return ids_; }

 private:
  std::uint64_t first_;
  ChargedVector<std::int64_t> ids_{ChargedAllocator<std::int64_t>("ids of new vertices")};
};

}  // namespace

ChargedBatch read_batch(const BatchFiles& files, const Graph& graph, const IdMap& ids, unsigned threads) {
  io::ReadOptions options;
  options.threads = threads;
  options.may_be_empty = true;
  io::EdgeBatch deletions = read_edges(files.remove, options, graph.directed);
  options.weights = graph.weighted ? io::WeightColumn::column : io::WeightColumn::none;
  options.timestamps = graph.timed();
  options.weight_remedy = "the graph is weighted, so every edge to insert needs a weight";
  options.time_remedy = "the graph has times, so every edge to insert needs one";
  io::EdgeBatch insertions = read_edges(files.insert, options, graph.directed);
  NewVertices added(insertions, graph, ids);
  if (added.end() > kMaxVertices) {
    throw InputError(fmt::format("{}: more vertices than a graph can have", files.insert));
  }
  const auto vertex_to_insert = [&](std::uint64_t id) {
    if (const auto known = ids.to_internal(static_cast<std::int64_t>(id))) return *known;
    if (ids.translates()) return added.vertex(static_cast<std::int64_t>(id));
    if (!graph.original_ids.empty()) {
      throw InputError(fmt::format(
          "{}: the graph has no vertex {}, and stores original ids (use --original-ids to add vertices)",
          files.insert, id));
    }
    if (id >= kMaxVertices) {
      throw InputError(fmt::format("{}: id {} is too large: a graph has at most {} vertices", files.insert,
                                   id, kMaxVertices));
    }
    return static_cast<Vertex>(id);
  };
  const auto vertex_to_delete = [&](std::uint64_t id) {
    return ids.to_internal(static_cast<std::int64_t>(id)).value_or(kNoVertex);
  };
  ChargedBatch batch;
  // Frees each column once it is converted, so that at most one exists twice.
  const auto move_column = [&]<class To, class From>(std::vector<To>& to, ChargedVector<From>& from,
                                                     const auto& value) {
    batch.charge.add(from.size() * sizeof(To));
    to.resize(from.size());
    std::transform(from.begin(), from.end(), to.begin(), value);
    from = {};
  };
  const auto unchanged = [](const auto& value) { return value; };
  move_column(batch.insertions.source, insertions.source, vertex_to_insert);
  move_column(batch.insertions.target, insertions.target, vertex_to_insert);
  move_column(batch.insertions.weight, insertions.weight, unchanged);
  move_column(batch.insertions.time, insertions.time, unchanged);
  move_column(batch.deletions.source, deletions.source, vertex_to_delete);
  move_column(batch.deletions.target, deletions.target, vertex_to_delete);
  move_column(batch.new_ids, added.ids(), unchanged);
  return batch;
}

}  // namespace sluice::apps
