// The state of every store, on the host and on a GPU, of all vertices or of one rank's: ranks, contributions,
// and lists of affected vertices (members). Each store decides where its lists of edges are.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <type_traits>

#include "engine/exec/host_executor.hpp"
#include "engine/exec/memory/buffer.hpp"
#include "engine/graph/partition_map.hpp"
#include "engine/pagerank/dynamic/backend.hpp"
#include "engine/pagerank/dynamic/rank_view.hpp"
#include "engine/pagerank/static/sweep.hpp"

namespace sluice::pagerank {

/// A list of more than one in so many vertices is rebuilt in order of id, so that adjacent state is read
/// together, which saves more than a scan of all flags costs.
inline constexpr std::uint64_t kDenseFraction = 16;

/// Most blocks of a launch whose totals are joined.
inline constexpr unsigned kMaxParts = 2048;

/// The lists that lanes append to. Two lists of members alternate, with the sources between them, so that
/// either can be cleared with the sources. The others: vertices whose contribution changed, and vertices that
/// the batch ever affected, which a GPU only counts.
enum RankList : unsigned { kMembers, kSources, kOtherMembers, kChanged, kEverAffected, kRankLists };

/// Counters that lanes update and the host reads.
struct RankCounters {
  ListSizes lists[kRankLists];
  unsigned long long sums[LaneOutput::kSums];  ///< of ranks
  IterationTotals totals;
};

/// State of the vertices [first, first + own_rows). Work runs on `executor`, and has ended after read().
template <class Share, class E>
class RankState {
 public:
  using Stored = typename Share::Stored;
  using Lane = typename E::Lane;
  static constexpr bool kOnHost = std::is_same_v<E, HostExecutor>;
  /// An array that is charged to the device's budget only if the device has memory of its own.
  template <class T>
  using Column = ChargedArray<T, std::conditional_t<kOnHost, StagingMemory, DeviceMemory>>;

  RankState(const Device& device, const Options& given)
      : executor(device),
        options(given),
        device_(device),
        counters_(device, 1, "counters"),
        partial_(device, kOnHost ? 0 : kMaxParts, "totals by block") {
    executor.fill(counters(), 0, sizeof(RankCounters));
  }

  RankMethod method() const { return dynamic.method; }
  bool residual() const { return method() == RankMethod::residual_frontier; }
  /// Whether every iteration makes a new list of members.
  bool drops() const { return drops_members(method()); }
  bool spreads() const { return spreads_changes(method()); }
  /// Vertices of the graph.
  std::uint64_t vertices() const { return vertices_; }
  /// Members of the list that was read last.
  std::uint64_t affected() const { return total_size(sizes); }
  bool all_ever_affected() const { return all_ever_affected_; }
  /// How many own vertices the batch has ever affected.
  std::uint64_t ever_affected() const {
    return all_ever_affected_ ? own_rows : last_counters_.lists[kEverAffected].count[0];
  }

  DynamicView<Share> view() const {
    DynamicView<Share> view;
    static_cast<DynamicRankOptions&>(view) = dynamic;
    view.norm = options.norm;
    view.vertices = {in, rebase(ranks.data(), first), shares.data(), rebase(divisors.data(), first),
                     rebase(loops.data(), first)};
    view.out = out;
    view.out_offsets = out_offsets;
    view.max_out_degree = max_out_degree;
    view.old_shares = old_shares.data();
    view.sums = rebase(sums_.data(), first);
    view.flags = flags_.data();
    view.first = first;
    view.sum_known = rebase(sum_known_.data(), first);
    view.ever_affected = list(kEverAffected);
    view.update = make_update(options, vertices_);
    if (kOnHost) view.split = RankSplit::none;
    return view;
  }

  RankCounters* counters() const { return counters_.data(); }
  IterationTotals* partial() const { return partial_.data(); }
  /// The counters, as they were read last.
  const RankCounters& last_counters() const { return last_counters_; }
  VertexList list(unsigned number) const {
    const ChargedList& memory = long_rows_[number];
    return {short_rows_.data() + number * own_rows, memory.data(),        own_rows, memory.size(),
            counters()->lists[number].count,        number * kListClasses};
  }
  VertexList members(unsigned index) const { return list(index == 0 ? kMembers : kOtherMembers); }
  VertexList sources() const { return list(kSources); }
  /// Where lanes write their output.
  LaneOutput output() const {
    return {short_rows_.data(), begins_.data(), counters()->lists[0].count,
            counters()->sums,   nullptr,        static_cast<unsigned>(begins_.size())};
  }

