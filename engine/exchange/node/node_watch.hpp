// Which ranks of this machine still live. A launcher ends a job whose rank was killed, but does not say it in
// a line, and gives the survivors a second at most; so they look after each other. A rank that is stopped no
// launcher sees.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/core/timeout.hpp"
#include "engine/exchange/communicator.hpp"
#include "engine/exchange/node/shared_memory.hpp"

namespace sluice {

class NodeWatch {
 public:
  struct Peer {
    int rank = 0;
    pid_t process = 0;
  };

  /// All ranks make one. Peers whose processes cannot be seen from here are not watched. One that shows no
  /// sign of life for `timeout` is silent.
  NodeWatch(Communicator& ranks, Timeout timeout);

  /// This rank's sign of life, from a thread that does nothing else: several a second, however long the rank
  /// works or waits.
  void beat();
  /// A peer that ended without leave(), if there is one. From any thread.
  std::optional<Peer> lost() const;
  /// A peer that is stopped, if there is one. From the thread that beats, as often.
  std::optional<Peer> silent();
  /// From here on this rank's end is no loss.
  void leave();
  /// This rank ends because it was asked to stop; it is not lost then, nor are those that end with it.
  void note_stop();
  bool stop_noted() const;
  /// What is known of the job's results on this machine; it only grows.
  enum class Results : std::uint8_t { none, perhaps, written };
  void note(Results results);
  Results results() const;
  /// True for the first rank of this machine that asks: of what all see one speaks.
  bool speaks_first();

 private:
  struct Watched {
    Peer peer;
    int node_rank = 0;
    std::uint64_t born = 0;           ///< distinguishes a process from a later one of the same id
    std::uint32_t beats = 0;          ///< that were seen last
    AwakeTime::Clock::duration at{};  ///< when they were others than before
  };
  struct Board;
  Board& board() const;

  int node_rank_;
  Timeout timeout_;
  AwakeTime time_;
  std::vector<Watched> watched_;
  SharedMemory memory_;  ///< holds the Board of this machine's ranks
};

}  // namespace sluice
