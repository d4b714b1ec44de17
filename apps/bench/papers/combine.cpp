// The sorted combine uses no atomics. A prefix sum of degrees gives each value its position, a sort groups
// the values of each target (SIMD-X's updates, combined once), and a lane, a warp or a block combines a
// group, as in pull rounds. Programs have one level. Atomics may change a state several times in a round: a
// vertex that can become active again is marked with the round.
#include "apps/bench/papers/combine.hpp"

#include <algorithm>
#include <bit>
#include <type_traits>

#include "engine/acc/programs/bfs.hpp"
#include "engine/acc/programs/kcore.hpp"
#include "engine/acc/programs/sssp.hpp"
#include "engine/acc/run.hpp"
#include "engine/acc/solve.hpp"
#include "engine/core/clock.hpp"
#include "engine/core/error.hpp"

namespace sluice::bench::papers {

namespace {

constexpr const char* kPurpose = "values by target";

/// Pointers are to the executor's memory.
template <class P>
struct View {
  using Program = P;
  using State = typename Program::State;

  Program program;
  acc::AccRound at;
  CsrView out;
  State* states;

  SLUICE_HD std::uint64_t degree(Vertex v) const { return out.offsets[v + 1ull] - out.offsets[v]; }
  SLUICE_HD State value(Vertex u, EdgeIndex e) const {
    return program.compute({u, out.targets[e], e, at, states, out.weights});
  }
  template <class Lane>
  SLUICE_HD void note(Vertex v, const acc::Combined<State>& is, Lane& lane) const {
    if (is.active) lane.append(0, v);
  }
  SLUICE_HD static bool sends(Vertex) { return true; }  // for the bodies below
};

template <class Program>
struct Start : View<Program> {
  template <class Lane>
  SLUICE_HD void operator()(std::uint64_t i, Lane& lane) const {
    const auto v = static_cast<Vertex>(i);
    const auto state = this->states[v] = this->program.init(v, this->degree(v));
    if constexpr (acc::VoteProgram<Program>) {
      this->note(v, {this->program.starts(v), state}, lane);
    } else {
      this->note(v, {this->program.level(state) == this->at.level, state}, lane);
    }
  }
};

template <class Program>
struct CombineByAtomics : View<Program> {
  std::uint32_t* marks;  ///< for BoundProgram: the last round that activated a vertex

  SLUICE_HD bool is_first(Vertex v) const {
    std::uint32_t before = load(marks + v);
    return before != this->at.round && exchange(marks + v, before, this->at.round);
  }
  template <class Lane>
  SLUICE_HD void edge(Vertex u, EdgeIndex e, Lane& lane) const {
    const Vertex v = this->out.targets[e];
    auto is = acc::combine_atomic(this->program, this->states + v, this->value(u, e), this->at);
    if constexpr (acc::BoundProgram<Program>) is.active = is.active && is_first(v);
    this->note(v, is, lane);
  }
};

/// The value of edge e of an active vertex v is stored at places[v] + e. `sums` holds degrees, and then their
/// prefix sums.
struct PlaceFront {
  const Vertex* front;
  const EdgeIndex* offsets;
  std::uint64_t *sums, *positions;
  bool counts;

  template <class Lane>
  SLUICE_HD void operator()(std::uint64_t i, Lane&) const {
    const Vertex v = front[i];
    if (counts) {
      sums[i] = offsets[v + 1ull] - offsets[v];
    } else {
      positions[v] = sums[i] - offsets[v];
    }
  }
};

template <class Program>
struct WriteValues : View<Program> {
  const std::uint64_t* positions;
  Vertex* targets;
  std::uint32_t* numbers;
  typename Program::State* values;

  template <class Lane>
  SLUICE_HD void edge(Vertex u, EdgeIndex e, Lane&) const {
    const std::uint64_t position = positions[u] + e;
    targets[position] = this->out.targets[e];
    numbers[position] = static_cast<std::uint32_t>(position);
    values[position] = this->value(u, e);
  }
};

/// Finds where the row of each target begins. `sums` holds 1 for each beginning, and then the prefix sums.
struct PlaceRows {
  const Vertex* sorted;
  std::uint64_t values;
  std::uint64_t* sums;
  EdgeIndex* rows;  ///< [rows + 1]
  bool counts;

  template <class Lane>
  SLUICE_HD void operator()(std::uint64_t i, Lane&) const {
    const bool begins = i == 0 || sorted[i] != sorted[i - 1];
    if (counts) {
      sums[i] = begins;
    } else if (begins) {
      rows[sums[i]] = i;
      if (i == 0) rows[sums[values]] = values;
    }
  }
};

template <class Program>
struct JoinRows : View<Program> {
  using State = typename Program::State;
  using Value = State;

