// Dynamic PageRank on a GPU: the methods of frontier.hpp and residual.hpp on lists in device memory. An
// iteration ends on the host, which reads a few counters and decides whether there is another.
#include <utility>

#include "engine/exec/buffer.hpp"
#include "engine/exec/stream.cuh"
#include "engine/rank/device_graph.cuh"
#include "engine/rank/dynamic_marks.cuh"
#include "engine/rank/sweep.hpp"

namespace sluice {

namespace {

using cuda::ListSizes;

/// A list of more than this part of all vertices is made anew in order of id, so that neighbouring state is
/// read together: a look at all flags then costs less than what is saved.
constexpr std::uint64_t kManyPart = 16;

/// What kernels count, and the host reads.
struct Counters {
  ListSizes members[2];
  ListSizes sources;
  unsigned long long ever;  ///< affected one by one
  FixedRank total;
  Settled settled;
};

template <class Share>
class CudaDynamicRanks final : public DynamicRanks::State {
 public:
  CudaDynamicRanks(const Device& device, const Graph& graph, std::span<const double> given,
                   const PageRankOptions& given_options)
      : options(given_options),
        device_(device),
        graph_(device, graph, given_options.weighted),
        counters_(device, 1, "counters"),
        read_(device, 1, "counters"),
        partial_(device, cuda::kListBlocks, "totals by block") {
    make_vertices(graph.vertices());
    over(vertices_, cuda::learn_sources_kernel<Share>, view(), vertices_, options.dangling);
    const HostArray<FixedRank> ranks = starting_ranks(given, graph.out.view(), options, 0, vertices_);
    copy_to_device(device, ranks_.data(), ranks.data(), ranks.bytes());
    total = sum_of(ranks.span());
    over(vertices_, cuda::offer_kernel<Share>, view(), vertices_);
  }

  ~CudaDynamicRanks() override {
    cudaStreamSynchronize(stream_.get());
  }  // what is under way uses the buffers

  DynamicRankResult follow(const Graph& graph, std::span<const EdgeChange> changes,
                           const DynamicRankOptions& dynamic, const RankObserver& observer) override {
    in_edges_of(graph, options.weighted);  // are there
    dynamic_ = dynamic;
    DynamicRankResult result;
    auto begin = RankClock::now();
    graph_.apply(graph, changes, stream_);
    stream_.wait("a batch");
    result.update_seconds = seconds_since(begin);

    begin = RankClock::now();
    const std::uint64_t before = vertices_;
    adopt(graph.vertices(), changes.size());
    mark(before, changes.size());
    result.initially_affected = affected_size();
    add_waiting();
    result.setup_seconds = seconds_since(begin);

    begin = RankClock::now();
    iterate(*this, graph_.out().edges, result, observer, [&] { return step(); });
    result.compute_seconds = seconds_since(begin);
    result.ever_affected = all_ever_ ? vertices_ : read_.data()->ever;
    waiting_ = residual();
    return result;
  }

  void read_ranks(std::span<double> ranks) const override {
    stream_.wait("the ranks");
    HostArray<FixedRank> fixed(ranks.size(), "ranks");
    copy_to_host(device_, fixed.data(), ranks_.data(), fixed.bytes());
    const double scale = rank_scale(options, total);
    std::transform(fixed.begin(), fixed.end(), ranks.begin(),
                   [scale](FixedRank rank) { return scaled_rank(rank, scale); });
  }

  std::uint64_t vertices() const override { return vertices_; }
  std::uint64_t affected_size() const { return cuda::all_of(sizes_); }

  PageRankOptions options;
  FixedRank total = 0;

 private:
  using Stored = typename Share::Stored;

  RankMethod method() const { return dynamic_.method; }
  bool residual() const { return method() == RankMethod::residual_frontier; }
  /// Whether every iteration makes a new list.
  bool drops() const { return residual() || method() == RankMethod::pruned_frontier; }
  bool spreads() const { return drops() || method() == RankMethod::dynamic_frontier; }

