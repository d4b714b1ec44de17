// Exchange between the GPUs of ranks during their rounds, through memory that kernels of all ranks access
// (exchange/peer_memory.hpp). Each GPU has all edges that lead to its own vertices, and alone changes their
// states; so ranks need only exchange active vertices. In a *swap*, a rank writes its active vertices and a
// message into the others' memory, and waits for the messages that arrive in its own, without host or launch.
// Two sets of buffers alternate: a rank that has all messages of a swap may begin the next one while others
// still read theirs.
//
// With launches, counts read by the host and messages between hosts, a round of sssp or k-core took two GPUs
// 100 to 200 us (commit fed40f9b). With a swap, a round takes 10 us more than on one GPU (docs/goals.md).
#pragma once

#include "engine/acc/program.hpp"
#include "engine/acc/resident_cuda/worklist.cuh"
#include "engine/acc/rounds/bits.hpp"
#include "engine/acc/rounds/round_work.hpp"
#include "engine/core/ownership.hpp"
#include "engine/exchange/peer_memory.hpp"

namespace sluice::acc {

/// For a whole graph on one GPU: nothing to send.
struct NoPeers {
  static constexpr bool kSingleRank = true;

  template <class State>
  __device__ void send(unsigned, bool, Vertex, const State*) const {}
};

static_assert(kMaxPeers <= cuda::kWarp, "a lane waits for each");

/// The work of a rank since the last swap, or of all ranks.
struct PeerWork {
  unsigned long long rounds = 0;                  ///< rounds run
  unsigned long long active = 0, edges = 0;       ///< vertices that sent, and edges read
  unsigned long long found = 0, found_edges = 0;  ///< own vertices active in the next round, and their edges
  unsigned long long sent = 0;                    ///< upper bound of those with neighbours on other ranks
  unsigned long long lowest = ~0ull;              ///< lowest remaining level

  /// Calls use(field) for each field that is summed over ranks.
  template <class Work, class Use>
  __device__ static void for_each_sum(Work& work, Use&& use) {
    use(work.rounds), use(work.active), use(work.edges), use(work.found), use(work.found_edges),
        use(work.sent);
  }
};

/// In place of a number of entries: bits of all the rank's vertices were sent.
inline constexpr unsigned long long kSentAsBits = ~0ull;

/// A message, in the memory of the receiving rank.
struct PeerMessage {
  PeerWork work;
  unsigned long long entries = 0;  ///< entries sent before it; kSentAsBits: bits instead
  unsigned long long swap = 0;     ///< the number of its swap, written last
};

/// State shared by a rank's own kernels.
struct PeerState {
  PeerWork total;                             ///< all ranks' work as of the last swap
  unsigned long long received[kMaxPeers]{};   ///< entries received from each rank, or kSentAsBits
  unsigned long long sent = 0;                ///< entries for the next swap
  unsigned long long sent_bytes = 0;          ///< since the first swap
  unsigned stopped = 0;
};

/// Fence between GPUs: writes by this GPU's threads that this thread has observed are visible to a thread on
/// another GPU that observes this thread's next write; and the reverse. (__threadfence_system() also keeps a
/// single order of all fences, and takes longer.)
__device__ __forceinline__ void system_fence() {
  asm volatile("fence.acq_rel.sys;" ::: "memory");
}

/// Pointers are to this GPU's memory, except `memory`, which has each rank's. Entries are vertices;
/// `with_states`: with their states.
template <class State, bool with_states>
struct Peers {
  static constexpr bool kSingleRank = false;

  unsigned own_rank = 0, ranks = 1;
  std::uint64_t first = 0;     ///< first own vertex
  std::uint64_t vertices = 0;  ///< vertices of all ranks
  OwnershipView owners;
  std::byte* memory[kMaxPeers] = {};
  const std::uint32_t* boundary = nullptr;  ///< bits of own vertices with a neighbour on another rank
  PeerState* state = nullptr;
  const std::uint32_t* stop = nullptr;  ///< in host memory; not 0: another rank has failed

  /// Bytes at the beginning of every rank's memory: two sets of messages, of entries of all ranks, and of
  /// bits of all vertices, in separate words for each rank.
  SLUICE_HD static std::uint64_t bytes(std::uint64_t vertices, std::uint64_t ranks) {
    return kMessageBytes + 2 * (entry_bytes(vertices, ranks) + bit_bytes(vertices, ranks));
  }

