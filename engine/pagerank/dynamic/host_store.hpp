// The store of the host (solver.hpp): ranks in host memory, threads that pull, settle and go along
// out-edges. Of several ranks of a job each has its own range of vertices, and what all offer.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "engine/exec/memory/buffer.hpp"
#include "engine/exec/threads.hpp"
#include "engine/graph/partition_map.hpp"
#include "engine/pagerank/dynamic/affected.hpp"
#include "engine/pagerank/dynamic/backend.hpp"
#include "engine/pagerank/dynamic/in_edges.hpp"
#include "engine/pagerank/dynamic/settle.hpp"
#include "engine/pagerank/static/sweep.hpp"
#include "partition/list_reader.hpp"

namespace sluice::pagerank {

template <class Share>
class HostRankStore : public BatchState {
 public:
  using Lists = InLists;
  static constexpr bool kHoldsGraph = false;

  /// Keeps references.
  HostRankStore(const Device& device, const Graph& graph, const Options& given, ChangeExchange& peers)
      : BatchState(given),
        device_(device),
        peers_(peers),
        ranks_(device, own(), "ranks"),
        shares_(device, graph.vertices(), "contributions"),
        sources_(sources_of(graph, given, peers.first(), peers.last(), device.threads())),
        affected_(peers.first(), peers.last(), device.threads()) {}

  std::span<const double> divisors_on_host() const { return sources_.divisors.span(); }
  std::uint64_t bytes_sent() const { return 0; }  // to a device

  // ---- ranks, and what vertices offer

  /// Own vertices begin with `ranks`.
  void begin(std::span<const FixedRank> ranks) {
    std::copy(ranks.begin(), ranks.end(), ranks_.data());
    const RankVertices<Share> all = at({});
    for_all([&](Vertex v) { all.share(v); });
  }

  void see(const Graph&) {}

  /// More vertices, some of them own ones. Returns the sum of own ranks.
  FixedRank grow(const Graph& graph, const RankGrowth& growth) {
    const Buffer<FixedRank> old = std::move(ranks_);
    ranks_ = Buffer<FixedRank>(device_, own(), "ranks");
    shares_ = {};
    shares_ = Buffer<Stored>(device_, peers_.vertices(), "contributions");
    sources_ = grown_sources(std::move(sources_), graph, options, first(), peers_.last(), device_.threads());
    affected_ = AffectedSet(first(), peers_.last(), device_.threads());
    forget();
    const FixedRank* const old_ranks = moved(old.data(), first());
    const RankVertices<Share> all = at({});
    for_all([&](Vertex v) {
      all.ranks[v] = growth(old_ranks, v);
      all.share(v);
    });
    return sum_of({ranks_.data(), ranks_.size()});
  }

  /// Among how much changed own vertices split their ranks now.
  void learn(std::span<const Vertex> changed, std::span<const RankSource> sources) {
    const RankVertices<Share> all = at({});
    for (std::size_t i = 0; i < changed.size(); ++i) {
      all.divisors[changed[i]] = sources[i].divisor, all.loops[changed[i]] = sources[i].loop;
      all.share(changed[i]);
    }
  }

  /// Sends the other ranks what own vertices offer: `changed` ones, or all.
  void send(std::span<const Vertex> changed) { peers_.send_changed(shares_.data(), changed); }
  void send_all() { peers_.send_all(shares_.data()); }

  void read_ranks(std::span<double> to) const {
    const double scale = rank_scale(options.dangling, total);
    std::transform(ranks_.data(), ranks_.data() + ranks_.size(), to.begin(),
                   [scale](FixedRank rank) { return scaled_rank(rank, scale); });
  }

  // ---- the affected vertices

  std::uint64_t affected() const { return affected_.size(); }
  std::uint64_t ever() const { return affected_.ever(); }

  void begin_marks() {
    listed_ = 0;
    if (!residual()) return forget();  // another method may change any contribution
    if (known_.size() == own() && own() > 0) return;
    known_ = HostArray<std::uint8_t>(own(), "flags of known sums");
    sums_ = HostArray<FixedRank>(own(), "sums");
    std::fill(known_.begin(), known_.end(), std::uint8_t{0});
    std::fill(sums_.begin(), sums_.end(), FixedRank{0});
  }

  void add(std::span<const Vertex> vertices) {
    for (const Vertex v : vertices) affected_.add(v);
  }
  void add_all() { affected_.add_all(); }

  /// Vertices that became members since the last call.
  std::vector<Vertex> new_members() {
    const auto fresh = affected_.list().subspan(std::exchange(listed_, affected_.size()));
    return {fresh.begin(), fresh.end()};
  }

