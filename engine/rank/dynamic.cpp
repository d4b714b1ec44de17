#include "engine/rank/dynamic.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <string>

#include "engine/core/error.hpp"
#include "engine/exec/threads.hpp"
#include "engine/rank/affected.hpp"
#include "engine/rank/change.hpp"
#include "engine/rank/divisor.hpp"
#include "engine/rank/share.hpp"
#include "engine/rank/stall.hpp"

namespace sluice {

namespace {

using Clock = std::chrono::steady_clock;

/// Vertices that one thread works on at a time; fewer are not worth a thread's start.
constexpr std::uint64_t kVertices = 1024;
/// How far the sum of given ranks may be above 1: somebody else's may be single-precision ones.
constexpr double kSumSlack = 1e-3;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// A vertex without a loop, with one in its lists, and with one that `self_loop` gave it.
enum class Loop : std::uint8_t { none, stored, added };

/// What a vertex gives to itself: a part of its sum, and of its rank.
struct OwnShare {
  FixedRank sum = 0;
  double part = 0;
};

/// Earlier ranks of other vertices may be too high for a while; no rank, and no sum, is above 1.
FixedRank at_most_one(FixedRank sum) {
  return std::min(sum, FixedRank{1} << kFixedRankBits);
}

/// ((1 - d) / n + d s) / (1 - d l), as the derivation in dynamic.hpp has it.
FixedRank closed_form(const RankUpdate& update, FixedRank sum, const OwnShare& own) {
  using namespace rank_detail;
  const double others = add(update.base, multiply(update.damping, from_fixed(at_most_one(sum - own.sum))));
  return to_fixed(std::min(divide(others, add(1, -multiply(update.damping, own.part))), 1.0));
}

/// |new - old| / max(new, old).
double relative_change(FixedRank before, FixedRank after) {
  const FixedRank larger = std::max(before, after), change = larger - std::min(before, after);
  return larger == 0 ? 0 : static_cast<double>(change) / static_cast<double>(larger);
}

CsrView in_edges(const Graph& graph, bool weighted) {
  if (graph.directed && graph.in.offsets.empty() && graph.edges() > 0) {
    throw UsageError("dynamic PageRank needs in-edges beside the out-edges (sluice::transpose makes them)");
  }
  CsrView in = graph.directed && !graph.in.offsets.empty() ? graph.in.view() : graph.out.view();
  if (!weighted) in.weights = nullptr;
  return in;
}

template <class T>
HostArray<T> grown(const HostArray<T>& old, std::uint64_t size, const char* purpose) {
  HostArray<T> array(size, purpose);
  std::copy(old.begin(), old.end(), array.begin());
  return array;
}

}  // namespace

void validate(const DynamicRankOptions& options) {
  if (options.method == RankMethod::from_scratch) throw UsageError("--method: static follows no batch");
  const auto check = [](const char* name, double value) {
    if (!(value >= 0) || !std::isfinite(value)) {
      throw UsageError(std::string(name) + ": must be finite and not negative");
    }
  };
  check("--frontier-tolerance", options.frontier_tolerance);
  check("--prune-tolerance", options.prune_tolerance);
}

class DynamicRanks::State {
 public:
  virtual ~State() = default;
  virtual DynamicRankResult follow(const Graph& graph, std::span<const EdgeChange> changes,
                                   const DynamicRankOptions& options, const RankObserver& observer) = 0;
  virtual void read_ranks(std::span<double> ranks) const = 0;
  virtual std::uint64_t vertices() const = 0;
};

namespace {

template <class Share>
class DynamicState final : public DynamicRanks::State {
 public:
  DynamicState(const Device& device, const Graph& graph, std::span<const double> ranks,
               const PageRankOptions& options)
      : options_(options),
        threads_(device.threads()),
        ranks_(graph.vertices(), "ranks"),
        shares_(graph.vertices(), "contributions"),
        divisors_(graph.vertices(), "out-degrees"),
        loops_(graph.vertices(), "self-loops"),
        affected_(graph.vertices(), device.threads()) {
    for_all([&](Vertex v) { learn_source(graph, v); });
    start_from(ranks);
  }

