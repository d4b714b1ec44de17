// Host memory for arrays that are repeatedly allocated in about the same size, such as those of a graph for
// each batch. The memory of a freed array is kept for the next one, page-locked if the device is a GPU:
// page-locking an array takes longer than copying it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "engine/core/error.hpp"
#include "engine/core/host_memory.hpp"
#include "engine/exec/memory/buffer.hpp"

namespace sluice::bench {

/// All memory is charged to the host budget, used or not; unused memory is freed if the budget cannot hold a
/// new array. Arrays may outlive this object. Thread-safe.
class RecycledMemory final : public HostMemory {
 public:
  explicit RecycledMemory(const Device& device) : pool_(std::make_shared<Pool>(device)) {}
  RecycledMemory(const RecycledMemory&) = delete;
  RecycledMemory& operator=(const RecycledMemory&) = delete;
  ~RecycledMemory() override { pool_->close(); }

  /// Allocates slightly more than requested, so that growing arrays still fit. Throws BudgetError.
  Block allocate(std::uint64_t bytes, const char* purpose) override {
    if (bytes == 0) return {std::make_shared<char>(), nullptr, 0};
    auto kept = pool_->take(bytes, purpose);
    void* const data = kept->data();
    // The last owner of the array's storage returns it to the pool.
    const auto put = [pool = pool_](Kept* done) { pool->put(std::unique_ptr<Kept>(done)); };
    return {std::shared_ptr<Kept>(kept.release(), put), data, 0};
  }

 private:
  using Kept = Staging<std::byte>;
  static constexpr std::uint64_t kSlackPart = 16;
  /// A graph has six columns that may be rewritten one after the other.
  static constexpr std::size_t kMostSpare = 6;

  class Pool {
   public:
    explicit Pool(const Device& device) : device_(device) {}

    std::unique_ptr<Kept> take(std::uint64_t bytes, const char* purpose) {
      if (auto found = find(bytes)) return found;
      const std::uint64_t size = bytes + bytes / kSlackPart;
      try {
        return std::make_unique<Kept>(device_, size, purpose);
      } catch (const BudgetError&) {
        give_back();
      }
      return std::make_unique<Kept>(device_, size, purpose);
    }

    void put(std::unique_ptr<Kept> kept) {
      std::unique_ptr<Kept> dropped;  // freed outside the lock
      const std::lock_guard lock(mutex_);
      if (closed_) {
        dropped = std::move(kept);
        return;
      }
      spare_.push_back(std::move(kept));
      if (spare_.size() <= kMostSpare) return;
      dropped = std::move(spare_.front());
      spare_.erase(spare_.begin());
    }

    /// From here on no memory is kept.
    void close() noexcept {
      {
        const std::lock_guard lock(mutex_);
        closed_ = true;
      }
      give_back();
    }

   private:
    /// The smallest block that is large enough, but at most about twice as large as needed.
    std::unique_ptr<Kept> find(std::uint64_t bytes) {
      const std::lock_guard lock(mutex_);
      auto best = spare_.end();
      for (auto at = spare_.begin(); at != spare_.end(); ++at) {
        const std::uint64_t size = (*at)->bytes();
        if (size >= bytes && size / 2 <= bytes && (best == spare_.end() || size < (*best)->bytes()))
          best = at;
      }
      if (best == spare_.end()) return nullptr;
      auto found = std::move(*best);
      spare_.erase(best);
      return found;
    }

    void give_back() noexcept {
      std::vector<std::unique_ptr<Kept>> dropped;
      const std::lock_guard lock(mutex_);
      dropped.swap(spare_);
    }

    const Device& device_;
    std::mutex mutex_;
    std::vector<std::unique_ptr<Kept>> spare_;
    bool closed_ = false;
  };

  std::shared_ptr<Pool> pool_;
};

}  // namespace sluice::bench
