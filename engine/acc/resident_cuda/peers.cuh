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
#include "engine/exec/cuda_executor.cuh"
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
  unsigned long long rounds = 0;                  ///< that it has made
  unsigned long long active = 0, edges = 0;       ///< vertices that sent, and edges that were looked at
  unsigned long long found = 0, found_edges = 0;  ///< own vertices that are active next, and their edges
  unsigned long long sent = 0;                    ///< entries for other ranks
  unsigned long long lowest = ~0ull;              ///< of the levels that are left

  /// Calls use(field) for those that are sums over ranks.
  template <class Work, class Use>
  __device__ static void for_each_sum(Work& work, Use&& use) {
    use(work.rounds), use(work.active), use(work.edges), use(work.found), use(work.found_edges),
        use(work.sent);
  }
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
  unsigned long long sent_bytes = 0;          ///< since the first swap
  unsigned stopped = 0;
};

/// Pointers are to this GPU's memory, but `memory`, which has each rank's.
template <class State>
struct Peers {
  static constexpr bool kAlone = false;

  unsigned own = 0, ranks = 1;
  std::uint64_t first = 0, last = 0;  ///< own vertices
  std::uint64_t vertices = 0;         ///< of all ranks
  OwnershipView owners;
  std::byte* memory[kMostPeers] = {};
  Vertex* listed = nullptr;        ///< [vertices] that wait to be sent, each rank's from its first vertex on
  std::uint32_t* marks = nullptr;  ///< bits of these
  PeerState* state = nullptr;
  const std::uint32_t* stop = nullptr;  ///< in host memory: another rank has failed

  /// What a rank's memory holds, twice: messages, entries of all ranks, and bits of all vertices, in words of
  /// each rank's.
  static constexpr std::uint64_t kMessageBytes = 2 * kMostPeers * sizeof(PeerMessage);
  SLUICE_HD static std::uint64_t entry_bytes(std::uint64_t vertices) {
    return EntryBlock<State>::bytes(vertices);
  }
  SLUICE_HD static std::uint64_t bit_words(std::uint64_t vertices, std::uint64_t ranks) {
    return vertices / kBitsOfWord + ranks + 1;
  }
  /// Of a rank with so many vertices, of so many in all.
  static std::uint64_t bytes(std::uint64_t own, std::uint64_t vertices, std::uint64_t ranks) {
    return kMessageBytes + 2 * ranks * entry_bytes(own) +
           2 * bit_words(vertices, ranks) * sizeof(std::uint32_t);
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
    listed[owners.begins[owner] + cuda::KeyPeers(owner).take_place(state->listed + owner)] = v;
  }

  /// Vertices that wait to be sent.
  __device__ unsigned long long waiting() const {
    unsigned long long count = 0;
    for (unsigned r = 0; r < ranks; ++r) count += load(state->listed + r);
    return count;
  }

