// The store of a GPU that does not hold the graph (solver.hpp): its in-edges come in partitions, or it is one
// of several, each with a range of vertices. Ranks, sums and lists of own vertices stay on the GPU. The host
// has the graph, or reads it from its file: it sends in-edges where there are affected vertices, and
// out-edges of the vertices whose change spreads, cut to those that lead to own vertices. Ranks of a job
// exchange changes through their hosts, as those without a GPU do (change_exchange.hpp), and in the same
// order.
#include <algorithm>
#include <numeric>
#include <vector>

#include "engine/exec/threads.hpp"
#include "engine/pagerank/dynamic/affected.hpp"
#include "engine/pagerank/dynamic/in_edges_cuda.cuh"
#include "engine/pagerank/dynamic/rank_parcels.cuh"
#include "engine/pagerank/dynamic/share_mirror.cuh"
#include "engine/pagerank/dynamic/solver.hpp"

namespace sluice::pagerank {

namespace {

/// Sources whose out-edges are looked up at a time, and by one thread.
constexpr std::uint64_t kSourcesAtOnce = std::uint64_t{1} << 18;
constexpr std::uint64_t kSourcesOfThread = 512;

/// What sources are on the device.
template <class Share>
__global__ void __launch_bounds__(kListBlock)
    learn_listed_kernel(DynamicView<Share> view, const Vertex* vertices, const RankSource* sources,
                        std::uint64_t count) {
  for_each_thread(count, [&](std::uint64_t i) {
    const Vertex v = vertices[i];
    view.at.divisors[v] = sources[i].divisor, view.at.loops[v] = sources[i].loop;
    view.at.share(v);
  });
}

template <class Share>
class CudaPartStore : public DeviceRankState<Share> {
 public:
  using Lists = DeviceInLists;
  static constexpr bool kHoldsGraph = false;

  CudaPartStore(const Device& device, const Graph& graph, const Options& options, ChangeExchange& peers)
      : State(device, options),
        device_(device),
        peers_(peers),
        parcels_(device, std::max(graph.vertices(), graph.edges())),
        mirror_(device, peers_, *this, parcels_) {
    make_vertices(graph);
  }

  ~CudaPartStore() { cudaStreamSynchronize(this->stream.get()); }  // what is under way uses the buffers

  std::uint64_t bytes_sent() const { return parcels_.bytes_sent(); }

  void send(const std::vector<Vertex>& changed) { mirror_.send(changed); }
  void send_all() { mirror_.send_all(); }

  // ---- the graph

  /// Takes the offsets of own in-edges.
  void see(const Graph& graph) {
    this->stream.wait("the last batch");  // its last list is made by the offsets that it had
    const std::uint64_t own = peers_.last() - peers_.first();
    const CsrView in = in_edges_of(graph, this->options.weighted);
    offsets_.reserve(device_, own + 1, "offsets of in-edges");
    this->in = {in.vertices, 0, moved(offsets_.data(), peers_.first()), nullptr, nullptr};
    if (own == 0) return;
    copy_to_device(device_, offsets_.data(), in.offsets + peers_.first(), (own + 1) * sizeof(EdgeIndex));
    this->in.edges = in.offsets[peers_.last()] - in.offsets[peers_.first()];
  }

  FixedRank grow(const Graph& graph, const RankGrowth& growth) {
    const Buffer<FixedRank> old = std::move(this->ranks);
    make_vertices(graph);
    return this->grow_ranks(moved(old.data(), peers_.first()), growth);
  }

  /// Among how much changed own vertices split their ranks now.
  void learn(std::span<const Vertex> changed, std::span<const RankSource> sources) {
    learned_.reserve(device_, changed.size(), "changed sources");
    learned_sources_.reserve(device_, changed.size(), "changed sources");
    copy_to_device(device_, learned_.data(), changed.data(), changed.size_bytes());
    copy_to_device(device_, learned_sources_.data(), sources.data(), sources.size_bytes());
    this->over(changed.size(), learn_listed_kernel<Share>, this->view(), learned_.data(),
               learned_sources_.data(), changed.size());
  }

  // ---- the affected vertices

  void begin_marks() { State::begin_marks(this->own, 0); }

  void add(std::span<const Vertex> vertices) {
    parcels_.send(
        vertices.size(), ParcelUse::vertices, this->stream,
        [&](const Columns& to, std::uint64_t begin, std::uint64_t end) {
          std::copy(vertices.data() + begin, vertices.data() + end, to.vertices);
        },
        [&](const Columns& device, std::uint64_t size) { meet(device, size, ParcelUse::vertices); });
  }

  /// Vertices that became members since the last call.
  std::vector<Vertex> new_members() {
    if (this->list_new_members() == 0) return {};
    this->read(this->grown());
    return listed_sources();
  }

  /// Own out-neighbours of the sources of all ranks become members; if it `pushes`, their sums get the
  /// differences.
  void spread(const ListReader& out, std::span<const Vertex> all, bool pushes) {
    out.for_each(all, [&](const CsrView& lists, std::size_t begin, std::size_t end) {
      spread(lists, all.subspan(begin, end - begin), pushes);
    });
    this->read(this->grown());
  }

  // ---- an iteration

