// The workspace of a query on the host. It belongs to one thread, and grows with the vertices reached. They
// are stored in the order in which they were reached: a round scans all of them (diffusion.hpp). In a GPU's
// workspace (group_workspace.hpp) each vertex is in its table slot, where one read finds it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "engine/core/charged_vector.hpp"
#include "engine/exec/group.hpp"
#include "engine/exec/memory/buffer.hpp"
#include "engine/ppr/adjacency/lists.hpp"
#include "engine/ppr/group_workspace.hpp"
#include "engine/ppr/reached.hpp"

namespace sluice::ppr {

template <class M>
class HostTeam;

/// Memory for the sub-graphs of balls, one at a time; it grows as needed.
template <class M>
class HostSubGraph {
 public:
  /// Keeps a reference to the device.
  explicit HostSubGraph(const Device& device) : device_(device) {}

  /// Begins the next query.
  void begin() { max_bytes_ = 0; }
  /// Bytes of the largest sub-graph of this query.
  std::uint64_t max_bytes() const { return max_bytes_; }
  /// Peak bytes for a graph of this size: while lists move to larger memory, the old memory exists too.
  static std::uint64_t peak_bytes(const SubGraphSize& size) {
    SubGraphSize moving = size;
    moving.vertices = 0, moving.inner *= 2, moving.edges *= 2;
    return SubGraphView<M>::bytes(size) + SubGraphView<M>::bytes(moving);
  }

  /// Reserves memory for lists of this size, and keeps existing lists. Throws BudgetError.
  void reserve_lists(const SubGraphSize& size) {
    grow(offsets_, size.inner + 1);
    grow(targets_, size.edges);
    if (!size.weighted) return;
    grow(totals_, size.inner);
    grow(weights_, size.edges);
  }
  /// Reserves memory for masses, whose values are lost. Throws BudgetError.
  void place(const SubGraphSize& size) {
    residual_.reserve(device_, size.vertices, kPurpose);
    for (Buffer<M>* const masses : {&score_, &moving_}) masses->reserve(device_, size.inner, kPurpose);
    received_.reserve(device_, size.inner, kPurpose);
    max_bytes_ = std::max(max_bytes_, SubGraphView<M>::bytes(size));
  }
  SubGraphView<M> view() const {
    return {totals_.data(),  residual_.data(), score_.data(),   moving_.data(),
            offsets_.data(), targets_.data(),  weights_.data(), received_.data()};
  }

 private:
  static constexpr const char* kPurpose = "the sub-graph of a ball";

  template <class T>
  void grow(Buffer<T>& buffer, std::uint64_t size) {
    if (size <= buffer.size()) return;
    Buffer<T> larger(device_, std::max<std::uint64_t>(size, 2 * buffer.size()), kPurpose);
    std::copy_n(buffer.data(), buffer.size(), larger.data());
    buffer = std::move(larger);
  }

  const Device& device_;
  Buffer<double> totals_;
  Buffer<M> residual_, score_, moving_;
  Buffer<std::uint32_t> offsets_, targets_;
  Buffer<float> weights_;
  Buffer<std::uint8_t> received_;
  std::uint64_t max_bytes_ = 0;
};

/// The state of a query between its steps.
template <class M>
class HostWorkspaceMemory {
 public:
  /// Keeps a reference to the device.
  HostWorkspaceMemory(const Device& device, std::uint64_t vertices)
      : reached(device, vertices), sub_graph(device), device_(device), vertices_(vertices) {}
  /// Adds the second workspace of the query, and one mass per step.
  void add_second(HostWorkspaceMemory& workspace, std::uint64_t steps) {
    second = &workspace;
    steps_.resize(steps);
  }

  /// Begins the next query.
  void begin() {
    clear_vertices();
    max_reached_ = max_numbers_ = 0;
    ranked.clear();
    sub_graph.begin();
  }
  /// Forgets all reached vertices.
  void clear_vertices() {
    update_peak();
    reached.clear();
    missing = 0;
  }
  /// Updates the most vertices at any one time.
  void update_peak() { max_reached_ = std::max(max_reached_, reached.size()); }

