// Merges over ranks. In each step every rank receives another rank's trees, which cover twice as many ranks
// as before, until all ranks have all trees (dissemination: Hensgen, Finkel, Manber, IJPP'88). Trees may
// arrive twice: joins are idempotent. Most vertices have one root. A bit marks these, and other vertices
// follow as pairs; if these are many, all states are sent unpacked.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "engine/acc/forest.hpp"
#include "engine/acc/rounds/bits.hpp"
#include "engine/acc/rounds/entry_exchange.hpp"
#include "engine/acc/rounds/rank_part.hpp"
#include "engine/exec/executor.hpp"

namespace sluice::acc {

/// Sets every state to its root. If the smaller root stays, paths lead to vertices processed earlier.
struct Compress {
  static constexpr bool kInOrder = true;

  Vertex* states;

  template <class Lane>
  SLUICE_HD void operator()(std::uint64_t v, Lane&) const {
    compress(states, static_cast<Vertex>(v));
  }
};

/// A rank's trees, packed for sending. Pointers are to the executor's memory.
struct PackedTrees {
  Vertex* root;         ///< [1] the root of most vertices
  std::uint32_t* bits;  ///< bits of the vertices below that root
  Vertex* pairs;        ///< other vertices, each with its parent

  /// Places them in `memory`; header_words() words precede the pairs.
  static PackedTrees from_memory(Vertex* memory, std::uint64_t vertices) {
    return {memory, memory + 1, memory + header_words(vertices)};
  }
  static std::uint64_t header_words(std::uint64_t vertices) { return 1 + words_of(0, vertices); }
};

/// Packs the vertices of a word of bits. Pairs beyond `capacity` are counted, but not packed.
struct PackTrees {
  struct alignas(16) Quad {
    static constexpr unsigned kSize = 4;
    Vertex values[kSize];
  };

  const Vertex* states;  ///< at the start of an allocation
  std::uint64_t vertices;
  const Vertex* common_root;  ///< [1] the root of most vertices
  PackedTrees packed;
  std::uint64_t capacity;     ///< pairs
  unsigned long long* count;  ///< [1] number of pairs

  template <class Lane>
  SLUICE_HD void operator()(std::uint64_t word, Lane&) const {
    const Vertex root = *common_root;
    if (word == 0) *packed.root = root;
    const std::uint64_t first = word * kBitsOfWord, remaining = vertices - first,
                        size = remaining < kBitsOfWord ? remaining : kBitsOfWord;
    std::uint32_t below_root = 0, others = 0;
    const auto classify = [&](unsigned i, Vertex parent) {
      const std::uint32_t bit = std::uint32_t{1} << i;
      if (parent == root && parent != first + i) below_root |= bit;
      if (parent != root && parent != first + i) others |= bit;
    };
    if (size == kBitsOfWord) {  // lanes read far-apart memory: four words at a time
      for (unsigned i = 0; i < kBitsOfWord; i += Quad::kSize) {
        const Quad quad = reinterpret_cast<const Quad*>(states + first)[i / Quad::kSize];
        for (unsigned k = 0; k < Quad::kSize; ++k) classify(i + k, quad.values[k]);
      }
    } else {
      for (unsigned i = 0; i < size; ++i) classify(i, states[first + i]);
    }
    packed.bits[word] = below_root;
    if (others == 0 || load(count) > capacity) return;
    std::uint64_t pair = fetch_add(count, count_bits(others));
    for (unsigned i = 0; i < size && pair < capacity; ++i) {
      if ((others >> i & 1) == 0) continue;
      packed.pairs[2 * pair] = static_cast<Vertex>(first + i), packed.pairs[2 * pair + 1] = states[first + i];
      ++pair;
    }
  }
};

/// Joins the trees of v and `root`, most often already the same: threads then read the same words from L1.
template <class Program>
SLUICE_HD void join_common_root(const Program& program, Vertex* states, Vertex v, Vertex root) {
  const Vertex parent = load_cached(states + v), root_parent = load_cached(states + root);
  if (parent == root || parent == root_parent || load_cached(states + parent) == root_parent) return;
  acc::join(program, states, v, root);
}

/// Joins vertices marked as below another rank's root to its tree; takes every `stride`th vertex.
template <class Program>
struct JoinBelowRoot {
  Program program;
  Vertex* states;
  PackedTrees trees;
  std::uint64_t stride;

