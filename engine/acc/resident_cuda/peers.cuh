// What the GPUs of ranks tell each other in the middle of their rounds, through memory that kernels of all of
// them reach (exchange/peer_memory.hpp). A rank writes entries for another's vertices, and a message,
// straight into that one's memory, and waits for the messages that come into its own: a swap takes no host
// and no launch. Two places take turns, for a rank that has all messages of a swap may begin the next one
// while others still read theirs.
#pragma once

#include "engine/acc/program.hpp"
#include "engine/acc/rounds/bits.hpp"
#include "engine/acc/rounds/round_work.hpp"
#include "engine/core/ownership.hpp"
#include "engine/exec/grid.cuh"

namespace sluice::acc {

/// Of a whole graph on one GPU.
struct NoPeers {
  static constexpr bool kAlone = true;
};

/// A lane waits for each.
inline constexpr unsigned kMostPeers = cuda::kWarp;

/// What a rank has come to since the swap before, or what all have.
struct PeerWork {
  unsigned long long active = 0, edges = 0;  ///< vertices that sent, and edges that were looked at
  unsigned long long sent = 0;               ///< entries for other ranks
  unsigned long long lowest = ~0ull;         ///< of the levels that are left
};

/// In the memory of the rank that it is for.
struct PeerMessage {
  PeerWork work;
  unsigned long long entries = 0;  ///< that came before it
  unsigned long long swap = 0;     ///< which one it belongs to: written last
};

/// What a rank's own kernels share.
struct PeerState {
  PeerWork all;                               ///< of the last swap
  unsigned long long received[kMostPeers]{};  ///< entries, by rank
  unsigned long long listed[kMostPeers]{};    ///< vertices of each rank that wait to be sent
  unsigned long long sent = 0;                ///< entries since the first swap
  unsigned stopped = 0;
};

/// Pointers are to this GPU's memory, but `memory`, which has each rank's.
template <class State>
struct Peers {
  static constexpr bool kAlone = false;

  unsigned own = 0, ranks = 1;
  std::uint64_t first = 0, last = 0;  ///< own vertices
  OwnershipView owners;
  std::byte* memory[kMostPeers] = {};
  Vertex* listed = nullptr;        ///< [vertices] that wait to be sent, each rank's from its first vertex on
  std::uint32_t* marks = nullptr;  ///< bits of these
  PeerState* state = nullptr;
  const std::uint32_t* stop = nullptr;  ///< in host memory: another rank has failed

  /// What a rank's memory holds: messages, and entries of all ranks, twice.
  static constexpr std::uint64_t kMessageBytes = 2 * kMostPeers * sizeof(PeerMessage);
  SLUICE_HD static std::uint64_t entry_bytes(std::uint64_t vertices) {
    return EntryBlock<State>::bytes(vertices);
  }
  static std::uint64_t bytes(std::uint64_t vertices, std::uint64_t ranks) {
    return kMessageBytes + 2 * ranks * entry_bytes(vertices);
  }

  __device__ bool owns(Vertex v) const { return v - first < last - first; }

  /// Combines a value into the state that this rank keeps of another's vertex, which is then to be sent.
  template <class Program>
  __device__ void reach(const Program& program, State* states, Vertex v, State value,
                        const AccRound& at) const {
    if (!combine_to_send(program, states + v, value, at)) return;
    if (has_bit(marks, v) || !take_bit(marks, v)) return;
    const std::uint32_t owner = owners.owner(v);
    // Lanes that list for the same rank take their places together.
    const unsigned lanes = __match_any_sync(__activemask(), owner), lane = threadIdx.x % cuda::kWarp,
                   leader = static_cast<unsigned>(__ffs(static_cast<int>(lanes))) - 1;
    unsigned long long place = 0;
    if (lane == leader)
      place = atomicAdd(state->listed + owner, static_cast<unsigned long long>(__popc(lanes)));
    place = __shfl_sync(lanes, place, static_cast<int>(leader));
    listed[owners.begins[owner] + place + static_cast<unsigned>(__popc(lanes & ((1u << lane) - 1)))] = v;
  }

  /// Vertices that wait to be sent.
  __device__ unsigned long long waiting() const {
    unsigned long long count = 0;
    for (unsigned r = 0; r < ranks; ++r) count += load(state->listed + r);
    return count;
  }

