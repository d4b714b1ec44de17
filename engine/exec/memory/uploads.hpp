// Copies from pageable memory to a GPU by several threads, each by way of a page-locked piece of its own:
// CUDA by itself uses one thread, which brings 6 GB/s where eight bring 24.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "engine/exec/device.hpp"

namespace sluice {

/// Copies of one after the other, which use the same pieces.
class Uploads {
 public:
  /// For about `bytes` in all, which decide whether threads pay. Pieces are charged to the host budget.
  Uploads(const Device& device, std::size_t bytes);
  Uploads(const Uploads&) = delete;
  Uploads& operator=(const Uploads&) = delete;
  ~Uploads();

  /// As copy_to_device, which waits until all is there.
  void copy(void* to, const void* from, std::size_t bytes);

 private:
  struct Piece;

  const Device& device_;
  std::vector<std::unique_ptr<Piece>> pieces_;  ///< by thread, made when they are needed; none: CUDA copies
};

}  // namespace sluice
