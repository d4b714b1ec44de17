// The graph of a run, whole on the device or in partitions.
#pragma once

#include <memory>

#include "engine/exec/device.hpp"
#include "engine/memory/paging.hpp"
#include "partition/graph.hpp"

namespace sluice {

/// A graph that the device can read, and the tables derived from it, each made when first needed and then
/// kept. If the edges do not fit the device, or `paging` asks for it, runs bring them in partitions. Keeps
/// references to device and graph. Throws BudgetError if not even partitions fit.
class ResidentGraph {
 public:
  ResidentGraph(const Device& device, const Graph& graph, const PagingOptions& paging = {});
  ~ResidentGraph();
  ResidentGraph(ResidentGraph&&) noexcept;

  const Device& device() const;
  const Graph& graph() const;
  /// Frees the derived tables. Later runs make them again, with the same content.
  void drop_tables();

  struct Impl;
  /// Waits for the edges of a graph that is still being read (io::begin_reading).
  Impl& impl() const;
  /// For callers that make tables while lists are read; does not wait.
  Impl& impl_while_reading() const { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace sluice
