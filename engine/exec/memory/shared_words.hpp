// Relaxed atomic operations on words that many host threads, or lanes of a GPU, read and change at once. They
// do not order accesses to different words.
#pragma once

#include <atomic>
#include <type_traits>

#include "engine/core/macros.hpp"

namespace sluice {

/// The type that CUDA's atomic functions take for a word of 32 or 64 bits.
template <class T>
using DeviceWord = std::conditional_t<sizeof(T) == 8, unsigned long long, unsigned>;

/// Reads a word. On a GPU, atomics change words in the L2 cache, so reads go there too.
template <class T>
SLUICE_HD T load(const T* at) {
#if defined(__CUDA_ARCH__)
  return *const_cast<const volatile T*>(at);
#else
  return std::atomic_ref<T>(*const_cast<T*>(at)).load(std::memory_order_relaxed);
#endif
}

/// Reads a word for uses where a value from earlier in this kernel is acceptable too: a GPU then reads words
/// that many threads ask for from its L1 cache.
template <class T>
SLUICE_HD T load_cached(const T* at) {
#if defined(__CUDA_ARCH__)
  return __ldca(at);
#else
  return load(at);
#endif
}

template <class T>
SLUICE_HD void store(T* at, std::type_identity_t<T> value) {
#if defined(__CUDA_ARCH__)
  *const_cast<volatile T*>(at) = value;
#else
  std::atomic_ref<T>(*at).store(value, std::memory_order_relaxed);
#endif
}

/// Adds modulo 2^bits, for the bits of a word; returns the old value.
template <class T>
SLUICE_HD T fetch_add(T* at, std::type_identity_t<T> more) {
#if defined(__CUDA_ARCH__)
  return static_cast<T>(atomicAdd(reinterpret_cast<DeviceWord<T>*>(at), static_cast<DeviceWord<T>>(more)));
#else
  return std::atomic_ref<T>(*at).fetch_add(more, std::memory_order_relaxed);
#endif
}

/// Sets bits; returns the old value.
template <class T>
SLUICE_HD T fetch_or(T* at, std::type_identity_t<T> bits) {
#if defined(__CUDA_ARCH__)
  return static_cast<T>(atomicOr(reinterpret_cast<DeviceWord<T>*>(at), static_cast<DeviceWord<T>>(bits)));
#else
  return std::atomic_ref<T>(*at).fetch_or(bits, std::memory_order_relaxed);
#endif
}

/// Compare and exchange: sets *at to `now` if it equals `before`, else sets `before` to the value of *at.
template <class T>
SLUICE_HD bool exchange(T* at, T& before, T now) {
#if defined(__CUDA_ARCH__)
  using Word = DeviceWord<T>;
  const auto was = static_cast<T>(
      atomicCAS(reinterpret_cast<Word*>(at), static_cast<Word>(before), static_cast<Word>(now)));
  const bool done = was == before;
  before = was;
  return done;
#else
  return std::atomic_ref<T>(*at).compare_exchange_strong(before, now, std::memory_order_relaxed);
#endif
}

}  // namespace sluice
