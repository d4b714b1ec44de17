// Copies between pageable memory, or a file, and a GPU by several threads, each by way of a page-locked piece
// of its own: CUDA by itself uses one thread, which brings 6 GB/s where eight bring 24.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "engine/core/function_ref.hpp"
#include "engine/exec/device.hpp"

namespace sluice {

/// Copies of one after the other, which use the same pieces.
class ThreadedCopies {
 public:
  /// For about `bytes` in all, which decide whether threads pay. Pieces are charged to the host budget.
  ThreadedCopies(const Device& device, std::size_t bytes, unsigned most_threads = kMostThreads);
  ThreadedCopies(const ThreadedCopies&) = delete;
  ThreadedCopies& operator=(const ThreadedCopies&) = delete;
  ~ThreadedCopies();

  /// As copy_to_device, which waits until all is there.
  void to_device(void* to, const void* from, std::size_t bytes);
  /// The same by the caller alone, who is thread `thread` of at most `most_threads` that copy side by side.
  void to_device_by(unsigned thread, void* to, const void* from, std::size_t bytes);
  /// The same of what fill(piece, begin, end) puts into page-locked memory: bytes [begin, end), where both
  /// are multiples of 64, or the end. Threads call it side by side.
  void bring(void* to, std::size_t bytes,
             FunctionRef<void(std::byte* piece, std::size_t begin, std::size_t end)> fill);
  /// As copy_to_host: behind what was begun in the default stream.
  void to_host(void* to, const void* from, std::size_t bytes);

 private:
  static constexpr unsigned kMostThreads = 8;

  struct Piece;
  Piece& piece_of(unsigned thread, std::size_t bytes);
  bool by_threads(const void* host) const;

  const Device& device_;
  unsigned threads_;                            ///< 0: CUDA copies
  std::vector<std::unique_ptr<Piece>> pieces_;  ///< by thread, made when they are needed
};

}  // namespace sluice