  /// Own out-neighbours of `sources` become members; if it `pushes`, their sums get the differences.
  void spread(const ListReader& out, std::span<const Vertex> sources, bool pushes) {
    if (!pushes) return affected_.add_neighbours(out, sources);
    FixedRank* const sums = moved(sums_.data(), first());
    const Stored* const shares = shares_.data();
    affected_.add_neighbours(out, sources, [&](const CsrView& lists, std::size_t i, EdgeIndex edge) {
      const float weight = Share::kWeighted ? lists.weights[edge] : 1.0f;
      const FixedRank difference =
          Share::carried(shares[sources[i]], weight) - Share::carried(sent_before_[i], weight);
      // Modulo 2^64: a smaller share takes away. The sum of a vertex that has not pulled yet is not read.
      std::atomic_ref(sums[lists.targets[edge]]).fetch_add(difference, std::memory_order_relaxed);
    });
  }

  void order_members() { affected_.sort_if_many(); }

  /// The marked vertices are the members, and those that the last batch left waiting. Sums of the marked ones
  /// are not known any more: their in-edges are others now, or carry something else.
  void end_marks() {
    affected_.sort_if_many();
    if (!residual()) return;
    std::uint8_t* const known = moved(known_.data(), first());
    for (const Vertex v : affected_.list()) known[v] = 0;
    add(waiting_);
  }

  /// Members whose sums got changes, and that no iteration has looked at, wait for the next batch.
  void end_batch() {
    if (residual()) waiting_.assign(affected_.list().begin(), affected_.list().end());
    affected_.clear();
  }

  // ---- an iteration

  /// Renews all members, and finds out what becomes of them.
  Settled settle(const Graph& graph, InLists& in) {
    gather(in);
    const std::uint64_t members = affected_.size();
    blocks_.assign((members + kVerticesAtOnce - 1) / kVerticesAtOnce, {});
    stays_.resize(members);
    const RankVertices<Share> vertices = at(in.lengths());
    const EdgeIndex* const out_offsets = graph.out.offsets.data();
    parallel_blocks(device_.threads(), members, kVerticesAtOnce,
                    [&](std::uint64_t begin, std::uint64_t end, unsigned) {
                      blocks_[begin / kVerticesAtOnce] = settle_block(vertices, out_offsets, begin, end);
                    });
    Settled all;
    for (const Block& block : blocks_) all.join(block.settled, options.norm);
    return all;
  }

  /// Own vertices whose change spreads.
  std::vector<Vertex> spreading() const { return joined(&Block::sources); }

  /// Sends the other ranks what an iteration changed; `all_sources` are those of all ranks.
  void send_settled(std::span<const Vertex> all_sources) {
    if (!residual()) return send(joined(&Block::changed));
    sent_before_.clear();
    for (const Vertex v : all_sources) sent_before_.push_back(shares_.data()[v]);
    for (const Block& block : blocks_)
      for (std::size_t i = 0; i < block.sources.size(); ++i)
        shares_.data()[block.sources[i]] = block.offered[i];
    send(spreading());
  }

  /// All pull.
  void pull_all() {
    std::fill(known_.begin(), known_.end(), std::uint8_t{0});
    affected_.add_all();
  }

  /// Settled members leave, but for those that stay.
  void drop_members() {
    if (residual()) {
      affected_.drop_all();
    } else if (drops()) {
      affected_.keep(stays_);
    }
  }

 private:
  using Stored = typename Share::Stored;

  /// Vertices that one thread works on at a time; fewer are not worth a thread's start.
  static constexpr std::uint64_t kVerticesAtOnce = 1024;

  /// What becomes of the members of one block.
  struct Block {
    Settled settled;
    std::vector<Vertex> sources;  ///< their change spreads
    std::vector<Stored> offered;  ///< [sources] on residuals what they offer, once all have settled
    std::vector<Vertex> changed;  ///< they give something else than before
  };

  /// Entries of one block.
  template <class T>
  struct BlockList {
    std::array<T, kVerticesAtOnce> entries;
    std::size_t size = 0;

    BlockList() {}  // entries stay uninitialised
    void push(T entry) { entries[size++] = entry; }
    std::vector<T> kept() const { return {entries.begin(), entries.begin() + size}; }
  };

  /// One thread's, for one block (settle.hpp).
  struct Lane {
    const EdgeIndex* out_offsets;
    std::uint8_t* known;       ///< by id, on residuals
    std::uint8_t* stays_flag;  ///< of the member, with pruning
    bool on_ranks;
    AffectedSet& affected;
    BlockList<Vertex> sources, changes;
    BlockList<Stored> offered;

