// A batch of layer samples on a graph in partitions, as its work sees it.
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

/// A batch as its work sees it.
template <LayerSampler Sampler>
struct PagedLayerBatch {
  PagedLayerProgram<Sampler> program;
  PagedLayerSlots slots;
  Instance first;
  std::uint32_t longest;  ///< a warp leaves longer lists to a block

  struct Begin;
  struct GoOn;
  struct Waits;
  struct Work;
};

template <LayerSampler Sampler>
struct PagedLayerBatch<Sampler>::Begin {
  PagedLayerBatch batch;

  template <class Group>
  SLUICE_HD bool operator()(const Group& group, std::uint64_t slot, PickCounters& counters) const {
    batch.program.begin(group, batch.first + slot, batch.slots.at(slot), counters);
    return true;
  }
};

template <LayerSampler Sampler>
struct PagedLayerBatch<Sampler>::GoOn {
  PagedLayerBatch batch;

  template <class Group>
  SLUICE_HD bool operator()(const Group& group, std::uint64_t slot, PickCounters& counters) const {
    batch.program.go_on(group, batch.first + slot, batch.slots.at(slot), counters);
    return true;
  }
};

template <LayerSampler Sampler>
struct PagedLayerBatch<Sampler>::Waits {
  PagedLayerBatch batch;

  SLUICE_HD Vertex operator()(std::uint64_t item) const {
    const std::uint64_t each = batch.program.items();
    return batch.program.waits(batch.slots.at(item / each), item % each);
  }
};

template <LayerSampler Sampler>
struct PagedLayerBatch<Sampler>::Work {
  PagedLayerBatch batch;

  template <class Group>
  SLUICE_HD bool operator()(const Group& group, const PageItems& present, std::uint64_t k,
                            PickCounters& counters) const {
    const std::uint64_t each = batch.program.items(), slot = present.item(k) / each;
    const PagedLayerSlot at = batch.slots.at(slot);
    const std::uint32_t longest = Group::kSize <= 32 ? batch.longest : LayerLists::kAnyLength;
    return batch.program.work(group, at, present, present.item(k) % each, longest, counters);
  }
};

}  // namespace sluice
