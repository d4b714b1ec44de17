// Dynamic PageRank on a GPU that holds the graph: the methods of frontier.hpp and residual.hpp on lists in
// device memory. Many iterations with few affected vertices run in one launch; others end on the host, which
// reads a few counters and decides whether there is another.
#include "engine/pagerank/changes/device_graph.cuh"
#include "engine/pagerank/dynamic/rounds.cuh"

namespace sluice {

namespace {

using cuda::ListSizes;

template <class Share>
class CudaDynamicRanks final : public DynamicRanks::State {
 public:
  CudaDynamicRanks(const Device& device, const Graph& graph, std::span<const double> given,
                   const PageRankOptions& options)
      : graph_(device, graph, options.weighted), state_(device, options), rounds_(device) {
    see_graph();
    make_vertices(graph.vertices());
    state_.over(vertices(), cuda::learn_sources_kernel<Share>, state_.view(), vertices(), options.dangling);
    HostArray<double> divisors(vertices(), "out-degrees");
    state_.stream.wait("out-degrees");  // copies to the host do not wait for it
    copy_to_host(device, divisors.data(), state_.divisors.data(), divisors.bytes());
    const auto alone = make_alone();
    ChangeExchange peers(*alone, {0, vertices()});
    const auto dangling = dangling_flags(options, peers, divisors.span());
    const HostArray<FixedRank> ranks = starting_ranks(given, dangling.span(), options, 0, vertices());
    copy_to_device(device, state_.ranks.data(), ranks.data(), ranks.bytes());
    state_.total = sum_of(ranks.span());
    state_.over(vertices(), cuda::offer_kernel<Share>, state_.view(), vertices());
  }

  ~CudaDynamicRanks() override {
    cudaStreamSynchronize(state_.stream.get());
  }  // what is under way uses the buffers

  DynamicRankResult follow(const Graph& graph, const EdgeChanges& changes, const DynamicRankOptions& dynamic,
                           const RankObserver& observer) override {
    in_edges_of(graph, state_.options.weighted);  // are there
    state_.dynamic = dynamic;
    DynamicRankResult result;
    auto begin = RankClock::now();
    graph_.apply(graph, changes, state_.stream);
    state_.stream.wait("a batch");
    see_graph();
    result.update_seconds = seconds_since(begin);
    result.rewrite_seconds = graph_.rewrite_seconds();

    begin = RankClock::now();
    const std::uint64_t before = vertices();
    adopt(graph.vertices(), changes.size());
    mark(before, changes.size());
    result.initially_affected = state_.affected_size();
    state_.add_waiting();
    result.setup_seconds = seconds_since(begin);

    begin = RankClock::now();
    rounds_.begin(state_.options.max_iterations);
    iterate(state_, graph_.out().edges, result, observer, [&] { return step(); });
    result.compute_seconds = seconds_since(begin);
    result.ever_affected = state_.ever();
    state_.end_batch();
    return result;
  }

  void read_ranks(std::span<double> ranks) const override { state_.read_ranks(ranks); }
  std::uint64_t vertices() const override { return state_.vertices(); }

 private:
  void see_graph() {
    state_.in = graph_.in(), state_.out = graph_.out();
    state_.longest_out = graph_.longest_out();
  }
  void make_vertices(std::uint64_t vertices) { state_.make_vertices(0, vertices, vertices); }

  /// Goes over to the graph as it is.
  void adopt(std::uint64_t vertices, std::uint64_t changes) {
    if (vertices > state_.vertices()) grow(vertices);
    state_.over(changes, cuda::adopt_changes_kernel<Share>, state_.view(), graph_.changes(), changes,
                state_.options.dangling);
  }

  void grow(std::uint64_t vertices) {
    const RankGrowth growth(state_.vertices(), vertices, state_.options.damping);
    const Buffer<FixedRank> old = std::move(state_.ranks);
    make_vertices(vertices);
    state_.fill(state_.counters(), 0, sizeof(cuda::RankCounters));
    state_.over(vertices, cuda::learn_sources_kernel<Share>, state_.view(), vertices,
                state_.options.dangling);
    state_.over(vertices, cuda::grow_ranks_kernel<Share>, state_.view(), old.data(), growth, 0, vertices,
                &state_.counters()->total);
    state_.read(0);
    state_.total = state_.counted().total;
  }