  const EdgeIndex* rows;
  const Vertex* sorted;
  const std::uint32_t* order;
  const State* values;

  SLUICE_HD bool begin(std::uint64_t row, State& before) const {
    before = this->states[sorted[rows[row]]];
    return true;
  }
  SLUICE_HD static State identity(State before) { return acc::SumProgram<Program> ? State{} : before; }
  SLUICE_HD bool receives(std::uint64_t, EdgeIndex e, State& value) const {
    value = values[order[e]];
    return true;
  }
  SLUICE_HD State join(State a, State b) const {
    if constexpr (acc::SumProgram<Program>) return this->program.add(a, b);
    return this->program.combine(a, b, this->at);
  }
  SLUICE_HD static bool stops(State, State) { return false; }
  template <class Lane>
  SLUICE_HD void end(std::uint64_t row, State, State total, Lane& lane) const {
    const Vertex v = sorted[rows[row]];
    this->note(v, acc::combine_exclusive(this->program, this->states + v, total, this->at), lane);
  }
};

template <class Program, Traverser E>
class Rounds {
 public:
  Rounds(const acc::AccGraph& graph, const Program& program, std::uint64_t level, PushCombine combine)
      : device_(graph.device()),
        sorts_(combine == PushCombine::sorted),
        executor_(device_, graph.edges()),
        begin_(device_, 1, "worklists"),
        counts_(device_, executor_, 1),
        states_(device_, graph.vertices(), "vertex states"),
        values_(device_, sorts_ ? graph.edges() : 0, kPurpose),
        view_{program, {0, level}, graph.out(), states_.data()} {
    const std::uint64_t vertices = graph.vertices(), edges = sorts_ ? graph.edges() : 0;
    for (auto* list : {&front_, &next_}) *list = Buffer<Vertex>(device_, vertices, "worklists");
    for (auto* list : {&targets_, &sorted_, &numbers_, &order_})
      *list = Buffer<std::uint32_t>(device_, edges, kPurpose);
    for (auto* buffer : {&positions_, &rows_})
      *buffer = Buffer<std::uint64_t>(device_, sorts_ ? vertices + 1 : 0, kPurpose);
    executor_.fill(begin_.data(), 0, begin_.bytes());
    counts_.clear();
    if constexpr (acc::BoundProgram<Program>) {
      marks_ = Buffer<std::uint32_t>(device_, vertices, "rounds of vertices");
      executor_.fill(marks_.data(), 0, marks_.bytes());
    }
    if (!sorts_) return;
    // Allocates the workspace of sums and sorts before the time is measured.
    sums_ = Buffer<std::uint64_t>(device_, std::max(edges, vertices) + 1, kPurpose);
    executor_.fill(sums_.data(), 0, sums_.bytes());
    executor_.exclusive_sum(sums_.data(), sums_.size() - 1);
#if defined(__CUDACC__)
    if constexpr (!kOnHost) scratch_.reserve(device_, cuda::sort_scratch_bytes(edges, key_bits()), kPurpose);
#endif
  }

  /// The first worklist is not part of the time.
  PushRounds run() {
    executor_.for_each(states_.size(), output(), Start<Program>{view_});
    std::uint64_t size = take_next();
    PushRounds result;
    const double begin = seconds_now();
    for (; size > 0; ++result.rounds, size = take_next()) {
      ++view_.at.round;
      const VertexRange front{front_.data(), 0, size, 0, view_.out.offsets};
      sorts_ ? push_sorted(front)
             : executor_.for_each_edge(front, output(), CombineByAtomics<Program>{{view_}, marks_.data()});
    }
    result.seconds = seconds_now() - begin;
    return result;
  }

  /// Throws RunError unless is_expected(v, state) is true for all vertices.
  template <class Expected>
  void compare(const Expected& is_expected) const {
    std::vector<typename Program::State> states(states_.size());
    copy_to_host(device_, states.data(), states_.data(), states_.bytes());
    for (std::uint64_t v = 0; v < states.size(); ++v)
      if (!is_expected(v, states[v])) throw RunError("rounds that push have found another state");
  }

 private:
  static constexpr bool kOnHost = std::is_same_v<E, HostTraverser>;

