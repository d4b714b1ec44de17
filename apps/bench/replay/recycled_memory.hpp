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
    auto memory = pool_->acquire(bytes, purpose);
    void* const data = memory->data();
    // The last owner of the array's storage returns it to the pool.
    const auto release = [pool = pool_](Memory* done) { pool->release(std::unique_ptr<Memory>(done)); };
    return {std::shared_ptr<Memory>(memory.release(), release), data, 0};
  }

 private:
  using Memory = Staging<std::byte>;
  static constexpr std::uint64_t kSlackDivisor = 16;
  /// A graph has six columns that may be rewritten one after the other.
  static constexpr std::size_t kMaxSpare = 6;

  class Pool {
   public:
    explicit Pool(const Device& device) : device_(device) {}

    std::unique_ptr<Memory> acquire(std::uint64_t bytes, const char* purpose) {
      if (auto found = find(bytes)) return found;
      const std::uint64_t size = bytes + bytes / kSlackDivisor;
      try {
        return std::make_unique<Memory>(device_, size, purpose);
      } catch (const BudgetError&) {
        free_spare();
      }
      return std::make_unique<Memory>(device_, size, purpose);
    }

    void release(std::unique_ptr<Memory> memory) {
      std::unique_ptr<Memory> freed;  // freed outside the lock
      const std::lock_guard lock(mutex_);
      if (closed_) {
        freed = std::move(memory);
        return;
      }
      spare_.push_back(std::move(memory));
      if (spare_.size() <= kMaxSpare) return;
      freed = std::move(spare_.front());
      spare_.erase(spare_.begin());
    }

    /// From here on no memory is kept.
    void close() noexcept {
      {
        const std::lock_guard lock(mutex_);
        closed_ = true;
      }
      free_spare();
    }

   private:
    /// The smallest block that is large enough, but at most about twice as large as needed.
    std::unique_ptr<Memory> find(std::uint64_t bytes) {
      const std::lock_guard lock(mutex_);
      auto best = spare_.end();
      for (auto block = spare_.begin(); block != spare_.end(); ++block) {
        const std::uint64_t size = (*block)->bytes();
        if (size >= bytes && size / 2 <= bytes && (best == spare_.end() || size < (*best)->bytes()))
          best = block;
      }
      if (best == spare_.end()) return nullptr;
      auto found = std::move(*best);
      spare_.erase(best);
      return found;
    }

    void free_spare() noexcept {
      std::vector<std::unique_ptr<Memory>> freed;
      const std::lock_guard lock(mutex_);
      freed.swap(spare_);
    }

    const Device& device_;
    std::mutex mutex_;
    std::vector<std::unique_ptr<Memory>> spare_;
    bool closed_ = false;
  };

  std::shared_ptr<Pool> pool_;
};

}  // namespace sluice::bench
