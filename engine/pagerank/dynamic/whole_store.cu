// The store of a GPU that holds the graph in both directions, and the batch (solver.hpp). Many iterations
// with few affected vertices run in one launch (rounds.cuh); others end on the host, which reads a few
// counters and decides whether there is another.
#include "engine/pagerank/changes/device_graph.cuh"
#include "engine/pagerank/dynamic/rounds.cuh"
#include "engine/pagerank/dynamic/solver.hpp"

namespace sluice::pagerank {

namespace {

/// Lists that are there to stay.
struct ResidentLists {
  ResidentLists(const Device&, const Graph&, bool, std::uint64_t, std::uint64_t, const PagingOptions&) {}
  SweepTraffic traffic() const { return {}; }
  std::uint64_t partitions_read() const { return 1; }
};

template <class Share>
class CudaWholeStore : public DeviceRankState<Share> {
 public:
  using Lists = ResidentLists;
  static constexpr bool kHoldsGraph = true;

  CudaWholeStore(const Device& device, const Graph& graph, const Options& options, const ChangeExchange&)
      : State(device, options), graph_(device, graph, options.weighted), rounds_(device) {
    see(graph);
    make_vertices(graph.vertices());
  }

  ~CudaWholeStore() { cudaStreamSynchronize(this->stream.get()); }  // what is under way uses the buffers

  std::uint64_t bytes_sent() const { return 0; }  // but for the batch
  void send_all() {}

  /// Returns the seconds of the GPU's work on the lists once it had the changes.
  double update(const Graph& graph, const EdgeChanges& changes) {
    graph_.apply(graph, changes, this->stream);
    this->stream.wait("a batch");
    changes_ = changes.size();
    rounds_.begin(this->options.max_iterations);
    return graph_.rewrite_seconds();
  }

  void see(const Graph&) {
    this->in = graph_.in(), this->out = graph_.out();
    this->longest_out = graph_.longest_out();
  }

  FixedRank grow(const Graph& graph, const RankGrowth& growth) {
    const Buffer<FixedRank> old = std::move(this->ranks);
    make_vertices(graph.vertices());
    return this->grow_ranks(old.data(), growth);
  }

  void learn_changed() {
    this->over(changes_, adopt_changes_kernel<Share>, this->view(), graph_.changes(), changes_,
               this->options.dangling);
  }

  void begin_marks() { State::begin_marks(this->vertices(), graph_.out().edges); }

  void mark_changed(std::uint64_t old_vertices) {
    const VertexList members = this->members(this->grown());
    this->over(changes_, mark_changes_kernel<Share>, this->view(), graph_.changes(), changes_, members,
               this->sources());
    this->over(this->vertices() - old_vertices, mark_range_kernel<Share>, this->view(), old_vertices,
               this->vertices(), members);
    expand(changes_, nullptr, members);
    this->read(this->grown());
  }

  /// The out-neighbours of the members that joined since the last call become members; false: none joined.
  bool spread_new_members() {
    const std::uint64_t fresh = this->list_new_members();
    if (fresh == 0) return false;
    expand(fresh, nullptr, this->members(this->grown()));
    this->read(this->grown());
    return true;
  }

  Settled step() {
    const std::uint64_t before = this->affected();
    const std::optional<Settled> together =
        this->dynamic.together ? rounds_.next(*this) : std::optional<Settled>{};
    Settled done = together ? *together : step_alone();
    rounds_.saw(*this, done);
    if (all_are_next(this->method(), done.pushed, graph_.out().edges)) {
      this->pull_all();
      return done;
    }
    if (this->residual()) done.gathered += done.pushed;
    if (rounds_.all_given() && (this->drops() || this->affected() != before)) this->order_members();
    return done;
  }

 private:
  using State = DeviceRankState<Share>;

  void make_vertices(std::uint64_t vertices) {
    State::make_vertices(0, vertices, vertices);
    this->over(vertices, learn_sources_kernel<Share>, this->view(), vertices, this->options.dangling);
  }

  void expand(std::uint64_t most, const std::uint64_t* pushed, const VertexList& next) {
    expand_sources(this->view(), this->sources(), most, pushed, next, this->stream);
  }

  /// A launch for every part of an iteration.
  Settled step_alone() {
    const unsigned now = this->now(), next = this->drops() ? 1 - now : now;
    const std::uint64_t before = this->affected();
    this->clear_lists(next);
    gather_members(this->view(), this->members(now), this->sizes, this->stream);
    this->settle_into(next, this->view());
    if (this->spreads()) expand(before, &this->counters()->settled.pushed, this->members(next));
    this->read(next);
    this->go_on_with(next);
    return this->counted().settled;
  }

  DeviceGraph graph_;
  std::uint64_t changes_ = 0;  ///< of the batch
  RankRounds rounds_;
};

}  // namespace

std::unique_ptr<DynamicRanks::State> make_whole_cuda_ranks(const Device& device, const Graph& graph,
                                                           std::span<const double> ranks,
                                                           const Options& options, const RankPlace& place) {
  return make_dynamic_solver<CudaWholeStore>(device, graph, ranks, options, place);
}

}  // namespace sluice::pagerank
