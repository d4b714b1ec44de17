#include "engine/ppr/adjacency/cache.cuh"

#include <algorithm>
#include <numeric>
#include <utility>

#include "engine/core/error.hpp"
#include "engine/core/size.hpp"
#include "engine/memory/schedule/in_place.hpp"
#include "engine/memory/sweep_lists.hpp"

namespace sluice::ppr {

namespace {

/// Slots have such a part of the device's memory: lists and workspaces want the rest.
constexpr std::uint64_t kSlotsPart = 8;
/// Lists of ranks whose places go up at once.
constexpr std::uint64_t kSentAtOnce = 1u << 14;

// ---- bodies of the executor

/// Bits of lists that queries miss, and where these begin in the graph.
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

/// Lists and edges that are missing, by partition. A word is all of one partition, as a rule.
struct CountMissing {
  MissingLists missing;
  OwnershipView partitions;
  unsigned long long *lists, *edges;  ///< [partitions]

  template <class Lane>
  __device__ void operator()(std::uint64_t word, Lane&) const {
    std::uint32_t partition = 0;
    unsigned long long own_lists = 0, own_edges = 0;
    const auto add = [&] {
      if (own_lists == 0) return;
      atomicAdd(lists + partition, own_lists);
      atomicAdd(edges + partition, own_edges);
    };
    missing.for_each(word, [&](Vertex v) {
      if (const std::uint32_t owner = partitions.owner(v); owner != partition || own_lists == 0) {
        add();
        partition = owner, own_lists = own_edges = 0;
      }
      ++own_lists, own_edges += missing.size(v);
    });
    add();
  }
};

/// Lists lie in any order: no result depends on it.
struct PlaceMissing {
  MissingLists missing;
  EdgeIndex* places;
  unsigned long long* next;

  template <class Lane>
  __device__ void operator()(std::uint64_t word, Lane&) const {
    unsigned long long edges = 0;
    missing.for_each(word, [&](Vertex v) { edges += missing.size(v); });
    if (edges == 0) return;
    EdgeIndex place = atomicAdd(next, edges);
    missing.for_each(word, [&](Vertex v) { places[v] = place, place += missing.size(v); });
  }
};

struct PlaceSent {
  const SentList* sent;
  EdgeIndex* places;

  template <class Lane>
  __device__ void operator()(std::uint64_t i, Lane&) const {
    places[sent[i].vertex] = sent[i].place;
  }
};

/// Copies missing lists of partitions that are here.
struct CopyMissing {
  MissingLists missing;
  SweepPage from;
  const EdgeIndex* places;
  Vertex* targets;
  float* weights;

  __device__ bool sends(Vertex v) const { return missing[v]; }
  template <class Lane>
  __device__ void edge(Vertex v, EdgeIndex edge, Lane&) const {
    const EdgeIndex to = places[v] + (edge - missing.offsets[v]);
    targets[to] = from.sources[edge];
    if (from.weights != nullptr) weights[to] = from.weights[edge];
  }
};

/// Adds weights in the list's order, as a single thread does.
struct AddWeights {
  MissingLists missing;
  const EdgeIndex* places;
  const float* weights;
  double* totals;