  /// Sends an own vertex to all other ranks, if `valid` and it has a neighbour on any of them. Every lane of
  /// the warp must call it; a swap must follow.
  __device__ void send(unsigned swap, bool valid, Vertex v, const State* states) const {
    const bool sends = valid && has_bit(boundary, v);
    const unsigned lanes = __ballot_sync(~0u, sends);
    if (lanes == 0) return;
    const unsigned long long position = cuda::claim_positions(&state->sent, lanes, ~0u);
    if (!sends) return;
    for (unsigned r = 0; r < ranks; ++r) {
      if (r == own_rank) continue;
      const EntryBlock<State> block = entries(r, swap, own_rank);
      block.vertices[position] = v;
      if constexpr (with_states) block.states[position] = load(states + v);
    }
  }
  /// The number of own vertices sent, after a sync of the team.
  __device__ unsigned long long sent() const { return load(&state->sent); }

  /// Writes the bits of own vertices to all ranks; a swap must follow.
  template <class Team>
  __device__ void send_bits(const Team& team, unsigned swap, const std::uint32_t* bits) const {
    const std::uint64_t begin = first / kBitsOfWord, count = words_of(own_rank);
    for (unsigned r = 0; r < ranks; ++r) {
      if (r == own_rank) continue;
      std::uint32_t* const target = bits_from(r, swap, own_rank);
      for (std::uint64_t w = team.rank(); w < count; w += team.size()) target[w] = load(bits + begin + w);
    }
  }

  /// Swap: afterwards all ranks have received the others' vertices, as `bits` or as entries, and know all
  /// work. Work of ranks whose levels all lie above another's lowest is ignored. The team must have
  /// synchronized since it sent; all its threads call it.
  template <class Team>
  __device__ PeerWork swap(const Team& team, unsigned number, const PeerWork& work, bool bits = false) const {
    if (team.rank() < cuda::kWarp) swap_messages(number, work, bits);
    team.sync();
    return read(&state->total);
  }
  /// Called by one thread after a swap of entries.
  __device__ void clear_sent() const {
    state->sent_bytes += state->sent * kEntryBytes * (ranks - 1), state->sent = 0;
  }
  /// Called by one thread after a swap of bits.
  __device__ void count_sent_bits() const {
    state->sent_bytes += words_of(own_rank) * sizeof(std::uint32_t) * (ranks - 1);
  }
  __device__ bool stopped() const { return load(&state->stopped) != 0; }

  /// Calls consume(valid, v, state) by whole warps for the entries received in a swap.
  template <class Team, class Consume>
  __device__ void receive(const Team& team, unsigned swap, Consume&& consume) const {
    for (unsigned r = 0; r < ranks; ++r) {
      const unsigned long long count = load(state->received + r);
      if (count == kSentAsBits) continue;
      const EntryBlock<State> block = entries(own_rank, swap, r);
      // Uncached loads: a cache may still hold the entries of two swaps ago.
      cuda::for_each_in_warps(team, count, [&](std::uint64_t i, bool valid) {
        const Vertex v = valid ? load(block.vertices + i) : 0;
        State value{};
        if constexpr (with_states) value = valid ? load(block.states + i) : value;
        consume(valid, v, value);
      });
    }
  }
  /// Calls consume(word, bits) by whole warps for the words of bits received.
  template <class Team, class Consume>
  __device__ void receive_bits(const Team& team, unsigned swap, Consume&& consume) const {
    for (unsigned r = 0; r < ranks; ++r) {
      if (load(state->received + r) != kSentAsBits) continue;
      const std::uint64_t begin = owners.begins[r] / kBitsOfWord;
      const std::uint32_t* const source = bits_from(own_rank, swap, r);
      cuda::for_each_in_warps(team, words_of(r), [&](std::uint64_t w, bool valid) {
        consume(begin + w, valid ? load(source + w) : 0);
      });
    }
  }

 private:
  /// Polls of a missing message between two checks of the host's stop flag.
  static constexpr unsigned kPollsPerCheck = 4096;

  static constexpr std::uint64_t kMessageBytes = 2 * kMaxPeers * sizeof(PeerMessage);
  static constexpr std::uint64_t kEntryBytes = sizeof(Vertex) + (with_states ? sizeof(State) : 0);