  template <class Lane>
  SLUICE_HD void operator()(std::uint64_t i, Lane&) const {
    const auto v = static_cast<Vertex>(i * stride);
    if (has_bit(trees.bits, v)) join_common_root(program, states, v, *trees.root);
  }
};

template <class Program>
struct JoinPairs {
  Program program;
  Vertex* states;
  const Vertex* pairs;

  template <class Lane>
  SLUICE_HD void operator()(std::uint64_t i, Lane&) const {
    acc::join(program, states, pairs[2 * i], pairs[2 * i + 1]);
  }
};

/// Joins vertex begin + i to the tree of others[i], its state on another rank; takes every `stride`th vertex.
template <class Program>
struct JoinTrees {
  Program program;
  Vertex* states;
  const Vertex* others;
  std::uint64_t begin, stride;

  template <class Lane>
  SLUICE_HD void operator()(std::uint64_t index, Lane&) const {
    const std::uint64_t i = index * stride;
    const auto v = static_cast<Vertex>(begin + i);
    if (others[i] != v) join_common_root(program, states, v, others[i]);
  }
};

/// Samples the roots of `size` equidistant vertices, then the roots of the first vertices of the graph.
struct SampleRoots {
  const Vertex* states;
  std::uint64_t first, stride, size;
  unsigned long long* roots;

  template <class Lane>
  SLUICE_HD void operator()(std::uint64_t i, Lane&) const {
    roots[i] = states[i < size ? first + i * stride : i - size];
  }
};

class SampledRoots {
 public:
  /// The most first vertices that can be sampled.
  static constexpr std::uint64_t kMaxFirst = 64;

  explicit SampledRoots(const Device& device) : roots_(device, kSampledRoots + kMaxFirst, "sampled roots") {}

  /// Estimates the largest tree among vertices [first, last) from a sample. Also returns the roots of the
  /// graph's first vertices in `first_roots`.
  template <Executor E>
  LargestTree largest(E& executor, const Vertex* states, std::uint64_t first, std::uint64_t last,
                      std::span<std::uint64_t> first_roots = {}) {
    const std::uint64_t stride = (last - first) / kSampledRoots + 1,
                        size = (last - first + stride - 1) / stride;
    std::vector<std::uint64_t> roots(size + first_roots.size());
    executor.for_each(roots.size(), {}, SampleRoots{states, first, stride, size, roots_.data()});
    executor.read(roots.data(), roots_.data(), roots.size(), "sampled roots");
    std::copy(roots.begin() + static_cast<std::ptrdiff_t>(size), roots.end(), first_roots.begin());
    roots.resize(size);
    return largest_tree(std::move(roots));
  }

 private:
  Buffer<unsigned long long> roots_;
};

class RankForests {
 public:
  /// One in this many vertices may be in a pair.
  static constexpr std::uint64_t kVerticesPerPair = 16;

  /// Keeps a reference to the part's router.
  RankForests(const Device& device, const RankPart& part, std::uint64_t vertices)
      : ranks_(static_cast<std::size_t>(part.ranks().size())),
        rank_(static_cast<std::size_t>(part.ranks().rank())),
        vertices_(vertices),
        header_words_(PackedTrees::header_words(vertices)),
        capacity_(vertices / kVerticesPerPair),
        outgoing_(device, words(), "the trees of ranks"),
        incoming_(device, words(), "the trees of ranks"),
        count_(device, 1, "the trees of ranks"),
        router_(part.router()) {}

