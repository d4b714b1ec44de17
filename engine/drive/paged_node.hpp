// Grows waves of `node` samples on a graph in partitions, for either backend's PagedItems: each drawn
// vertex's list is looked through where it is, once to count the edges to drawn vertices, once to write them.
// Where ranks own the partitions, a wave holds the instances of all of them (node_ranks.hpp).
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "engine/core/host_array.hpp"
#include "engine/drive/node_ranks.hpp"
#include "engine/drive/one_pass_step.hpp"
#include "engine/drive/page_loop.hpp"
#include "engine/drive/paged_items.hpp"
#include "engine/drive/sample_store.hpp"
#include "engine/drive/shard.hpp"
#include "engine/drive/wave_writer.hpp"

namespace sluice {

/// A wave as its work sees it; item i is drawn vertex i % count of instance i / count.
struct PagedNodeWave {
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
  SLUICE_HD bool induced(const Group& group, const PageItems& here, std::uint64_t item, std::uint64_t& size,
                         PickCounters& counters, Emit&& emit) const {
    const auto v = static_cast<Vertex>(values[item]);
    if (Group::kSize <= 32 && hubs_to_blocks && program.graph.degree(v) > GraphView::kHubDegree) return false;
    OnePassProgram local = program;
    local.graph = here.of(program.graph);
    here.note(group, std::uint64_t{program.graph.degree(v)} * kTargetBytes, counters);
    size = local.induced(group, v, sets + item / program.count * program.capacity, emit);
    return true;
  }
};

struct PagedNodeWave::Draw {
  PagedNodeWave wave;
  HomeWave home;
  std::uint64_t begin;  ///< instances of the wave before the home's

  template <class Group>
  SLUICE_HD bool operator()(const Group& group, std::uint64_t instance, PickCounters&) const {
    const OnePassProgram& program = wave.program;
    const std::uint64_t at = begin + instance;
    program.draw(group, home.first + instance, wave.values + at * program.count,
                 wave.sets + at * program.capacity);
    std::uint64_t* const offsets = wave.offsets + at * program.count;
    for (std::uint64_t i = group.rank(); i < program.count; i += Group::kSize) offsets[i] = 0;
    return true;
  }
};

struct PagedNodeWave::Waits {
  PagedNodeWave wave;
  bool measured;

  SLUICE_HD Vertex operator()(std::uint64_t item) const {
    const auto v = static_cast<Vertex>(wave.values[item]);
    const bool own = v >= wave.own_begin && v < wave.own_end;
    const bool waits =
        measured ? wave.offsets[item + 1] > wave.offsets[item] : own && wave.program.graph.degree(v) > 0;
    return waits ? v : kNoVertex;
  }
};

struct PagedNodeWave::Measure {
  PagedNodeWave wave;

  template <class Group>
  SLUICE_HD bool operator()(const Group& group, const PageItems& here, std::uint64_t k,
                            PickCounters& counters) const {
    const std::uint64_t item = here.order[k];
    std::uint64_t size = 0;
    if (!wave.induced(group, here, item, size, counters, [](std::uint64_t, const Edge&) {})) return false;
    if (group.rank() == 0) wave.offsets[item] = size;
    return true;
  }
};

struct PagedNodeWave::Write {
  PagedNodeWave wave;

  template <class Group>
  SLUICE_HD bool operator()(const Group& group, const PageItems& here, std::uint64_t k,
                            PickCounters& counters) const {
    const std::uint64_t item = here.order[k];
    Edge* const to = wave.edges + wave.offsets[item];
    std::uint64_t size = 0;
    return wave.induced(group, here, item, size, counters,
                        [&](std::uint64_t i, const Edge& edge) { to[i] = edge; });
  }
};

/// The edges of an instance.
struct PagedNodeWave::Count {
  const std::uint64_t* offsets;  ///< [items + 1]
  std::uint64_t each;            ///< items of an instance
  std::uint64_t* counts;

