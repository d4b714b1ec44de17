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
constexpr std::size_t kMinThreadedBytes = 64u << 20;  // bytes
constexpr const char* kPurpose = "copies by threads";

/// How many threads copy: 0 if their pieces do not pay, or if host memory is short.
unsigned copy_thread_count(const Device& device, std::size_t bytes, unsigned max_threads) {
  constexpr std::uint64_t kBudgetFraction = 16;
  const unsigned threads = std::min(device.threads(), max_threads);
  if (!device.is_cuda() || device.is_planning() || bytes < kMinThreadedBytes || threads < 2) return 0;
  return host_budget().available() / kBudgetFraction < threads * kPiece ? 0 : threads;
}

}  // namespace

struct ThreadedCopies::Piece {
  Piece(const Device& device, std::size_t bytes) : lane(device), memory(device, bytes, kPurpose) {}

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

ThreadedCopies::ThreadedCopies(const Device& device, std::size_t bytes, unsigned max_threads)
    : device_(device),
      threads_(copy_thread_count(device, bytes, max_threads)),
      pieces_(std::max(threads_, 1u)) {}

ThreadedCopies::~ThreadedCopies() = default;

/// Whether threads copy `host`: page-locked memory needs no pieces.
bool ThreadedCopies::uses_threads(const void* host) const {
  return threads_ > 0 && !cuda::is_page_locked(host);
}

void ThreadedCopies::to_device(void* to, const void* from, std::size_t bytes) {
  if (bytes == 0 || device_.is_planning()) return;
  if (!device_.is_cuda()) return static_cast<void>(std::memcpy(to, from, bytes));
  if (!uses_threads(from)) return cuda::copy_to_device(to, from, bytes);
  fill_device(to, bytes, [from](std::byte* piece, std::size_t begin, std::size_t end) {
    std::memcpy(piece, static_cast<const std::byte*>(from) + begin, end - begin);
  });
}

void ThreadedCopies::fill_device(
    void* to, std::size_t bytes,
    FunctionRef<void(std::byte* piece, std::size_t begin, std::size_t end)> fill) {
  const std::size_t size = std::min(bytes, kPiece);
  parallel_blocks(static_cast<unsigned>(pieces_.size()), bytes, kPiece,
                  [&](std::uint64_t begin, std::uint64_t end, unsigned thread) {
                    Piece& piece_buffer = piece_of(thread, size);
                    fill(piece_buffer.memory.data(), begin, end);
                    piece_buffer.send(static_cast<std::byte*>(to) + begin, end - begin);
                  });
}

void ThreadedCopies::to_host(void* to, const void* from, std::size_t bytes) {
  if (bytes == 0 || device_.is_planning()) return;
  if (!device_.is_cuda()) return static_cast<void>(std::memcpy(to, from, bytes));
  if (!uses_threads(to)) return cuda::copy_to_host(to, from, bytes);
  cuda::wait_stream(nullptr, "a copy to the host");  // CopyLanes do not wait for it
  parallel_blocks(threads_, bytes, kPiece, [&](std::uint64_t begin, std::uint64_t end, unsigned thread) {
    Piece& piece_buffer = piece_of(thread, kPiece);
    piece_buffer.receive(static_cast<const std::byte*>(from) + begin, end - begin);
    std::memcpy(static_cast<std::byte*>(to) + begin, piece_buffer.memory.data(), end - begin);
  });
}

void ThreadedCopies::to_device_by(unsigned thread, void* to, const void* from, std::size_t bytes) {
  if (threads_ == 0) {
    cuda::bind_thread();
    return cuda::copy_to_device(to, from, bytes);
  }
  Piece& piece_buffer = piece_of(thread, kPiece);
  for (std::size_t offset = 0; offset < bytes; offset += kPiece) {
    const std::size_t chunk = std::min(kPiece, bytes - offset);
    std::memcpy(piece_buffer.memory.data(), static_cast<const std::byte*>(from) + offset, chunk);
    piece_buffer.send(static_cast<std::byte*>(to) + offset, chunk);
  }
}

ThreadedCopies::Piece& ThreadedCopies::piece_of(unsigned thread, std::size_t bytes) {
  cuda::bind_thread();  // a thread of the process may have used another device before
  auto& piece_buffer = pieces_[thread];
  if (!piece_buffer || piece_buffer->memory.size() < bytes)
    piece_buffer = std::make_unique<Piece>(device_, bytes);
  return *piece_buffer;
}

}  // namespace sluice