  /// Writes their entries to the ranks that own them, and calls done(v); a swap must follow, once the team
  /// has come.
  template <class Program, class Team, class Done>
  __device__ void send(const Team& team, unsigned swap, State* states, Done&& done) const {
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
        done(v);
      }
    }
    publish();
  }

  /// Ends what the ranks have come to: all have each other's entries, and know what all have come to. What
  /// send() wrote must be known to the team before, and all of the team come.
  template <class Team>
  __device__ PeerWork swap(const Team& team, unsigned number, const PeerWork& work) const {
    if (team.rank() < cuda::kWarp) swap_messages(number, work);
    team.sync();
    return read(&state->all);
  }
  /// After a swap, by one thread: what waited is sent.
  __device__ void clear_listed() const {
    for (unsigned r = 0; r < ranks; ++r) {
      state->sent_bytes += state->listed[r] * (sizeof(State) + sizeof(Vertex));
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

  /// Writes the bits of own vertices to all ranks; a swap must follow, once the team has come.
  template <class Team>
  __device__ void send_bits(const Team& team, unsigned swap, const std::uint32_t* bits) const {
    const std::uint64_t begin = first / kBitsOfWord, count = words_of(own);
    for (unsigned r = 0; r < ranks; ++r) {
      if (r == own) continue;
      std::uint32_t* const to = bits_from(r, swap, own);
      for (std::uint64_t w = team.rank(); w < count; w += team.size()) to[w] = load(bits + begin + w);
    }
    if (team.rank() == 0) state->sent_bytes += count * sizeof(std::uint32_t) * (ranks - 1);
    publish();
  }
  /// Calls take(word, bits) for the words of other ranks' bits that have some.
  template <class Team, class Take>
  __device__ void receive_bits(const Team& team, unsigned swap, Take&& take) const {
    for (unsigned r = 0; r < ranks; ++r) {
      if (r == own) continue;
      const std::uint64_t begin = owners.begins[r] / kBitsOfWord, count = words_of(r);
      const std::uint32_t* const from = bits_from(own, swap, r);
      for (std::uint64_t w = team.rank(); w < count; w += team.size())
        if (const std::uint32_t bits = load(from + w); bits != 0) take(begin + w, bits);
    }
  }

 private:
  /// So many looks at a message that has not come between two at what the host says.
  static constexpr unsigned kLooks = 4096;

  /// What the block's threads wrote is in other ranks' memory before what follows it. One thread a block sees
  /// to it: a fence of the system takes microseconds, and those of a grid's threads wait for each other.
  __device__ static void publish() {
    __syncthreads();
    if (threadIdx.x == 0) __threadfence_system();
  }

  __device__ PeerMessage* message(unsigned to, unsigned swap, unsigned from) const {
    return reinterpret_cast<PeerMessage*>(memory[to]) + swap % 2 * kMostPeers + from;
  }
  /// Their states and vertices have room for all vertices of rank `to`.
  __device__ EntryBlock<State> entries(unsigned to, unsigned swap, unsigned from) const {
    const std::uint64_t most = owners.begins[to + 1] - owners.begins[to];
    return EntryBlock<State>::at(
        memory[to] + kMessageBytes + (std::uint64_t{swap % 2} * ranks + from) * entry_bytes(most), most);
  }

  /// Words that have bits of a rank's vertices, the first and last shared with others.
  __device__ std::uint64_t words_of(unsigned rank) const {
    const std::uint64_t begin = owners.begins[rank], end = owners.begins[rank + 1];
    return begin < end ? (end - 1) / kBitsOfWord - begin / kBitsOfWord + 1 : 0;
  }
  __device__ std::uint32_t* bits_from(unsigned memory_of, unsigned swap, unsigned from) const {
    const std::uint64_t most = owners.begins[memory_of + 1] - owners.begins[memory_of];
    auto* const all = reinterpret_cast<std::uint32_t*>(memory[memory_of] + kMessageBytes +
                                                       2ull * ranks * entry_bytes(most));
    return all + swap % 2 * bit_words(vertices, ranks) + owners.begins[from] / kBitsOfWord + from;
  }

  __device__ static PeerWork read(const PeerWork* at) {
    PeerWork work;
    const unsigned long long* from = &at->rounds;
    PeerWork::for_each_sum(work, [&](unsigned long long& field) { field = load(from++); });
    work.lowest = load(&at->lowest);
    return work;
  }
  __device__ static void write(PeerWork* at, const PeerWork& work) {
    unsigned long long* to = &at->rounds;
    PeerWork::for_each_sum(work, [&](unsigned long long field) { store(to++, field); });
    store(&at->lowest, work.lowest);
  }

  /// A lane writes to each rank, and waits for it.
  __device__ void swap_messages(unsigned number, const PeerWork& work) const {
    const unsigned r = threadIdx.x;
    const bool other = r < ranks && r != own;
    if (other) {
      PeerMessage* const to = message(r, number, own);
      write(&to->work, work);
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
      part = read(&from->work);
      entries = load(&from->entries);
    }
    __syncwarp();
    PeerWork::for_each_sum(part, [](unsigned long long& field) { field = cuda::warp_sum(field); });
    part.lowest = cuda::warp_min(part.lowest);
    stops = __any_sync(~0u, stops);
    if (r < ranks) store(state->received + r, stops ? 0 : entries);
    if (r != 0) return;
    write(&state->all, part);
    if (stops) store(&state->stopped, 1u);
  }
};

}  // namespace sluice::acc
