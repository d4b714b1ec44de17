// Which cores and which GPU a rank takes, so that the ranks of one machine do not get in each other's way.
#pragma once

#include <string>
#include <vector>

#include "engine/exchange/communicator.hpp"

namespace sluice {

/// What a rank sees of its machine.
struct RankView {
  int node = 0;       ///< the rank that leads its machine
  std::string cores;  ///< names the set of cores it may use
  unsigned core_count = 1;
  std::vector<std::string> gpus;  ///< what identifies each GPU that it sees, in CUDA's order
};

/// What it takes.
struct Placement {
  unsigned threads = 1;  ///< its share of the cores that others may use too
  int gpu = 0;           ///< of the GPUs it sees
  int gpu_ranks = 0;     ///< ranks that take this same GPU; 0: it sees none
};

/// What `rank` takes where all ranks have these views. Ranks that see the same GPUs take them in turn; those
/// that see one each, because their launcher bound them, take that.
Placement place_rank(const std::vector<RankView>& views, int rank);

/// The same for this rank, after the ranks have sent each other what they see.
Placement place_rank(Communicator& ranks, const RankView& own);

}  // namespace sluice