  /// Calls body(i, lane) for every i below `count`.
  template <class Body>
  void for_each(std::uint64_t count, const Body& body) const {
    ++launches;
    executor.for_each(count, output(), body);
  }

  /// Computes next ranks of members with a stored self-loop, which the closed form reads in the present
  /// lists.
  void precompute_loops(const DynamicView<Share>& state, const VertexList& listed,
                        const ListSizes& known) const {
    if (!drops() || state.precomputes_all) return;
    for_each(total_size(known), [=] SLUICE_BODY(std::uint64_t i, Lane&) {
      const Vertex v = listed.at(known, i);
      if (state.is_precomputed(v)) state.precomputed[v] = state.next_rank(v);
    });
  }

  // ---- vertices

  /// Allocates the state of `count` of `all_vertices`, from `first_vertex` on; the previous state is lost.
  void allocate_vertices(std::uint64_t first_vertex, std::uint64_t count, std::uint64_t all_vertices,
                         bool on_ranks) {
    first = first_vertex, own_rows = count, vertices_ = all_vertices;
    ranks = Buffer<FixedRank>(device_, own_rows, "ranks");
    shares = {};
    shares = Buffer<Stored>(device_, all_vertices, "contributions");
    old_shares = Column<Stored>(device_, all_vertices, "contributions");
    sums_ = Column<FixedRank>(device_, own_rows, "sums");
    divisors = Column<double>(device_, own_rows, "out-degrees");
    loops = Column<Loop>(device_, own_rows, "self-loops");
    flags_ = Column<std::uint8_t>(device_, (own_rows + 3) / 4 * 4, "flags of affected vertices");  // by words
    sum_known_ = Column<std::uint8_t>(device_, own_rows, "flags of known sums");
    short_rows_ = {};
    const unsigned lists = kOnHost ? kRankLists : on_ranks ? kEverAffected : kChanged;
    short_rows_ = Column<Vertex>(device_, own_rows * lists, "lists of affected vertices");
    for (unsigned i = 0; i < begins_.size(); ++i) begins_[i] = i / kListClasses * own_rows;
    executor.fill(flags_.data(), 0, flags_.bytes());
    executor.fill(sum_known_.data(), 0, sum_known_.bytes());
    if (kOnHost) {  // so that batches do not wait for page faults
      executor.fill(sums_.data(), 0, sums_.bytes());
      executor.fill(old_shares.data(), 0, old_shares.bytes());
    }
    waiting_ = all_ever_affected_ = has_known_sums_ = false;
  }

  /// Sets the ranks and contributions of own vertices.
  void set_ranks(std::span<const FixedRank> given) {
    copy_to_device(device_, ranks.data(), given.data(), given.size_bytes());
    const auto state = view();
    for_each(own_rows, [=] SLUICE_BODY(std::uint64_t i, Lane&) {
      state.vertices.update_share(static_cast<Vertex>(state.first + i));
    });
  }

  /// Computes ranks of own vertices from the ranks before, `old`, indexed by id. Returns their sum.
  FixedRank grow_ranks(const FixedRank* old, const RankGrowth& growth) {
    executor.fill(counters(), 0, sizeof(RankCounters));
    const auto state = view();
    for_each(own_rows, [=] SLUICE_BODY(std::uint64_t i, Lane & lane) {
      const std::uint64_t v = state.first + i;
      state.vertices.ranks[v] = growth(old, v);
      state.vertices.update_share(static_cast<Vertex>(v));
      lane.add(0, state.vertices.ranks[v]);
    });
    read(0);
    return last_counters_.sums[0];
  }

  /// The divisors of own vertices.
  HostArray<double> divisors_on_host() const {
    HostArray<double> values(own_rows, "out-degrees");
    executor.wait("out-degrees");  // copies to the host do not wait for the executor
    copy_to_host(device_, values.data(), divisors.data(), values.bytes());
    return values;
  }