  DynamicRankResult follow(const Graph& graph, std::span<const EdgeChange> changes,
                           const DynamicRankOptions& options, const RankObserver& observer) override {
    const auto begin = Clock::now();
    DynamicRankResult result;
    const CsrView in = in_edges(graph, options_.weighted);
    const std::uint64_t before = vertices();
    if (graph.vertices() > before) grow(graph);
    for (const EdgeChange& change : changes) {
      if (&change != changes.data() && (&change)[-1].source == change.source) continue;
      learn_source(graph, change.source);
      share(change.source);
    }
    mark(graph, changes, before, options.method);
    result.initially_affected = affected_.size();
    result.setup_seconds = seconds_since(begin);
    const auto middle = Clock::now();
    iterate(graph, in, options, result, observer);
    result.compute_seconds = seconds_since(middle);
    result.ever_affected = affected_.ever();
    affected_.clear();
    return result;
  }

  void read_ranks(std::span<double> ranks) const override {
    const double sum = scale();
    for_all([&](Vertex v) { ranks[v] = from_fixed(to_fixed(from_fixed(ranks_[v]) / sum)); });
  }

  std::uint64_t vertices() const override { return ranks_.size(); }

 private:
  bool normalises() const { return options_.dangling == Dangling::uniform; }
  /// What ranks are divided by at the end.
  double scale() const { return normalises() && total_ > 0 ? from_fixed(total_) : 1; }

  template <class Body>
  void for_all(Body&& body) const {
    parallel_blocks(threads_, vertices(), kVertices, [&](std::uint64_t begin, std::uint64_t end, unsigned) {
      for (std::uint64_t v = begin; v < end; ++v) body(static_cast<Vertex>(v));
    });
  }

  void learn_source(const Graph& graph, Vertex v) {
    CsrView out = graph.out.view();
    if (!options_.weighted) out.weights = nullptr;
    divisors_[v] = out_weight(out, v, options_.weighted);
    loops_[v] = has_loop(out, v) ? Loop::stored : Loop::none;
    if (loops_[v] == Loop::none && options_.dangling == Dangling::self_loop) {
      loops_[v] = Loop::added;
      divisors_[v] += 1;
    }
  }

  void share(Vertex v) { shares_[v] = share_of<Share>(ranks_[v], divisors_[v]); }

  /// From normalised ranks to those that are solved for.
  void start_from(std::span<const double> ranks) {
    double sum = 0, dangling = 0;  // in order of id, whatever the threads
    for (std::uint64_t v = 0; v < vertices(); ++v) {
      if (!(ranks[v] >= 0 && ranks[v] <= 1 + kSumSlack)) {
        throw InputError("earlier ranks: the rank of vertex " + std::to_string(v) + " is none");
      }
      sum += ranks[v];
      if (!(divisors_[v] > 0)) dangling += ranks[v];
    }
    if (sum > 1 + kSumSlack) throw InputError("earlier ranks: they sum to more than 1");
    const double d = options_.damping;
    const double factor = normalises() ? (1 - d) / ((1 - d) + d * dangling) : 1;
    set_all([&](Vertex v) { return ranks[v] * factor; });
  }

  template <class Rank>
  void set_all(Rank&& rank) {
    for_all([&](Vertex v) {
      ranks_[v] = to_fixed(rank(v));
      share(v);
    });
    total_ = 0;
    for (const FixedRank value : ranks_) total_ += value;
  }

  /// More vertices: all ranks shrink with 1 / n; new ones begin as if nothing pointed at them.
  void grow(const Graph& graph) {
    const std::uint64_t before = vertices(), after = graph.vertices();
    ranks_ = grown(ranks_, after, "ranks");
    shares_ = HostArray<typename Share::Stored>(after, "contributions");
    divisors_ = grown(divisors_, after, "out-degrees");
    loops_ = grown(loops_, after, "self-loops");
    affected_ = AffectedSet(after, threads_);
    for (std::uint64_t v = before; v < after; ++v) learn_source(graph, static_cast<Vertex>(v));
    const double ratio = static_cast<double>(before) / static_cast<double>(after);
    const double base = (1 - options_.damping) / static_cast<double>(after);
    set_all([&](Vertex v) { return v < before ? from_fixed(ranks_[v]) * ratio : base; });
  }

