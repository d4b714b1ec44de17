#include "engine/exec/memory/recycled_memory.hpp"

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <vector>

#include "engine/core/spare_memory.hpp"
#include "engine/exec/memory/buffer.hpp"

namespace sluice {

namespace {

constexpr std::uint64_t kSlackPart = 16;
/// A graph has six columns that may be written anew one after the other.
constexpr std::size_t kMostSpare = 6;

using Kept = Staging<std::byte>;

}  // namespace

class RecycledMemory::Pool final : public SpareMemory {
 public:
  explicit Pool(const Device& device) : device_(device) { ask_for_spare(*this); }
  ~Pool() override { leave_out(*this); }

  std::unique_ptr<Kept> take(std::uint64_t bytes, const char* purpose) {
    if (auto found = find(bytes)) return found;
    return std::make_unique<Kept>(device_, bytes + bytes / kSlackPart, purpose);
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

  bool give_back() noexcept override {
    std::vector<std::unique_ptr<Kept>> dropped;
    const std::lock_guard lock(mutex_);
    dropped.swap(spare_);
    return !dropped.empty();
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
      if (size >= bytes && size / 2 <= bytes && (best == spare_.end() || size < (*best)->bytes())) best = at;
    }
    if (best == spare_.end()) return nullptr;
    auto found = std::move(*best);
    spare_.erase(best);
    return found;
  }

  const Device& device_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Kept>> spare_;
  bool closed_ = false;
};

RecycledMemory::RecycledMemory(const Device& device) : pool_(std::make_shared<Pool>(device)) {}

RecycledMemory::~RecycledMemory() {
  pool_->close();
}

HostMemory::Block RecycledMemory::allocate(std::uint64_t bytes, const char* purpose) {
  if (bytes == 0) return {std::make_shared<char>(), nullptr, 0};
  auto kept = pool_->take(bytes, purpose);
  void* const data = kept->data();
  // The last owner of the array's storage puts it back.
  const auto put = [pool = pool_](Kept* done) { pool->put(std::unique_ptr<Kept>(done)); };
  return {std::shared_ptr<Kept>(kept.release(), put), data, 0};
}

}  // namespace sluice