  /// Reads the reported ranks of `count` of these vertices, from `begin` on.
  void read_ranks(std::uint64_t begin, std::uint64_t count, std::span<double> output) const {
    executor.wait("the ranks");
    HostArray<FixedRank> fixed(count, "ranks");
    if (device_.is_planning()) return;
    copy_to_host(device_, fixed.data(), ranks.data() + (begin - first), fixed.bytes());
    const double scale = rank_scale(options.dangling, total);
    std::transform(fixed.begin(), fixed.end(), output.begin(),
                   [scale](FixedRank rank) { return from_fixed(to_fixed(from_fixed(rank) / scale)); });
  }

  // ---- the affected vertices

  /// The list of members that the next iteration reads, the one that it makes, and the one that vertices are
  /// added to, which is the first one except while a batch is marked.
  unsigned current() const { return current_index_; }
  unsigned next() const { return drops() ? 1 - current_index_ : current_index_; }
  VertexList append_target() const { return members(append_index_); }
  /// Sets the list of members that the next iteration reads.
  void set_current(unsigned list) { current_index_ = append_index_ = list; }
  void read_append_target() { read(append_index_); }

  /// Clears the list of sources and the list that an iteration makes.
  void clear_lists() const {
    ListSizes* const lists = counters()->lists;
    if (!drops()) return executor.fill(lists + kSources, 0, sizeof(ListSizes));
    executor.fill(lists + (next() == 0 ? kMembers : kSources), 0, 2 * sizeof(ListSizes));
  }

  /// Waits for all work, reads the counters, and takes from them the sizes of a list of members.
  void read(unsigned index) {
    executor.read(reinterpret_cast<std::uint64_t*>(&last_counters_),
                  reinterpret_cast<const unsigned long long*>(counters()),
                  sizeof(RankCounters) / sizeof(std::uint64_t), "affected vertices");
    sizes = last_counters_.lists[index == 0 ? kMembers : kOtherMembers];
  }

  /// Begins to mark the vertices that a batch affects, in the list of members that holds no waiting ones.
  void begin_marks() {
    if (!residual()) invalidate_sums();
    append_index_ = waiting_ ? 1 - current_index_ : current_index_;
    waiting_sizes_ = waiting_ ? sizes : ListSizes{};
    expanded_sizes_ = {};
    reserve(append_index_ == 0 ? kMembers : kOtherMembers, in.edges);
    reserve(kSources, out.edges);
    clear_flags();
    executor.fill(counters(), 0, sizeof(RankCounters));
    has_known_sums_ = residual();
  }

  /// Makes the marked vertices the members, with those that received changes in the last iteration of the
  /// last batch (waiting members). The sums of these are up to date if known.
  void end_marks() {
    if (waiting_) {
      const ListSizes waiting = waiting_sizes_;
      const VertexList from = members(1 - append_index_), to = append_target();
      const auto state = view();
      for_each(total_size(waiting), [=] SLUICE_BODY(std::uint64_t i, Lane & lane) {
        state.add_member(from.at(waiting, i), false, to, lane);
      });
      read(append_index_);
    }
    current_index_ = append_index_;
    reserve(current_index_ == 0 ? kOtherMembers : kMembers, in.edges);
  }

  /// After a batch: on residuals its last list holds waiting members, which no iteration has updated.
  void end_batch() { waiting_ = residual(); }

  /// Makes all vertices members, which counts them as affected.
  void add_all() {
    executor.fill(flags_.data(), kMember | kEver, flags_.bytes());
    if (kOnHost) {
      const VertexList to = append_target();
      const std::uint64_t from = first;
      for_each(own_rows,
               [=] SLUICE_BODY(std::uint64_t i, Lane&) { to.short_rows[i] = static_cast<Vertex>(from + i); });
      to.sizes[0] = own_rows;
    } else {
      list_by_id();
    }
    read(append_index_);
    all_ever_affected_ = true;
  }

  /// Makes all vertices members, and all of them pull.
  void pull_all() {
    if (has_known_sums_) executor.fill(sum_known_.data(), 0, sum_known_.bytes());
    add_all();
  }

