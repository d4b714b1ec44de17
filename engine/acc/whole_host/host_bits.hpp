// Sets of vertices as bits, and worklists that threads append to.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <cstring>
#include <utility>

#include "engine/core/types.hpp"
#include "engine/exec/memory/buffer.hpp"

namespace sluice::acc {

inline constexpr std::uint64_t kWordBits = 64;

/// A set of vertices.
class VertexBits {
 public:
  VertexBits(const Device& device, std::uint64_t vertices, const char* purpose)
      : words_(device, (vertices + kWordBits - 1) / kWordBits, purpose) {
    clear();
  }

  void clear() { std::memset(words_.data(), 0, words_.bytes()); }
  std::uint64_t words() const { return words_.size(); }
  std::uint64_t& word(std::uint64_t i) { return words_.data()[i]; }
  std::uint64_t word(std::uint64_t i) const { return words_.data()[i]; }
  /// How many of [begin, end) are not in it.
  std::uint64_t missing(std::uint64_t begin, std::uint64_t end) const {
    std::uint64_t count = 0;
    for (std::uint64_t w = begin / kWordBits; w * kWordBits < end; ++w)
      count += static_cast<std::uint64_t>(std::popcount(missing_of_word(w, begin, end)));
    return count;
  }
  /// The same of a word, as bits.
  std::uint64_t missing_of_word(std::uint64_t w, std::uint64_t begin, std::uint64_t end) const {
    std::uint64_t bits = ~word(w);
    if (w * kWordBits < begin) bits &= ~std::uint64_t{0} << (begin - w * kWordBits);
    if (const std::uint64_t rest = end - w * kWordBits; rest < kWordBits)
      bits &= (std::uint64_t{1} << rest) - 1;
    return bits;
  }
  bool test(Vertex v) const { return words_.data()[v / kWordBits] >> (v % kWordBits) & 1; }
  /// While other threads add too.
  void add(Vertex v) {
    std::atomic_ref(words_.data()[v / kWordBits])
        .fetch_or(std::uint64_t{1} << (v % kWordBits), std::memory_order_relaxed);
  }
  /// The same. False: it is there already.
  bool take(Vertex v) {
    const std::uint64_t bit = std::uint64_t{1} << (v % kWordBits);
    const std::atomic_ref word(words_.data()[v / kWordBits]);
    return (word.load(std::memory_order_relaxed) & bit) == 0 &&
           (word.fetch_or(bit, std::memory_order_relaxed) & bit) == 0;
  }

 private:
  Buffer<std::uint64_t> words_;
};

/// Calls use(bit) for every bit that is set, from the lowest up.
template <class Use>
void for_each_bit(std::uint64_t word, Use&& use) {
  for (; word != 0; word &= word - 1) use(static_cast<unsigned>(std::countr_zero(word)));
}

/// A list with room for every vertex once.
class Worklist {
 public:
  Worklist(const Device& device, std::uint64_t vertices, const char* purpose)
      : items_(device, vertices, purpose) {}

  std::uint64_t size() const { return size_.load(std::memory_order_relaxed); }
  void clear() { size_ = 0; }
  Vertex operator[](std::uint64_t i) const { return items_.data()[i]; }
  friend void swap(Worklist& a, Worklist& b) noexcept {
    std::swap(a.items_, b.items_);
    a.size_ = b.size_.exchange(a.size());
  }

  /// One thread's: it fills up by itself before it goes to the list.
  class Appender {
   public:
    explicit Appender(Worklist& list) : list_(list) {}
    Appender(const Appender&) = delete;
    Appender& operator=(const Appender&) = delete;
    ~Appender() { flush(); }
    void operator()(Vertex v) {
      if (held_ == some_.size()) flush();
      some_[held_++] = v;
    }

   private:
    void flush() {
      const std::uint64_t at = list_.size_.fetch_add(held_, std::memory_order_relaxed);
      std::memcpy(list_.items_.data() + at, some_.data(), held_ * sizeof(Vertex));
      held_ = 0;
    }

    Worklist& list_;
    std::size_t held_ = 0;
    std::array<Vertex, 1024> some_;
  };

 private:
  Buffer<Vertex> items_;
  std::atomic<std::uint64_t> size_{0};
};

}  // namespace sluice::acc
