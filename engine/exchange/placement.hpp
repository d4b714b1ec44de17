// Which cores and which GPU a rank takes, so that the ranks of one machine do not disturb each other.
#pragma once

#include <string>
#include <vector>

#include "engine/exchange/communicator.hpp"

namespace sluice {

/// What a rank sees of its machine.
struct RankView {
  int node = 0;       ///< its machine: the rank that leads it
  std::string cores;  ///< names the set of cores it may use
  unsigned core_count = 1;
  std::vector<std::string> gpus;  ///< the UUID of each GPU that it sees, in CUDA's order
};

/// What a rank takes of its machine.
struct Placement {
  unsigned threads = 1;  ///< its share of cores that other ranks may use too
  int gpu = 0;           ///< index among the GPUs that it sees
  int gpu_ranks = 0;     ///< ranks that take this GPU; 0: the rank sees none
};

/// What `rank` takes, if `views` are those of all ranks. Ranks that see the same GPUs take them in turn; a
/// rank that sees one GPU, because its launcher bound it, takes that one.
Placement place_rank(const std::vector<RankView>& views, int rank);

/// The same for this rank, after the ranks have sent each other their views.
Placement place_rank(Communicator& ranks, const RankView& own_view);

}  // namespace sluice
