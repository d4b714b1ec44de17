// The rooms of the blocks that answer queries (query_kernels.cuh), in one piece of memory.
#pragma once

#include <algorithm>
#include <cstdint>

#include "engine/exec/memory/buffer.hpp"
#include "engine/exec/stream.cuh"
#include "engine/ppr/methods/query_kernels.cuh"

namespace sluice::ppr {

/// Rooms side by side, empty whenever no query is at work.
class Rooms {
 public:
  /// Makes up to `wanted` rooms of this shape, as many as the memory allows and at least one; says how many.
  unsigned prepare(const Device& device, const RoomShape& shape, std::uint64_t wanted,
                   const cuda::Stream& stream) {
    const std::uint64_t fit = (device.memory().available() + memory_.bytes()) / shape.bytes();
    const auto rooms = static_cast<unsigned>(std::clamp<std::uint64_t>(fit, 1, wanted));
    if (shape.limit == limit_ && rooms <= rooms_) return rooms;
    memory_.reserve(device, rooms * shape.bytes(), "vertices that queries reached");
    first_ = shape.view(memory_.data());
    limit_ = shape.limit, rooms_ = rooms;
    clear_rooms_kernel<<<rooms, kQueryBlock, 0, stream.get()>>>(first_, shape.bytes());
    cuda::check_launch("clear_rooms_kernel");
    return rooms;
  }

  /// Once no query is at work.
  void give_back() { *this = Rooms(); }
  std::uint64_t bytes() const { return memory_.bytes(); }

  const RoomView& first() const { return first_; }

 private:
  Buffer<unsigned char> memory_;
  RoomView first_;
  std::uint64_t limit_ = 0;
  unsigned rooms_ = 0;
};

}  // namespace sluice::ppr
