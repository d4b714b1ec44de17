// Mass that spreads from a query's seeds, step by step (graph diffusion): a vertex keeps 1 - alpha of what
// waits there as its score and splits the rest among its out-neighbours.
#pragma once

#include <cstdint>

#include "engine/ppr/adjacency/lists.hpp"
#include "engine/ppr/options.hpp"
#include "engine/ppr/reached.hpp"
#include "engine/ppr/seeds.hpp"
#include "partition/graph.hpp"

namespace sluice::ppr {

/// One query at a time, on one thread. Nothing is as large as the graph, unless the query reaches all of it.
class Diffusion {
 public:
  /// Keeps references to all of them.
  Diffusion(const Device& device, const CsrView& graph, const Options& options);

  /// Forgets the last query.
  void clear();
  /// The same, and all mass waits at the seeds.
  void begin(const Seeds& seeds);
  /// The same, but `mass` waits at this vertex alone, or none anywhere.
  void begin_at(Vertex vertex, Mass mass);
  void begin_empty(const Seeds& seeds);
  /// Begins a step, which splits the mass of all vertices where at least `least` waits for each out-edge;
  /// elsewhere it waits on. That of vertices without out-edges returns within the step, and with it
  /// `joining`, which comes from elsewhere; or it leaves (`returns` false).
  void begin_step(Mass least = 0, Mass joining = 0, bool returns = true);
  /// Goes on with the step, if one has begun, as far as lists are at hand. False if others are missing.
  bool spread(const ListsAtHand& lists);
  /// Of the last step: did any vertex split its mass?
  bool pushed() const { return pushed_; }
  /// The same: mass of vertices without out-edges.
  Mass returning() const { return returning_; }
  /// Calls use(vertex) for all whose lists are missing.
  template <class Use>
  void for_each_missing(Use&& use) const {
    for (std::uint32_t i = 0; i < missing_count_; ++i) {
      const Reached& entry = reached_[missing_.data()[i]];
      if (entry.waiting[now_] != 0) use(entry.vertex);
    }
  }
  /// What waits becomes score where it is.
  void settle();
  /// The same of the 1 - alpha of it that stays there in any case; the rest is missed.
  void settle_share();

  ReachedVertices& reached() { return reached_; }
  const ReachedVertices& reached() const { return reached_; }
  /// Which of Reached::waiting is split next.
  unsigned now() const { return now_; }
  /// Mass that waits, in all.
  Mass under_way() const { return under_way_; }
  std::uint64_t edges() const { return edges_; }
  std::uint64_t peak_bytes() const {
    return ReachedVertices::peak_bytes(reached_.size(), graph_.vertices) +
           most_missing_ * sizeof(std::uint32_t);
  }

 private:
  void spread_reached(const ListsAtHand& lists);
  void spread_missing(const ListRange& range);
  bool split(std::uint32_t number, const ListsAtHand& lists);
  void split(Reached& entry, Mass followed, EdgeIndex degree, const ListColumns& list);
  bool spread_by_weight(EdgeIndex begin, EdgeIndex end, Mass mass, const ListColumns& list);
  void note_missing(std::uint32_t number);
  void give(Vertex vertex, Mass mass) {
    reached_.at(vertex).waiting[now_ ^ 1] += mass;
    under_way_ += mass;
  }
  void give_back();

  const Device& device_;
  CsrView graph_;  ///< lists are read where they are at hand
  Continuation continuation_;
  bool weighted_;
  Dangling dangling_;
  const Seeds* seeds_ = nullptr;
  ReachedVertices reached_;
  unsigned now_ = 0;
  Mass under_way_ = 0, returning_ = 0;
  std::uint64_t edges_ = 0;
  // The step under way.
  bool stepping_ = false, scanned_ = false, returns_ = true, pushed_ = false;
  Mass least_ = 0;
  std::uint32_t before_ = 0;       ///< vertices that were reached when it began
  Buffer<std::uint32_t> missing_;  ///< their numbers, by vertex; those that have been split wait for nothing
  std::uint32_t missing_count_ = 0, missing_left_ = 0, most_missing_ = 0;
};

}  // namespace sluice::ppr
