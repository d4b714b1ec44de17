// Layer samples on a graph in partitions, one group per instance. An instance stops when it needs lists, and
// continues when all of them have been resident.
//
// A depth starts with the sums of its lists, each computed when the list is resident. Draws then are points
// of the union and need no list; only the candidate at a point must be asked of its list. Points of unknown
// candidates are assumed to fall on different candidates. With the answers, the choice is made again from the
// same random words, until all its candidates are known: then it is the choice that the whole graph gives.
// Each repetition gets at least one more pick right, and all of them unless an assumption fails.
#pragma once

#include <cstdint>

#include "engine/samples/layer/arena.hpp"
#include "engine/samples/layer/questions.hpp"
#include "engine/samples/layer/step.hpp"
#include "engine/samples/partitioned/items.hpp"

namespace sluice::samples {

/// State of an instance between two visits; the same in all lanes.
struct LayerState {
  LayerPhase phase = LayerPhase::sums;
  std::uint32_t seeds = 0;  ///< number of seeds, or a LayerFault
  std::uint32_t depth = 0;
  std::uint32_t lists = 0;    ///< entries of the frontier
  std::uint32_t count = 0;    ///< picks to make
  std::uint32_t regions = 0;  ///< picks so far, known or not
  std::uint32_t half = 0;     ///< the half of PagedLayerSlot::regions that holds them
  int exponent = 0;           ///< weight bias: exponent of the frontier's largest weight
  std::uint64_t edges = 0;    ///< edges of lesser depths
};

/// Scratch of one instance.
struct PagedLayerSlot {
  LayerScratch scratch;
  LayerRegion* regions;  ///< [2 * layer]
  LayerState* state;
};

template <LayerSampler Sampler>
struct PagedLayerProgram : LayerProgram<Sampler> {
  using Base = LayerProgram<Sampler>;
  using Base::answer, Base::answer_all, Base::candidates, Base::count_available, Base::is_long;
  using Base::bias, Base::graph, Base::sampler, Base::seed, Base::select, Base::sizes;
  using Base::largest_exponent, Base::write_seeds, Base::record, Base::select_entries, Base::inclusive_sums;

  explicit PagedLayerProgram(const Base& program) : Base(program) {}

  /// Items of an instance that may wait at once: one per list of its frontier, or one per pick.
  SLUICE_HD std::uint64_t items() const {
    return sizes.frontier > sizes.layer ? sizes.frontier : sizes.layer;
  }

  template <class Group>
  SLUICE_HD void begin(const Group& group, Instance instance, const PagedLayerSlot& slot,
                       PickCounters& counters) const {
    LayerState state;
    const GroupSet<Vertex> visited{slot.scratch.visited, sizes.visited};
    visited.clear(group);
    state.seeds = state.lists = write_seeds(group, instance, visited, slot.scratch);
    if (!begin_depth(group, instance, slot, state)) advance(group, instance, slot, state, counters);
    store(group, slot, state);
  }

  /// Continues an instance that has all answers for which it waited.
  template <class Group>
  SLUICE_HD void resume(const Group& group, Instance instance, const PagedLayerSlot& slot,
                        PickCounters& counters) const {
    LayerState state = *slot.state;
    if (state.phase == LayerPhase::ended) return;
    advance(group, instance, slot, state, counters);
    store(group, slot, state);
  }

  /// The vertex whose list an item of the instance waits for; kNoVertex if the item does not wait.
  SLUICE_HD Vertex awaited_vertex(const PagedLayerSlot& slot, std::uint64_t item) const {
    const LayerState& state = *slot.state;
    if (state.phase == LayerPhase::ended) return kNoVertex;
    const Vertex* const frontier = frontier_of(slot, state.depth);
    if (state.phase == LayerPhase::points || state.phase == LayerPhase::targets) {
      if (item >= state.regions) return kNoVertex;
      const LayerRegion& region = regions_of(slot, state.half)[item];
      return region.target == kNoVertex ? frontier[region.list] : kNoVertex;
    }
    if (item >= state.lists || graph.degree(frontier[item]) == 0) return kNoVertex;
    return frontier[item];
  }

