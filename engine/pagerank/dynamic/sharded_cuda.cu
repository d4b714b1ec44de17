// Dynamic PageRank on a GPU that does not hold the graph: its in-edges come in partitions, or it is one of
// several, each with a range of vertices. Ranks, sums and lists of own vertices stay on the GPU. The host has
// the graph, or reads it from its file: it sends in-edges where there are affected vertices, and out-edges of
// the vertices whose change spreads, cut to those that lead to own vertices. Ranks of a job tell each other
// through their hosts, as those without a GPU do (change_exchange.hpp), and in the same order.
#include <algorithm>
#include <numeric>
#include <vector>

#include "engine/exec/threads.hpp"
#include "engine/pagerank/dynamic/in_edges_cuda.cuh"
#include "engine/pagerank/dynamic/rank_parcels.cuh"
#include "engine/pagerank/dynamic/state.hpp"
#include "engine/pagerank/static/share_mirror.cuh"

namespace sluice {

namespace {

using cuda::ListSizes;
using cuda::ParcelUse;

/// Sources whose out-edges are looked up at a time, and by one thread.
constexpr std::uint64_t kSourcesAtOnce = std::uint64_t{1} << 18;
constexpr std::uint64_t kSourcesOfThread = 512;

/// What sources are on the device.
template <class Share>
__global__ void __launch_bounds__(cuda::kListBlock)
    learn_listed_kernel(cuda::DynamicView<Share> view, const Vertex* vertices, const RankSource* sources,
                        std::uint64_t count) {
  cuda::for_each_thread(count, [&](std::uint64_t i) {
    const Vertex v = vertices[i];
    view.at.divisors[v] = sources[i].divisor, view.at.loops[v] = sources[i].loop;
    view.at.share(v);
  });
}

template <class Share>
class CudaOwnedRanks final : public DynamicRanks::State {
 public:
  CudaOwnedRanks(const Device& device, const Graph& graph, std::span<const double> given,
                 const PageRankOptions& options, const RankPlace& place)
      : device_(device),
        paging_(place.paging),
        alone_(make_alone()),
        peers_(place.ranks != nullptr ? *place.ranks : *alone_,
               dynamic_ranges(graph, place.ranks != nullptr ? place.ranks->size() : 1)),
        state_(device, options),
        parcels_(device, std::max(graph.vertices(), graph.edges())),
        mirror_(device, peers_, state_, parcels_) {
    const auto sources = sources_of(graph, options, peers_.first(), peers_.last(), device.threads());
    make_vertices(sources);
    const auto dangling = dangling_flags(options, peers_, sources.divisors.span());
    const HostArray<FixedRank> ranks =
        starting_ranks(given, dangling.span(), options, peers_.first(), peers_.last());
    copy_to_device(device, state_.ranks.data(), ranks.data(), ranks.bytes());
    state_.total = peers_.sum(sum_of(ranks.span()));
    state_.over(own(), cuda::offer_kernel<Share>, state_.view(), own());
    mirror_.tell_all();
  }

  ~CudaOwnedRanks() override {
    cudaStreamSynchronize(state_.stream.get());
  }  // what is under way uses the buffers

  DynamicRankResult follow(const Graph& graph, const EdgeChanges& changes, const DynamicRankOptions& dynamic,
                           const RankObserver& observer) override {
    auto begin = RankClock::now();
    state_.dynamic = dynamic;
    DynamicRankResult result;
    const std::uint64_t sent = parcels_.bytes_sent(), read = lists_read_, before = vertices();
    const CsrView in = in_edges_of(graph, state_.options.weighted);
    const std::vector<Vertex> given_loops = adopt(graph, in, changes);
    mark(graph, changes, given_loops, before);
    result.initially_affected = state_.affected_size();
    state_.add_waiting();
    count_affected();
    cuda::DeviceInLists lists(device_, graph, state_.options.weighted, peers_.first(), peers_.last(),
                              paging_);
    result.setup_seconds = seconds_since(begin);

    begin = RankClock::now();
    iterate(state_, graph.edges(), result, observer, [&] { return step(graph, lists); });
    result.compute_seconds = seconds_since(begin);
    result.ever_affected = peers_.sum(state_.ever());
    result.traffic = lists.traffic();
    result.traffic.host_to_device_bytes += parcels_.bytes_sent() - sent;
    result.traffic.read_bytes += lists_read_ - read;
    result.partitions_read = lists.partitions_read();
    state_.end_batch();
    return result;
  }

