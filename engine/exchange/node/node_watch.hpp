// Detects killed and stopped ranks of this node. Launchers report a kill unclearly, give the survivors a
// second at most, and never notice a stopped rank. So ranks watch each other.
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

  /// All ranks construct one. Peers whose processes this one cannot see are not watched. A peer without a
  /// beat for `timeout` is silent.
  NodeWatch(Communicator& ranks, Timeout timeout);

  /// This rank's sign of life. A thread that does nothing else calls it several times a second, however long
  /// the rank works or waits.
  void send_heartbeat();
  /// A peer that ended without announce_exit(), if there is one. Any thread may call it.
  std::optional<Peer> lost_peer() const;
  /// A peer that is stopped, if there is one. The thread that beats calls it, equally often.
  std::optional<Peer> silent_peer();
  /// After this call peers do not report this rank's exit as a failure.
  void announce_exit();
  /// Notes that this rank ends because it was asked to stop: neither it nor ranks that end with it are lost.
  void record_stop();
  bool stop_recorded() const;
  /// What this machine's ranks know about the job's results; the value only grows.
  enum class Results : std::uint8_t { none, possible, written };
  void record_results(Results results);
  Results results() const;
  /// True for the first caller on this node, so that only one rank prints.
  bool claim_report();

 private:
  struct Watched {
    Peer peer;
    int node_rank = 0;
    std::uint64_t start_time = 0;              ///< distinguishes a process from a later one of the same id
    std::uint32_t heartbeats = 0;              ///< the number seen last
    AwakeTime::Clock::duration last_change{};  ///< when that number last changed
  };
  struct SharedState;
  SharedState& shared_state() const;

  int node_rank_;
  Timeout timeout_;
  AwakeTime time_;
  std::vector<Watched> watched_;
  SharedMemory memory_;  ///< holds the SharedState of this machine's ranks
};

}  // namespace sluice