  template <class Group>
  SLUICE_HD bool operator()(const Group& group, std::uint64_t instance, PickCounters&) const {
    if (group.rank() == 0) counts[instance] = offsets[(instance + 1) * each] - offsets[instance * each];
    return true;
  }
};

/// Device memory of an instance under way: what is known of it, and the edges that are expected. `available`
/// is what the device has for slots and instances. Where `ranks` share out the graph (null: no), a rank holds
/// the sets of as many instances of each, and its own instances' edges twice: as they were found and at home.
inline std::uint64_t paged_node_bytes(const Device& device, const Graph& graph, std::uint64_t count,
                                      const Communicator* ranks, std::uint64_t available) {
  const double share =
      static_cast<double>(count) / static_cast<double>(std::max<std::uint64_t>(graph.vertices(), 1));
  const double edges = static_cast<double>(graph.edges()) * share * share * sizeof(Edge);
  // A guess alone shall not say that nothing fits.
  const std::uint64_t guess = std::min(static_cast<std::uint64_t>(edges), available / 8);
  const std::uint64_t set =
      (2 * count + set_capacity(count)) * sizeof(std::uint64_t) + count * paged_item_bytes(device);
  if (!ranks) return set + guess;
  return static_cast<std::uint64_t>(ranks->size()) * (set + sizeof(std::uint64_t)) + 2 * guess;
}

/// What a run gives its grower.
struct PagedNodeSetup {
  const ResidentGraph::Impl& graph;
  const OnePassProgram& program;
  RunStats& stats;
};

template <class Items>
class PagedNodeGrower {
 public:
  PagedNodeGrower(const PagedNodeSetup& setup, PageLoop& loop)
      : device_(setup.graph.device),
        stats_(setup.stats),
        program_(setup.program),
        items_(setup.graph, loop, setup.stats) {
    const auto boundaries = loop.plan().partitions.boundaries();
    own_begin_ = boundaries[loop.own().begin], own_end_ = boundaries[loop.own().end];
    if (Communicator* const ranks = setup.graph.paging.shard)
      ranks_ = ranks, homeward_.emplace(*ranks, stats_);
  }

  /// Grows instances [first, first + count); all ranks together where they share out the graph.
  void grow(Instance first, std::uint64_t count) {
    const double start = seconds_now();
    const HomeWave mine{first, count};
    const std::vector<HomeWave> homes = homeward_ ? homeward_->begin(mine) : std::vector{mine};
    first_ = 0;
    std::uint64_t instances = 0;
    for (std::size_t h = 0; h < homes.size(); ++h) {
      if (homeward_ && h == homeward_->own()) first_ = instances;
      instances += homes[h].count;
    }
    std::uint64_t total = 0;
    together(ranks_, [&] { total = find(homes, instances); });
    if (homeward_) total = bring_home(instances, total);
    stats_.compute_seconds += seconds_now() - start;
    stats_.sampled_edges += total, stats_.selections += count * program_.count;
  }

  /// Results leave in pieces: what they take of the host's memory does not grow with the wave.
  void emit(Instance first, std::uint64_t count, SampleSink& sink, WaveWriter& writer) {
    const std::uint64_t piece_bytes = sample_piece_bytes();
    for (std::uint64_t from = 0; from < count;) {
      const double start = seconds_now();
      const auto store = std::make_shared<SampleStore>();
      store->first = first + from;
      for (; from < count && store->bytes() < piece_bytes; ++from) collect(from, *store);
      const double waiting = seconds_now();
      stats_.transfer_seconds += waiting - start;
      writer.submit([store, &sink] { sink.write(store->batch()); });
      stats_.write_seconds += seconds_now() - waiting;
    }
  }

  std::uint64_t bytes() const {
    return values_.bytes() + sets_.bytes() + offsets_.bytes() + counts_.bytes() + edges_.bytes() +
           items_.bytes();
  }

 private:
  static constexpr const char* kPurpose = "a wave of drawn vertices";