  void read_ranks(std::span<double> ranks) const override { state_.read_ranks(ranks); }
  std::uint64_t vertices() const override { return peers_.vertices(); }
  std::uint64_t first() const override { return peers_.first(); }
  std::uint64_t own() const override { return peers_.last() - peers_.first(); }

 private:
  using Stored = typename Share::Stored;
  using Columns = cuda::ParcelColumns<Stored>;

  // ---- the graph ----------------------------------------------------------------------------------------

  /// State of the vertices; `sources` are the own ones.
  void make_vertices(const RankSources& sources) {
    state_.make_vertices(peers_.first(), own(), vertices());
    renewed_ = Buffer<FixedRank>(device_, own(), "ranks");
    if (!peers_.alone()) changed_ = Buffer<Vertex>(device_, own(), "changed contributions");
    copy_to_device(device_, state_.divisors.data(), sources.divisors.data(), sources.divisors.bytes());
    copy_to_device(device_, state_.loops.data(), sources.loops.data(), sources.loops.bytes());
  }

  /// Goes over to the graph as it is after `changes`. Returns own changed sources whose loop is in no list.
  std::vector<Vertex> adopt(const Graph& graph, const CsrView& in, std::span<const EdgeChange> changes) {
    state_.stream.wait("the last batch");  // its last list is made by the offsets that it had
    if (graph.vertices() > vertices()) grow(graph);
    offsets_.reserve(device_, own() + 1, "offsets of in-edges");
    state_.in = {in.vertices, 0, moved(offsets_.data(), first()), nullptr, nullptr};
    if (own() > 0) {
      copy_to_device(device_, offsets_.data(), in.offsets + first(), (own() + 1) * sizeof(EdgeIndex));
      state_.in.edges = in.offsets[peers_.last()] - in.offsets[first()];
    }
    const std::vector<Vertex> changed = changed_sources(changes, peers_);
    const std::vector<RankSource> sources = sources_of(graph, state_.options, changed, device_.threads());
    std::vector<Vertex> given_loops;
    for (std::size_t i = 0; i < changed.size(); ++i) {
      if (sources[i].loop == Loop::added) given_loops.push_back(changed[i]);
    }
    learned_.reserve(device_, changed.size(), "changed sources");
    learned_sources_.reserve(device_, changed.size(), "changed sources");
    copy_to_device(device_, learned_.data(), changed.data(), changed.size() * sizeof(Vertex));
    copy_to_device(device_, learned_sources_.data(), sources.data(), sources.size() * sizeof(RankSource));
    state_.over(changed.size(), learn_listed_kernel<Share>, state_.view(), learned_.data(),
                learned_sources_.data(), changed.size());
    mirror_.tell(changed);
    return given_loops;
  }

  void grow(const Graph& graph) {
    const RankGrowth growth(vertices(), graph.vertices(), state_.options.damping);
    peers_.grow(graph.vertices());
    const Buffer<FixedRank> old = std::move(state_.ranks);
    make_vertices(sources_of(graph, state_.options, first(), peers_.last(), device_.threads()));
    state_.fill(state_.counters(), 0, sizeof(cuda::RankCounters));
    state_.over(own(), cuda::grow_ranks_kernel<Share>, state_.view(), moved(old.data(), first()), growth,
                first(), own(), &state_.counters()->total);
    state_.read(0);
    state_.total = peers_.sum(state_.counted().total);
    mirror_.tell_all();
  }