  /// Calls use(vertex) for each vertex that waits for its list.
  template <class Use>
  void for_each_missing(Use&& use) const {
    for (std::uint32_t i = 0; i < missing; ++i) {
      const Reached<M>& entry = reached[numbers()[i]];
      if (entry.moving != 0) use(entry.vertex);
    }
  }
  std::uint32_t* numbers() const { return numbers_.data(); }
  void reserve_numbers(std::uint32_t count) { numbers_.reserve(device_, count, "vertices of a round"); }
  void update_peak_numbers(std::uint32_t count) { max_numbers_ = std::max(max_numbers_, count); }
  Mass* mass_by_step() { return steps_.data(); }

  /// Peak bytes of this query.
  std::uint64_t peak_bytes() const {
    return ReachedVertices<M>::peak_bytes(std::max(max_reached_, reached.size()), vertices_) +
           max_numbers_ * sizeof(std::uint32_t) + ranked.size() * sizeof(RankedVertex) +
           sub_graph.max_bytes();
  }

  ReachedVertices<M> reached;
  ChargedVector<RankedVertex> ranked;
  HostSubGraph<M> sub_graph;
  const AvailableLists* lists = nullptr;  ///< available now
  HostWorkspaceMemory* second = nullptr;
  HostTeam<M>* team = nullptr;  ///< null: one thread diffuses one ball after another
  std::uint32_t missing = 0;    ///< numbers of vertices that lacked lists, by vertex; some have been split

 private:
  const Device& device_;
  std::uint64_t vertices_;
  Buffer<std::uint32_t> numbers_;  ///< of vertices that lack lists, or are on a list
  std::vector<Mass> steps_;
  std::uint32_t max_reached_ = 0, max_numbers_ = 0;
};

/// The workspace in use, with the interface of GroupWorkspace; a vertex's number is its slot.
template <class M>
class HostWorkspace {
 public:
  static constexpr bool kSingleThread = true, kHasTeam = true, kExtracts = true;
  static constexpr std::uint64_t kNoSlot = ReachedVertices<M>::kNone;
  using Entry = Reached<M>;
  using Memory = HostWorkspaceMemory<M>;

  HostWorkspace(const SingleLane&, WorkspaceCounts& counts, Memory& memory)
      : counts_(counts), memory_(memory) {
    counts_ = WorkspaceCounts{};
  }
  static Memory& second(Memory& memory) { return *memory.second; }

  std::uint32_t reached() const { return memory_.reached.size(); }
  bool full() const { return false; }
  void set_full() const {}
  /// Number of missing lists.
  std::uint32_t missing_lists() const { return counts_.missing_lists; }
  bool stopped() const { return missing_lists() != 0; }
  std::uint32_t listed(unsigned list) const { return counts_.listed[list]; }

  Entry& operator[](std::uint64_t number) const {
    return memory_.reached[static_cast<std::uint32_t>(number)];
  }
  std::uint32_t reached_slot(std::uint32_t i) const { return i; }
  std::uint32_t listed_slot(unsigned, std::uint32_t i) const { return memory_.numbers()[i]; }
  RankedVertex* ranked(std::uint32_t count) const {
    if (memory_.ranked.size() < count) memory_.ranked.resize(count);
    return memory_.ranked.data();
  }
  RankedVertex& ranked_at(std::uint32_t i) const { return ranked(i + 1)[i]; }

  std::uint64_t slot_of(Vertex vertex) const { return memory_.reached.number_of(vertex); }
  std::uint64_t find(Vertex vertex) const { return memory_.reached.find(vertex); }
  bool can_hold(std::uint64_t) const { return true; }

  /// Reserves a new list for `count` vertices, some of which are reached later.
  void reserve_listed(std::uint32_t count) const { memory_.reserve_numbers(count); }

