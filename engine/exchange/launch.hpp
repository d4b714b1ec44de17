// How this process was started: alone, or as one of many by mpirun or srun. Only the latter initialises MPI,
// so that a plain `sluice` works where MPI does not.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "engine/exchange/communicator.hpp"

namespace sluice {

struct Launch {
  bool can_connect = false;  ///< the launcher gave what MPI needs to find the other processes
  std::uint64_t size = 1;    ///< processes, as far as the launcher says
  std::uint64_t rank = 0;    ///< this process's rank, as far as it says
  std::string launcher;      ///< the variable that was found, for messages; empty: none
  Timeout timeout{300};      ///< for ranks that show no sign of life
};

/// An environment: the value of a variable, or null.
using Environment = std::function<const char*(const char*)>;

/// Reads the launchers' variables. SLUICE_ALONE=1 hides them: each process is then a job of its own.
/// SLUICE_PATIENCE is the timeout in seconds.
Launch detect_launch(const Environment& environment);

/// Connects the ranks of `launch`, or makes a job of one. Throws UsageError if several processes were started
/// that cannot find each other: each would do the whole job, and all would write the same output.
std::unique_ptr<Communicator> connect(const Launch& launch);

/// Rank `rank` of `ranks` for a plan, without the other ranks. They are assumed to contribute what this one
/// does, and to send it nothing.
std::unique_ptr<Communicator> make_planned(int rank, int ranks);

}  // namespace sluice
