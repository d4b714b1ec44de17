// 3.5 G vertices have 28 GB of offsets. Code reads them by plain pointers, but a plan reads only some
// thousand. So only their addresses are reserved. The first read of a page faults; the fault handler fills
// the pages around it, and empties those that were filled longest ago.
#include "partition/even_offsets.hpp"

#include <sys/mman.h>
#include <csignal>

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

#include "engine/core/error.hpp"

namespace sluice {

namespace {

constexpr std::size_t kChunkBytes = 16u << 10, kFilledChunks = 4096;
constexpr std::uint64_t kChunkOffsets = kChunkBytes / sizeof(EdgeIndex);
constexpr int kPrivate = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

/// Fault handlers wait for this lock, so code that holds it must not read offsets.
class SpinLock {
 public:
  void lock() {
    while (locked_.test_and_set(std::memory_order_acquire)) std::this_thread::yield();
  }
  void unlock() { locked_.clear(std::memory_order_release); }

 private:
  std::atomic_flag locked_;
};

class EvenOffsets {
 public:
  EvenOffsets(std::uint64_t vertices, std::uint64_t edges)
      : vertices_(vertices), edges_(edges), filled_(vertices / kChunkOffsets + 1, false) {
    void* const reserved = ::mmap(nullptr, bytes(), PROT_NONE, kPrivate, -1, 0);
    if (reserved == MAP_FAILED) throw BudgetError("no address space for the offsets of all vertices");
    begin_ = static_cast<std::byte*>(reserved);
    ring_.fill(filled_.size());
    const std::lock_guard guard(lock);
    if (first == nullptr) {
      struct sigaction action {};
      action.sa_sigaction = on_fault;
      action.sa_flags = SA_SIGINFO;
      ::sigaction(SIGSEGV, &action, &previous_action);
    }
    next_ = first, first = this;
  }
  EvenOffsets(const EvenOffsets&) = delete;
  EvenOffsets& operator=(const EvenOffsets&) = delete;
  ~EvenOffsets() {
    const std::lock_guard guard(lock);
    EvenOffsets** at = &first;
    while (*at != this) at = &(*at)->next_;
    *at = next_;
    if (first == nullptr) ::sigaction(SIGSEGV, &previous_action, nullptr);
    ::munmap(begin_, bytes());
  }

  void* data() const { return begin_; }

  static std::optional<EvenLists> lists_of(const void* address) {
    const std::lock_guard guard(lock);
    const EvenOffsets* const found = find(address);
    return found == nullptr ? std::nullopt : std::optional(found->lists());
  }

 private:
  EvenLists lists() const { return {reinterpret_cast<const EdgeIndex*>(begin_), vertices_, edges_}; }
  std::size_t bytes() const { return filled_.size() * kChunkBytes; }
  std::byte* chunk_address(std::size_t chunk) const { return begin_ + chunk * kChunkBytes; }

  /// Returns the offsets that contain the address, or null if there are none.
  static EvenOffsets* find(const void* address) {
    EvenOffsets* found = first;
    while (found != nullptr && (address < found->begin_ || address >= found->begin_ + found->bytes()))
      found = found->next_;
    return found;
  }

  /// A fault outside of all offsets is repeated for the previous handler.
  static void on_fault(int, siginfo_t* info, void*) {
    const std::lock_guard guard(lock);
    if (EvenOffsets* const found = find(info->si_addr); found != nullptr && found->fill(info->si_addr))
      return;
    ::sigaction(SIGSEGV, &previous_action, nullptr);
  }

  /// Fills the chunk of an address, unless another thread did; returns false if there is no memory.
  bool fill(const void* address) {
    const std::size_t chunk =
        static_cast<std::size_t>(static_cast<const std::byte*>(address) - begin_) / kChunkBytes;
    if (filled_[chunk]) return true;
    // Filled at another address and then moved, so that no thread reads an unfilled page.
    void* const made = ::mmap(nullptr, kChunkBytes, PROT_READ | PROT_WRITE, kPrivate, -1, 0);
    if (made == MAP_FAILED) return false;
    write(chunk * kChunkOffsets, static_cast<EdgeIndex*>(made));
    if (::mremap(made, kChunkBytes, kChunkBytes, MREMAP_MAYMOVE | MREMAP_FIXED, chunk_address(chunk)) ==
        MAP_FAILED)
      return false;
    filled_[chunk] = true;
    std::size_t& oldest = ring_[fills_++ % kFilledChunks];
    if (oldest < filled_.size()) {
      filled_[oldest] = false;
      if (::mmap(chunk_address(oldest), kChunkBytes, PROT_NONE, kPrivate | MAP_FIXED, -1, 0) == MAP_FAILED)
        return false;
    }
    oldest = chunk;
    return true;
  }

  /// Entries after the last offset repeat it.
  void write(std::uint64_t v, EdgeIndex* out) const {
    for (std::uint64_t i = 0; i < kChunkOffsets; ++i) out[i] = lists().offset(std::min(v + i, vertices_));
  }

  static inline SpinLock lock;
  static inline EvenOffsets* first = nullptr;  ///< head of the list of all objects
  static inline struct sigaction previous_action {};  ///< the previous fault handler

  std::uint64_t vertices_, edges_;
  std::byte* begin_ = nullptr;
  std::vector<bool> filled_;                       ///< by chunk
  std::array<std::size_t, kFilledChunks> ring_;    ///< ring of the filled chunks
  std::uint64_t fills_ = 0;
  EvenOffsets* next_ = nullptr;
};

}  // namespace

std::shared_ptr<void> even_offsets(std::uint64_t vertices, std::uint64_t edges) {
  const auto made = std::make_shared<EvenOffsets>(vertices, edges);
  return {made, made->data()};
}

std::optional<EvenLists> EvenLists::find(const EdgeIndex* offset) {
  return EvenOffsets::lists_of(offset);
}

}  // namespace sluice
