// The store of a GPU that holds the graph in both directions, and the batch (solver.hpp). Many iterations
// with few affected vertices run in one launch (rounds.cuh). Others end on the host, which reads a few
// counters and decides whether another follows.
//
// GPUs of several ranks hold the same state and do the same work. If members (affected vertices) have many
// edges, their sums take most of an iteration. Then each GPU finds the sums of its own range, and they
// exchange sums: integers, so that all go on with the same bits. With few edges the exchange would take
// longer than to find all sums. The marking of many out-neighbours is divided, too.
//
// Measured on Kronecker 24, batches of 1e-4: one H200 takes 94 ms and two take 66. Without updates of members
// while sums were exchanged, two took 68. A part store (part_store_cuda.cu) with all in-lists on one GPU
// takes 153, of which 45 bring the lists.
#include <tuple>
#include <utility>

#include "engine/pagerank/changes/device_graph.cuh"
#include "engine/pagerank/dynamic/rounds.cuh"
#include "engine/pagerank/dynamic/solver.hpp"

namespace sluice::pagerank {

/// Whether change i is the first of its source.
__device__ bool is_first_of_source(const EdgeChange* changes, std::uint64_t i) {
  return i == 0 || changes[i - 1].source != changes[i].source;
}

/// In-lists that stay on the GPU.
struct ResidentLists {
  ResidentLists(const Device&, const Graph&, bool, std::uint64_t, std::uint64_t, const PagingOptions&) {}
  Traffic traffic() const { return {}; }
  std::uint64_t partitions_read() const { return 1; }
  bool are_resident() const { return true; }
};

template <class Share>
class CudaWholeStore : public RankState<Share, cuda::CudaExecutor> {
  using State = RankState<Share, cuda::CudaExecutor>;
  using Lane = cuda::CudaLane;

 public:
  using Lists = ResidentLists;
  static constexpr bool kHoldsGraph = true;

  /// Keeps a reference to `peers`.
  CudaWholeStore(const Device& device, const Graph& graph, const Options& given, const Router& peers)
      : State(device, given), peers_(peers), graph_(device, graph, given.weighted), rounds_(device) {
    set_graph(graph);
    allocate_vertices(graph.vertices());
  }

  ~CudaWholeStore() {  // running work uses the buffers
    cudaStreamSynchronize(side_stream_.get());
    cudaStreamSynchronize(this->executor.cuda_stream().get());
  }

  std::uint64_t list_bytes() const { return graph_.bytes(); }
  std::uint64_t bytes_sent() const { return 0; }  // the batch is not counted
  void send_all() {}

  /// Applies a batch. Returns the GPU's seconds of rewriting lists once it had the changes.
  double update(const Graph& graph, const EdgeChanges& changes) {
    graph_.apply(graph, changes, this->executor.cuda_stream());
    this->executor.wait("a batch");
    changes_ = changes.size();
    shared_seconds_ = 0;
    rounds_.begin(this->options.max_iterations);
    return graph_.rewrite_seconds();
  }

  void set_graph(const Graph&) {
    this->in = graph_.in(), this->out = graph_.out();
    this->out_offsets = this->out.offsets;
    this->max_out_degree = graph_.max_out_degree();
  }

  FixedRank grow(const Graph& graph, const RankGrowth& growth) {
    const Buffer<FixedRank> old = std::move(this->ranks);
    allocate_vertices(graph.vertices());
    return this->grow_ranks(old.data(), growth);
  }

  /// Updates divisors, self-loops and contributions of changed sources.
  void update_changed_sources() {
    const EdgeChange* const changes = graph_.changes();
    const Dangling dangling = this->options.dangling;
    const auto view = this->view();
    this->for_each(changes_, [=] __device__(std::uint64_t i, Lane&) {
      if (!is_first_of_source(changes, i)) return;
      view.vertices.set_source(view.out, changes[i].source, dangling);
      view.vertices.update_share(changes[i].source);
    });
  }

  /// Marks targets of deletions, changed sources with an added self-loop, whose part depends on their degree,
  /// and new vertices; then the out-neighbours of all changed sources.
  void mark_changed(std::uint64_t old_vertices) {
    const EdgeChange* const changes = graph_.changes();
    const VertexList members = this->append_target(), sources = this->sources();
    const auto view = this->view();
    this->for_each(changes_, [=] __device__(std::uint64_t i, Lane & lane) {
      const EdgeChange change = changes[i];
      if (change.removed > 0) view.add_member(change.target, true, members, lane);
      if (!is_first_of_source(changes, i)) return;
      if (view.vertices.loops[change.source] == Loop::added)
        view.add_member(change.source, true, members, lane);
      sources.append(change.source, view.class_of_source(change.source), lane);
    });
    this->for_each(this->vertices() - old_vertices, [=] __device__(std::uint64_t i, Lane & lane) {
      view.add_member(static_cast<Vertex>(old_vertices + i), true, members, lane);
    });
    expand_sources(*this, view, changes_, nullptr, members);
    this->read_append_target();
  }

  /// Makes the out-neighbours of members that joined since the last call members; false if none joined.
  bool spread_new_members() {
    const std::uint64_t joined = this->list_new_members();
    if (joined == 0) return false;
    expand_sources(*this, this->view(), joined, nullptr, this->append_target());
    this->read_append_target();
    return true;
  }

