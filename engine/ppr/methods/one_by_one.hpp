// MeLoPPR as published: next-stage vertices go on one by one, each on a ball of its own (linear
// decomposition), so that a query takes the memory of one ball at a time, and a table of scores that may be
// kept to a fixed size. It saves memory with such a table alone: the scores of all balls are kept otherwise.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/core/charged_vector.hpp"
#include "engine/ppr/methods/diffusion.hpp"
#include "engine/ppr/methods/next_stage.hpp"

namespace sluice::ppr {

class OneByOne {
 public:
  /// Keeps references to all of them.
  OneByOne(const Device& device, const CsrView& graph, const Options& options);

  void begin(const Seeds& seeds);
  /// As far as lists are at hand. False if others are missing.
  bool advance(const ListsAtHand& lists);
  template <class Use>
  void for_each_missing(Use&& use) const {
    ball_.for_each_missing(use);
  }

  /// The scores of all vertices, or of those in the table.
  ReachedVertices& scores() { return table_; }
  Mass held() const { return next_stage_.held(); }
  std::uint64_t edges() const { return edges_; }
  std::uint64_t peak_bytes() const;

 private:
  struct Waiting {
    Vertex vertex;
    Mass mass;
  };

  bool begin_step();
  bool next_ball();
  void list_chosen();
  void take_ball();
  void trim();

  const Options& options_;
  std::uint64_t vertices_;
  std::uint64_t table_size_;  ///< entries that the table may hold; 0: all
  Diffusion ball_;
  NextStage next_stage_;
  ReachedVertices table_;  ///< scores; waiting[0]: what the next stage may go on from
  ChargedVector<Waiting> chosen_;
  std::vector<Mass> returning_;  ///< [steps], of vertices without out-edges
  const Seeds* seeds_ = nullptr;
  std::size_t stage_ = 0;     ///< at work
  std::size_t next_ = 0;      ///< the next of those chosen
  std::int64_t step_ = 0;     ///< steps that the ball at work has begun
  bool from_chosen_ = false;  ///< the ball's mass began at one of those chosen, and not at the seeds
  std::uint64_t edges_ = 0, ball_bytes_ = 0, list_bytes_ = 0;
  std::uint32_t largest_table_ = 0;
};

}  // namespace sluice::ppr