  /// Renews all members, and lists those of the next iteration that are known by now.
  Settled settle(const Graph& graph, DeviceInLists& lists) {
    const unsigned next = this->drops() ? 1 - this->now() : this->now();
    FixedRank* const renewed = moved(renewed_.data(), this->first);
    this->clear_lists(next);
    this->fill(&this->counters()->changed, 0, sizeof(ListSizes));
    lists.gather(*this, renewed);
    DynamicView<Share> view = this->view();
    view.renewed = renewed, view.changed = changed();
    this->settle_into(next, view);
    this->read(next);
    this->go_on_with(next);
    settled_sources_ = listed_sources();
    Settled settled = this->counted().settled;
    if (this->drops()) settled.pushed = out_edges_of(settled_sources_, graph);
    return settled;
  }

  /// Own vertices whose change spreads.
  const std::vector<Vertex>& spreading() const { return settled_sources_; }

  /// Sends the other ranks what an iteration changed.
  void send_settled(std::span<const Vertex> /*all_sources*/) {
    if (peers_.alone()) return;
    send(this->residual() ? settled_sources_ : listed(changed_.data(), this->counted().changed.count[0]));
  }

  void drop_members() {}  // settling has made a new list

 private:
  using State = DeviceRankState<Share>;
  using Stored = typename Share::Stored;
  using Columns = ParcelColumns<Stored>;

  /// State of the vertices of a graph.
  void make_vertices(const Graph& graph) {
    const std::uint64_t own = peers_.last() - peers_.first();
    const RankSources sources =
        sources_of(graph, this->options, peers_.first(), peers_.last(), device_.threads());
    State::make_vertices(peers_.first(), own, peers_.vertices());
    renewed_ = Buffer<FixedRank>(device_, own, "ranks");
    if (!peers_.alone()) changed_ = Buffer<Vertex>(device_, own, "changed contributions");
    copy_to_device(device_, this->divisors.data(), sources.divisors.data(), sources.divisors.bytes());
    copy_to_device(device_, this->loops.data(), sources.loops.data(), sources.loops.bytes());
  }

  /// Goes along lists that are here.
  void spread(const CsrView& out, std::span<const Vertex> all, bool pushes) {
    const ParcelUse use = !pushes            ? ParcelUse::vertices
                          : Share::kWeighted ? ParcelUse::weights
                                             : ParcelUse::sources;
    std::vector<EdgeIndex> begins, places;  // of the sources' edges in their lists, and among what is sent
    for (std::size_t done = 0; done < all.size(); done += kSourcesAtOnce) {
      const auto sources = all.subspan(done, std::min<std::size_t>(kSourcesAtOnce, all.size() - done));
      begins.resize(sources.size()), places.assign(sources.size() + 1, 0);
      parallel_blocks(device_.threads(), sources.size(), kSourcesOfThread,
                      [&](std::uint64_t begin, std::uint64_t end, unsigned) {
                        for (std::uint64_t i = begin; i < end; ++i) {
                          const auto edges = edges_into(out, sources[i], peers_.first(), peers_.last());
                          begins[i] = edges.first, places[i + 1] = edges.second - edges.first;
                        }
                      });
      std::partial_sum(places.begin(), places.end(), places.begin());
      parcels_.send(
          places.back(), use, this->stream,
          [&](const Columns& to, std::uint64_t from, std::uint64_t until) {
            pack(out, sources, begins, places, use, to, from, until);
          },
          [&](const Columns& device, std::uint64_t size) { meet(device, size, use); });
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

  void meet(const Columns& device, std::uint64_t size, ParcelUse use) const {
    this->over(size, meet_entries_kernel<Share>, this->view(), device.vertices,
               use == ParcelUse::vertices ? nullptr : device.sources,
               use == ParcelUse::weights ? device.weights : nullptr, size, this->members(this->grown()));
  }

  VertexList changed() const {
    if (peers_.alone()) return {};
    return {changed_.data(), nullptr, changed_.size(), 0, this->counters()->changed.count};
  }

  static std::uint64_t out_edges_of(std::span<const Vertex> sources, const Graph& graph) {
    std::uint64_t edges = 0;
    for (const Vertex v : sources) edges += graph.out.offsets[v + 1] - graph.out.offsets[v];
    return edges;
  }

  /// Vertices of a list on the device, all of whose work has ended.
  std::vector<Vertex> listed(const Vertex* list, std::uint64_t count) const {
    std::vector<Vertex> vertices(count);
    copy_to_host(device_, vertices.data(), list, count * sizeof(Vertex));
    return vertices;
  }
  /// They are all of one class: the host has the out-edges.
  std::vector<Vertex> listed_sources() const {
    return listed(this->sources().few, this->counted().sources.count[0]);
  }

  const Device& device_;
  ChangeExchange& peers_;
  RankParcels<Stored> parcels_;
  ShareMirror<Share> mirror_;
  Buffer<EdgeIndex> offsets_;  ///< [own + 1] of in-edges
  Buffer<FixedRank> renewed_;  ///< [own] of vertices with a loop in their list
  Buffer<Vertex> changed_;     ///< [own] who offers something else; of several ranks
  Buffer<Vertex> learned_;     ///< own changed sources of a batch
  Buffer<RankSource> learned_sources_;
  std::vector<Vertex> settled_sources_;  ///< own ones of the iteration
};

}  // namespace

std::unique_ptr<DynamicRanks::State> make_part_cuda_ranks(const Device& device, const Graph& graph,
                                                          std::span<const double> ranks,
                                                          const Options& options, const RankPlace& place) {
  return make_dynamic_solver<CudaPartStore>(device, graph, ranks, options, place);
}

}  // namespace sluice::pagerank
