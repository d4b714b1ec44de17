#include "engine/exec/memory/kept_memory.hpp"

#include <new>

namespace sluice {

void* KeptMemory::allocate(std::size_t bytes, std::size_t free) {
  const std::lock_guard lock(mutex_);
  if (bytes < kSmallest) return allocate_new(bytes);
  const std::size_t size = rounded(bytes);
  if (const auto piece = pieces_.find(size); piece != pieces_.end()) {
    void* const memory = piece->second;
    pieces_.erase(piece);
    bytes_ -= size;
    return memory;
  }
  if (bytes_ > free) give_back();
  return allocate_new(size);
}

void* KeptMemory::allocate_new(std::size_t bytes) {
  void* const memory = source_.allocate(bytes);
  if (memory || pieces_.empty()) return memory;
  give_back();
  return source_.allocate(bytes);
}

void KeptMemory::release(void* memory, std::size_t bytes) noexcept {
  if (bytes < kSmallest) return source_.release(memory);
  source_.settle();
  const std::lock_guard lock(mutex_);
  try {
    pieces_.emplace(rounded(bytes), memory);
    bytes_ += rounded(bytes);
  } catch (const std::bad_alloc&) {
    source_.release(memory);
  }
}

void KeptMemory::give_back() noexcept {
  for (const auto& [size, memory] : pieces_) source_.release(memory);
  pieces_.clear();
  bytes_ = 0;
}

}  // namespace sluice
