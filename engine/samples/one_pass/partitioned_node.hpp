// Grows batches of `node` samples: the list of each drawn vertex is scanned while it is resident, once to
// count the edges to drawn vertices, once to write them. If ranks own the partitions, a batch contains the
// instances of all ranks (node_ranks.hpp).
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "engine/batch/batch_writer.hpp"
#include "engine/batch/sink.hpp"
#include "engine/core/clock.hpp"
#include "engine/core/host_array.hpp"
#include "engine/memory/owned_partitions.hpp"
#include "engine/memory/partition_cache.hpp"
#include "engine/memory/run_stats.hpp"
#include "engine/samples/one_pass/node_ranks.hpp"
#include "engine/samples/one_pass/step.hpp"
#include "engine/samples/partitioned/items.hpp"
#include "engine/samples/store.hpp"

namespace sluice::samples {

/// Device memory of an instance while it grows: its draws and its expected edges. `available`: bytes of the
/// device for slots and instances. If `ranks` shard the graph (null: they do not), a rank holds the sets of
/// as many instances of every rank, and the edges of its own instances twice: as found and as received.
inline std::uint64_t paged_node_bytes(const Device& device, const Graph& graph, std::uint64_t count,
                                      const Communicator* ranks, std::uint64_t available) {
  const double share =
      static_cast<double>(count) / static_cast<double>(std::max<std::uint64_t>(graph.vertices(), 1));
  const double edges = static_cast<double>(graph.edges()) * share * share * sizeof(Edge);
  // A guess alone must not refuse a run.
  const std::uint64_t guess = std::min(static_cast<std::uint64_t>(edges), available / 8);
  const std::uint64_t set =
      (2 * count + set_capacity(count)) * sizeof(std::uint64_t) + count * paged_item_bytes(device);
  if (!ranks) return set + sizeof(std::uint64_t) + guess;
  return static_cast<std::uint64_t>(ranks->size()) * (set + 2 * sizeof(std::uint64_t)) + 2 * guess;
}

/// A batch as its bodies see it; item i is drawn vertex i % count of instance i / count.
struct PagedNodeBatch {
  OnePassProgram program;
  std::uint64_t* values;   ///< [items] drawn vertices
  std::uint64_t* sets;     ///< [instances * capacity]
  std::uint64_t* offsets;  ///< [items + 1] at first numbers of edges, then offsets of edges
  Edge* edges;
  std::uint64_t own_begin, own_end;  ///< range of own vertices
  bool hubs_to_blocks;               ///< a warp leaves long lists to a block

  struct Draw;
  struct Read;
  struct Count;

  /// Emits the edges of an item to drawn vertices. False if a warp leaves its list to a block.
  template <class Group, class Emit>
  SLUICE_HD bool induced(const Group& group, const PageItems& page_items, std::uint64_t item,
                         std::uint64_t& size, PickCounters& counters, Emit&& emit) const {
    const auto v = static_cast<Vertex>(values[item]);
    if (Group::kSize <= 32 && hubs_to_blocks && program.graph.degree(v) > GraphView::kHubDegree) return false;
    OnePassProgram local = program;
    local.graph = page_items.with_edges(program.graph);
    page_items.count_read(group, std::uint64_t{program.graph.degree(v)} * kTargetBytes, counters);
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
    const std::uint64_t slot = begin + instance;
    program.draw(group, origin.first + instance, batch.values + slot * program.count,
                 batch.sets + slot * program.capacity);
    std::uint64_t* const offsets = batch.offsets + slot * program.count;
    for (std::uint64_t i = group.rank(); i < program.count; i += Group::kSize) offsets[i] = 0;
    return true;
  }
};

/// Counts an item's edges, or, once all items are measured, writes them.
struct PagedNodeBatch::Read {
  PagedNodeBatch batch;
  bool measured;

  SLUICE_HD Vertex awaited_vertex(std::uint64_t item) const {
    const auto v = static_cast<Vertex>(batch.values[item]);
    const bool own = v >= batch.own_begin && v < batch.own_end;
    const bool waits =
        measured ? batch.offsets[item + 1] > batch.offsets[item] : own && batch.program.graph.degree(v) > 0;
    return waits ? v : kNoVertex;
  }
  template <class Group>
  SLUICE_HD bool operator()(const Group& group, const PageItems& page_items, std::uint64_t k,
                            PickCounters& counters) const {
    const std::uint64_t item = page_items.item(k);
    Edge* const output = measured ? batch.edges + batch.offsets[item] : nullptr;
    std::uint64_t size = 0;
    const auto write = [&](std::uint64_t i, const Edge& edge) {
      if (output) output[i] = edge;
    };
    if (!batch.induced(group, page_items, item, size, counters, write)) return false;
    if (!output && group.rank() == 0) batch.offsets[item] = size;
    return true;
  }
};

/// Computes the number of edges of each instance.
struct PagedNodeBatch::Count {
  const std::uint64_t* offsets;  ///< [items + 1]
  std::uint64_t items_per_instance;
  std::uint64_t* counts;

