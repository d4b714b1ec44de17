// Mass that spreads from a query's seeds, step by step (graph diffusion): a vertex keeps 1 - alpha of what
// waits there as its score and splits the rest among its out-neighbours.
#pragma once

#include <cstdint>

#include "engine/ppr/options.hpp"
#include "engine/ppr/reached.hpp"
#include "engine/ppr/seeds.hpp"
#include "partition/graph.hpp"

namespace sluice {

/// One query at a time, on one thread. Nothing is as large as the graph, unless the query reaches all of it.
class Diffusion {
 public:
  /// Keeps references to all of them.
  Diffusion(const Device& device, const CsrView& graph, const PprOptions& options);

  /// Forgets the last query.
  void clear();
  /// The same, and all mass waits at the seeds.
  void begin(const Seeds& seeds);
  /// The same, but `mass` waits at this vertex alone, or none anywhere.
  void begin_at(Vertex vertex, Mass mass);
  void begin_empty(const Seeds& seeds);
  /// Splits all mass that waits. That of vertices without out-edges returns within the step, and with it
  /// `joining`, which comes from elsewhere.
  void step(Mass joining = 0);
  /// The same, but mass of vertices without out-edges leaves: it is the result.
  Mass step_without_return();
  /// The same for the vertices where at least `least` waits for each out-edge; elsewhere it waits on. False
  /// if there are none.
  bool push(Mass least);
  /// What waits becomes score where it is.
  void settle();
  /// The same of the 1 - alpha of it that stays there in any case; the rest is missed.
  void settle_share();

  ReachedVertices& reached() { return reached_; }
  /// Which of Reached::waiting is split next.
  unsigned now() const { return now_; }
  /// Mass that waits, in all.
  Mass under_way() const { return under_way_; }
  std::uint64_t edges() const { return edges_; }
  std::uint64_t peak_bytes() const { return ReachedVertices::peak_bytes(reached_.size(), graph_.vertices); }

 private:
  void split_all();
  void split(Reached& entry);
  void spread(Vertex vertex, Mass mass);
  bool spread_by_weight(Vertex vertex, Mass mass);
  void give(Vertex vertex, Mass mass) {
    reached_.at(vertex).waiting[now_ ^ 1] += mass;
    under_way_ += mass;
  }
  void give_back();

  CsrView graph_;
  Continuation continuation_;
  bool weighted_;
  PprDangling dangling_;
  const Seeds* seeds_ = nullptr;
  ReachedVertices reached_;
  unsigned now_ = 0;
  Mass under_way_ = 0, returning_ = 0;
  std::uint64_t edges_ = 0;
};

}  // namespace sluice
