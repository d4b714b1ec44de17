// Grows batches of layer samples on a graph in partitions.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "engine/batch/batch_writer.hpp"
#include "engine/batch/sink.hpp"
#include "engine/core/clock.hpp"
#include "engine/memory/owned_partitions.hpp"
#include "engine/memory/partition_cache.hpp"
#include "engine/memory/run_stats.hpp"
#include "engine/samples/layer/arena.hpp"
#include "engine/samples/layer/partitioned_step.hpp"
#include "engine/samples/partitioned/list_requests.hpp"

namespace sluice::samples {

/// Device memory of the questions between ranks, for one instance of each rank. A rank receives about as many
/// questions as it sends.
inline std::uint64_t layer_rank_bytes(const LayerSizes& sizes) {
  constexpr std::uint64_t kQuestion = sizeof(LayerQuestion) + sizeof(std::uint64_t),
                          kAsked = sizeof(std::uint32_t) + kQuestion + sizeof(LayerRegion);
  return std::max(sizes.frontier, sizes.layer) * (kAsked + kQuestion + sizeof(LayerRegion));
}

/// Device memory of an instance while it grows. If `ranks` shard the graph (null: they do not), it includes
/// the questions of one instance of every other rank.
inline std::uint64_t paged_layer_bytes(const Device& device, const LayerSizes& sizes,
                                       const Communicator* ranks) {
  return LayerArena::bytes_per_slot(sizes) + 2 * sizes.layer * sizeof(LayerRegion) + sizeof(LayerState) +
         std::max(sizes.frontier, sizes.layer) * paged_item_bytes(device) +
         (ranks ? layer_rank_bytes(sizes) : 0);
}

template <Executor E, LayerSampler Sampler>
class PagedLayerGrower {
  using Batch = PagedLayerBatch<Sampler>;

 public:
  PagedLayerGrower(const PagedSetup<LayerProgram<Sampler>>& setup, PartitionCache& cache)
      : device_(setup.graph.device),
        stats_(setup.stats),
        program_(setup.program),
        items_(setup.graph, cache, setup.stats),
        ranks_(setup.graph.paging.shard) {
    if (ranks_)
      questions_.emplace(*ranks_, setup.link, device_, AnsweringLayerLists{program_, longest()}, cache,
                         items_, stats_);
  }

  /// Grows instances [first, first + count); all ranks call it together if they shard the graph.
  void grow(Instance first, std::uint64_t count) {
    const double start = seconds_now();
    agree_on_memory(ranks_, [&] { reserve(count); });
    const Batch batch{program_, {arena_->view(), regions_.data(), states_.data()}, first, longest()};
    const Groups groups = program_.sizes.layer > GraphView::kHubDegree ? Groups::blocks : Groups::warps;
    items_.for_each_group(count, typename Batch::Advance{batch, true}, groups);
    while (visit(batch, count)) items_.for_each_group(count, typename Batch::Advance{batch, false}, groups);
    stats_.compute_seconds += seconds_now() - start;
    count_edges(first, count);
  }

  void emit(Instance first, std::uint64_t count, SampleSink& sink, BatchWriter& writer) {
    const std::uint64_t piece_bytes = sample_piece_bytes();
    const LayerSizes& sizes = program_.sizes;
    const std::uint64_t instance_bytes = sizes.edges * sizeof(Edge) + sizes.frontier * sizeof(Vertex);
    const std::uint64_t piece =
        std::clamp<std::uint64_t>(piece_bytes / std::max<std::uint64_t>(instance_bytes, 1), 1, count);
    write_in_pieces(first, count, sink, writer, stats_, [&](std::uint64_t begin, SampleStore& store) {
      const std::uint64_t size = std::min(piece, count - begin);
      const auto states = download(device_, states_, begin, size, stats_);
      arena_->append(
          device_, begin, size, [&](std::uint64_t i) { return states[i].seeds; }, store, stats_);
      return begin + size;
    });
  }

  std::uint64_t bytes() {
    return slots_ * (LayerArena::bytes_per_slot(program_.sizes)) + regions_.bytes() + states_.bytes() +
           items_.bytes() + (questions_ ? questions_->bytes() : 0);
  }

 private:
  static constexpr const char* kPurpose = "a batch of layer samples";

  /// The longest list that a warp scans; it leaves longer ones to a block.
  std::uint32_t longest() const { return device_.is_cuda() ? GraphView::kHubDegree : LayerLists::kAnyLength; }

  /// Answers everything for which instances wait; false if none waits.
  bool visit(const Batch& batch, std::uint64_t count) {
    const std::uint64_t items = count * program_.items();
    if (questions_) return questions_->visit(batch, items);
    return items_.visit(items, batch);
  }

  void reserve(std::uint64_t count) {
    check_items(count * program_.items());
    if (!arena_ || count > slots_) {
      arena_.reset();
      slots_ = 0;
      arena_.emplace(device_, program_.sizes, count);
      slots_ = count;
    }
    regions_.reserve(device_, count * 2 * program_.sizes.layer, kPurpose);
    states_.reserve(device_, count, kPurpose);
  }

  void count_edges(Instance first, std::uint64_t count) {
    constexpr std::uint64_t kPiece = 1u << 16;
    for (std::uint64_t begin = 0; begin < count; begin += kPiece) {
      const std::uint64_t size = std::min(kPiece, count - begin);
      const auto states = download(device_, states_, begin, size, stats_);
      for (std::uint64_t i = 0; i < size; ++i) {
        check_layer(states[i].seeds, first + begin + i);
        stats_.sampled_edges += states[i].edges, stats_.selections += states[i].edges;
      }
    }
  }

  const Device& device_;
  RunStats& stats_;
  PagedLayerProgram<Sampler> program_;  ///< its graph has no edges: lists are read from partitions
  PagedItems<E> items_;
  Communicator* ranks_;
  std::optional<ListRequests<E, AnsweringLayerLists>> questions_;
  std::optional<LayerArena> arena_;
  std::uint64_t slots_ = 0;
  Buffer<LayerRegion> regions_;
  Buffer<LayerState> states_;
};

}  // namespace sluice::samples
