#include "engine/memory/tables/edge_set.hpp"

#include <cstring>

#include "engine/core/clock.hpp"
#include "engine/exec/memory/shared_words.hpp"
#include "engine/exec/threads.hpp"
#include "engine/memory/tables/ensure_tables.hpp"
#include "engine/memory/tables/page_tables.hpp"
#include "engine/select/tables.hpp"

namespace sluice {

namespace {

/// Inserts the edges of a list.
struct InsertEdges {
  GraphView lists;
  EdgeSet set;
  EdgeSet::Bucket* buckets;

  template <class Group>
  SLUICE_HD void operator()(const Group& group, Vertex v, const Row& row) const {
    constexpr std::uint32_t kAhead = 16;  // prefetch distance on a host
    for (std::uint32_t i = group.rank(); i < row.degree; i += Group::kSize) {
      if constexpr (Group::kSize == 1) {
        if (i + kAhead < row.degree) prefetch(tags_of(set.locate(v, target(row, i + kAhead))));
      }
      const Vertex neighbour = target(row, i);
      if (!set.undirected || v <= neighbour || !set.has_list(neighbour)) insert(set.locate(v, neighbour));
    }
  }

 private:
  SLUICE_HD Vertex target(const Row& row, std::uint32_t i) const { return lists.target(row.offset + i); }
  SLUICE_HD std::uint32_t* tags_of(const EdgeSet::Location& place) const {
    return buckets[place.bucket].tags;
  }

  SLUICE_HD void insert(const EdgeSet::Location& place) const {
    std::uint32_t* const tags = tags_of(place);
    for (unsigned i = 0; i < EdgeSet::kTags; ++i) {
      std::uint32_t stored = EdgeSet::kFree;
      if (exchange(tags + (place.tag + i) % EdgeSet::kTags, stored, place.tag)) return;
      if (stored == place.tag) return;  // a duplicate edge of the graph
    }
    store(tags + EdgeSet::kTags - 1, EdgeSet::kOverflowed);
  }
};

}  // namespace

bool edge_set_pays(const Device& device, Layout layout, std::uint64_t steps, std::uint64_t edges) {
  // For Kronecker 24, an H200 makes the set in 19 ms and saves 0.1 ns a step: that pays from 0.4 steps an
  // edge. It pays from 0.18 for 16 threads of its host, and from 0.13 for four (R-MAT 22, single runs).
  const std::uint64_t edges_of_step = device.is_cuda() ? 2 : 6;
  return layout != Layout::csr && steps > 0 && steps * edges_of_step >= edges;
}

EdgeSetInMemory::EdgeSetInMemory(const Device& device, const EdgeSet& set)
    : device_(&device), buckets_(device, set.size, "the set of edges"), set_(set) {
  if (set.size == 0) return;
  static_assert(EdgeSet::kFree == 0xffffffff);
  constexpr int kFreeByte = 0xff;
  EdgeSet::Bucket* const buckets = buckets_.data();
  set_.buckets = buckets;
  fill_table(
      device,
      [&] {
        parallel_blocks(device.threads(), set.size, 1u << 16, [&](auto begin, auto end, unsigned) {
          std::memset(buckets + begin, kFreeByte, (end - begin) * sizeof(EdgeSet::Bucket));
        });
      },
      [&] {
#if defined(__CUDACC__)
        cuda::check(cudaMemset(buckets, kFreeByte, buckets_.bytes()), "clearing memory");
#endif
      });
}

EdgeSetInMemory EdgeSetInMemory::of_whole(ResidentGraph::Impl& graph) {
  const double begin = seconds_now();
  EdgeSetInMemory made(graph.device, EdgeSet::of(graph.host_view, 0, graph.host_view.vertices()));
  made.add(graph.view);
  graph.table_seconds += seconds_now() - begin;
  return made;
}

void EdgeSetInMemory::add(const GraphView& lists, const ListRange& range) {
  const InsertEdges insert{lists, set_, buckets_.data()};
  fill_table(
      *device_, [&] { host::for_each_list(device_->threads(), lists, insert, range); },
      [&] {
#if defined(__CUDACC__)
        cuda::for_each_list(lists, insert, range);
#endif
      });
}

void EdgeSetInMemory::add(const ResidentGraph::Impl& graph, const PageView& page, const ListRange& range) {
  if (graph.device.is_cuda()) {
#if defined(__CUDACC__)
    add(ListsOnDevice(graph, page, range).view, range);
#endif
    return;
  }
  GraphView lists = graph.host_view;
  lists.csr.targets = page.targets;
  add(lists, range);
}

}  // namespace sluice