  IterationTotals step() {
    const std::uint64_t before = this->affected();
    const std::optional<IterationTotals> fused =
        this->dynamic.fusion != RoundFusion::none ? rounds_.next(*this) : std::optional<IterationTotals>{};
    IterationTotals done = fused ? *fused : step_unfused();
    rounds_.record(*this, done);
    if (all_pull_next(this->dynamic, done.pushed, graph_.out().edges)) {
      if (rounds_.all_returned()) this->pull_all();
      return done;
    }
    if (this->residual()) done.gathered += done.pushed;
    if (std::exchange(marks_divided_, false)) {
      this->list_by_id();
      this->read_append_target();
    } else if (rounds_.all_returned() && (this->drops() || this->affected() != before)) {
      this->order_members();
    }
    return done;
  }

  void count(DynamicRankResult& result) const {
    result.shared_seconds = shared_seconds_;
    result.kernel_launches = this->launches;
    std::tie(result.push_registers, result.pull_registers) =
        RankRounds::registers<Share>(this->dynamic.fusion);
  }

  void allocate_vertices(std::uint64_t vertices) {
    State::allocate_vertices(0, vertices, vertices, false);
    const Dangling dangling = this->options.dangling;
    const auto view = this->view();
    this->for_each(vertices, [=] __device__(std::uint64_t v, Lane&) {
      view.vertices.set_source(view.out, static_cast<Vertex>(v), dangling);
    });
  }

 private:
  /// One iteration, with a launch for each of its parts.
  IterationTotals step_unfused() {
    const unsigned next = this->next();
    const std::uint64_t before = this->affected();
    const DynamicView<Share> view = divided_view();
    const bool many = has_many_edges();
    this->clear_lists();
    gather_timer_.start(this->executor.cuda_stream());
    gather_members(*this, view, this->members(this->current()), this->sizes);
    gather_timer_.stop(this->executor.cuda_stream());
    view.divides_sums ? settle_divided(view) : settle_members(*this, view);
    if (this->spreads())
      expand_sources(*this, view, before, &this->counters()->totals.pushed, this->members(next));
    if (view.divides_sums && peers_.has_link()) peers_.wait(this->executor.cuda_stream().get(), kSums);
    this->read(next);
    if (many) shared_seconds_ += gather_timer_.seconds();
    this->set_current(next);
    const IterationTotals totals = this->last_counters().totals;
    marks_divided_ = this->spreads() && spread_of(view, &totals.pushed) == Spread::divided_marks;
    if (marks_divided_) share(view.flags, "marks of affected vertices");
    return totals;
  }

  /// Whether an iteration reads so many edges that ranks should divide them.
  bool has_many_edges() const { return estimated_edges(this->sizes) > kManyEdges * this->own_rows; }
  /// The view of an iteration, with the work that ranks divide.
  DynamicView<Share> divided_view() const {
    DynamicView<Share> view = this->view();
    view.divides_sums = !peers_.is_single_rank() && has_many_edges();
    if (!view.divides_sums) return view;
    view.handled_first = peers_.first(), view.handled_count = peers_.last() - peers_.first();
    // Else every rank must count the vertices that are affected for the first time.
    view.divides_marks = view.method == RankMethod::pruned_frontier && this->all_ever_affected();
    return view;
  }
  /// Sends this rank's own range of a column to the others, and receives theirs.
  template <class T>
  void share(T* column, const char* label) const {
    peers_.share(column, label, 1, this->executor.cuda_stream().get());
  }
  /// Updates members whose sums this rank found while sums are exchanged, and then all others. If GPUs are
  /// connected, the caller waits for the exchange.
  void settle_divided(const DynamicView<Share>& view) {
    const cuda::Stream& stream = this->executor.cuda_stream();
    side_stream_.fork_from(stream);
    if (peers_.has_link())
      peers_.begin_all_gather_ranges(view.sums, ranges_of(peers_.owners()), stream.get());
    settle_part(*this, view, false, side_stream_.get());
    if (!peers_.has_link()) share(view.sums, kSums);
    side_stream_.join_into(stream);
    settle_part(*this, view, true, stream.get());
  }

  /// Ranks divide sums if members have more in-edges than this for each vertex. (Kronecker 24, two H200s:
  /// they exchange sums in 0.3 ms, and one pulls along 8 edges a vertex in 0.8.)
  static constexpr std::uint64_t kManyEdges = 8;
  static constexpr const char* kSums = "sums of affected vertices";

  const Router& peers_;
  DeviceGraph graph_;
  std::uint64_t changes_ = 0;  ///< of the batch
  cuda::Timer gather_timer_;
  double shared_seconds_ = 0;  ///< see DynamicRankResult
  bool marks_divided_ = false;  ///< in the last iteration: its next list has only this rank's marks
  cuda::SideStream side_stream_;
  RankRounds rounds_;
};

std::unique_ptr<DynamicRanks::State> make_whole_cuda_ranks(const Device& device, const Graph& graph,
                                                           std::span<const double> ranks,
                                                           const Options& options, const RankPlace& place) {
  return make_dynamic_solver<CudaWholeStore>(device, graph, ranks, options, place);
}

std::uint64_t whole_cuda_bytes(const Device& device, const Graph& graph, const Options& options) {
  return planned_bytes(device, [&](const Device& counting) {
    const CudaWholeStore<EvenShare> store(counting, graph, options, Router(ranks_or_single(nullptr)));
  });
}

}  // namespace sluice::pagerank
