// Mass that spreads from a query's seeds, step by step (graph diffusion): a vertex keeps 1 - alpha of what
// waits there as its score and splits the rest among its out-neighbours.
#pragma once

#include <algorithm>
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
  /// Splits all mass that waits. That of vertices without out-edges returns, within the step.
  void step();
  /// The same for the vertices where at least `least` waits for each out-edge; elsewhere it waits on. False
  /// if there are none.
  bool push(Mass least);
  /// What waits becomes score where it is.
  void settle();
  /// Only the `count` vertices where most mass waits go on (smaller ids first among equals); what waits
  /// elsewhere becomes score there, or a share of it does (PprUnexpanded).
  void settle_all_but(std::uint64_t count);
  /// The same for all where less than `least` waits.
  void settle_below(Mass least);

  ReachedVertices& reached() { return reached_; }
  /// Mass that waits, in all, and at how many vertices.
  Mass under_way() const { return under_way_; }
  std::uint64_t places() const;
  /// Mass that became score before its time, where it may not belong.
  Mass held() const { return held_; }
  std::uint64_t edges() const { return edges_; }
  std::uint64_t peak_bytes() const {
    return std::max(peak_bytes_, ReachedVertices::peak_bytes(reached_.size(), graph_.vertices));
  }

 private:
  void begin_step() { under_way_ = returning_ = 0; }
  void end_step();
  void split(Reached& entry);
  void spread(Vertex vertex, Mass mass);
  bool spread_by_weight(Vertex vertex, Mass mass);
  void give(Vertex vertex, Mass mass) {
    reached_.at(vertex).waiting[now_ ^ 1] += mass;
    under_way_ += mass;
  }
  void give_back();
  void settle_early(Reached& entry);

  const Device& device_;
  CsrView graph_;
  Continuation continuation_;
  bool weighted_;
  PprDangling dangling_;
  PprUnexpanded unexpanded_;
  const Seeds* seeds_ = nullptr;
  ReachedVertices reached_;
  Buffer<std::uint32_t> order_;  ///< scratch of settle_all_but()
  unsigned now_ = 0;             ///< which of Reached::waiting is split next
  Mass under_way_ = 0, returning_ = 0, held_ = 0;
  std::uint64_t edges_ = 0, peak_bytes_ = 0;
};

}  // namespace sluice
