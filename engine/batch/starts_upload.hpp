// Starts, checked against the graph and copied to the device.
#pragma once

#include "engine/batch/starts.hpp"
#include "engine/batch/starts_view.hpp"
#include "engine/exec/memory/buffer.hpp"
#include "engine/memory/resident_impl.hpp"

namespace sluice {

/// Whether repeated vertices in one instance's list are kept.
enum class Repeats { kept, dropped };

/// Owns the device's copy of listed starts; `view` points into it.
class DeviceStarts {
 public:
  /// Throws InputError if a listed vertex is not in the graph, or the graph has no vertex to draw.
  DeviceStarts(const ResidentGraph::Impl& graph, const Starts& starts, std::uint64_t seed,
               std::uint32_t seeds_per_instance = 1, Repeats repeats = Repeats::kept);

  const StartsView& view() const { return view_; }
  std::uint64_t bytes() const { return vertices_.bytes() + offsets_.bytes(); }

 private:
  void upload(const Device& device, const Starts& listed);

  Buffer<Vertex> vertices_;
  Buffer<std::uint64_t> offsets_;
  StartsView view_;
};

}  // namespace sluice
