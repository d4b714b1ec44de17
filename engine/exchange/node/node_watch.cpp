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
std::optional<std::uint64_t> birth_of(pid_t process) {
  std::ifstream file(fmt::format("/proc/{}/stat", process));
  std::string text;
  if (!std::getline(file, text)) return std::nullopt;
  // The name, in brackets, may hold anything; after it come the state and, 19 fields later, the start time.
  std::istringstream rest(text.substr(std::min(text.rfind(')') + 1, text.size())));
  std::string state, skipped;
  rest >> state;
  if (state == "Z" || state == "X") return std::nullopt;
  for (int i = 0; i < 18; ++i) rest >> skipped;
  std::uint64_t born = 0;
  if (!(rest >> born)) return std::nullopt;
  return born;
}

}  // namespace

/// The state that the ranks of a machine share without messages; all zeros at first.
struct NodeWatch::Board {
  static constexpr std::size_t kRanks = 4096;
  static std::size_t place_of(int node_rank);
  std::atomic<std::uint32_t> spoken;
  std::atomic<bool> stopped;
  std::atomic<Results> results;
  std::atomic<std::uint8_t> left[kRanks];
  std::atomic<std::uint32_t> beats[kRanks];
};

NodeWatch::NodeWatch(Communicator& ranks, Timeout timeout)
    : node_rank_(ranks.node_rank()), timeout_(timeout) {
  if (node_rank_ == 0) memory_ = SharedMemory(sizeof(Board));
  std::ostringstream own_text;
  own_text << ranks.node_leader() << ' ' << node_rank_ << ' ' << ::getpid() << ' '
           << birth_of(::getpid()).value_or(0) << ' ' << memory_.address();
  const auto all = ranks.all_gather(own_text.str(), "the processes of all ranks");
  std::string board_address;
  for (int rank = 0; rank < ranks.size(); ++rank) {
    std::istringstream text(all[static_cast<std::size_t>(rank)]);
    Watched other;
    other.peer.rank = rank;
    int leader = 0;
    text >> leader >> other.node_rank >> other.peer.process >> other.born >> std::ws;
    if (leader != ranks.node_leader()) continue;
    if (rank == leader) std::getline(text, board_address);
    const bool seen = birth_of(other.peer.process) == other.born;
    if (rank != ranks.rank() && seen) watched_.push_back(other);
  }
  // A rank that cannot open the leader's board has its own, and may print what the others print too.
  if (node_rank_ != 0) {
    try {
      memory_ = SharedMemory(board_address, sizeof(Board));
    } catch (const RunError&) {
      memory_ = SharedMemory(sizeof(Board));
      watched_.clear();
    }
  }
  beat();
  // The leader may end only when all have opened its board, which ends with it.
  ranks.barrier("the processes of all ranks");
  // The beats of a peer that could not open the board would never be seen here.
  std::erase_if(watched_,
                [&](const Watched& other) { return board().beats[Board::place_of(other.node_rank)] == 0; });
}

NodeWatch::Board& NodeWatch::board() const {
  return *std::launder(static_cast<Board*>(memory_.data()));
}

std::size_t NodeWatch::Board::place_of(int node_rank) {
  return static_cast<std::size_t>(node_rank) % kRanks;
}

void NodeWatch::beat() {
  ++board().beats[Board::place_of(node_rank_)];
}

std::optional<NodeWatch::Peer> NodeWatch::lost() const {
  for (const Watched& other : watched_) {
    if (birth_of(other.peer.process) == other.born) continue;
    if (board().left[Board::place_of(other.node_rank)] == 0) return other.peer;
  }
  return std::nullopt;
}

std::optional<NodeWatch::Peer> NodeWatch::silent() {
  const auto now = time_.pass();
  for (Watched& other : watched_) {
    const std::size_t place = Board::place_of(other.node_rank);
    const std::uint32_t beats = board().beats[place];
    if (beats != other.beats) other.beats = beats, other.at = now;
    if (now - other.at > timeout_ && board().left[place] == 0) return other.peer;
  }
  return std::nullopt;
}

void NodeWatch::leave() {
  board().left[Board::place_of(node_rank_)] = 1;
}

void NodeWatch::note_stop() {
  board().stopped = true;
}

bool NodeWatch::stop_noted() const {
  return board().stopped;
}

void NodeWatch::note(Results results) {
  Results known = board().results;
  while (known < results && !board().results.compare_exchange_weak(known, results)) {
  }
}

NodeWatch::Results NodeWatch::results() const {
  return board().results;
}

bool NodeWatch::speaks_first() {
  return board().spoken.exchange(1) == 0;
}

}  // namespace sluice
