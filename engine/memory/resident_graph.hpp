// The graph of a run, on the device or in partitions.
#pragma once

#include <memory>

#include "engine/exec/device.hpp"
#include "engine/memory/paging.hpp"
#include "partition/graph.hpp"

namespace sluice {

/// A graph where the device can reach it, with the tables derived from it, made when first needed and kept.
/// Where its edges do not fit the device (or `paging` asks for it) they stay where they are, and runs bring
/// them in partitions. Keeps references to device and graph. Throws BudgetError where not even that fits.
class ResidentGraph {
 public:
  ResidentGraph(const Device& device, const Graph& graph, const PagingOptions& paging = {});
  ~ResidentGraph();
  ResidentGraph(ResidentGraph&&) noexcept;

  const Device& device() const;
  const Graph& graph() const;
  /// Frees the derived tables; what is needed again is made again, with the same content.
  void drop_tables();

  struct Impl;
  /// With all edges of a graph that was still being read (io::begin_reading).
  Impl& impl() const;
  /// For those who make tables of lists as they come.
  Impl& impl_as_lists_come() const { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace sluice