  cuda::DynamicView<Share> view() const {
    cuda::DynamicView<Share> view;
    view.at = {graph_.in(), ranks_.data(), shares_.data(), divisors_.data(), loops_.data()};
    view.out = graph_.out();
    view.told = told_.data();
    view.sums = sums_.data();
    view.flags = flags_.data();
    view.known = known_.data();
    view.ever = &counters_.data()->ever;
    view.update = make_update(options, vertices_);
    view.norm = options.norm;
    view.method = method();
    view.frontier_tolerance = dynamic_.frontier_tolerance;
    view.prune_tolerance = dynamic_.prune_tolerance;
    return view;
  }

  unsigned* sizes_of(unsigned list) const { return counters_.data()->members[list].count; }
  unsigned* sizes_of_sources() const { return counters_.data()->sources.count; }
  cuda::VertexList members(unsigned list) const { return lists_[list].view(sizes_of(list)); }
  cuda::VertexList sources() const { return sources_.view(sizes_of_sources()); }

  template <class Kernel, class... Arguments>
  void over(std::uint64_t count, Kernel kernel, Arguments&&... arguments) {
    cuda::launch_over(count, stream_, kernel, std::forward<Arguments>(arguments)...);
  }

  void fill(void* data, int value, std::uint64_t bytes) {
    if (bytes == 0) return;
    cuda::check(cudaMemsetAsync(data, value, bytes, stream_.get()), "clearing");
  }

  /// The counters as they are once all kernels have ended, and the sizes of a list among them.
  void read(unsigned list) {
    cuda::check(cudaMemcpyAsync(read_.data(), counters_.data(), sizeof(Counters), cudaMemcpyDeviceToHost,
                                stream_.get()),
                "copying counters");
    stream_.wait("affected vertices");
    sizes_ = read_.data()->members[list];
  }

  /// State of so many vertices; what it was is lost.
  void make_vertices(std::uint64_t vertices) {
    vertices_ = vertices;
    ranks_ = Buffer<FixedRank>(device_, vertices, "ranks");
    shares_ = Buffer<Stored>(device_, vertices, "contributions");
    told_ = Buffer<Stored>(device_, vertices, "contributions");
    sums_ = Buffer<FixedRank>(device_, vertices, "sums");
    divisors_ = Buffer<double>(device_, vertices, "out-degrees");
    loops_ = Buffer<Loop>(device_, vertices, "self-loops");
    flags_ = Buffer<std::uint8_t>(device_, (vertices + 3) / 4 * 4, "flags of affected vertices");  // by words
    known_ = Buffer<std::uint8_t>(device_, vertices, "flags of known sums");
    forget();
  }

  /// No sum is known any more.
  void forget() {
    fill(known_.data(), 0, known_.bytes());
    waiting_ = false;
  }

  /// Goes over to the graph as it is.
  void adopt(std::uint64_t vertices, std::uint64_t changes) {
    if (vertices > vertices_) grow(vertices);
    over(changes, cuda::adopt_changes_kernel<Share>, view(), graph_.changes(), changes, options.dangling);
  }

  void grow(std::uint64_t vertices) {
    const RankGrowth growth(vertices_, vertices, options.damping);
    const Buffer<FixedRank> old = std::move(ranks_);
    make_vertices(vertices);
    fill(counters_.data(), 0, sizeof(Counters));
    over(vertices, cuda::learn_sources_kernel<Share>, view(), vertices, options.dangling);
    over(vertices, cuda::grow_ranks_kernel<Share>, view(), old.data(), growth, vertices,
         &counters_.data()->total);
    read(0);
    total = read_.data()->total;
  }

  /// Whom the batch affects, in the list that holds none that wait.
  void mark(std::uint64_t old_vertices, std::uint64_t changes) {
    if (!residual()) forget();
    marked_ = waiting_ ? 1 - now_ : now_;
    waiting_sizes_ = waiting_ ? sizes_ : ListSizes{};
    lists_[marked_].reserve(device_, vertices_, graph_.in().edges);
    sources_.reserve(device_, vertices_, graph_.out().edges);
    fill(counters_.data(), 0, sizeof(Counters));
    all_ever_ = false;
    if (method() == RankMethod::naive_dynamic) return add_all(marked_);
    fill(flags_.data(), 0, flags_.bytes());
    const cuda::VertexList list = members(marked_);
    over(changes, cuda::mark_changes_kernel<Share>, view(), graph_.changes(), changes, list, sources());
    over(vertices_ - old_vertices, cuda::mark_range_kernel<Share>, view(), old_vertices, vertices_, list);
    cuda::expand_sources(view(), sources(), changes, nullptr, list, stream_);
    read(marked_);
    if (method() == RankMethod::dynamic_traversal) mark_reachable();
  }