  template <class Group, class Counters>
  __device__ bool operator()(const Group& group, std::uint64_t word, Counters&) const {
    missing.for_each(word, [&](Vertex v) {
      const EdgeIndex size = missing.size(v);
      const float* const list = weights + places[v];
      double total = 0;
      for (EdgeIndex done = 0; done < size; done += Group::kSize) {
        const EdgeIndex i = done + group.rank();
        const float weight = i < size ? list[i] : 0;
        for (unsigned k = 0; k < Group::kSize; ++k) total += static_cast<double>(group.broadcast(weight, k));
      }
      if (group.rank() == 0) totals[v] = total;
    });
    return true;
  }
};

}  // namespace

ListCache::ListCache(const Device& device, const Graph& graph, const Options& options,
                     const PagingOptions& paging, std::shared_ptr<ListFeeder> shared)
    : device_(device),
      host_({DeviceChoice::host, device.threads(), 0}),
      graph_(graph),
      options_(options),
      paging_(paging),
      executor_(device, graph.edges()),
      offsets_(device, graph.vertices() + 1, "the graph's offsets"),
      places_(device, graph.vertices(), "where lists are"),
      totals_(device, options.weighted ? graph.vertices() : 0, "sums of weights"),
      missing_(device, (graph.vertices() + 63) / 64, "which lists are missing"),
      feeder_(std::move(shared)),
      wanted_(paging.shard ? graph.vertices() : 0),
      sent_(device, paging.shard ? kSentAtOnce : 0, "lists that ranks send"),
      uploaded_(device, sent_.size(), "lists that ranks send") {
  copy_to_device(device, offsets_.data(), graph.out.offsets.data(), offsets_.bytes());
  traffic_.host_to_device_bytes = offsets_.bytes();
  executor_.fill(missing_.data(), 0, missing_.bytes());
  clear();
  if (paging.shard && !feeder_) {
    // Other ranks' lists come to the host, and own ones are looked up there.
    PagingOptions own = paging;
    if (!graph.edges_elsewhere && own.transport != Transport::file) own.transport = Transport::mapped;
    feeder_ = make_feeder(host_, graph, options, own, 0);
  }
  if (device.plans()) open();
}

void ListCache::open(bool least) {
  if (feeder_ || pages_) return;
  const SweepRows rows = rows_of(graph_, options_, nullptr);
  if (locks_.empty() && paging_.transport != Transport::file) locks_ = lock_lists(device_, rows);
  const std::uint64_t available = device_.memory().available(),
                      two = least_for_sweep_pages(rows, options_.weighted, device_.threads()),
                      usual = least ? two : std::max(available / kSlotsPart, two);
  const auto make = [&](std::uint64_t most) {
    pages_ = std::make_unique<SweepPages>(device_, rows, options_.weighted, paging_, most);
    counters_ = Buffer<unsigned long long>(device_, 2 * pages_->size() + 1 + LaneOutput::kSums, "partitions");
  };
  try {
    make(usual);
  } catch (const BudgetError&) {
    // Of partitions that are asked for.
    if (usual >= available / 2) throw;
    make(available / 2);
  }
}

void ListCache::prepare(std::uint64_t bytes) {
  if (!targets_.empty()) return;
  capacity_ = std::min<std::uint64_t>(graph_.edges(), bytes / list_edge_bytes(options_));
  targets_ = Buffer<Vertex>(device_, capacity_, "lists that queries came to");
  if (options_.weighted) weights_ = Buffer<float>(device_, capacity_, "lists that queries came to");
}

void ListCache::describe(QueryRules& rules) const {
  rules.graph = graph_.out.view();
  rules.graph.offsets = offsets_.data();
  rules.graph.targets = targets_.data(), rules.graph.weights = weights_.data();
  rules.places = places_.data(), rules.totals = totals_.data();
  rules.wanted = missing_.data();
}

bool ListCache::bring() {
  const bool fits = feeder_ ? ask_ranks() : bring_partitions();
  if (fits && options_.weighted) {
    const MissingLists missing{missing_.data(), offsets_.data()};
    executor_.for_each_group<NoCounters>(
        missing_.size(), Groups::warps, AddWeights{missing, places_.data(), weights_.data(), totals_.data()});
  }
  executor_.fill(missing_.data(), 0, missing_.bytes());
  executor_.wait("bringing lists");
  return fits;
}

bool ListCache::bring_partitions() {
  const std::uint64_t partitions = pages_->size();
  unsigned long long *const lists = counters_.data(), *const edges = lists + partitions;
  const MissingLists missing{missing_.data(), offsets_.data()};
  executor_.fill(lists, 0, counters_.bytes());
  executor_.for_each(missing_.size(), {}, CountMissing{missing, pages_->owners(), lists, edges});
  std::vector<std::uint64_t> counts(2 * partitions);
  executor_.read(counts.data(), lists, counts.size(), "counting lists");
  const std::span edges_of(counts.data() + partitions, partitions);
  const std::uint64_t sum = std::reduce(edges_of.begin(), edges_of.end());
  if (sum > capacity_ - used_) return false;

  unsigned long long* const next = edges + partitions;
  copy_to_device(device_, next, &used_, sizeof used_);
  executor_.for_each(missing_.size(), {}, PlaceMissing{missing, places_.data(), next});
  used_ += sum;
  std::vector<sluice::WantedLists> wanted(partitions);
  for (std::size_t p = 0; p < partitions; ++p) wanted[p] = {counts[p], edges_of[p]};
  const std::vector<bool> in_place = pages_->read_in_place(wanted);
  for (const PartitionRun run : runs_of(in_place)) copy_lists(pages_->in_place(run));
  pages_->for_each([&](std::uint32_t p) { return in_place[p] ? 0 : edges_of[p]; },
                   [&](std::span<const SweepPage> present) {
                     for (const SweepPage& page : present) copy_lists(page);
                     executor_.wait("bringing lists");
                   });
  return true;
}

void ListCache::copy_lists(const SweepPage& page) {
  const MissingLists missing{missing_.data(), offsets_.data()};
  const VertexRange vertices{nullptr, page.begin, page.end - page.begin, 0, offsets_.data(), page.mapped()};
  const LaneOutput output{.sums = counters_.data() + counters_.size() - LaneOutput::kSums};
  float* const weights = options_.weighted ? weights_.data() : nullptr;
  executor_.for_each_edge(vertices, output,
                          CopyMissing{missing, page, places_.data(), targets_.data(), weights});
}

bool ListCache::ask_ranks() {
  const std::span<std::uint64_t> words = wanted_.words();
  copy_to_host(device_, words.data(), missing_.data(), missing_.bytes());
  missing_count_ = 0;
  std::uint64_t edges = 0;
  wanted_.take_from(0, graph_.vertices(), [&](Vertex v) {
    edges += degree(v);
    ++missing_count_;
    return true;
  });
  if (edges > capacity_ - used_) return false;
  while (missing_count_ != 0) {
    feeder_->feed(wanted_, [this](const ListsAtHand& lists) {
      for (const ListRange& sent : lists.ranges()) take(sent);
    });
  }
  return true;
}

/// What one rank has sent lies side by side.
void ListCache::take(const ListRange& sent) {
  const EdgeIndex first = graph_.out.offsets.data()[sent.only.front()];
  const ListColumns& list = sent.each[0];
  EdgeIndex place = used_;
  for (std::size_t done = 0; done < sent.only.size();) {
    const std::span some = sent.only.subspan(done, std::min(sent.only.size() - done, kSentAtOnce));
    for (std::size_t i = 0; i < some.size(); ++i) {
      sent_.data()[i] = {place, some[i]};
      place += degree(some[i]);
      wanted_.remove(some[i]);
    }
    up(uploaded_.data(), sent_.data(), some.size() * sizeof(SentList));
    executor_.for_each(some.size(), {}, PlaceSent{uploaded_.data(), places_.data()});
    executor_.wait("bringing lists");
    done += some.size();
  }
  up(targets_.data() + used_, list.targets + first, (place - used_) * sizeof(Vertex));
  if (options_.weighted) up(weights_.data() + used_, list.weights + first, (place - used_) * sizeof(float));
  executor_.wait("bringing lists");
  used_ = place;
  missing_count_ -= sent.only.size();
  ++traffic_.transfers;
}

void ListCache::clear() {
  used_ = 0;
  executor_.fill(places_.data(), 0xff, places_.bytes());
  if (!device_.plans()) executor_.wait("clearing");
}

void ListCache::give_back() {
  clear();
  targets_ = Buffer<Vertex>(), weights_ = Buffer<float>();
  capacity_ = 0;
}

void ListCache::rest() {
  give_back();
  if (!pages_) return;
  traffic_.add_later({pages_->traffic()});
  pages_.reset();
  counters_ = Buffer<unsigned long long>();
}

void ListCache::throw_too_many_lists() const {
  throw BudgetError("device memory: a query comes to more lists than the " + format_size(bytes()) +
                    " that are left for them (raise --device-memory" +
                    (graph_.edges_elsewhere ? "" : ", or use --transport mapped") + ")");
}

ListTraffic ListCache::traffic() const {
  ListTraffic sum = traffic_;
  if (pages_) sum.add_later({pages_->traffic()});
  if (!feeder_) return sum;
  const ListTraffic sent = feeder_->traffic();
  sum.partitions = sent.partitions, sum.read_bytes = sent.read_bytes;
  sum.asked = sent.asked, sum.answered = sent.answered;
  return sum;
}

void ListCache::up(void* to, const void* from, std::uint64_t bytes) {
  if (bytes == 0) return;
  cuda::check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, executor_.queue().get()), "bringing lists");
  traffic_.host_to_device_bytes += bytes;
}

}  // namespace sluice::ppr
