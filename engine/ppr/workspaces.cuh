// The workspaces of the blocks that answer queries (query_kernels.cuh), in one piece of memory.
#pragma once

#include <algorithm>
#include <cstdint>

#include "engine/exec/memory/buffer.hpp"
#include "engine/exec/stream.cuh"
#include "engine/ppr/methods/query_kernels.cuh"

namespace sluice::ppr {

/// Workspaces side by side, empty whenever no query is at work.
class Workspaces {
 public:
  /// Makes up to `wanted` workspaces of this shape, as many as the memory allows and at least one; says how
  /// many.
  unsigned prepare(const Device& device, const WorkspaceShape& shape, std::uint64_t wanted,
                   const cuda::Stream& stream) {
    const std::uint64_t fit = (device.memory().available() + memory_.bytes()) / shape.bytes();
    const auto workspaces = static_cast<unsigned>(std::clamp<std::uint64_t>(fit, 1, wanted));
    if (shape.limit == limit_ && workspaces <= workspaces_) return workspaces;
    memory_.reserve(device, workspaces * shape.bytes(), "vertices that queries reached");
    first_ = shape.view(memory_.data());
    limit_ = shape.limit, workspaces_ = workspaces;
    if (device.plans()) return workspaces;
    const bool coarse = shape.entry_bytes == sizeof(WorkspaceEntry<CoarseMass>);
    const auto clear = coarse ? clear_workspaces_kernel<CoarseMass> : clear_workspaces_kernel<Mass>;
    clear<<<workspaces, kQueryBlock, 0, stream.get()>>>(first_, shape.bytes());
    cuda::check_launch("clear_workspaces_kernel");
    return workspaces;
  }

  /// Once no query is at work.
  void give_back() { *this = Workspaces(); }
  std::uint64_t bytes() const { return memory_.bytes(); }

  const WorkspaceView& first() const { return first_; }

 private:
  Buffer<unsigned char> memory_;
  WorkspaceView first_;
  std::uint64_t limit_ = 0;
  unsigned workspaces_ = 0;
};

}  // namespace sluice::ppr