  /// The question of a waiting item about its list.
  SLUICE_HD LayerQuestion question(const PagedLayerSlot& slot, std::uint64_t item) const {
    const LayerState& state = *slot.state;
    LayerQuestion question;
    question.phase = state.phase, question.exponent = state.exponent;
    question.list = static_cast<std::uint32_t>(item);
    if (question.wants_point()) {
      const LayerRegion& region = regions_of(slot, state.half)[item];
      question.list = region.list;
      question.point = region.low - LayerCandidates::before(slot.scratch.sums, question.list);
    }
    question.vertex = frontier_of(slot, state.depth)[question.list];
    return question;
  }

  /// Stores the answer to an item's question about a sum or a point.
  SLUICE_HD void store_answer(const PagedLayerSlot& slot, std::uint64_t item, LayerRegion found) const {
    const LayerState& state = *slot.state;
    if (state.phase == LayerPhase::sums) {
      slot.scratch.sums[item] = found.width;
      return;
    }
    found.low += LayerCandidates::before(slot.scratch.sums, found.list);
    regions_of(slot, state.half)[item] = found;
  }
  /// Memory for the answers to an item's question for all candidates of a list.
  SLUICE_HD LayerRegion* candidates_of(const PagedLayerSlot& slot, std::uint64_t item) const {
    return regions_of(slot, slot.state->half) +
           LayerCandidates::before(slot.scratch.sums, static_cast<std::uint32_t>(item));
  }

  /// Answers one item from its resident list. False if it must scan a list longer than `longest`.
  template <class Group>
  SLUICE_HD bool answer_item(const Group& group, const PagedLayerSlot& slot, const PageItems& page_items,
                             std::uint64_t item, std::uint32_t longest, PickCounters& counters) const {
    const LayerQuestion item_question = question(slot, item);
    if (is_long(item_question, longest)) return false;
    if (item_question.phase == LayerPhase::all) {
      answer_all(group, item_question, page_items, candidates_of(slot, item), counters);
      return true;
    }
    const LayerRegion found = answer(group, item_question, page_items, counters);
    group.sync();
    if (group.rank() == 0) store_answer(slot, item, found);
    return true;
  }

 private:
  SLUICE_HD Vertex* frontier_of(const PagedLayerSlot& slot, std::uint32_t depth) const {
    return slot.scratch.frontier + (depth % 2 == 1 ? 0 : sizes.frontier);
  }
  SLUICE_HD LayerRegion* regions_of(const PagedLayerSlot& slot, std::uint32_t half) const {
    return slot.regions + half * sizes.layer;
  }
  template <class Group>
  SLUICE_HD static void store(const Group& group, const PagedLayerSlot& slot, const LayerState& state) {
    group.sync();
    if (group.rank() == 0) *slot.state = state;
  }

  /// Begins the next depth; true if the instance must now wait for lists, or has ended.
  template <class Group>
  SLUICE_HD bool begin_depth(const Group& group, Instance instance, const PagedLayerSlot& slot,
                             LayerState& state) const {
    if (++state.depth > sizes.depths) {
      state.phase = LayerPhase::ended;
      return true;
    }
    Vertex* const frontier = frontier_of(slot, state.depth);
    const LayerScratch& scratch = slot.scratch;
    state.lists = select_entries(group, {{seed, state.depth, instance}}, frontier, state.lists, scratch.sums,
                                 frontier_of(slot, state.depth + 1));
    if (state.lists == LayerFault::kOverflow) return !fail(state, LayerFault::kOverflow);
    const auto degree = [&](std::uint32_t i) { return graph.degree(frontier[i]); };
    inclusive_sums(group, state.lists, degree, scratch.bases);
    for (std::uint32_t i = group.rank(); i < state.lists; i += Group::kSize)
      scratch.sums[i] = bias == LayerBias::uniform ? degree(i) : 0;
    group.sync();
    state.exponent = largest_exponent(group, frontier, state.lists);
    state.phase = LayerPhase::sums;
    return bias != LayerBias::uniform && state.lists > 0 && scratch.bases[state.lists - 1] > 0;
  }

