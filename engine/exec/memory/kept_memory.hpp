// GPU memory that was released and not given back yet. The driver takes a tenth of a millisecond and more to
// allocate or free, and a run takes what the run before it released.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>

namespace sluice {

/// Where memory comes from.
struct MemorySource {
  void* (*allocate)(std::size_t bytes);  ///< null: there is none left
  void (*release)(void* memory) noexcept;
  void (*settle)() noexcept;  ///< waits for all that still uses memory
};

/// Pieces of memory by size. Thread-safe. What is kept when the program ends is the driver's to free.
class KeptMemory {
 public:
  /// Smaller pieces share the driver's pages, and cost little; they are not kept.
  static constexpr std::size_t kSmallest = 1u << 20;
  /// What the driver allocates at once: sizes are rounded up to it, for that much is taken anyway.
  static constexpr std::size_t kPage = 2u << 20;

  explicit KeptMemory(const MemorySource& source) : source_(source) {}

  /// A kept piece of that size, or a new one. `free` bytes of the budget are left beside this piece: what is
  /// kept takes no more. Null: there is no memory, not even once all that was kept is given back.
  void* allocate(std::size_t bytes, std::size_t free);
  /// Keeps a piece of allocate(bytes, ...), once nothing uses it any more.
  void release(void* memory, std::size_t bytes) noexcept;

 private:
  static std::size_t rounded(std::size_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }
  void* allocate_new(std::size_t bytes);
  void give_back() noexcept;

  MemorySource source_;
  std::mutex mutex_;
  std::multimap<std::size_t, void*> pieces_;
  std::size_t bytes_ = 0;
};

}  // namespace sluice
