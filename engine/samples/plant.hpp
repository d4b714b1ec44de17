// The first level of a batch of samples: the seeds of its instances. An instance has each seed once, since
// DeviceStarts drops repeated seeds.
#pragma once

#include <cstdint>

#include "engine/batch/starts_view.hpp"
#include "engine/core/macros.hpp"
#include "engine/exec/executor.hpp"
#include "engine/samples/level.hpp"

namespace sluice::samples {

/// Writes the frontier entries of instance i's seeds. For i = `instances` it writes only the end offset.
struct WriteSeeds {
  StartsView starts;
  Instance first;
  std::uint64_t instances;
  bool revisit;
  FrontierEntry* frontier;
  std::uint64_t* begins;  ///< [instances + 1] index of an instance's first entry

  template <class Lane>
  SLUICE_HD void operator()(std::uint64_t i, Lane&) const {
    const std::uint64_t begin = begins[i] = starts.total_seeds(first, i);
    if (i == instances) return;
    const std::uint64_t count = starts.count(first + i);
    for (std::uint64_t number = 0; number < count; ++number) {
      const Vertex seed = starts.seed_vertex(first + i, number);
      frontier[begin + number] = {static_cast<std::uint32_t>(i), seed, revisit ? number : seed};
    }
  }
};

/// Makes the seeds of instances [first, first + count) a level's frontier. `traced`: sets parents, kNoVertex.
template <Executor E>
void write_seeds(const Device& device, E& executor, const StartsView& starts, Instance first,
                 std::uint64_t count, bool revisit, bool traced, SampleLevel& seeds) {
  seeds.entries = count;
  if (starts.offsets) {
    std::uint64_t begin = 0, end = 0;
    copy_to_host(device, &begin, starts.offsets + first, sizeof begin);
    copy_to_host(device, &end, starts.offsets + first + count, sizeof end);
    seeds.entries = end - begin;
  }
  seeds.frontier.reserve(device, seeds.entries, kSampleBatch);
  seeds.instance_entries.reserve(device, count + 1, kSampleBatch);
  seeds.earlier_edges.reserve(device, count, kSampleBatch);
  executor.fill(seeds.earlier_edges.data(), 0, count * sizeof(std::uint64_t));
  executor.for_each(
      count + 1, {},
      WriteSeeds{starts, first, count, revisit, seeds.frontier.data(), seeds.instance_entries.data()});
  if (!traced) return;
  static_assert(kNoVertex == ~Vertex{0});
  seeds.parents.reserve(device, seeds.entries, kSampleBatch);
  executor.fill(seeds.parents.data(), 0xff, seeds.entries * sizeof(Vertex));
}

}  // namespace sluice::samples
