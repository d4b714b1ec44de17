#include "engine/exec/memory/kept_memory.hpp"

#include <new>

namespace sluice {

void* CachedMemory::allocate(std::size_t bytes, std::size_t free_budget) {
  const std::lock_guard lock(mutex_);
  if (bytes < kMinCachedBytes) return allocate_new(bytes);
  const std::size_t size = rounded(bytes);
  if (const auto found = cached_.find(size); found != cached_.end()) {
    void* const memory = found->second;
    cached_.erase(found);
    cached_bytes_ -= size;
    return memory;
  }
  if (cached_bytes_ > free_budget) free_all();
  return allocate_new(size);
}

void* CachedMemory::allocate_new(std::size_t bytes) {
  void* const memory = source_.allocate(bytes);
  if (memory || cached_.empty()) return memory;
  free_all();
  return source_.allocate(bytes);
}

void CachedMemory::release(void* memory, std::size_t bytes) noexcept {
  if (bytes < kMinCachedBytes) return source_.release(memory);
  source_.synchronize();
  const std::lock_guard lock(mutex_);
  try {
    cached_.emplace(rounded(bytes), memory);
    cached_bytes_ += rounded(bytes);
  } catch (const std::bad_alloc&) {
    source_.release(memory);
  }
}

void CachedMemory::free_all() noexcept {
  for (const auto& [size, memory] : cached_) source_.release(memory);
  cached_.clear();
  cached_bytes_ = 0;
}

}  // namespace sluice