  /// Writes their entries to the ranks that own them; a swap must follow, once the team has come.
  template <class Team, class Program>
  __device__ void send(const Team& team, unsigned swap, const Program&, State* states) const {
    for (unsigned r = 0; r < ranks; ++r) {
      const unsigned long long count = load(state->listed + r);
      if (count == 0) continue;
      const EntryBlock<State> block = entries(r, swap, own);
      const Vertex* const from = listed + owners.begins[r];
      for (std::uint64_t i = team.rank(); i < count; i += team.size()) {
        const Vertex v = load(from + i);
        block.states[i] = load(states + v);
        block.vertices[i] = v;
        if constexpr (SumProgram<Program>) states[v] = 0;
        drop_bit(marks, v);
      }
      __threadfence_system();
    }
  }

  /// Ends what the ranks have come to: all have each other's entries, and know what all have come to. What
  /// send() wrote must be known to the team before, and all of the team come.
  template <class Team>
  __device__ PeerWork swap(const Team& team, unsigned number, const PeerWork& work) const {
    if (team.rank() < cuda::kWarp) swap_messages(number, work);
    team.sync();
    const PeerWork& all = state->all;
    return {load(&all.active), load(&all.edges), load(&all.sent), load(&all.lowest)};
  }
  /// After a swap, by one thread: what waited is sent.
  __device__ void clear_listed() const {
    for (unsigned r = 0; r < ranks; ++r) {
      state->sent += state->listed[r];
      state->listed[r] = 0;
    }
  }
  __device__ bool stopped() const { return load(&state->stopped) != 0; }
  /// Entries that came in the last swap.
  __device__ unsigned long long came() const {
    unsigned long long count = 0;
    for (unsigned r = 0; r < ranks; ++r) count += load(state->received + r);
    return count;
  }
  /// Calls take(v, value) for each.
  template <class Team, class Take>
  __device__ void receive(const Team& team, unsigned swap, Take&& take) const {
    for (unsigned r = 0; r < ranks; ++r) {
      const unsigned long long count = load(state->received + r);
      const EntryBlock<State> block = entries(own, swap, r);
      // Not out of a cache that may still have what was there two swaps ago.
      for (std::uint64_t i = team.rank(); i < count; i += team.size())
        take(load(block.vertices + i), load(block.states + i));
    }
  }

 private:
  /// So many looks at a message that has not come between two at what the host says.
  static constexpr unsigned kLooks = 4096;

  __device__ PeerMessage* message(unsigned to, unsigned swap, unsigned from) const {
    return reinterpret_cast<PeerMessage*>(memory[to]) + swap % 2 * kMostPeers + from;
  }
  /// Their states and vertices have room for all vertices of rank `to`.
  __device__ EntryBlock<State> entries(unsigned to, unsigned swap, unsigned from) const {
    const std::uint64_t most = owners.begins[to + 1] - owners.begins[to];
    return EntryBlock<State>::at(
        memory[to] + kMessageBytes + (std::uint64_t{swap % 2} * ranks + from) * entry_bytes(most), most);
  }

  /// A lane writes to each rank, and waits for it.
  __device__ void swap_messages(unsigned number, const PeerWork& work) const {
    const unsigned r = threadIdx.x;
    const bool other = r < ranks && r != own;
    if (other) {
      PeerMessage* const to = message(r, number, own);
      store(&to->work.active, work.active), store(&to->work.edges, work.edges);
      store(&to->work.sent, work.sent), store(&to->work.lowest, work.lowest);
      store(&to->entries, load(state->listed + r));
      __threadfence_system();
      store(&to->swap, number);
    }
    __syncwarp();
    PeerWork part;
    if (r == own) part = work;
    unsigned long long entries = 0;
    bool stops = false;
    if (other) {
      const PeerMessage* const from = message(own, number, r);
      for (unsigned looks = 1; load(&from->swap) != number && !stops; ++looks)
        stops = looks % kLooks == 0 && load(stop) != 0;
      __threadfence_system();
      part = {load(&from->work.active), load(&from->work.edges), load(&from->work.sent),
              load(&from->work.lowest)};
      entries = load(&from->entries);
    }
    __syncwarp();
    const PeerWork all{cuda::warp_sum(part.active), cuda::warp_sum(part.edges), cuda::warp_sum(part.sent),
                       cuda::warp_min(part.lowest)};
    stops = __any_sync(~0u, stops);
    if (r < ranks) store(state->received + r, stops ? 0 : entries);
    if (r != 0) return;
    store(&state->all.active, all.active), store(&state->all.edges, all.edges);
    store(&state->all.sent, all.sent), store(&state->all.lowest, all.lowest);
    if (stops) store(&state->stopped, 1u);
  }
};

}  // namespace sluice::acc
