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
SLUICE_HD T load(const T* address) {
#if defined(__CUDA_ARCH__)
  return *const_cast<const volatile T*>(address);
#else
  return std::atomic_ref<T>(*const_cast<T*>(address)).load(std::memory_order_relaxed);
#endif
}

/// Reads a word for uses where a value from earlier in this kernel is acceptable too: a GPU then reads words
/// that many threads ask for from its L1 cache.
template <class T>
SLUICE_HD T load_cached(const T* address) {
#if defined(__CUDA_ARCH__)
  return __ldca(address);
#else
  return load(address);
#endif
}

template <class T>
SLUICE_HD void store(T* address, std::type_identity_t<T> value) {
#if defined(__CUDA_ARCH__)
  *const_cast<volatile T*>(address) = value;
#else
  std::atomic_ref<T>(*address).store(value, std::memory_order_relaxed);
#endif
}

/// Adds modulo 2^bits, for the bits of a word; returns the old value.
template <class T>
SLUICE_HD T fetch_add(T* address, std::type_identity_t<T> addend) {
#if defined(__CUDA_ARCH__)
  return static_cast<T>(
      atomicAdd(reinterpret_cast<DeviceWord<T>*>(address), static_cast<DeviceWord<T>>(addend)));
#else
  return std::atomic_ref<T>(*address).fetch_add(addend, std::memory_order_relaxed);
#endif
}

/// Sets bits; returns the old value.
template <class T>
SLUICE_HD T fetch_or(T* address, std::type_identity_t<T> bits) {
#if defined(__CUDA_ARCH__)
  return static_cast<T>(
      atomicOr(reinterpret_cast<DeviceWord<T>*>(address), static_cast<DeviceWord<T>>(bits)));
#else
  return std::atomic_ref<T>(*address).fetch_or(bits, std::memory_order_relaxed);
#endif
}

/// Compare and exchange: sets *address to `desired` if it equals `expected`, else sets `expected` to the
/// value of *address.
template <class T>
SLUICE_HD bool exchange(T* address, T& expected, T desired) {
#if defined(__CUDA_ARCH__)
  using Word = DeviceWord<T>;
  const auto previous = static_cast<T>(
      atomicCAS(reinterpret_cast<Word*>(address), static_cast<Word>(expected), static_cast<Word>(desired)));
  const bool done = previous == expected;
  expected = previous;
  return done;
#else
  return std::atomic_ref<T>(*address).compare_exchange_strong(expected, desired, std::memory_order_relaxed);
#endif
}

}  // namespace sluice
