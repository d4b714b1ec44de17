// How the device's memory is shared between partitions' slots and the walks or samples under way.
#pragma once

#include <cstdint>

#include "engine/residency/resident_graph.hpp"
#include "engine/residency/slots.hpp"
#include "partition/plan.hpp"

namespace sluice {

struct PagedPlan {
  PartitionPlan partitions;
  unsigned slots = 1;
  std::uint64_t wave = 1;  ///< instances under way at once
};

/// Cuts the graph and shares what is left of the device's memory: `bytes_per_instance` for each of at most
/// `instances` under way, the rest for slots. More of the graph in slots means fewer rounds, more instances
/// under way means fewer waves; the shares that bring the fewest bytes are taken. `steps` is how often an
/// instance goes on to another list. Throws BudgetError with what is needed at least.
PagedPlan plan_pages(const ResidentGraph::Impl& graph, const PageColumns& columns,
                     std::uint64_t bytes_per_instance, std::uint64_t instances, std::uint64_t steps);

}  // namespace sluice
