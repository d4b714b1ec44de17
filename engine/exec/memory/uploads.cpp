#include "engine/exec/memory/uploads.hpp"

#include <algorithm>
#include <cstring>

#include "engine/core/memory_budget.hpp"
#include "engine/exec/backend.hpp"
#include "engine/exec/memory/buffer.hpp"
#include "engine/exec/memory/copy_lane.hpp"
#include "engine/exec/threads.hpp"

namespace sluice {

namespace {

constexpr unsigned kMostThreads = 8;
constexpr std::size_t kPiece = 2u << 20;          // bytes at a time, by each
constexpr std::size_t kWorthThreads = 64u << 20;  // bytes

/// How many threads copy to a GPU: none where their pieces do not pay, or memory is short.
unsigned copying_threads(const Device& device, std::size_t bytes) {
  constexpr std::uint64_t kPartOfBudget = 16;
  const unsigned threads = std::min(device.threads(), kMostThreads);
  if (!device.is_cuda() || device.plans() || bytes < kWorthThreads || threads < 2) return 0;
  return host_budget().available() / kPartOfBudget < threads * kPiece ? 0 : threads;
}

}  // namespace

struct Uploads::Piece {
  Piece(const Device& device, std::size_t bytes)
      : lane(device), memory(device, bytes, "a copy to the device") {}

  CopyLane lane;
  Staging<std::byte> memory;
};

Uploads::Uploads(const Device& device, std::size_t bytes)
    : device_(device), threads_(copying_threads(device, bytes)), pieces_(std::max(threads_, 1u)) {}

Uploads::~Uploads() = default;

void Uploads::copy(void* to, const void* from, std::size_t bytes) {
  if (bytes == 0 || device_.plans()) return;
  if (!device_.is_cuda()) return static_cast<void>(std::memcpy(to, from, bytes));
  if (threads_ == 0 || cuda::is_page_locked(from)) return cuda::copy_to_device(to, from, bytes);
  bring(to, bytes, [from](std::byte* piece, std::size_t begin, std::size_t end) {
    std::memcpy(piece, static_cast<const std::byte*>(from) + begin, end - begin);
  });
}

void Uploads::bring(void* to, std::size_t bytes,
                    FunctionRef<void(std::byte* piece, std::size_t begin, std::size_t end)> fill) {
  const std::size_t size = std::min(bytes, kPiece);
  parallel_blocks(static_cast<unsigned>(pieces_.size()), bytes, kPiece,
                  [&](std::uint64_t begin, std::uint64_t end, unsigned thread) {
                    auto& own = pieces_[thread];
                    if (!own || own->memory.size() < size) own = std::make_unique<Piece>(device_, size);
                    cuda::bind_thread();  // the pool's threads may have served another device
                    fill(own->memory.data(), begin, end);
                    own->lane.to_device(static_cast<std::byte*>(to) + begin, own->memory.data(), end - begin);
                    own->lane.wait("a copy to the device");
                  });
}

}  // namespace sluice