  // ---- who is affected ----------------------------------------------------------------------------------

  /// As RankState::mark has it.
  void mark(const Graph& graph, std::span<const EdgeChange> changes, const std::vector<Vertex>& given_loops,
            std::uint64_t old_vertices) {
    state_.begin_marks(own(), 0);
    if (state_.method() == RankMethod::naive_dynamic) {
      state_.add_all(state_.marked());
    } else {
      mark_neighbours(graph, changes, given_loops, old_vertices);
    }
    count_affected();
  }

  void mark_neighbours(const Graph& graph, std::span<const EdgeChange> changes,
                       const std::vector<Vertex>& given_loops, std::uint64_t old_vertices) {
    const unsigned list = state_.marked();
    std::vector<Vertex> met = given_loops, sources;
    for (const EdgeChange& change : changes) {
      if (change.removed > 0 && peers_.owns(change.target)) met.push_back(change.target);
      if (sources.empty() || sources.back() != change.source) sources.push_back(change.source);
    }
    for (std::uint64_t v = std::max(old_vertices, first()); v < peers_.last(); ++v)
      met.push_back(static_cast<Vertex>(v));
    parcels_.send(
        met.size(), ParcelUse::vertices, state_.stream,
        [&](const Columns& to, std::uint64_t begin, std::uint64_t end) {
          std::copy(met.data() + begin, met.data() + end, to.vertices);
        },
        [&](const Columns& there, std::uint64_t size) { meet(there, size, ParcelUse::vertices, list); });
    spread(graph, sources, false, list);
    state_.read(list);
    if (state_.method() == RankMethod::dynamic_traversal) mark_reachable(graph, list);
  }

  void mark_reachable(const Graph& graph, unsigned list) {
    ListSizes from;
    for (;;) {
      state_.fill(state_.sizes_of_sources(), 0, sizeof(ListSizes));
      for (unsigned c = 0; c < cuda::kListClasses; ++c) {
        const std::uint64_t begin = from.count[c], end = state_.sizes.count[c];
        state_.over(end - begin, cuda::list_sources_kernel<Share>, state_.view(), state_.members(list), c,
                    begin, end, state_.sources());
      }
      state_.read(list);
      const std::vector<Vertex> level = everywhere(listed_sources(), graph);
      if (level.empty()) break;
      from = state_.sizes;
      spread(graph, level, false, list);
      state_.read(list);
    }
    state_.list_if_many(list);
  }

  void count_affected() { state_.affected_elsewhere = peers_.sum(state_.affected()) - state_.affected(); }

  /// What all ranks bring, in an order that lists are read in.
  std::vector<Vertex> everywhere(const std::vector<Vertex>& mine, const Graph& graph) {
    std::vector<Vertex> all = peers_.everywhere(mine);
    if (graph.edges_elsewhere) std::sort(all.begin(), all.end());
    return all;
  }

  /// Out-neighbours of the sources of all ranks become members of a list where they are own vertices, and are
  /// told the differences if `tells`.
  void spread(const Graph& graph, std::span<const Vertex> all, bool tells, unsigned list) {
    const ListReader out = out_lists(graph, state_.options.weighted, device_.threads());
    out.for_each(all, [&](const CsrView& lists, std::size_t begin, std::size_t end) {
      spread(lists, all.subspan(begin, end - begin), tells, list);
    });
    lists_read_ += out.bytes_read();
  }