  void mark_reachable() {
    ListSizes from;
    while (affected_size() > cuda::all_of(from)) {
      fill(sizes_of_sources(), 0, sizeof(ListSizes));
      for (unsigned c = 0; c < cuda::kListClasses; ++c) {
        const std::uint64_t begin = from.count[c], end = sizes_.count[c];
        over(end - begin, cuda::list_sources_kernel<Share>, view(), members(marked_), c, begin, end,
             sources());
      }
      cuda::expand_sources(view(), sources(), affected_size() - cuda::all_of(from), nullptr, members(marked_),
                           stream_);
      from = sizes_;
      read(marked_);
    }
    list_if_many(marked_);
  }

  /// Those that were told in the last iteration of the last batch.
  void add_waiting() {
    if (waiting_) {
      const std::uint64_t count = cuda::all_of(waiting_sizes_);
      over(count, cuda::mark_list_kernel<Share>, view(), members(1 - marked_), waiting_sizes_, count,
           members(marked_));
      read(marked_);
    }
    now_ = marked_;
    lists_[1 - now_].reserve(device_, vertices_, graph_.in().edges);
  }

  Settled step() {
    const unsigned next = drops() ? 1 - now_ : now_;
    const std::uint64_t before = affected_size();
    if (drops()) fill(sizes_of(next), 0, sizeof(ListSizes));
    fill(sizes_of_sources(), 0, sizeof(ListSizes));
    Settled* const settled = &counters_.data()->settled;
    cuda::gather_members(view(), members(now_), sizes_, stream_);
    cuda::settle_members(view(), members(now_), sizes_, members(next), sources(), partial_.data(), settled,
                         stream_);
    if (spreads()) cuda::expand_sources(view(), sources(), before, settled, members(next), stream_);
    read(next);
    now_ = next;
    Settled done = read_.data()->settled;
    if (residual() && pulling_costs_less(done.told, graph_.out().edges)) {
      fill(known_.data(), 0, known_.bytes());
      add_all(now_);
      return done;
    }
    if (residual()) done.gathered += done.told;
    if (drops() || affected_size() != before) list_if_many(now_);
    return done;
  }

  void add_all(unsigned list) {
    fill(flags_.data(), cuda::kMember | cuda::kEver, flags_.bytes());
    list_by_id(list);
    read(list);
    all_ever_ = true;
  }

  void list_if_many(unsigned list) {
    if (affected_size() > vertices_ / kManyPart) list_by_id(list);
  }

  /// Members are the same, and so are the sizes.
  void list_by_id(unsigned list) {
    fill(sizes_of(list), 0, sizeof(ListSizes));
    over(vertices_, cuda::list_members_kernel<Share>, view(), vertices_, members(list));
  }

  const Device& device_;
  cuda::Stream stream_;
  cuda::DeviceGraph graph_;
  DynamicRankOptions dynamic_;
  std::uint64_t vertices_ = 0;
  Buffer<FixedRank> ranks_, sums_;
  Buffer<Stored> shares_, told_;
  Buffer<double> divisors_;
  Buffer<Loop> loops_;
  Buffer<std::uint8_t> flags_, known_;
  cuda::ListRoom lists_[2], sources_;
  Buffer<Counters> counters_;
  Staging<Counters> read_;
  Buffer<Settled> partial_;
  unsigned now_ = 0;       ///< the list of members
  unsigned marked_ = 0;    ///< the one that a batch is marked in
  bool all_ever_ = false;  ///< whether all vertices were affected at once
  bool waiting_ = false;   ///< whether the list of the last batch holds vertices that nobody has looked at
  ListSizes sizes_, waiting_sizes_;
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