  SLUICE_HD static std::uint64_t aligned(std::uint64_t bytes) { return (bytes + 7) / 8 * 8; }
  /// Bytes of the entries of all ranks; those of rank r, whose first vertex is v, begin at entry_bytes(v, r).
  SLUICE_HD static std::uint64_t entry_bytes(std::uint64_t vertices, std::uint64_t ranks) {
    return aligned(vertices * kEntryBytes) + 8 * ranks;
  }
  /// Bytes of the bits of all ranks; those of rank r, whose first vertex is v, begin at word v / kBitsOfWord
  /// + r.
  SLUICE_HD static std::uint64_t bit_bytes(std::uint64_t vertices, std::uint64_t ranks) {
    return aligned((vertices / kBitsOfWord + ranks + 1) * sizeof(std::uint32_t));
  }

  __device__ PeerMessage* message(unsigned receiver, unsigned swap, unsigned sender) const {
    return reinterpret_cast<PeerMessage*>(memory[receiver]) + swap % 2 * kMaxPeers + sender;
  }
  __device__ EntryBlock<State> entries(unsigned receiver, unsigned swap, unsigned sender) const {
    std::byte* const begin = memory[receiver] + kMessageBytes + swap % 2 * entry_bytes(vertices, ranks) +
                             entry_bytes(owners.begins[sender], sender);
    return EntryBlock<State>::from_memory(
        begin, with_states ? owners.begins[sender + 1] - owners.begins[sender] : 0);
  }

  /// Number of words with bits of a rank's vertices; other ranks may share the first and last.
  __device__ std::uint64_t words_of(unsigned rank) const {
    return acc::words_of(owners.begins[rank], owners.begins[rank + 1]);
  }
  __device__ std::uint32_t* bits_from(unsigned receiver, unsigned swap, unsigned sender) const {
    std::byte* const begin = memory[receiver] + kMessageBytes + 2 * entry_bytes(vertices, ranks) +
                             swap % 2 * bit_bytes(vertices, ranks);
    return reinterpret_cast<std::uint32_t*>(begin) + owners.begins[sender] / kBitsOfWord + sender;
  }

  __device__ static PeerWork read(const PeerWork* source) {
    PeerWork work;
    const unsigned long long* word = &source->rounds;
    PeerWork::for_each_sum(work, [&](unsigned long long& field) { field = load(word++); });
    work.lowest = load(&source->lowest);
    return work;
  }
  __device__ static void write(PeerWork* target, const PeerWork& work) {
    unsigned long long* word = &target->rounds;
    PeerWork::for_each_sum(work, [&](unsigned long long field) { store(word++, field); });
    store(&target->lowest, work.lowest);
  }

  /// Each lane writes the message to one rank, and waits for that rank's.
  __device__ void swap_messages(unsigned number, const PeerWork& work, bool bits) const {
    const unsigned r = threadIdx.x;
    const bool is_peer = r < ranks && r != own_rank;
    if (is_peer) {
      PeerMessage* const outgoing = message(r, number, own_rank);
      write(&outgoing->work, work);
      store(&outgoing->entries, bits ? kSentAsBits : load(&state->sent));
      system_fence();
      store(&outgoing->swap, number);
    }
    __syncwarp();
    PeerWork sum;
    if (r == own_rank) sum = work;
    unsigned long long entries = 0;
    bool stops = false;
    if (is_peer) {
      const PeerMessage* const incoming = message(own_rank, number, r);
      for (unsigned polls = 1; load(&incoming->swap) != number && !stops; ++polls)
        stops = polls % kPollsPerCheck == 0 && load(stop) != 0;
      system_fence();
      sum = read(&incoming->work);
      entries = load(&incoming->entries);
    }
    __syncwarp();
    const unsigned long long lowest = cuda::warp_min(sum.lowest);
    if (sum.lowest != lowest) sum = {}, entries = 0;
    sum.lowest = lowest;
    PeerWork::for_each_sum(sum, [](unsigned long long& field) { field = cuda::warp_sum(field); });
    stops = __any_sync(~0u, stops);
    if (r < ranks) store(state->received + r, stops ? 0 : entries);
    if (r != 0) return;
    write(&state->total, sum);
    if (stops) store(&state->stopped, 1u);
  }
};

}  // namespace sluice::acc
