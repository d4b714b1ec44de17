// Host memory for arrays that are made anew again and again in about the same size, as batches make those of
// a graph. What an array leaves is kept for the next one, page-locked where the device is a GPU: page-locking
// an array takes longer than copying it.
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

/// Charged to the host budget in full, in use or not; what is not in use goes back where memory is short for
/// an array of its own. Arrays may outlive it. Safe to call from several threads.
class RecycledMemory final : public HostMemory {
 public:
  explicit RecycledMemory(const Device& device) : pool_(std::make_shared<Pool>(device)) {}
  RecycledMemory(const RecycledMemory&) = delete;
  RecycledMemory& operator=(const RecycledMemory&) = delete;
  ~RecycledMemory() override { pool_->close(); }

  /// Takes a little more than asked for, so that arrays that grow still fit. Throws BudgetError.
  Block allocate(std::uint64_t bytes, const char* purpose) override {
    if (bytes == 0) return {std::make_shared<char>(), nullptr, 0};
    auto kept = pool_->take(bytes, purpose);
    void* const data = kept->data();
    // The last owner of the array's storage puts it back.
    const auto put = [pool = pool_](Kept* done) { pool->put(std::unique_ptr<Kept>(done)); };
    return {std::shared_ptr<Kept>(kept.release(), put), data, 0};
  }

 private:
  using Kept = Staging<std::byte>;
  static constexpr std::uint64_t kSlackPart = 16;
  /// A graph has six columns that may be written anew one after the other.
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
      std::unique_ptr<Kept> dropped;  // outside the lock
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

    /// Nothing is kept from here on.
    void close() noexcept {
      {
        const std::lock_guard lock(mutex_);
        closed_ = true;
      }
      give_back();
    }

   private:
    /// The smallest that is large enough, and not much too large.
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