  template <class Group>
  SLUICE_HD void advance(const Group& group, Instance instance, const PagedLayerSlot& slot, LayerState& state,
                         PickCounters& counters) const {
    while (finish_choice(group, instance, slot, state, counters)) {
      const LayerScratch& scratch = slot.scratch;
      const Vertex* const frontier = frontier_of(slot, state.depth);
      const LayerRegion* const regions = regions_of(slot, state.half);
      const auto edge_at = [&](std::uint32_t i) {
        const Vertex source = frontier[regions[i].list];
        return Edge{source, regions[i].target, graph.row(source).offset + regions[i].index};
      };
      state.lists =
          record(group, state.count, edge_at, scratch.edges + state.edges,
                 GroupSet<Vertex>{scratch.visited, sizes.visited}, frontier_of(slot, state.depth + 1));
      if (group.rank() == 0) scratch.depth_counts[state.depth - 1] = state.count;
      state.edges += state.count;
      if (begin_depth(group, instance, slot, state)) return;
    }
  }

  /// True if the depth's choice is made and its regions are in order; false if it waits or has failed.
  template <class Group>
  SLUICE_HD bool finish_choice(const Group& group, Instance instance, const PagedLayerSlot& slot,
                               LayerState& state, PickCounters& counters) const {
    switch (state.phase) {
      case LayerPhase::sums:
        return choose(group, instance, slot, state, counters);
      case LayerPhase::points:
        return pick(group, instance, slot, state, counters);
      default:
        return true;
    }
  }

  SLUICE_HD static bool fail(LayerState& state, std::uint32_t fault) {
    state.seeds = fault;
    state.phase = LayerPhase::ended;
    return false;
  }

  template <class Group>
  SLUICE_HD bool choose(const Group& group, Instance instance, const PagedLayerSlot& slot, LayerState& state,
                        PickCounters& counters) const {
    std::uint64_t* const sums = slot.scratch.sums;
    const Vertex* const frontier = frontier_of(slot, state.depth);
    const auto sum_at = [&](std::uint32_t i) { return sums[i]; };
    if (!inclusive_sums(group, state.lists, sum_at, sums)) return fail(state, LayerFault::kOverflow);
    const std::uint64_t available = count_available(group, frontier, state.lists);
    const std::uint64_t wanted = sampler.layer_size(state.depth);
    state.count = static_cast<std::uint32_t>(wanted < available ? wanted : available);
    state.regions = 0;
    if (state.count == 0) return true;
    if (state.count == available) {
      // For phase `all`, sums become the number of candidates up to each list.
      const auto in_list = [&](std::uint32_t i) { return candidates(frontier[i]); };
      inclusive_sums(group, state.lists, in_list, sums);
      state.phase = LayerPhase::all;
      return false;
    }
    return pick(group, instance, slot, state, counters);
  }

