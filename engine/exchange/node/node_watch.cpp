#include "engine/exchange/node/node_watch.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <new>
#include <sstream>

namespace sluice {
namespace {

/// Start time of a process, in clock ticks; nothing if it has ended, even if its parent does not know yet.
std::optional<std::uint64_t> start_time_of(pid_t process) {
  std::ifstream file(fmt::format("/proc/{}/stat", process));
  std::string text;
  if (!std::getline(file, text)) return std::nullopt;
  // The name, in brackets, may hold anything; after it come the state and, 19 fields later, the start time.
  std::istringstream rest(text.substr(std::min(text.rfind(')') + 1, text.size())));
  std::string state, skipped;
  rest >> state;
  if (state == "Z" || state == "X") return std::nullopt;
  for (int i = 0; i < 18; ++i) rest >> skipped;
  std::uint64_t start_time = 0;
  if (!(rest >> start_time)) return std::nullopt;
  return start_time;
}

}  // namespace

/// The state that the ranks of a machine share without messages; all zeros at first.
struct NodeWatch::SharedState {
  static constexpr std::size_t kRanks = 4096;
  static std::size_t index_of(int node_rank);
  std::atomic<std::uint32_t> report_claimed;
  std::atomic<bool> stopped;
  std::atomic<Results> results;
  std::atomic<std::uint8_t> departed[kRanks];
  std::atomic<std::uint32_t> heartbeats[kRanks];
};

NodeWatch::NodeWatch(Communicator& ranks, Timeout timeout)
    : node_rank_(ranks.node_rank()), timeout_(timeout) {
  if (node_rank_ == 0) memory_ = SharedMemory(sizeof(SharedState));
  std::ostringstream own_text;
  own_text << ranks.node_leader() << ' ' << node_rank_ << ' ' << ::getpid() << ' '
           << start_time_of(::getpid()).value_or(0) << ' ' << memory_.address();
  const auto all = ranks.all_gather(own_text.str(), "the processes of all ranks");
  std::string leader_address;
  for (int rank = 0; rank < ranks.size(); ++rank) {
    std::istringstream text(all[static_cast<std::size_t>(rank)]);
    Watched other;
    other.peer.rank = rank;
    int leader = 0;
    text >> leader >> other.node_rank >> other.peer.process >> other.start_time >> std::ws;
    if (leader != ranks.node_leader()) continue;
    if (rank == leader) std::getline(text, leader_address);
    const bool visible = start_time_of(other.peer.process) == other.start_time;
    if (rank != ranks.rank() && visible) watched_.push_back(other);
  }
  // A rank that cannot open the leader's state has its own, and may print what the others print too.
  if (node_rank_ != 0) {
    try {
      memory_ = SharedMemory(leader_address, sizeof(SharedState));
    } catch (const RunError&) {
      memory_ = SharedMemory(sizeof(SharedState));
      watched_.clear();
    }
  }
  send_heartbeat();
  // The leader may end only when all have opened its state, which ends with it.
  ranks.barrier("the processes of all ranks");
  // The beats of a peer that could not open the state would never be seen here.
  std::erase_if(watched_, [&](const Watched& other) {
    return shared_state().heartbeats[SharedState::index_of(other.node_rank)] == 0;
  });
}

NodeWatch::SharedState& NodeWatch::shared_state() const {
  return *std::launder(static_cast<SharedState*>(memory_.data()));
}

std::size_t NodeWatch::SharedState::index_of(int node_rank) {
  return static_cast<std::size_t>(node_rank) % kRanks;
}

void NodeWatch::send_heartbeat() {
  ++shared_state().heartbeats[SharedState::index_of(node_rank_)];
}

std::optional<NodeWatch::Peer> NodeWatch::lost_peer() const {
  for (const Watched& other : watched_) {
    if (start_time_of(other.peer.process) == other.start_time) continue;
    if (shared_state().departed[SharedState::index_of(other.node_rank)] == 0) return other.peer;
  }
  return std::nullopt;
}

std::optional<NodeWatch::Peer> NodeWatch::silent_peer() {
  const auto now = time_.update();
  for (Watched& other : watched_) {
    const std::size_t index = SharedState::index_of(other.node_rank);
    const std::uint32_t heartbeats = shared_state().heartbeats[index];
    if (heartbeats != other.heartbeats) other.heartbeats = heartbeats, other.last_change = now;
    if (now - other.last_change > timeout_ && shared_state().departed[index] == 0) return other.peer;
  }
  return std::nullopt;
}

void NodeWatch::announce_exit() {
  shared_state().departed[SharedState::index_of(node_rank_)] = 1;
}

void NodeWatch::record_stop() {
  shared_state().stopped = true;
}

bool NodeWatch::stop_recorded() const {
  return shared_state().stopped;
}

void NodeWatch::record_results(Results results) {
  Results known = shared_state().results;
  while (known < results && !shared_state().results.compare_exchange_weak(known, results)) {
  }
}

NodeWatch::Results NodeWatch::results() const {
  return shared_state().results;
}

bool NodeWatch::claim_report() {
  return shared_state().report_claimed.exchange(1) == 0;
}

}  // namespace sluice
