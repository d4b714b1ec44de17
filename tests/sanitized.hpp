// The amount of work of tests under sanitizers, where code is several times slower. Memory errors show with
// little work, and tests without sanitizers compare results in full.
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