  /// Initially affected: targets of deletions, new vertices, and the out-neighbours of every source whose
  /// list changed. Those before the batch are those after it and the targets of deletions.
  void mark(const Graph& graph, std::span<const EdgeChange> changes, std::uint64_t old_vertices,
            RankMethod method) {
    if (method == RankMethod::naive_dynamic) return affected_.add_all();
    std::vector<Vertex> sources;
    for (const EdgeChange& change : changes) {
      if (change.removed > 0) affected_.add(change.target);
      if (!sources.empty() && sources.back() == change.source) continue;
      sources.push_back(change.source);
      // Its own loop carries a part that depends on its degree.
      if (loops_[change.source] == Loop::added) affected_.add(change.source);
    }
    for (std::uint64_t v = old_vertices; v < vertices(); ++v) affected_.add(static_cast<Vertex>(v));
    affected_.add_neighbours(graph.out.view(), sources);
    if (method == RankMethod::dynamic_traversal) affected_.add_reachable(graph.out.view());
  }

  void iterate(const Graph& graph, const CsrView& in, const DynamicRankOptions& options,
               DynamicRankResult& result, const RankObserver& observer) {
    const auto n = static_cast<double>(vertices());
    const RankUpdate update{options_.damping, (1 - options_.damping) / n, 0};
    Stall stall(options_, graph.edges(), graph.vertices());
    while (affected_.size() > 0) {
      if (result.iterations == options_.max_iterations) {
        result.end = RankEnd::limit;
        return;
      }
      const auto begin = Clock::now();
      result.affected.push_back(affected_.size());
      gather(in, update, options.method == RankMethod::pruned_frontier);
      const Settled settled = settle(in, options);
      total_ += settled.growth;
      result.gathered_edges += settled.gathered;
      result.residual = settled.change.norm(options_.norm) / scale();
      spread(graph, settled, options);
      result.history.push_back({++result.iterations, result.residual, seconds_since(begin)});
      if (observer) observer(result.history.back());
      if (result.residual <= options_.tolerance) return;
      if (stall.seen(result.residual, settled.change.l1())) {
        result.end = RankEnd::stalled;
        return;
      }
    }
  }

  /// The next rank of every member, in the order of the list; nothing that others read changes.
  void gather(const CsrView& in, const RankUpdate& update, bool closed) {
    const std::span<const Vertex> members = affected_.list();
    next_.resize(members.size());
    over(members, [&](std::uint64_t i, std::uint64_t) {
      const Vertex v = members[i];
      const EdgeIndex first = in.offsets[v];
      FixedRank sum = pull<Share>(shares_.data(), in.targets + first,
                                  Share::kWeighted ? in.weights + first : nullptr, in.offsets[v + 1] - first);
      if (loops_[v] == Loop::added) sum += Share::carried(shares_[v], 1);
      next_[i] = closed ? closed_form(update, sum, own_share(in, v)) : update(at_most_one(sum));
    });
  }

  OwnShare own_share(const CsrView& in, Vertex v) const {
    if (loops_[v] == Loop::none) return {};
    if (loops_[v] == Loop::added) return {Share::carried(shares_[v], 1), 1 / divisors_[v]};
    OwnShare own;
    const auto loops = std::equal_range(in.targets + in.offsets[v], in.targets + in.offsets[v + 1], v);
    for (const Vertex* loop = loops.first; loop != loops.second; ++loop) {
      const float weight = Share::kWeighted ? in.weights[loop - in.targets] : 1.0f;
      own.sum += Share::carried(shares_[v], weight);
      own.part += weight;
    }
    own.part /= divisors_[v];
    return own;
  }

  struct Settled {
    RankChange change;
    FixedRank growth = 0;  ///< of the sum of all ranks, modulo 2^64
    std::uint64_t gathered = 0;
    std::vector<std::vector<Vertex>> expanding;  ///< by block
  };