  /// The two lists share memory: only one is in use at a time.
  void append_listed(unsigned which, std::uint32_t number) const {
    if (counts_.listed[which] == 0) memory_.reserve_numbers(reached());
    memory_.numbers()[counts_.listed[which]++] = number;
    memory_.update_peak_numbers(counts_.listed[which]);
  }
  void empty_list(unsigned which) const { counts_.listed[which] = 0; }

  template <class Use>
  void for_each_reached(Use&& use) const {
    for (Entry& entry : memory_.reached) use(entry);
  }
  template <class Use>
  void drain_reached(Use&& use) const {
    for_each_reached(use);
    reset();
  }
  void reset() const { memory_.clear_vertices(); }
  void clear() const { memory_.clear_vertices(); }
  /// Keeps the first `kept` entries in the order of rank(entry), and forgets the others.
  template <class Rank>
  void keep_first(std::uint32_t kept, Rank&& rank) const {
    auto& reached = memory_.reached;
    memory_.update_peak();
    std::nth_element(reached.begin(), reached.begin() + kept, reached.end(),
                     [&](const Entry& a, const Entry& b) { return rank(a).before(rank(b)); });
    reached.keep_first(kept);
  }

  // ---- the sub-graph of a ball, built in its final place

  SubGraphView<M> sub_graph() const { return memory_.sub_graph.view(); }
  bool can_hold_edges(std::uint64_t) const { return true; }
  void reserve_lists(const SubGraphSize& size) const { memory_.sub_graph.reserve_lists(size); }
  SubGraphView<M> place_sub_graph(const SubGraphSize& size) const {
    memory_.sub_graph.place(size);
    return sub_graph();
  }
  std::uint32_t number_of(std::uint64_t slot) const { return static_cast<std::uint32_t>(slot); }

  // ---- parallel balls

  bool has_team() const { return memory_.team != nullptr; }
  HostTeam<M>& team() const { return *memory_.team; }
  /// The workspace of a finished ball.
  HostWorkspace ball_of(std::uint32_t ball, const SingleLane& lane, WorkspaceCounts& counts) const;

  // ---- available and missing lists

  const AvailableLists& lists() const { return *memory_.lists; }
  /// Notes that the list of vertex `number` is missing; `before` vertices are in the round.
  void add_missing(std::uint32_t number, std::uint32_t before) const {
    if (counts_.missing_lists == 0) memory_.reserve_numbers(before);
    memory_.numbers()[counts_.missing_lists++] = number;
  }
  /// Sorts the missing lists by vertex, so that each range of lists finds its part.
  void sort_missing() const {
    memory_.missing = missing_lists();
    memory_.update_peak_numbers(missing_lists());
    std::ranges::sort(missing(), {}, [this](std::uint32_t number) { return vertex_of(number); });
  }
  /// Calls split(number, lists) for missing lists that may be available now. split() returns true when done.
  template <class Split>
  void retry_missing(Split&& split) const {
    for (const ListRange& range : lists().ranges()) {
      const AvailableLists available(std::span(&range, 1));
      const auto all = missing(), from = all.subspan(begin_of(all, range.begin)),
                 some = from.first(begin_of(from, range.end));
      for (const std::uint32_t number : some) {
        if ((*this)[number].moving != 0 && split(number, available)) --counts_.missing_lists;
      }
    }
  }

 private:
  std::span<std::uint32_t> missing() const { return {memory_.numbers(), memory_.missing}; }
  std::uint64_t vertex_of(std::uint32_t number) const { return (*this)[number].vertex; }
  std::size_t begin_of(std::span<std::uint32_t> some, std::uint64_t vertex) const {
    const auto of = [this](std::uint32_t number) { return vertex_of(number); };
    return static_cast<std::size_t>(std::ranges::lower_bound(some, vertex, {}, of) - some.begin());
  }

  WorkspaceCounts& counts_;
  Memory& memory_;
};

}  // namespace sluice::ppr