  /// The same along lists that are here.
  void spread(const CsrView& out, std::span<const Vertex> all, bool tells, unsigned list) {
    const ParcelUse use = !tells             ? ParcelUse::vertices
                          : Share::kWeighted ? ParcelUse::weights
                                             : ParcelUse::sources;
    std::vector<EdgeIndex> begins, places;  // of the sources' edges in their lists, and among what is sent
    for (std::size_t done = 0; done < all.size(); done += kSourcesAtOnce) {
      const auto sources = all.subspan(done, std::min<std::size_t>(kSourcesAtOnce, all.size() - done));
      begins.resize(sources.size()), places.assign(sources.size() + 1, 0);
      parallel_blocks(device_.threads(), sources.size(), kSourcesOfThread,
                      [&](std::uint64_t begin, std::uint64_t end, unsigned) {
                        for (std::uint64_t i = begin; i < end; ++i) {
                          const auto edges = edges_into(out, sources[i], first(), peers_.last());
                          begins[i] = edges.first, places[i + 1] = edges.second - edges.first;
                        }
                      });
      std::partial_sum(places.begin(), places.end(), places.begin());
      parcels_.send(
          places.back(), use, state_.stream,
          [&](const Columns& to, std::uint64_t from, std::uint64_t until) {
            pack(out, sources, begins, places, use, to, from, until);
          },
          [&](const Columns& there, std::uint64_t size) { meet(there, size, use, list); });
    }
  }

  /// Writes the edges that are sent in places [from, until).
  void pack(const CsrView& out, std::span<const Vertex> sources, const std::vector<EdgeIndex>& begins,
            const std::vector<EdgeIndex>& places, ParcelUse use, const Columns& to, std::uint64_t from,
            std::uint64_t until) const {
    const auto place = [&](auto it) { return static_cast<std::uint64_t>(it - places.begin()); };
    const std::uint64_t low = place(std::upper_bound(places.begin(), places.end(), from)) - 1,
                        high = place(std::lower_bound(places.begin(), places.end(), until));
    parallel_blocks(device_.threads(), high - low, kSourcesOfThread,
                    [&](std::uint64_t begin, std::uint64_t end, unsigned) {
                      for (std::uint64_t i = low + begin; i < low + end; ++i) {
                        const std::uint64_t first = std::max(places[i], from),
                                            last = std::min(places[i + 1], until);
                        if (first >= last) continue;
                        const EdgeIndex edge = begins[i] + (first - places[i]);
                        const std::uint64_t at = first - from, count = last - first;
                        std::copy_n(out.targets + edge, count, to.vertices + at);
                        if (use == ParcelUse::vertices) continue;
                        std::fill_n(to.sources + at, count, sources[i]);
                        if (use == ParcelUse::weights)
                          std::copy_n(out.weights + edge, count, to.weights + at);
                      }
                    });
  }

  void meet(const Columns& there, std::uint64_t size, ParcelUse use, unsigned list) const {
    state_.over(size, cuda::meet_entries_kernel<Share>, state_.view(), there.vertices,
                use == ParcelUse::vertices ? nullptr : there.sources,
                use == ParcelUse::weights ? there.weights : nullptr, size, state_.members(list));
  }

  // ---- an iteration -------------------------------------------------------------------------------------

  cuda::VertexList changed() const {
    if (peers_.alone()) return {};
    return {changed_.data(), nullptr, changed_.size(), 0, state_.counters()->changed.count};
  }

  Settled step(const Graph& graph, cuda::DeviceInLists& lists) {
    const unsigned now = state_.now(), next = state_.drops() ? 1 - now : now;
    FixedRank* const renewed = moved(renewed_.data(), first());
    state_.clear_lists(next);
    state_.fill(&state_.counters()->changed, 0, sizeof(ListSizes));
    lists.gather(state_, renewed);
    cuda::DynamicView<Share> view = state_.view();
    view.renewed = renewed, view.changed = changed();
    cuda::settle_members(view, state_.members(now), state_.sizes, state_.members(next), state_.sources(),
                         state_.partial(), &state_.counters()->settled, state_.stream);
    state_.read(next);
    state_.go_on_with(next);
    return state_.residual() ? tell_differences(graph) : affect_neighbours(graph);
  }