    bool pulled(Vertex v) { return std::exchange(known[v], std::uint8_t{1}) == 0; }
    bool expands_first(Vertex v) { return affected.first_expansion(v); }
    std::uint64_t out_degree(Vertex v) const { return out_offsets[v + 1] - out_offsets[v]; }
    bool reports() const { return on_ranks; }
    void stays(Vertex) { *stays_flag = 1; }
    void leaves(Vertex) { *stays_flag = 0; }
    void spreads(Vertex v) { sources.push(v); }
    void changed(Vertex v) { changes.push(v); }
    void offers(Vertex, Stored, Stored after) { offered.push(after); }
  };

  std::uint64_t first() const { return peers_.first(); }
  std::uint64_t own() const { return peers_.last() - peers_.first(); }

  /// As a vertex is worked on. Arrays of own vertices are indexed by the ids of the graph.
  RankVertices<Share> at(const CsrView& in) {
    return {in, moved(ranks_.data(), first()), shares_.data(), moved(sources_.divisors.data(), first()),
            moved(sources_.loops.data(), first())};
  }

  template <class Body>
  void for_all(Body&& body) const {
    parallel_blocks(device_.threads(), own(), kVerticesAtOnce,
                    [&](std::uint64_t begin, std::uint64_t end, unsigned) {
                      for (std::uint64_t i = begin; i < end; ++i) body(static_cast<Vertex>(first() + i));
                    });
  }

  /// The next rank of every member, in the order of the list; nothing that others read changes. Members whose
  /// sum is known read their list for a loop in it alone.
  void gather(InLists& in) {
    const RankUpdate update = make_update(options, peers_.vertices());
    const RankVertices<Share> lengths = at(in.lengths());
    const bool closed = drops();
    const std::uint8_t* const known = residual() ? moved(known_.data(), first()) : nullptr;
    FixedRank* const sums = moved(sums_.data(), first());
    next_.resize(affected_.size());
    in.for_each(
        affected_,
        [&](Vertex v) {
          if (known == nullptr || known[v] == 0) return lengths.in_degree(v);
          return std::uint64_t{lengths.loops[v] == Loop::stored};
        },
        [&](const CsrView& lists, std::uint64_t begin, std::uint64_t end) {
          const RankVertices<Share> vertices = at(lists);
          const Vertex* const members = affected_.list().data() + begin;
          parallel_blocks(device_.threads(), end - begin, kVerticesAtOnce,
                          [&](std::uint64_t from, std::uint64_t until, unsigned) {
                            for (std::uint64_t i = from; i < until; ++i) {
                              const Vertex v = members[i];
                              FixedRank sum = known != nullptr && known[v] ? sums[v] : vertices.gather(v);
                              if (known != nullptr) sums[v] = sum;
                              next_[begin + i] = vertices.renewed(update, v, sum, closed);
                            }
                          });
        });
  }

  Block settle_block(const RankVertices<Share>& vertices, const EdgeIndex* out_offsets, std::uint64_t begin,
                     std::uint64_t end) {
    const SettleRules settle_rules = rules();
    const Vertex* const members = affected_.list().data();
    const FixedRank* const next = next_.data();
    Lane lane{
        out_offsets, moved(known_.data(), first()), stays_.data() + begin, !peers_.alone(), affected_, {}, {},
        {}};
    Settled done;
    for (std::uint64_t i = begin; i < end; ++i, ++lane.stays_flag)
      settle_member(vertices, settle_rules, members[i], vertices.ranks[members[i]], next[i], done, lane);
    return {done, lane.sources.kept(), lane.offered.kept(), lane.changes.kept()};
  }

  template <class Column>
  std::vector<Vertex> joined(Column Block::*column) const {
    std::vector<Vertex> all;
    for (const Block& block : blocks_) all.insert(all.end(), (block.*column).begin(), (block.*column).end());
    return all;
  }

  /// No sum is known any more, and no vertex waits.
  void forget() {
    known_ = {}, sums_ = {};
    waiting_.clear();
  }

  const Device& device_;
  ChangeExchange& peers_;
  Buffer<FixedRank> ranks_;  ///< [own] unnormalised with Dangling::uniform
  Buffer<Stored> shares_;    ///< [vertices] what out-neighbours have received
  RankSources sources_;      ///< own
  AffectedSet affected_;
  std::uint64_t listed_ = 0;         ///< members that new_members() has returned
  HostArray<std::uint8_t> known_;    ///< [own] 1 where differences keep the sum up to date; on residuals
  HostArray<FixedRank> sums_;        ///< [own] of what in-neighbours have sent, by lists; on residuals
  std::vector<FixedRank> next_;      ///< of the members, in the order of the list
  std::vector<std::uint8_t> stays_;  ///< the same
  std::vector<Block> blocks_;        ///< of the members
  std::vector<Stored> sent_before_;  ///< what the sources of all ranks had offered
  std::vector<Vertex> waiting_;
};

}  // namespace sluice::pagerank