  /// Sets `states` [vertices], in the executor's memory, to the roots of all ranks' trees joined. All ranks
  /// call it. What a rank sends while it receives has at least its own trees. `hub`: a vertex below the root
  /// of most vertices, on all ranks; kNoVertex if none is known.
  template <Executor E, MergeProgram Program>
  void join(E& executor, const Program& program, Vertex* states, SampledRoots& sampled,
            Vertex hub = kNoVertex) {
    for (std::size_t step = 1; step < ranks_; step *= 2) {
      compress_all(executor, states);
      const std::size_t target = (rank_ + step) % ranks_, source = (rank_ + ranks_ - step) % ranks_;
      const Vertex common = hub != kNoVertex ? hub : sampled.largest(executor, states, 0, vertices_).root;
      const auto packed =
          router_.exchange_counts(std::vector(ranks_, pack(executor, states, common)), kLabel);
      if (std::ranges::find(packed, kTooMany) != packed.end()) {
        join_states(executor, program, states, target, source);
      } else {
        join_packed(executor, program, states, target, source, packed);
      }
    }
    compress_all(executor, states);
  }

 private:
  static constexpr std::uint64_t kTooMany = ~std::uint64_t{0};
  static constexpr const char* kLabel = "the trees of ranks";

  std::uint64_t words() const { return ranks_ > 1 ? header_words_ + 2 * capacity_ : 0; }

  /// Calls joins(stride) for a few distant vertices, then for all: otherwise all of a GPU's threads would
  /// join the same large trees.
  template <class Joins>
  static void for_sample_then_all(const Joins& joins) {
    constexpr std::uint64_t kSampleStride = 1u << 12;
    joins(kSampleStride);
    joins(std::uint64_t{1});
  }

  template <Executor E>
  void compress_all(E& executor, Vertex* states) const {
    executor.for_each(vertices_, {}, Compress{states});
  }

  /// Packs the trees into outgoing_, with `common`'s root as the most frequent; returns words to send or
  /// kTooMany.
  template <Executor E>
  std::uint64_t pack(E& executor, const Vertex* states, Vertex common) {
    executor.fill(count_.data(), 0, count_.bytes());
    executor.for_each(
        header_words_ - 1, {},
        PackTrees{states, vertices_, states + common, PackedTrees::from_memory(outgoing_.data(), vertices_),
                  capacity_, count_.data()});
    std::uint64_t pairs = 0;
    executor.read(&pairs, count_.data(), 1, kLabel);
    return pairs > capacity_ ? kTooMany : header_words_ + 2 * pairs;
  }

  template <Executor E, class Program>
  void join_packed(E& executor, const Program& program, Vertex* states, std::size_t target,
                   std::size_t source, std::span<const std::uint64_t> packed) {
    std::vector<std::uint64_t> send(ranks_), receive(ranks_);
    send[target] = packed[rank_], receive[source] = packed[source];
    const RoutedColumn column{outgoing_.data(), incoming_.data(), sizeof(Vertex)};
    router_.send({&column, 1}, send, receive, executor.stream(), kLabel);
    const PackedTrees trees = PackedTrees::from_memory(incoming_.data(), vertices_);
    for_sample_then_all([&](std::uint64_t stride) {
      executor.for_each(vertices_ / stride, {}, JoinBelowRoot<Program>{program, states, trees, stride});
    });
    executor.for_each((packed[source] - header_words_) / 2, {},
                      JoinPairs<Program>{program, states, trees.pairs});
  }

  template <Executor E, class Program>
  void join_states(E& executor, const Program& program, Vertex* states, std::size_t target,
                   std::size_t source) {
    for (std::uint64_t begin = 0; begin < vertices_; begin += words()) {
      const std::uint64_t count = std::min(words(), vertices_ - begin);
      std::vector<std::uint64_t> send(ranks_), receive(ranks_);
      send[target] = receive[source] = count;
      const RoutedColumn column{states + begin, incoming_.data(), sizeof(Vertex)};
      router_.send({&column, 1}, send, receive, executor.stream(), kLabel);
      for_sample_then_all([&](std::uint64_t stride) {
        executor.for_each(count / stride, {},
                          JoinTrees<Program>{program, states, incoming_.data(), begin, stride});
      });
    }
  }

  std::size_t ranks_, rank_;
  std::uint64_t vertices_;
  std::uint64_t header_words_, capacity_;       ///< words before the pairs, and maximum of pairs
  TransferBuffer<Vertex> outgoing_, incoming_;  ///< [words()]
  Buffer<unsigned long long> count_;
  const Router& router_;
};

}  // namespace sluice::acc
