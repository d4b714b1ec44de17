// What the stores of a GPU (whole_store.cu, part_store.cu) have in common, of all vertices or of those of one
// rank: ranks, what vertices offer, and lists of affected vertices. Each says where its lists of edges are.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>

#include "engine/exec/memory/buffer.hpp"
#include "engine/exec/stream.cuh"
#include "engine/graph/partition_map.hpp"
#include "engine/pagerank/dynamic/backend.hpp"
#include "engine/pagerank/dynamic/marks.cuh"
#include "engine/pagerank/static/sweep.hpp"

namespace sluice::pagerank {

/// A list of more than this part of all vertices is made anew in order of id, so that neighbouring state is
/// read together: a look at all flags then costs less than what is saved.
inline constexpr std::uint64_t kManyPart = 16;

/// What kernels count, and the host reads.
struct RankCounters {
  ListSizes members, sources, other_members;  ///< either list of members beside the sources: cleared at once
  ListSizes changed;
  unsigned long long ever;  ///< affected one by one
  FixedRank total;
  Settled settled;
};

/// Ranks of the vertices [first, first + own). Work is put on `stream`, and ended by wait() or read().
template <class Share>
class DeviceRankState : public BatchState {
 public:
  using Stored = typename Share::Stored;

  DeviceRankState(const Device& device, const Options& given)
      : BatchState(given),
        device_(device),
        counters_(device, 1, "counters"),
        read_(device, 1, "counters"),
        partial_(device, kListBlocks, "totals by block") {}

  /// Vertices of the graph.
  std::uint64_t vertices() const { return vertices_; }
  /// Members of the list that was read last.
  std::uint64_t affected() const { return all_of(sizes); }

  DynamicView<Share> view() const {
    DynamicView<Share> view{rules()};
    view.at = {in, moved(ranks.data(), first), shares.data(), moved(divisors.data(), first),
               moved(loops.data(), first)};
    view.out = out;
    view.longest_out = longest_out;
    view.sent = sent.data();
    view.sums = moved(sums.data(), first);
    view.flags = flags_.data();
    view.first = first;
    view.known = moved(known_.data(), first);
    view.ever = &counters()->ever;
    view.update = make_update(options, vertices_);
    view.split = dynamic.split;
    return view;
  }

  RankCounters* counters() const { return counters_.data(); }
  /// As they were read last.
  const RankCounters& counted() const { return *read_.data(); }
  Settled* partial() const { return partial_.data(); }
  unsigned* sizes_of(unsigned list) const {
    return (list == 0 ? counters()->members : counters()->other_members).count;
  }
  unsigned* sizes_of_sources() const { return counters()->sources.count; }
  VertexList members(unsigned list) const { return lists_[list].view(sizes_of(list)); }
  VertexList sources() const { return sources_.view(sizes_of_sources()); }

  /// A kernel of one thread an entry.
  template <class Kernel, class... Arguments>
  void over(std::uint64_t count, Kernel kernel, Arguments&&... arguments) const {
    launch_over(count, stream, kernel, std::forward<Arguments>(arguments)...);
  }

  void fill(void* data, int value, std::uint64_t bytes) const {
    if (bytes == 0) return;
    cuda::check(cudaMemsetAsync(data, value, bytes, stream.get()), "clearing");
  }

  /// No source is listed, nor anybody in the list that an iteration makes.
  void clear_lists(unsigned next) const {
    if (!drops()) return fill(sizes_of_sources(), 0, sizeof(ListSizes));
    fill(next == 0 ? sizes_of(0) : sizes_of_sources(), 0, 2 * sizeof(ListSizes));
  }

  /// The counters as they are once all kernels have ended, and the sizes of a list among them.
  void read(unsigned list) {
    cuda::check(
        cudaMemcpyAsync(read_.data(), counters(), sizeof(RankCounters), cudaMemcpyDeviceToHost, stream.get()),
        "copying counters");
    stream.wait("affected vertices");
    sizes = list == 0 ? counted().members : counted().other_members;
  }

  /// State of `own` vertices from `from` on, of `all`; what it was is lost.
  void make_vertices(std::uint64_t from, std::uint64_t count, std::uint64_t all) {
    first = from, own = count, vertices_ = all;
    ranks = Buffer<FixedRank>(device_, own, "ranks");
    shares = Buffer<Stored>(device_, all, "contributions");
    sent = Buffer<Stored>(device_, all, "contributions");
    sums = Buffer<FixedRank>(device_, own, "sums");
    divisors = Buffer<double>(device_, own, "out-degrees");
    loops = Buffer<Loop>(device_, own, "self-loops");
    flags_ = Buffer<std::uint8_t>(device_, (own + 3) / 4 * 4, "flags of affected vertices");  // by words
    known_ = Buffer<std::uint8_t>(device_, own, "flags of known sums");
    forget();
  }

  /// No sum is known any more.
  void forget() {
    fill(known_.data(), 0, known_.bytes());
    waiting_ = false;
  }

  /// Begins to mark the vertices that a batch affects, in a list that holds none that wait. `most` of them at
  /// a time have something to spread.
  void begin_marks(std::uint64_t most, std::uint64_t out_edges) {
    if (!residual()) forget();
    grown_ = waiting_ ? 1 - now_ : now_;
    waiting_sizes_ = waiting_ ? sizes : ListSizes{};
    listed_ = {};
    lists_[grown_].reserve(device_, own, in.edges);
    sources_.reserve(device_, most, out_edges);
    fill(counters(), 0, sizeof(RankCounters));
    fill(flags_.data(), 0, flags_.bytes());
    all_ever_ = false;
  }