  unsigned key_bits() const {
    return static_cast<unsigned>(std::bit_width(states_.size()));
  }
  LaneOutput output() const {
    return counts_.output(next_.data(), begin_.data());
  }
  std::uint64_t take_next() {
    counts_.read();
    const std::uint64_t size = counts_.listed(0);
    counts_.clear_list(0);
    std::swap(front_, next_);
    return size;
  }

  void push_sorted(const VertexRange& front) {
    PlaceFront place_front{front.vertices, front.offsets, sums_.data(), positions_.data(), true};
    executor_.for_each(front.count, {}, place_front);
    const std::uint64_t count = executor_.exclusive_sum(sums_.data(), front.count);
    if (count == 0) return;
    check_items(count);
    place_front.counts = false;
    executor_.for_each(front.count, {}, place_front);
    executor_.for_each_edge(
        front, output(),
        WriteValues<Program>{{view_}, positions_.data(), targets_.data(), numbers_.data(), values_.data()});
    sort(count);
    PlaceRows rows{sorted_.data(), count, sums_.data(), rows_.data(), true};
    executor_.for_each(count, {}, rows);
    const std::uint64_t size = executor_.exclusive_sum(sums_.data(), count);
    rows.counts = false;
    executor_.for_each(count, {}, rows);
    executor_.reduce_rows(
        {0, size, rows_.data()}, output(),
        JoinRows<Program>{{view_}, rows_.data(), sorted_.data(), order_.data(), values_.data()});
  }

  void sort(std::uint64_t count) {
    if constexpr (kOnHost) {
      const Vertex* const targets = targets_.data();
      OrderedItems ordered(states_.size(), kPurpose);
      executor_.order_by_key(
          count, [=](std::uint64_t i) { return targets[i]; }, ordered);
      for (std::uint64_t i = 0; i < count; ++i)
        sorted_.data()[i] = targets[order_.data()[i] = ordered.items.data()[i]];
    } else {
#if defined(__CUDACC__)
      cuda::sort_by_key(device_, targets_.data(), sorted_.data(), numbers_.data(), order_.data(), count,
                        key_bits(), scratch_, executor_.stream());
#endif
    }
  }

  const Device& device_;
  bool sorts_;
  E executor_;
  Buffer<std::uint64_t> begin_;  ///< start of the worklist
  acc::LaneCounts<E> counts_;
  Buffer<typename Program::State> states_, values_;
  Buffer<Vertex> front_, next_;
  Buffer<std::uint32_t> marks_;
  Buffer<std::uint32_t> targets_, sorted_, numbers_, order_;  ///< sorted_ and order_: by target
  Buffer<std::uint64_t> positions_, rows_, sums_;
  Buffer<unsigned char> scratch_;
  View<Program> view_;
};

template <class Program, class Expected>
PushRounds run_rounds(const acc::AccGraph& graph, const Program& program, std::uint64_t level,
                      PushCombine combine, const Expected& is_expected) {
  const auto run = [&]<class E>(std::type_identity<E>) {
    Rounds<Program, E> rounds(graph, program, level, combine);
    const PushRounds result = rounds.run();
    rounds.compare(is_expected);
    return result;
  };
#if defined(__CUDACC__)
  if (graph.device().is_cuda()) return run(std::type_identity<cuda::CudaTraverser>());
#endif
  return run(std::type_identity<HostTraverser>());
}

}  // namespace

PushRounds push_bfs(const acc::AccGraph& graph, Vertex source, PushCombine combine) {
  using Program = acc::BreadthFirst;
  const acc::BfsResult expected = acc::bfs(graph, source);
  return run_rounds(graph, Program{source}, 0, combine, [&](std::uint64_t v, Program::State state) {
    return static_cast<std::int32_t>(Program::depth(state)) == expected.depths[v] &&
           Program::parent(state) == expected.parents[v];
  });
}

/// Has no levels: a vertex sends whenever its distance decreases.
PushRounds push_sssp(const acc::AccGraph& graph, Vertex source, PushCombine combine) {
  using Program = acc::ShortestPaths;
  const acc::SsspResult expected = acc::sssp(graph, source);
  return run_rounds(graph, Program{source, 0}, 0, combine, [&](std::uint64_t v, Program::State state) {
    return Program::distance(state) == expected.distances[v];
  });
}

PushRounds push_kcore(const acc::AccGraph& graph, std::uint32_t k, PushCombine combine) {
  const acc::CoreResult expected = acc::core_numbers(graph, k);
  return run_rounds(graph, acc::CoreNumbers{k - 1, k - 1}, k - 1, combine,
                    [&](std::uint64_t v, std::uint32_t state) { return state == expected.cores[v]; });
}

}  // namespace sluice::bench::papers
