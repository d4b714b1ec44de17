// Released GPU memory that is kept for reuse, instead of being freed. The driver takes a tenth of a
// millisecond or more to allocate or free, and a run reuses what the run before it released.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>

namespace sluice {

/// The functions that allocate and free memory.
struct MemorySource {
  void* (*allocate)(std::size_t bytes);  ///< returns null if none is left
  void (*release)(void* memory) noexcept;
  void (*synchronize)() noexcept;  ///< waits for all work that may use memory
};

/// Kept pieces of memory, by size. Thread-safe. The driver frees what is still kept when the program ends.
class CachedMemory {
 public:
  /// Smaller pieces are not kept: they share the driver's pages and cost little.
  static constexpr std::size_t kMinCachedBytes = 1u << 20;
  /// The driver's unit of allocation. Sizes are rounded up to it, since the driver takes that much anyway.
  static constexpr std::size_t kPage = 2u << 20;

  explicit CachedMemory(const MemorySource& source) : source_(source) {}

  /// A kept piece of that size, or a new one. `free_budget` bytes of the budget are left beside this piece:
  /// kept pieces must not take more. Returns null if there is no memory even after all kept pieces are freed.
  void* allocate(std::size_t bytes, std::size_t free_budget);
  /// Keeps a piece of allocate(bytes, ...), after waiting for all work that may use it.
  void release(void* memory, std::size_t bytes) noexcept;

 private:
  static std::size_t rounded(std::size_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }
  void* allocate_new(std::size_t bytes);
  void free_all() noexcept;

  MemorySource source_;
  std::mutex mutex_;
  std::multimap<std::size_t, void*> cached_;
  std::size_t cached_bytes_ = 0;
};

}  // namespace sluice