  /// Makes the choice with the known regions; true if all its candidates are known.
  template <class Group>
  SLUICE_HD bool pick(const Group& group, Instance instance, const PagedLayerSlot& slot, LayerState& state,
                      PickCounters& counters) const {
    const LayerScratch& scratch = slot.scratch;
    const std::uint64_t total = scratch.sums[state.lists - 1];
    const LayerRegions known{regions_of(slot, state.half), state.regions, total};
    for (std::uint32_t i = group.rank(); i < state.count; i += Group::kSize) scratch.picks[i] = total;
    group.sync();
    PickCounters pick_counters;
    DistinctPicker<Group, LayerRegions, SampleDraws> picker(group, known, {seed, state.depth, instance},
                                                            select, this->none_taken(group, scratch),
                                                            scratch.picks, scratch.excluded);
    const bool complete = picker.pick(state.count, pick_counters);
    group_sort(group, scratch.picks, state.count);
    LayerRegion* const next = regions_of(slot, 1 - state.half);
    std::uint32_t regions = 0;
    bool guessed = false;
    for (std::uint32_t i = group.rank(); i < state.count && scratch.picks[i] < total; i += Group::kSize) {
      const std::uint64_t point = scratch.picks[i];
      const LayerRegion* const region = known.containing(point);
      guessed |= region == nullptr;
      next[i] = region ? *region : LayerRegion{point, 1, upper_bound(scratch.sums, state.lists, point)};
      ++regions;
    }
    const bool unknown = group.ballot(guessed) != 0;
    state.regions = group.sum(regions);
    state.half = 1 - state.half;
    group.sync();
    state.phase = bias == LayerBias::uniform ? LayerPhase::targets : LayerPhase::points;
    if (unknown && bias != LayerBias::uniform) return false;
    counters.iterations += pick_counters.iterations, counters.searches += pick_counters.searches;
    if (!complete) return fail(state, LayerFault::kExhausted);
    return !unknown;
  }
};

/// The slots of a batch as kernels see them.
struct PagedLayerSlots {
  LayerSlots scratch;
  LayerRegion* regions;
  LayerState* states;

  SLUICE_HD PagedLayerSlot at(std::uint64_t slot) const {
    return {scratch.at(slot), regions + slot * 2 * scratch.sizes.layer, states + slot};
  }
};

/// A batch as its bodies see it.
template <LayerSampler Sampler>
struct PagedLayerBatch {
  PagedLayerProgram<Sampler> program;
  PagedLayerSlots slots;
  Instance first;
  std::uint32_t longest;  ///< a warp leaves longer lists to a block

  struct Advance;

  // Functions of an item; each instance has PagedLayerProgram::items() of them.
  SLUICE_HD PagedLayerSlot slot_of(std::uint64_t item) const { return slots.at(item / program.items()); }
  SLUICE_HD std::uint64_t item_in_slot(std::uint64_t item) const { return item % program.items(); }
  SLUICE_HD Vertex awaited_vertex(std::uint64_t item) const {
    return program.awaited_vertex(slot_of(item), item_in_slot(item));
  }
  SLUICE_HD LayerQuestion question(std::uint64_t item) const {
    return program.question(slot_of(item), item_in_slot(item));
  }
  /// Answers an item from its resident list; false if a larger group must do so.
  template <class Group>
  SLUICE_HD bool operator()(const Group& group, const PageItems& page_items, std::uint64_t k,
                            PickCounters& counters) const {
    const std::uint64_t item = page_items.item(k);
    const std::uint32_t max_length = Group::kSize <= 32 ? longest : LayerLists::kAnyLength;
    return program.answer_item(group, slot_of(item), page_items, item_in_slot(item), max_length, counters);
  }
  /// Stores the answers to the item's question.
  template <class Group>
  SLUICE_HD void receive(const Group& group, std::uint64_t item, const LayerQuestion& question,
                         const LayerRegion* answers, std::uint64_t count) const {
    if (question.phase == LayerPhase::all) {
      LayerRegion* const target = program.candidates_of(slot_of(item), item_in_slot(item));
      for (std::uint64_t i = group.rank(); i < count; i += Group::kSize) target[i] = answers[i];
    } else if (group.rank() == 0) {
      program.store_answer(slot_of(item), item_in_slot(item), *answers);
    }
  }
};

/// Begins or continues each instance.
template <LayerSampler Sampler>
struct PagedLayerBatch<Sampler>::Advance {
  PagedLayerBatch batch;
  bool begins;

  template <class Group>
  SLUICE_HD bool operator()(const Group& group, std::uint64_t slot, PickCounters& counters) const {
    const Instance instance = batch.first + slot;
    begins ? batch.program.begin(group, instance, batch.slots.at(slot), counters)
           : batch.program.resume(group, instance, batch.slots.at(slot), counters);
    return true;
  }
};

}  // namespace sluice::samples