  /// Whom the batch affects.
  void mark(std::uint64_t old_vertices, std::uint64_t changes) {
    state_.begin_marks(vertices(), graph_.out().edges);
    const unsigned list = state_.marked();
    if (state_.method() == RankMethod::naive_dynamic) return state_.add_all(list);
    const cuda::VertexList members = state_.members(list);
    state_.over(changes, cuda::mark_changes_kernel<Share>, state_.view(), graph_.changes(), changes, members,
                state_.sources());
    state_.over(vertices() - old_vertices, cuda::mark_range_kernel<Share>, state_.view(), old_vertices,
                vertices(), members);
    cuda::expand_sources(state_.view(), state_.sources(), changes, nullptr, members, state_.stream);
    state_.read(list);
    if (state_.method() == RankMethod::dynamic_traversal) mark_reachable(list);
  }

  void mark_reachable(unsigned list) {
    ListSizes from;
    while (state_.affected() > cuda::all_of(from)) {
      state_.fill(state_.sizes_of_sources(), 0, sizeof(ListSizes));
      for (unsigned c = 0; c < cuda::kListClasses; ++c) {
        const std::uint64_t begin = from.count[c], end = state_.sizes.count[c];
        state_.over(end - begin, cuda::list_sources_kernel<Share>, state_.view(), state_.members(list), c,
                    begin, end, state_.sources());
      }
      cuda::expand_sources(state_.view(), state_.sources(), state_.affected() - cuda::all_of(from), nullptr,
                           state_.members(list), state_.stream);
      from = state_.sizes;
      state_.read(list);
    }
    state_.list_if_many(list);
  }

  Settled step() {
    const std::uint64_t before = state_.affected();
    const std::optional<Settled> together =
        state_.dynamic.together ? rounds_.next(state_) : std::optional<Settled>{};
    Settled done = together ? *together : step_alone();
    rounds_.saw(state_, done);
    if (all_are_next(state_.method(), done.told, graph_.out().edges)) {
      state_.pull_all();
      return done;
    }
    if (state_.residual()) done.gathered += done.told;
    if (rounds_.all_given() && (state_.drops() || state_.affected() != before))
      state_.list_if_many(state_.now());
    return done;
  }

  /// A launch for every part of an iteration.
  Settled step_alone() {
    const unsigned now = state_.now(), next = state_.drops() ? 1 - now : now;
    const std::uint64_t before = state_.affected();
    state_.clear_lists(next);
    Settled* const settled = &state_.counters()->settled;
    const cuda::DynamicView<Share> view = state_.view();
    cuda::gather_members(view, state_.members(now), state_.sizes, state_.stream);
    cuda::settle_members(view, state_.members(now), state_.sizes, state_.members(next), state_.sources(),
                         state_.partial(), settled, state_.stream);
    if (state_.spreads())
      cuda::expand_sources(view, state_.sources(), before, &settled->told, state_.members(next),
                           state_.stream);
    state_.read(next);
    state_.go_on_with(next);
    return state_.counted().settled;
  }

  cuda::DeviceGraph graph_;
  cuda::DeviceRankState<Share> state_;
  cuda::RankRounds rounds_;
};

}  // namespace

std::unique_ptr<DynamicRanks::State> make_cuda_dynamic_ranks(const Device& device, const Graph& graph,
                                                             std::span<const double> ranks,
                                                             const PageRankOptions& options) {
  in_edges_of(graph, options.weighted);  // are there
  if (options.weighted)
    return std::make_unique<CudaDynamicRanks<WeightedShare>>(device, graph, ranks, options);
  return std::make_unique<CudaDynamicRanks<EvenShare>>(device, graph, ranks, options);
}

}  // namespace sluice
