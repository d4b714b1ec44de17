// Grows waves of layer samples on a graph in partitions, for either backend's PagedItems.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "engine/drive/layer_arena.hpp"
#include "engine/drive/page_loop.hpp"
#include "engine/drive/paged_items.hpp"
#include "engine/drive/paged_layer_step.hpp"
#include "engine/drive/wave_writer.hpp"

namespace sluice {

/// Slots as kernels see them.
struct PagedLayerSlots {
  LayerSlots scratch;
  LayerRegion* regions;
  LayerState* states;

  SLUICE_HD PagedLayerSlot at(std::uint64_t slot) const {
    return {scratch.at(slot), regions + slot * 2 * scratch.sizes.layer, states + slot};
  }
};

/// A wave as its work sees it.
struct PagedLayerWave {
  PagedLayerProgram program;
  PagedLayerSlots slots;
  Instance first;
  std::uint32_t longest;  ///< a warp leaves longer lists to a block

  struct Begin;
  struct GoOn;
  struct Waits;
  struct Work;
};

struct PagedLayerWave::Begin {
  PagedLayerWave wave;

  template <class Group>
  SLUICE_HD bool operator()(const Group& group, std::uint64_t slot, PickCounters& counters) const {
    wave.program.begin(group, wave.first + slot, wave.slots.at(slot), counters);
    return true;
  }
};

struct PagedLayerWave::GoOn {
  PagedLayerWave wave;

  template <class Group>
  SLUICE_HD bool operator()(const Group& group, std::uint64_t slot, PickCounters& counters) const {
    wave.program.go_on(group, wave.first + slot, wave.slots.at(slot), counters);
    return true;
  }
};

struct PagedLayerWave::Waits {
  PagedLayerWave wave;

  SLUICE_HD Vertex operator()(std::uint64_t item) const {
    const std::uint64_t each = wave.program.items();
    return wave.program.waits(wave.slots.at(item / each), item % each);
  }
};

struct PagedLayerWave::Work {
  PagedLayerWave wave;

  template <class Group>
  SLUICE_HD bool operator()(const Group& group, const PageItems& here, std::uint64_t k,
                            PickCounters& counters) const {
    const std::uint64_t each = wave.program.items(), slot = here.order[k] / each;
    const PagedLayerSlot at = wave.slots.at(slot);
    if (at.state->phase != LayerPhase::keys) {
      const std::uint32_t longest = Group::kSize <= 32 ? wave.longest : LayerProgram::kAnyLength;
      return wave.program.work(group, at, here, here.order[k] % each, longest, counters);
    }
    // One group works on all lists of an instance that are here: they share the room for keys.
    if (k > 0 && here.order[k - 1] / each == slot) return true;
    wave.program.offer_keys(group, wave.first + slot, at, here, k, slot * each, counters);
    return true;
  }
};

/// Device memory of an instance under way.
inline std::uint64_t paged_layer_bytes(const Device& device, const LayerSizes& sizes) {
  return LayerArena::bytes_per_slot(sizes) + 2 * sizes.layer * sizeof(LayerRegion) + sizeof(LayerState) +
         std::max(sizes.frontier, sizes.layer) * paged_item_bytes(device);
}

/// What a run gives its grower.
struct PagedLayerSetup {
  const ResidentGraph::Impl& graph;
  const LayerProgram& program;
  RunStats& stats;
};

template <class Items>
class PagedLayerGrower {
 public:
  static constexpr bool kShards = false;

  PagedLayerGrower(const PagedLayerSetup& setup, PageLoop& loop)
      : device_(setup.graph.device),
        stats_(setup.stats),
        program_(setup.program),
        items_(setup.graph, loop, setup.stats) {}

  /// Grows instances [first, first + count).
  void grow(Instance first, std::uint64_t count) {
    const double start = seconds_now();
    make_room(count);
    const PagedLayerWave wave{program_,
                              {arena_->view(), regions_.data(), states_.data()},
                              first,
                              device_.is_cuda() ? GraphView::kHubDegree : LayerProgram::kAnyLength};
    const bool wide = program_.sizes.layer > GraphView::kHubDegree;
    items_.each(count, PagedLayerWave::Begin{wave}, wide);
    while (items_.visit(count * program_.items(), PagedLayerWave::Waits{wave}, PagedLayerWave::Work{wave}))
      items_.each(count, PagedLayerWave::GoOn{wave}, wide);
    items_.finish();
    stats_.compute_seconds += seconds_now() - start;
    count_edges(first, count);
  }

  /// Results leave in pieces: what they take of the host's memory does not grow with the wave.
  void emit(Instance first, std::uint64_t count, SampleSink& sink, WaveWriter& writer) {
    const std::uint64_t piece_bytes = sample_piece_bytes();
    const LayerSizes& sizes = program_.sizes;
    const std::uint64_t each = sizes.edges * sizeof(Edge) + sizes.frontier * sizeof(Vertex);
    const std::uint64_t piece =
        std::clamp<std::uint64_t>(piece_bytes / std::max<std::uint64_t>(each, 1), 1, count);
    for (std::uint64_t from = 0; from < count; from += piece) {
      const std::uint64_t size = std::min(piece, count - from);
      const double start = seconds_now();
      const auto edges = bring(arena_->edges(), from, size, sizes.edges);
      const auto depths = bring(arena_->depth_counts(), from, size, sizes.depths);
      const auto seeds = bring(arena_->seeds(), from, size, sizes.frontier);
      const auto states = bring(states_, from, size, 1);
      stats_.transfer_seconds += seconds_now() - start;
      const auto store = std::make_shared<SampleStore>();
      store->first = first + from;
      for (std::uint64_t i = 0; i < size; ++i) {
        append_layer(sizes, edges.data() + i * sizes.edges, depths.data() + i * sizes.depths,
                     seeds.data() + i * sizes.frontier, states[i].seeds, *store);
      }
      const double waiting = seconds_now();
      writer.submit([store, &sink] { sink.write(store->batch()); });
      stats_.write_seconds += seconds_now() - waiting;
    }
  }

  std::uint64_t bytes() const {
    return slots_ * (LayerArena::bytes_per_slot(program_.sizes)) + regions_.bytes() + states_.bytes() +
           items_.bytes();
  }

 private:
  static constexpr const char* kPurpose = "a wave of layer samples";

  void make_room(std::uint64_t count) {
    check_items(count * program_.items());
    if (count > slots_) {
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
    for (std::uint64_t from = 0; from < count; from += kPiece) {
      const std::uint64_t size = std::min(kPiece, count - from);
      const auto states = bring(states_, from, size, 1);
      for (std::uint64_t i = 0; i < size; ++i) {
        check_layer(states[i].seeds, first + from + i);
        stats_.sampled_edges += states[i].edges, stats_.selections += states[i].edges;
      }
    }
  }

  /// A buffer's part of so many slots.
  template <class T>
  std::vector<T> bring(const Buffer<T>& buffer, std::uint64_t slot, std::uint64_t slots,
                       std::uint64_t each) const {
    std::vector<T> host(slots * each);
    copy_to_host(device_, host.data(), buffer.data() + slot * each, host.size() * sizeof(T));
    if (device_.is_cuda()) stats_.device_to_host_bytes += host.size() * sizeof(T);
    return host;
  }

  const Device& device_;
  RunStats& stats_;
  PagedLayerProgram program_;  ///< without edges: lists are read where they are
  Items items_;
  std::optional<LayerArena> arena_;
  std::uint64_t slots_ = 0;
  Buffer<LayerRegion> regions_;
  Buffer<LayerState> states_;
};

}  // namespace sluice
