// How much work tests do under sanitizers, where code runs several times slower: faults of memory show with
// little of it, and results are compared in full without sanitizers.
#pragma once

namespace sluice::test {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

/// `less` under sanitizers.
template <class T>
constexpr T unless_sanitized(T full, T less) {
  return kSanitized ? less : full;
}

}  // namespace sluice::test