  /// The edges between drawn vertices, as far as their lists are this rank's; returns how many there are.
  std::uint64_t find(const std::vector<HomeWave>& homes, std::uint64_t instances) {
    const std::uint64_t items = instances * program_.count;
    check_items(items);
    values_.reserve(device_, items, kPurpose);
    sets_.reserve(device_, instances * program_.capacity, kPurpose);
    offsets_.reserve(device_, items + 1, kPurpose);
    PagedNodeWave wave{program_, values_.data(), sets_.data(), offsets_.data(),
                       nullptr,  own_begin_,     own_end_,     device_.is_cuda()};
    std::uint64_t begin = 0;
    for (const HomeWave& home : homes) {
      items_.each(home.count, PagedNodeWave::Draw{wave, home, begin}, program_.count > GraphView::kHubDegree);
      begin += home.count;
    }
    items_.visit(items, PagedNodeWave::Waits{wave, false}, PagedNodeWave::Measure{wave});
    const std::uint64_t total = items_.sum_up(offsets_.data(), items);
    edges_.reserve(device_, total, kPurpose);
    wave.edges = edges_.data();
    items_.visit(items, PagedNodeWave::Waits{wave, true}, PagedNodeWave::Write{wave});
    items_.finish();
    return total;
  }

  /// Returns how many edges this rank's instances have.
  std::uint64_t bring_home(std::uint64_t instances, std::uint64_t found) {
    HostArray<std::uint64_t> counts;
    HostArray<Edge> brought;  // where the edges were found on a GPU: they go home through the hosts
    together(ranks_, [&] {
      counts_.reserve(device_, instances, kPurpose);
      items_.each(instances, PagedNodeWave::Count{offsets_.data(), program_.count, counts_.data()});
      counts = HostArray<std::uint64_t>(instances, kPurpose);
      copy_to_host(device_, counts.data(), counts_.data(), instances * sizeof(std::uint64_t));
      if (!device_.is_cuda()) return;
      brought = HostArray<Edge>(found, kPurpose);
      copy_to_host(device_, brought.data(), edges_.data(), found * sizeof(Edge));
      stats_.device_to_host_bytes += instances * sizeof(std::uint64_t) + found * sizeof(Edge);
    });
    const Edge* const edges = device_.is_cuda() ? brought.data() : edges_.data();
    homeward_->send_home(counts.span(), {edges, found});
    together(ranks_, [&] { homeward_->accept(); });
    return homeward_->edges();
  }

  void collect(std::uint64_t instance, SampleStore& out) const {
    const std::uint64_t at = (first_ + instance) * program_.count;
    for (const std::uint64_t v : bring(values_, at, program_.count))
      out.vertices.push_back(static_cast<Vertex>(v));
    const std::size_t before = out.edge.size();
    const auto add = [&](const Edge& edge) { out.add_edge(edge.source, edge.target, 1, edge.position); };
    if (homeward_) {
      homeward_->for_each_edge(instance, add);
    } else {
      const std::uint64_t begin = bring(offsets_, at, 1)[0], end = bring(offsets_, at + program_.count, 1)[0];
      for (const Edge& edge : bring(edges_, begin, end - begin)) add(edge);
    }
    out.vertex_counts.push_back(program_.count);
    out.seed_counts.push_back(0);
    out.edge_counts.push_back(out.edge.size() - before);
  }

  /// A buffer's entries [from, from + size).
  template <class T>
  std::vector<T> bring(const Buffer<T>& buffer, std::uint64_t from, std::uint64_t size) const {
    std::vector<T> host(size);
    copy_to_host(device_, host.data(), buffer.data() + from, size * sizeof(T));
    if (device_.is_cuda()) stats_.device_to_host_bytes += size * sizeof(T);
    return host;
  }

  const Device& device_;
  RunStats& stats_;
  OnePassProgram program_;  ///< without edges: lists are read where they are
  Items items_;
  std::uint64_t own_begin_, own_end_;  ///< vertices whose lists are this rank's
  std::uint64_t first_ = 0;            ///< instances of the wave before this rank's
  Communicator* ranks_ = nullptr;
  std::optional<NodeRanks> homeward_;
  Buffer<std::uint64_t> values_, sets_, offsets_, counts_;
  Buffer<Edge> edges_;
};

}  // namespace sluice