  /// Members that received changes in the last iteration of the last batch join the marked ones, which are
  /// the members then.
  void end_marks() {
    if (waiting_) {
      const std::uint64_t count = all_of(waiting_sizes_);
      over(count, mark_list_kernel<Share>, view(), members(1 - grown_), waiting_sizes_, count,
           members(grown_));
      read(grown_);
    }
    now_ = grown_;
    lists_[1 - now_].reserve(device_, own, in.edges);
  }

  /// All vertices are members, and were affected.
  void add_all() {
    fill(flags_.data(), kMember | kEver, flags_.bytes());
    list_by_id();
    read(grown_);
    all_ever_ = true;
  }

  /// All pull.
  void pull_all() {
    fill(known_.data(), 0, known_.bytes());
    add_all();
  }

  /// Makes sources of the members that joined since the last call, and says how many.
  std::uint64_t list_new_members() {
    const std::uint64_t count = affected() - all_of(listed_);
    fill(sizes_of_sources(), 0, sizeof(ListSizes));
    for (unsigned c = 0; c < kListClasses; ++c) {
      const std::uint64_t begin = listed_.count[c], end = sizes.count[c];
      over(end - begin, list_sources_kernel<Share>, view(), members(grown_), c, begin, end, sources());
    }
    listed_ = sizes;
    return count;
  }

  /// Puts many members about in order of id.
  void order_members() {
    if (affected() > own / kManyPart) list_by_id();
  }

  /// Vertices that were ever affected by the batch.
  std::uint64_t ever() const { return all_ever_ ? own : counted().ever; }
  /// The list of members that the next iteration works on, and the one that vertices are added to: the same
  /// but while a batch is marked.
  unsigned now() const { return now_; }
  unsigned grown() const { return grown_; }
  /// The list that iterations go on with.
  void go_on_with(unsigned list) { now_ = grown_ = list; }
  /// After a batch: whether its last list holds vertices that no iteration has looked at.
  void end_batch() { waiting_ = residual(); }

  /// Launches what renews all members; those that stay go to the list `next`.
  void settle_into(unsigned next, const DynamicView<Share>& view) const {
    settle_members(view, members(now_), sizes, members(next), sources(), partial(), &counters()->settled,
                   stream);
  }

  /// Ranks of own vertices from those before, `old`, which is indexed by id. Returns their sum.
  FixedRank grow_ranks(const FixedRank* old, const RankGrowth& growth) {
    fill(counters(), 0, sizeof(RankCounters));
    over(own, grow_ranks_kernel<Share>, view(), old, growth, first, own, &counters()->total);
    read(0);
    return counted().total;
  }

  /// Own vertices begin with `given`.
  void begin(std::span<const FixedRank> given) {
    copy_to_device(device_, ranks.data(), given.data(), given.size_bytes());
    over(own, offer_kernel<Share>, view(), own);
  }

  /// Of own vertices.
  HostArray<double> divisors_on_host() const {
    HostArray<double> values(own, "out-degrees");
    stream.wait("out-degrees");  // copies to the host do not wait for it
    copy_to_host(device_, values.data(), divisors.data(), values.bytes());
    return values;
  }

  /// Ranks of own vertices, [own].
  void read_ranks(std::span<double> to) const {
    stream.wait("the ranks");
    HostArray<FixedRank> fixed(own, "ranks");
    copy_to_host(device_, fixed.data(), ranks.data(), fixed.bytes());
    const double scale = rank_scale(options.dangling, total);
    std::transform(fixed.begin(), fixed.end(), to.begin(),
                   [scale](FixedRank rank) { return scaled_rank(rank, scale); });
  }

  CsrView in;   ///< offsets of own vertices; targets and weights where lists are there to stay
  CsrView out;  ///< none where the host has it
  std::uint64_t longest_out = 0;  ///< edges of its longest list
  std::uint64_t first = 0, own = 0;
  ListSizes sizes;  ///< of the list that was read last
  cuda::Stream stream;
  Buffer<FixedRank> ranks, sums;  ///< [own]
  Buffer<Stored> shares, sent;    ///< [vertices]
  Buffer<double> divisors;        ///< [own]
  Buffer<Loop> loops;             ///< [own]

 private:
  /// Members are the same, and so are the sizes.
  void list_by_id() {
    fill(sizes_of(grown_), 0, sizeof(ListSizes));
    over(own, list_members_kernel<Share>, view(), own, members(grown_));
  }

  const Device& device_;
  std::uint64_t vertices_ = 0;
  Buffer<std::uint8_t> flags_, known_;
  ListMemory lists_[2], sources_;
  Buffer<RankCounters> counters_;
  Staging<RankCounters> read_;
  Buffer<Settled> partial_;
  unsigned now_ = 0;       ///< the list of members
  unsigned grown_ = 0;     ///< the one that vertices are added to
  ListSizes listed_;       ///< members that were made sources while a batch was marked
  bool all_ever_ = false;  ///< whether all vertices were affected at once
  bool waiting_ =
      false;  ///< whether the list of the last batch holds vertices that no iteration has looked at
  ListSizes waiting_sizes_;
};

}  // namespace sluice::pagerank