  /// Makes the next ranks the ranks, and finds out whose change spreads and who leaves.
  Settled settle(const CsrView& in, const DynamicRankOptions& options) {
    const bool frontier = options.method == RankMethod::dynamic_frontier;
    const bool pruned = options.method == RankMethod::pruned_frontier;
    const std::span<const Vertex> members = affected_.list();
    std::vector<Settled> parts((members.size() + kVertices - 1) / kVertices);
    Settled all;
    all.expanding.resize(parts.size());
    if (pruned) stays_.resize(members.size());
    over(members, [&](std::uint64_t i, std::uint64_t block) {
      const Vertex v = members[i];
      const FixedRank before = ranks_[v], after = next_[i];
      Settled& part = parts[block];
      part.change.add(before, after, options_.norm);
      part.growth += after - before;
      part.gathered += in.offsets[v + 1] - in.offsets[v];
      ranks_[v] = after;
      share(v);
      if (!frontier && !pruned) return;
      const double relative = relative_change(before, after);
      if (pruned) stays_[i] = relative > options.prune_tolerance;
      if (relative > options.frontier_tolerance && (pruned || affected_.first_expansion(v))) {
        all.expanding[block].push_back(v);
      }
    });
    for (const Settled& part : parts) {
      all.change.join(part.change, options_.norm);
      all.growth += part.growth;
      all.gathered += part.gathered;
    }
    return all;
  }

  void spread(const Graph& graph, const Settled& settled, const DynamicRankOptions& options) {
    if (options.method == RankMethod::pruned_frontier) affected_.keep(stays_);
    std::vector<Vertex> sources;
    for (const auto& part : settled.expanding) sources.insert(sources.end(), part.begin(), part.end());
    if (!sources.empty()) affected_.add_neighbours(graph.out.view(), sources);
  }

  /// Calls body(i, block) for every member.
  template <class Body>
  void over(std::span<const Vertex> members, Body&& body) {
    parallel_blocks(threads_, members.size(), kVertices,
                    [&](std::uint64_t begin, std::uint64_t end, unsigned) {
                      for (std::uint64_t i = begin; i < end; ++i) body(i, begin / kVertices);
                    });
  }

  PageRankOptions options_;
  unsigned threads_;
  HostArray<FixedRank> ranks_;                ///< unnormalised with Dangling::uniform
  HostArray<typename Share::Stored> shares_;  ///< of ranks_
  HostArray<double> divisors_;
  HostArray<Loop> loops_;
  AffectedSet affected_;
  FixedRank total_ = 0;              ///< the sum of ranks_
  std::vector<FixedRank> next_;      ///< of the members, in the order of the list
  std::vector<std::uint8_t> stays_;  ///< the same
};

std::unique_ptr<DynamicRanks::State> make_state(const Device& device, const Graph& graph,
                                                std::span<const double> ranks,
                                                const PageRankOptions& options) {
  validate(options);
  if (graph.edges_elsewhere) {
    throw BudgetError("dynamic PageRank needs the graph in host memory (raise --host-memory)");
  }
  if (options.precision == RankPrecision::f32) {
    throw UsageError("--precision f32: only with --method static (leave it out)");
  }
  if (options.weighted && graph.out.weights.empty() && graph.edges() > 0) {
    throw UsageError("--weighted: the graph has no weights (leave it out)");
  }
  if (ranks.size() != graph.vertices()) {
    throw InputError("earlier ranks: " + std::to_string(ranks.size()) + " of them for " +
                     std::to_string(graph.vertices()) + " vertices");
  }
  if (options.weighted) return std::make_unique<DynamicState<WeightedShare>>(device, graph, ranks, options);
  return std::make_unique<DynamicState<EvenShare>>(device, graph, ranks, options);
}

}  // namespace

DynamicRanks::DynamicRanks(const Device& device, const Graph& graph, std::span<const double> ranks,
                           const PageRankOptions& options)
    : state_(make_state(device, graph, ranks, options)) {}
DynamicRanks::~DynamicRanks() = default;
DynamicRanks::DynamicRanks(DynamicRanks&&) noexcept = default;

DynamicRankResult DynamicRanks::follow(const Graph& graph, std::span<const EdgeChange> changes,
                                       const DynamicRankOptions& options, const RankObserver& observer) {
  validate(options);
  return state_->follow(graph, changes, options, observer);
}

void DynamicRanks::read_ranks(std::span<double> ranks) const {
  state_->read_ranks(ranks);
}

std::uint64_t DynamicRanks::vertices() const {
  return state_->vertices();
}

}  // namespace sluice
