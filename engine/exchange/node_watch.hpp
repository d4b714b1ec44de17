// Which ranks of this machine still live. A launcher ends a job whose rank was killed, but does not say it in
// a line, and gives the survivors a second at most; so they look after each other.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/exchange/communicator.hpp"
#include "engine/exchange/shared_memory.hpp"

namespace sluice {

class NodeWatch {
 public:
  struct Peer {
    int rank = 0;
    pid_t process = 0;
  };

  /// All ranks make one. Peers whose processes cannot be seen from here are not watched.
  explicit NodeWatch(Communicator& ranks);

  /// A peer that ended without leave(), if there is one. From any thread.
  std::optional<Peer> lost() const;
  /// From here on this rank's end is no loss.
  void leave();
  /// True for the first rank of this machine that asks: of what all see one speaks.
  bool speaks_first();

 private:
  struct Watched {
    Peer peer;
    int node_rank = 0;
    std::uint64_t born = 0;  ///< tells a process from a later one of the same id
  };
  struct Board;
  Board& board() const;

  int node_rank_;
  std::vector<Watched> watched_;
  SharedMemory memory_;  ///< holds the Board of this machine's ranks
};

}  // namespace sluice
