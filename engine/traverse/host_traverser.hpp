// The host's traverser (traverser.hpp). Lists are scattered in memory, so each is prefetched while earlier
// ones are processed. Vertices may wait in bins by level.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "engine/exec/host_executor.hpp"
#include "engine/traverse/level_bins.hpp"
#include "engine/traverse/traverser.hpp"

namespace sluice {

/// One thread's output, and its bins.
class LevelLane : public HostLane {
 public:
  static constexpr bool kBinsByLevel = true, kPullsIntoBits = true;

  SLUICE_HD void bin(Vertex v, std::uint64_t level) {
#if !defined(__CUDA_ARCH__)
    levels_->add(*bins_, v, level);
#endif
  }
  SLUICE_HD void beyond(Vertex v) {
#if !defined(__CUDA_ARCH__)
    levels_->add_beyond(*bins_, v);
#endif
  }

  void use_bins(LevelBins& levels, unsigned thread) {
    levels_ = &levels, bins_ = &levels.bins_of(thread);
  }
  /// Calls work(vertices) repeatedly for the vertices in this thread's bin, as long as they are few: waiting
  /// for the other threads would take longer.
  template <class Work>
  void fuse(std::uint64_t bin, Work&& work) {
    LevelBins::List& waiting = bins_->levels[bin];
    while (!waiting.empty() && waiting.size() < kMaxFused) {
      fused_.swap(waiting);
      work(fused_);
      fused_.clear();
    }
  }

 private:
  static constexpr std::size_t kMaxFused = 1000;

  LevelBins* levels_ = nullptr;
  LevelBins::ThreadBins* bins_ = nullptr;
  LevelBins::List fused_;
};

class HostTraverser : public HostExecutorOf<LevelLane> {
 public:
  static constexpr bool kBinsByLevel = true, kPullsIntoBits = true;

  HostTraverser(const Device& device, std::uint64_t /*edges*/) : HostExecutorOf(device), levels_(pool_) {
    for (unsigned thread = 0; thread < lanes_.size(); ++thread) lanes_[thread].use_bins(levels_, thread);
  }

  /// The waiting vertices, by level.
  LevelBins& levels() { return levels_; }

  /// `fused_bin`: a thread also traverses the lists of the vertices that the body puts in this bin of it, as
  /// long as they are few. `edges`: a bound on the edges of `vertices`, if known.
  template <class Body>
  void for_each_edge(const VertexRange& vertices, const LaneOutput& output, const Body& body,
                     std::uint64_t fused_bin = LevelBins::kNone, std::uint64_t edges = ~std::uint64_t{0}) {
    const std::uint64_t grain = edges < kSerialEdges ? vertices.count : kListsPerBlock;
    for_each_block(vertices.count, grain, output, [&](std::uint64_t begin, std::uint64_t end, Lane& lane) {
      lane.add(0, traverse(vertices.part(begin, end), body, lane));
      if (fused_bin == LevelBins::kNone) return;
      lane.fuse(fused_bin, [&](const LevelBins::List& fused) {
        lane.add(0, traverse({fused.data(), 0, fused.size(), vertices.first, vertices.offsets}, body, lane));
      });
    });
  }

  /// Threads claim words with a bit for each row. body.wanted(word, rows) returns the wanted rows; those for
  /// which body.accept() is true are passed to body.found(word, bits, lane). body.first_row(word) is the
  /// first row of a word.
  template <class Body>
  void first_edge(const RowRange& rows, const LaneOutput& output, const Body& body) {
    if (rows.begin == rows.end) return;
    const std::uint64_t first = body.word(rows.begin), words = body.word(rows.end - 1) + 1 - first;
    for_each_block(words, kWordsPerBlock, output, [&](std::uint64_t begin, std::uint64_t end, Lane& lane) {
      const Body local = body;
      const RowRange range = rows;
      std::uint64_t edges = 0;
      for (std::uint64_t word = first + begin; word < first + end; ++word) {
        std::uint32_t found = 0;
        for (std::uint32_t pending = local.wanted(word, range); pending != 0; pending &= pending - 1) {
          const auto bit = static_cast<unsigned>(std::countr_zero(pending));
          const bool accepted = search(range, local.first_row(word) + bit, local, edges, lane);
          found |= std::uint32_t{accepted} << bit;
        }
        if (found != 0) local.found(word, found, lane);
      }
      lane.add(0, edges);
    });
  }

  /// A thread reduces whole rows.
  template <class Body>
  void reduce_rows(const RowRange& rows, const LaneOutput& output, const Body& body) {
    for_each_block(rows.end - rows.begin, kRowsPerBlock, output,
                   [&](std::uint64_t begin, std::uint64_t end, Lane& lane) {
                     const Body local = body;  // no store through a pointer can change the copy
                     std::uint64_t edges = 0;
                     for (std::uint64_t row = rows.begin + begin; row < rows.begin + end; ++row) {
                       typename Body::Value before{};
                       if (!local.begin(row, before)) continue;
                       const auto total =
                           reduce_edges(local, row, before, rows.offsets[row], rows.offsets[row + 1], edges);
                       local.end(row, before, total, lane);
                     }
                     lane.add(0, edges);
                   });
  }

 private:
  static constexpr std::uint64_t kListsPerBlock = 64, kWordsPerBlock = 128, kRowsPerBlock = 256;
  /// The caller traverses fewer edges alone: waking other threads would take longer.
  static constexpr std::uint64_t kSerialEdges = 2048;
  /// Prefetch distances for lists, and for what a body reads of targets: as many reads as a core overlaps.
  static constexpr std::uint64_t kListsAhead = 8, kTargetsAhead = 32;

  /// Returns the number of edges. (It prefetches lists itself, because GCC drops calls of functions that do
  /// nothing else.)
  template <class Body>
  static std::uint64_t traverse(const VertexRange vertices, const Body& body, Lane& lane) {
    const Body local = body;  // no store through a pointer can change the copy
    std::uint64_t edges = 0;
    for (std::uint64_t i = 0; i < vertices.count; ++i) {
      if constexpr (requires { local.prefetch(EdgeIndex{}); }) {
        if (i + 2 * kListsAhead < vertices.count)
          __builtin_prefetch(vertices.list(vertices[i + 2 * kListsAhead]));
        if (i + kListsAhead < vertices.count) local.prefetch(*vertices.list(vertices[i + kListsAhead]));
      }
      const Vertex u = vertices[i];
      if (!local.sends(u)) continue;
      const EdgeIndex* const list = vertices.list(u);
      const EdgeIndex last = list[1];
      edges += last - list[0];
      for (EdgeIndex e = list[0]; e < last; ++e) {
        if constexpr (requires { local.prefetch_target(e); })
          if (e + kTargetsAhead < last) local.prefetch_target(e + kTargetsAhead);
        local.edge(u, e, lane);
      }
    }
    return edges;
  }

  /// Whether the row has an edge that the body takes. Adds the number of edges tested to `edges`.
  template <class Body>
  static bool search(const RowRange& rows, std::uint64_t row, const Body& body, std::uint64_t& edges,
                     Lane& lane) {
    if (row + kListsAhead < rows.end) body.prefetch(rows.offsets[row + kListsAhead]);
    const EdgeIndex first = rows.offsets[row], last = rows.offsets[row + 1];
    EdgeIndex e = first;
    while (e < last && !body.hits(e)) ++e;
    edges += std::min(e + 1, last) - first;
    return e < last && body.accept(row, e, lane);
  }

  LevelBins levels_;
};

static_assert(Traverser<HostTraverser>);

}  // namespace sluice