  /// Lists the members that joined since the last call as sources, and returns their number.
  std::uint64_t list_new_members() {
    const std::uint64_t count = affected() - total_size(expanded_sizes_);
    executor.fill(counters()->lists + kSources, 0, sizeof(ListSizes));
    const VertexList from = append_target(), to = sources();
    const auto state = view();
    for (unsigned c = 0; c < kListClasses; ++c) {
      const std::uint64_t begin = expanded_sizes_.count[c];
      for_each(sizes.count[c] - begin, [=] SLUICE_BODY(std::uint64_t i, Lane & lane) {
        const Vertex v = from.at(c, begin + i);
        to.append(v, state.class_of_source(v), lane);
      });
    }
    expanded_sizes_ = sizes;
    return count;
  }

  /// Rebuilds a long list of members about in order of id, unless the host finds it in order.
  void order_members() {
    if (affected() <= own_rows / kDenseFraction) return;
    if (kOnHost && std::is_sorted(append_target().short_rows, append_target().short_rows + affected()))
      return;
    list_by_id();
  }

  /// Clears all flags. On the host it costs what the last batch affected, not what the graph has.
  void clear_flags() {
    if (kOnHost && !all_ever_affected_ && !device_.is_planning()) {
      const VertexList affected_once = list(kEverAffected);
      const auto state = view();
      for_each(affected_once.sizes[0],
               [=] SLUICE_BODY(std::uint64_t i, Lane&) { state.flags_of(affected_once.short_rows[i]) = 0; });
    } else {
      executor.fill(flags_.data(), 0, flags_.bytes());
    }
    all_ever_affected_ = false;
  }

  /// Rebuilds the list of members about in order of id; its sizes stay the same.
  void list_by_id() const {
    executor.fill(append_target().sizes, 0, sizeof(ListSizes));
    list_members(*this, append_target());
  }

  mutable E executor;
  Options options;
  DynamicRankOptions dynamic;              ///< of the batch
  FixedRank total = 0;                     ///< the sum of all ranks
  CsrView in;                              ///< offsets of own vertices; targets and weights if all lists stay
  CsrView out;                             ///< empty if only the host has it
  const EdgeIndex* out_offsets = nullptr;  ///< may be unset outside own vertices
  std::uint64_t max_out_degree = 0;        ///< edges of the longest out-list
  std::uint64_t first = 0, own_rows = 0;
  ListSizes sizes;          ///< of the list that was read last
  Buffer<FixedRank> ranks;  ///< [own_rows] unnormalised with Dangling::uniform
  Buffer<Stored> shares;    ///< [vertices] contributions, as out-neighbours received them
  Column<Stored> old_shares;  ///< [vertices] see DynamicView
  Column<double> divisors;    ///< [own_rows]
  Column<Loop> loops;         ///< [own_rows]
  /// Kernel launches, except those that rewrite the lists of a GPU's graph.
  mutable std::uint32_t launches = 0;

 private:
  using ChargedList = Column<Vertex>;

  /// Marks all sums as unknown, and drops waiting members.
  void invalidate_sums() {
    if (has_known_sums_) executor.fill(sum_known_.data(), 0, sum_known_.bytes());
    waiting_ = false;
  }

  /// Reserves capacity for the long rows of `edges`; the host's lists have one class.
  void reserve(unsigned number, std::uint64_t edges) {
    if (!kOnHost)
      long_rows_[number].reserve(device_, std::min(own_rows, edges / kLineDegree + 1),
                                 "lists of affected vertices");
  }

  const Device& device_;
  std::uint64_t vertices_ = 0;
  Column<FixedRank> sums_;                  ///< [own_rows] of contributions received along lists
  Column<std::uint8_t> flags_, sum_known_;  ///< [own_rows]
  Column<Vertex> short_rows_, long_rows_[kRankLists];
  std::array<std::uint64_t, kRankLists * kListClasses> begins_{};  ///< of lists in short_rows_, on the host
  Column<RankCounters> counters_;
  Column<IterationTotals> partial_;  ///< [kMaxParts] on a GPU
  RankCounters last_counters_{};
  unsigned current_index_ = 0, append_index_ = 0;
  ListSizes expanded_sizes_;        ///< members that were made sources while a batch was marked
  bool all_ever_affected_ = false;  ///< whether all vertices were affected at once
  bool has_known_sums_ = false;     ///< whether some sum may be known
  /// Whether the list of the last batch holds waiting members (end_batch()), and how many.
  bool waiting_ = false;
  ListSizes waiting_sizes_;
};

}  // namespace sluice::pagerank
