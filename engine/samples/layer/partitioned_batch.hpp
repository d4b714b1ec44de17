// A wave of layer samples on a graph in partitions, as its work sees it.
#pragma once

#include <cstdint>

#include "engine/samples/layer/arena.hpp"
#include "engine/samples/layer/partitioned_step.hpp"
#include "engine/samples/partitioned/items.hpp"

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
    const std::uint32_t longest = Group::kSize <= 32 ? wave.longest : LayerProgram::kAnyLength;
    return wave.program.work(group, at, here, here.order[k] % each, longest, counters);
  }
};

}  // namespace sluice