  static std::uint64_t out_edges_of(std::span<const Vertex> sources, const Graph& graph) {
    std::uint64_t edges = 0;
    for (const Vertex v : sources) edges += graph.out.offsets[v + 1] - graph.out.offsets[v];
    return edges;
  }

  /// Of the published methods: tells the other ranks what is new, and finds out who is affected next.
  Settled affect_neighbours(const Graph& graph) {
    const std::uint64_t before = state_.affected();
    const std::vector<Vertex> sources = listed_sources();
    Settled mine = state_.counted().settled;
    if (state_.method() == RankMethod::pruned_frontier) mine.told = out_edges_of(sources, graph);
    const Settled all = total_of(peers_, mine, state_.options.norm);
    if (!peers_.alone()) mirror_.tell(listed(changed_.data(), state_.counted().changed.count[0]));
    if (!state_.spreads()) return all;
    if (all_are_next(state_.method(), all.told, graph.edges())) {
      state_.pull_all();
      count_affected();
      return all;
    }
    spread(graph, everywhere(sources, graph), false, state_.now());
    state_.read(state_.now());
    if (state_.drops() || state_.affected() != before) state_.list_if_many(state_.now());
    count_affected();
    return all;
  }

  /// On residuals: the differences to the sums of out-neighbours, which are the next affected ones; or all
  /// vertices pull, where that costs less.
  Settled tell_differences(const Graph& graph) {
    const std::vector<Vertex> sources = listed_sources();
    Settled mine = state_.counted().settled;
    mine.told = out_edges_of(sources, graph);
    Settled all = total_of(peers_, mine, state_.options.norm);
    const std::vector<Vertex> all_sources = everywhere(sources, graph);
    mirror_.tell(sources);
    if (all_are_next(state_.method(), all.told, graph.edges())) {
      state_.pull_all();
    } else {
      all.gathered += all.told;
      spread(graph, all_sources, true, state_.now());
      state_.read(state_.now());
      state_.list_if_many(state_.now());
    }
    count_affected();
    return all;
  }

  /// Vertices of a list on the device, all of whose work has ended.
  std::vector<Vertex> listed(const Vertex* list, std::uint64_t count) const {
    std::vector<Vertex> vertices(count);
    copy_to_host(device_, vertices.data(), list, count * sizeof(Vertex));
    return vertices;
  }
  /// They are all of one class: the host has the out-edges.
  std::vector<Vertex> listed_sources() const {
    return listed(state_.sources().few, state_.counted().sources.count[0]);
  }

  const Device& device_;
  PagingOptions paging_;
  std::unique_ptr<Communicator> alone_;
  ChangeExchange peers_;
  cuda::DeviceRankState<Share> state_;
  cuda::RankParcels<Stored> parcels_;
  cuda::ShareMirror<Share> mirror_;
  Buffer<EdgeIndex> offsets_;  ///< [own + 1] of in-edges
  Buffer<FixedRank> renewed_;  ///< [own] of vertices with a loop in their list
  Buffer<Vertex> changed_;     ///< [own] who offers something else; of several ranks
  Buffer<Vertex> learned_;     ///< own changed sources of a batch
  Buffer<RankSource> learned_sources_;
  std::uint64_t lists_read_ = 0;  ///< bytes of out-lists that came from a file
};

}  // namespace

std::unique_ptr<DynamicRanks::State> make_cuda_owned_ranks(const Device& device, const Graph& graph,
                                                           std::span<const double> ranks,
                                                           const PageRankOptions& options,
                                                           const RankPlace& place) {
  in_edges_of(graph, options.weighted);  // are there
  if (options.weighted)
    return std::make_unique<CudaOwnedRanks<WeightedShare>>(device, graph, ranks, options, place);
  return std::make_unique<CudaOwnedRanks<EvenShare>>(device, graph, ranks, options, place);
}

}  // namespace sluice
