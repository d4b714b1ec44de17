// Starts checked against the graph and brought to the device.
#pragma once

#include "engine/batch/starts.hpp"
#include "engine/batch/starts_view.hpp"
#include "engine/exec/memory/buffer.hpp"
#include "engine/memory/resident_impl.hpp"

namespace sluice {

/// Owns the device's copy of listed starts; `view` points into it.
class DeviceStarts {
 public:
  /// Throws InputError where a listed vertex is not in the graph, or the graph has no vertex to draw.
  DeviceStarts(const ResidentGraph::Impl& graph, const Starts& starts, std::uint64_t seed,
               std::uint32_t drawn = 1);

  const StartsView& view() const { return view_; }
  std::uint64_t bytes() const { return vertices_.bytes() + offsets_.bytes(); }

 private:
  Buffer<Vertex> vertices_;
  Buffer<std::uint64_t> offsets_;
  StartsView view_;
};

}  // namespace sluice