  template <class Group>
  SLUICE_HD bool operator()(const Group& group, std::uint64_t instance, PickCounters&) const {
    if (group.rank() == 0)
      counts[instance] =
          offsets[(instance + 1) * items_per_instance] - offsets[instance * items_per_instance];
    return true;
  }
};

/// Grows batches of `node` samples. `Items` is PagedItems, or ResidentItems on a whole graph.
template <class Items>
class PagedNodeGrower {
 public:
  explicit PagedNodeGrower(const PagedSetup<OnePassProgram>& setup)
      : device_(setup.graph.device),
        stats_(setup.stats),
        program_(setup.program),
        items_(setup.graph, setup.stats),
        own_begin_(0),
        own_end_(program_.graph.vertices()) {}
  PagedNodeGrower(const PagedSetup<OnePassProgram>& setup, PartitionCache& cache)
      : device_(setup.graph.device),
        stats_(setup.stats),
        program_(setup.program),
        items_(setup.graph, cache, setup.stats) {
    const auto begins = cache.plan().partitions.ranges().begins();
    own_begin_ = begins[cache.owned_partitions().begin], own_end_ = begins[cache.owned_partitions().end];
    ranks_ = setup.graph.paging.shard;
    if (ranks_) agree_on_memory(ranks_, [&] { node_ranks_.emplace(*ranks_, setup.link, device_, stats_); });
  }

  /// Grows instances [first, first + count); all ranks call it together if they shard the graph.
  void grow(Instance first, std::uint64_t count) {
    const double start = seconds_now();
    const OriginBatch own_batch{first, count};
    const std::vector<OriginBatch> origins =
        node_ranks_ ? node_ranks_->begin(own_batch) : std::vector{own_batch};
    if (node_ranks_) {
      node_ranks_->send_to_origins(found_, items_.executor().stream(), [&] {
        find(origins);
        std::vector<std::uint64_t> items;
        for (const OriginBatch& origin : origins) items.push_back(origin.count * program_.count);
        return sums_by_rank(device_, offsets_.data(), items);
      });
    } else {
      find(origins);
    }
    agree_on_memory(ranks_, [&] { compute_begins(count); });
    stats_.compute_seconds += seconds_now() - start;
    stats_.sampled_edges += begins_[begins_.size() - 1], stats_.selections += count * program_.count;
  }

  void emit(Instance first, std::uint64_t count, SampleSink& sink, BatchWriter& writer) {
    write_in_pieces(first, count, sink, writer, stats_,
                    [&](std::uint64_t from, SampleStore& store) { return collect(from, count, store); });
  }

  std::uint64_t bytes() {
    return values_.bytes() + sets_.bytes() + offsets_.bytes() + found_.bytes() + items_.bytes() +
           (node_ranks_ ? node_ranks_->received().bytes() : 0);
  }

 private:
  static constexpr const char* kPurpose = "a batch of drawn vertices";

  /// Finds the edges between drawn vertices of all instances of the batch, in the lists of own vertices, and
  /// counts the edges of each instance.
  void find(const std::vector<OriginBatch>& origins) {
    std::uint64_t instances = 0;
    for (std::size_t h = 0; h < origins.size(); instances += origins[h++].count)
      if (!node_ranks_ || h == node_ranks_->own()) first_ = instances;
    const std::uint64_t items = instances * program_.count;
    check_items(items);
    values_.reserve(device_, items, kPurpose);
    sets_.reserve(device_, instances * program_.capacity, kPurpose);
    offsets_.reserve(device_, items + 1, kPurpose);
    found_.counts.reserve(device_, instances, kPurpose);
    PagedNodeBatch batch{program_, values_.data(), sets_.data(), offsets_.data(),
                         nullptr,  own_begin_,     own_end_,     device_.is_cuda()};
    std::uint64_t begin = 0;
    for (const OriginBatch& origin : origins) {
      items_.for_each_group(origin.count, PagedNodeBatch::Draw{batch, origin, begin},
                            program_.count > GraphView::kHubDegree ? Groups::blocks : Groups::warps);
      begin += origin.count;
    }
    items_.visit(items, PagedNodeBatch::Read{batch, false});
    const std::uint64_t total = items_.executor().exclusive_sum(offsets_.data(), items);
    found_.edges.reserve(device_, total, kPurpose);
    batch.edges = found_.edges.data();
    items_.visit(items, PagedNodeBatch::Read{batch, true});
    items_.for_each_group(instances,
                          PagedNodeBatch::Count{offsets_.data(), program_.count, found_.counts.data()});
  }

