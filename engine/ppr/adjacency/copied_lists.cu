#include "engine/ppr/adjacency/copied_lists.cuh"

#include <algorithm>
#include <span>

#include "engine/memory/sweep_lists.hpp"
#include "engine/ppr/adjacency/feeder.hpp"

namespace sluice::ppr {

namespace {

constexpr const char* kLabel = "bringing lists";
/// Slots have such a part of what is left: lists and workspaces want the rest.
constexpr std::uint64_t kSlotsPart = 8;

// ---- bodies of the traverser

/// Lists that are to come, and how long they are.
struct MissingLists {
  const std::uint64_t* words;
  const EdgeIndex* offsets;

  __device__ bool operator[](Vertex v) const { return (words[v / 64] >> (v % 64) & 1) != 0; }
  __device__ EdgeIndex size(Vertex v) const { return offsets[v + std::uint64_t{1}] - offsets[v]; }
  template <class Use>
  __device__ void for_each(std::uint64_t word, Use&& use) const {
    for (std::uint64_t bits = words[word]; bits != 0; bits &= bits - 1)
      use(static_cast<Vertex>(word * 64 + static_cast<unsigned>(__ffsll(static_cast<long long>(bits))) - 1));
  }
};

/// The lists of a word lie side by side, words as they come.
struct PlaceMissing {
  MissingLists missing;
  EdgeIndex used;
  EdgeIndex* places;
  unsigned long long* placed;

  template <class Lane>
  __device__ void operator()(std::uint64_t word, Lane&) const {
    unsigned long long edges = 0;
    missing.for_each(word, [&](Vertex v) { edges += missing.size(v); });
    EdgeIndex place = used + (edges > 0 ? atomicAdd(placed, edges) : 0);
    missing.for_each(word, [&](Vertex v) { places[v] = place, place += missing.size(v); });
  }
};

/// Copies the missing lists of a partition that is here.
struct CopyMissing {
  MissingLists missing;
  SweepPage page;
  CacheColumns to;

  __device__ bool sends(Vertex v) const { return missing[v]; }
  template <class Lane>
  __device__ void edge(Vertex v, EdgeIndex edge, Lane&) const {
    const EdgeIndex place = to.places[v] + (edge - missing.offsets[v]);
    to.targets[place] = page.sources[edge];
    if (page.weights != nullptr) to.weights[place] = page.weights[edge];
  }
};

/// Adds weights in the list's order, as a single thread does: a group reads them side by side.
struct AddWeights {
  MissingLists missing;
  CacheColumns to;

  template <class Group, class Counters>
  __device__ bool operator()(const Group& group, std::uint64_t word, Counters&) const {
    missing.for_each(word, [&](Vertex v) {
      const EdgeIndex size = missing.size(v);
      const float* const weights = to.weights + to.places[v];
      double total = 0;
      for (EdgeIndex done = 0; done < size; done += Group::kSize) {
        const EdgeIndex i = done + group.rank();
        const float weight = i < size ? weights[i] : 0;
        for (unsigned k = 0; k < Group::kSize; ++k) total += static_cast<double>(group.broadcast(weight, k));
      }
      if (group.rank() == 0) to.totals[v] = total;
    });
    return true;
  }
};

}  // namespace

CopiedLists::CopiedLists(const Device& device, const Graph& graph, const Options& options,
                         const PagingOptions& paging)
    : device_(device),
      options_(options),
      paging_(paging),
      rows_(rows_of(graph, options, 0, graph.vertices())),
      least_(least_for_sweep_pages(device, rows_, options.weighted, paging)),
      locks_(lock_lists(device, rows_)),
      counters_(device, 1 + LaneOutput::kSums, "counters"),
      traverser_(device, graph.edges()) {}

void CopiedLists::open(std::uint64_t left) {
  if (pages_) return;
  pages_.emplace(device_, rows_, options_.weighted, paging_, std::max(left / kSlotsPart, least_));
}

void CopiedLists::bring(WantedLists& wanted, const CacheColumns& to) {
  const MissingLists missing{to.missing, to.offsets};
  const std::uint64_t words = wanted.words().size();
  traverser_.fill(counters_.data(), 0, counters_.bytes());
  traverser_.for_each(words, {}, PlaceMissing{missing, to.used, to.places, counters_.data()});
  pages_->for_each([&](std::uint32_t p) { return wanted.count(pages_->begin(p), pages_->end(p)); },
                   [&](std::span<const SweepPage> present) {
                     for (const SweepPage& page : present) copy(page, to);
                     traverser_.wait(kLabel);
                   });
  if (options_.weighted) traverser_.for_each_group<NoCounters>(words, Groups::warps, AddWeights{missing, to});
  traverser_.wait(kLabel);
}

void CopiedLists::copy(const SweepPage& page, const CacheColumns& to) {
  const VertexRange vertices{nullptr, page.begin, page.end - page.begin, 0, to.offsets};
  const LaneOutput output{.sums = counters_.data() + 1};
  traverser_.for_each_edge(vertices, output, CopyMissing{{to.missing, to.offsets}, page, to});
}

void CopiedLists::close() {
  closed_ = traffic();
  pages_.reset();
}

ListTraffic CopiedLists::traffic() const {
  ListTraffic sum = closed_;
  if (pages_) sum.add_later({pages_->traffic()});
  return sum;
}

}  // namespace sluice::ppr
