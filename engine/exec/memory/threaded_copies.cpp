#include "engine/exec/memory/threaded_copies.hpp"

#include <algorithm>
#include <cstring>

#include "engine/core/memory_budget.hpp"
#include "engine/exec/backend.hpp"
#include "engine/exec/memory/buffer.hpp"
#include "engine/exec/memory/copy_lane.hpp"
#include "engine/exec/threads.hpp"

namespace sluice {

namespace {

constexpr std::size_t kPiece = 2u << 20;          // bytes that a thread copies at a time
constexpr std::size_t kWorthThreads = 64u << 20;  // bytes
constexpr const char* kPieces = "copies by threads";

/// How many threads copy: 0 if their pieces do not pay, or if host memory is short.
unsigned copying_threads(const Device& device, std::size_t bytes, unsigned most) {
  constexpr std::uint64_t kPartOfBudget = 16;
  const unsigned threads = std::min(device.threads(), most);
  if (!device.is_cuda() || device.plans() || bytes < kWorthThreads || threads < 2) return 0;
  return host_budget().available() / kPartOfBudget < threads * kPiece ? 0 : threads;
}

}  // namespace

struct ThreadedCopies::Piece {
  Piece(const Device& device, std::size_t bytes) : lane(device), memory(device, bytes, kPieces) {}

  /// Copies the first bytes of the piece to the device.
  void send(void* to, std::size_t bytes) {
    lane.copy(to, memory.data(), bytes);
    lane.wait("a copy to the device");
  }
  /// Copies from the device to the first bytes of the piece.
  void receive(const void* from, std::size_t bytes) {
    lane.copy(memory.data(), from, bytes);
    lane.wait("a copy to the host");
  }

  CopyLane lane;
  Staging<std::byte> memory;
};

ThreadedCopies::ThreadedCopies(const Device& device, std::size_t bytes, unsigned most_threads)
    : device_(device),
      threads_(copying_threads(device, bytes, most_threads)),
      pieces_(std::max(threads_, 1u)) {}

ThreadedCopies::~ThreadedCopies() = default;

/// Whether threads copy `host`: page-locked memory needs no pieces.
bool ThreadedCopies::by_threads(const void* host) const {
  return threads_ > 0 && !cuda::is_page_locked(host);
}

void ThreadedCopies::to_device(void* to, const void* from, std::size_t bytes) {
  if (bytes == 0 || device_.plans()) return;
  if (!device_.is_cuda()) return static_cast<void>(std::memcpy(to, from, bytes));
  if (!by_threads(from)) return cuda::copy_to_device(to, from, bytes);
  bring(to, bytes, [from](std::byte* piece, std::size_t begin, std::size_t end) {
    std::memcpy(piece, static_cast<const std::byte*>(from) + begin, end - begin);
  });
}

void ThreadedCopies::bring(void* to, std::size_t bytes,
                           FunctionRef<void(std::byte* piece, std::size_t begin, std::size_t end)> fill) {
  const std::size_t size = std::min(bytes, kPiece);
  parallel_blocks(static_cast<unsigned>(pieces_.size()), bytes, kPiece,
                  [&](std::uint64_t begin, std::uint64_t end, unsigned thread) {
                    Piece& own = piece_of(thread, size);
                    fill(own.memory.data(), begin, end);
                    own.send(static_cast<std::byte*>(to) + begin, end - begin);
                  });
}

void ThreadedCopies::to_host(void* to, const void* from, std::size_t bytes) {
  if (bytes == 0 || device_.plans()) return;
  if (!device_.is_cuda()) return static_cast<void>(std::memcpy(to, from, bytes));
  if (!by_threads(to)) return cuda::copy_to_host(to, from, bytes);
  cuda::wait_stream(nullptr, "a copy to the host");  // CopyLanes do not wait for it
  parallel_blocks(threads_, bytes, kPiece, [&](std::uint64_t begin, std::uint64_t end, unsigned thread) {
    Piece& own = piece_of(thread, kPiece);
    own.receive(static_cast<const std::byte*>(from) + begin, end - begin);
    std::memcpy(static_cast<std::byte*>(to) + begin, own.memory.data(), end - begin);
  });
}

void ThreadedCopies::to_device_by(unsigned thread, void* to, const void* from, std::size_t bytes) {
  if (threads_ == 0) {
    cuda::bind_thread();
    return cuda::copy_to_device(to, from, bytes);
  }
  Piece& own = piece_of(thread, kPiece);
  for (std::size_t at = 0; at < bytes; at += kPiece) {
    const std::size_t some = std::min(kPiece, bytes - at);
    std::memcpy(own.memory.data(), static_cast<const std::byte*>(from) + at, some);
    own.send(static_cast<std::byte*>(to) + at, some);
  }
}

ThreadedCopies::Piece& ThreadedCopies::piece_of(unsigned thread, std::size_t bytes) {
  cuda::bind_thread();  // a thread of the process may have used another device before
  auto& own = pieces_[thread];
  if (!own || own->memory.size() < bytes) own = std::make_unique<Piece>(device_, bytes);
  return *own;
}

}  // namespace sluice