  /// The number of ranks that find edges of this rank's instances.
  std::uint64_t parts() const { return node_ranks_ ? node_ranks_->ranks() : 1; }
  /// The edges of this rank's instances, part by part.
  const NodeEdges& own_edges() const { return node_ranks_ ? node_ranks_->received() : found_; }

  /// Computes the offsets of each instance's edges among those of this rank's instances, part by part.
  void compute_begins(std::uint64_t count) {
    begins_ = HostArray<std::uint64_t>();
    begins_ = HostArray<std::uint64_t>(parts() * count + 1, kPurpose);
    const HostArray<std::uint64_t> counts = download(own_edges().counts, 0, parts() * count);
    begins_[0] = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) begins_[i + 1] = begins_[i] + counts[i];
  }

  /// Adds instances from `first` on to `out` until they fill a piece, at least one; returns the next one.
  std::uint64_t collect(std::uint64_t first, std::uint64_t count, SampleStore& out) const {
    const std::uint64_t max_bytes = sample_piece_bytes();
    std::uint64_t next = first, bytes = 0;
    do {
      bytes += program_.count * sizeof(Vertex);
      for (std::uint64_t part = 0; part < parts(); ++part)
        bytes += edges_of(part * count + next) * SampleStore::kEdgeBytes;
      ++next;
    } while (next < count && bytes < max_bytes);

    const auto vertices =
        download(values_, (first_ + first) * program_.count, (next - first) * program_.count);
    std::vector<HostArray<Edge>> found;  // by part
    for (std::uint64_t part = 0; part < parts(); ++part) {
      const std::uint64_t begin = begins_[part * count + first], end = begins_[part * count + next];
      found.push_back(download(own_edges().edges, begin, end - begin));
    }
    for (const std::uint64_t v : vertices) out.vertices.push_back(static_cast<Vertex>(v));
    for (std::uint64_t i = first; i < next; ++i) {
      const std::size_t first_edge = out.edge.size();
      for (std::uint64_t part = 0; part < parts(); ++part) {
        const std::uint64_t offset = begins_[part * count + i] - begins_[part * count + first];
        for (const Edge& edge : found[part].span().subspan(offset, edges_of(part * count + i)))
          out.add_edge(edge.source, edge.target, 1, edge.position);
      }
      out.vertex_counts.push_back(program_.count);
      out.seed_counts.push_back(0);
      out.edge_counts.push_back(out.edge.size() - first_edge);
    }
    return next;
  }
  std::uint64_t edges_of(std::uint64_t i) const { return begins_[i + 1] - begins_[i]; }

  /// Copies elements [begin, begin + size) of a buffer to the host.
  template <class T>
  HostArray<T> download(const Buffer<T>& buffer, std::uint64_t begin, std::uint64_t size) const {
    HostArray<T> host(size, kPurpose);
    copy_to_host(device_, host.data(), buffer.data() + begin, size * sizeof(T));
    if (device_.is_cuda()) stats_.device_to_host_bytes += size * sizeof(T);
    return host;
  }

  const Device& device_;
  RunStats& stats_;
  OnePassProgram program_;  ///< in partitions its graph has no edges: lists are read from them
  Items items_;
  std::uint64_t own_begin_, own_end_;  ///< range of own vertices
  std::uint64_t first_ = 0;            ///< number of instances of lower ranks in the batch
  Communicator* ranks_ = nullptr;
  Buffer<std::uint64_t> values_, sets_, offsets_;
  NodeEdges found_;                  ///< edges that this rank found, of all instances of the batch
  HostArray<std::uint64_t> begins_;  ///< [parts * instances of this rank + 1] first edge of each
  std::optional<NodeRanks> node_ranks_;
};

}  // namespace sluice::samples
