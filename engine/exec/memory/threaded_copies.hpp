// Copies between pageable memory, or a file, and a GPU by several threads, each through its own page-locked
// piece. CUDA by itself uses one thread, which copies 6 GB/s where eight copy 24.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "engine/core/function_ref.hpp"
#include "engine/exec/device.hpp"

namespace sluice {

/// A sequence of copies that use the same pieces.
class ThreadedCopies {
 public:
  /// `bytes`: about how much is copied in all, which decides whether threads pay. Pieces are charged to the
  /// host budget.
  ThreadedCopies(const Device& device, std::size_t bytes, unsigned max_threads = kMaxThreads);
  ThreadedCopies(const ThreadedCopies&) = delete;
  ThreadedCopies& operator=(const ThreadedCopies&) = delete;
  ~ThreadedCopies();

  /// As copy_to_device(): returns when all bytes have arrived.
  void to_device(void* to, const void* from, std::size_t bytes);
  /// The same by the calling thread alone: number `thread` of at most `max_threads` that copy concurrently.
  void to_device_by(unsigned thread, void* to, const void* from, std::size_t bytes);
  /// The same for bytes that fill(piece, begin, end) writes to page-locked memory: bytes [begin, end), where
  /// both are multiples of 64, or the end. Threads call `fill` concurrently.
  void fill_device(void* to, std::size_t bytes,
                   FunctionRef<void(std::byte* piece, std::size_t begin, std::size_t end)> fill);
  /// As copy_to_host(): after all work begun on the default stream.
  void to_host(void* to, const void* from, std::size_t bytes);

 private:
  static constexpr unsigned kMaxThreads = 8;

  struct Piece;
  Piece& piece_of(unsigned thread, std::size_t bytes);
  bool uses_threads(const void* host) const;

  const Device& device_;
  unsigned threads_;                            ///< 0: CUDA copies
  std::vector<std::unique_ptr<Piece>> pieces_;  ///< by thread, made when they are needed
};

}  // namespace sluice
