// Large arrays that are written at random cost a page walk a write, and a fault every 4 KiB, without large
// pages.
#pragma once

#include <sys/mman.h>

#include <cstdint>

#include "engine/core/host_array.hpp"

namespace sluice {

/// Asks for large pages for a fresh array. A wish: where the system grants none, nothing else changes.
template <class T>
void prefer_huge_pages(HostArray<T>& array) {
  constexpr std::uintptr_t kHugePage = 2u << 20;
  const auto begin = (reinterpret_cast<std::uintptr_t>(array.data()) + kHugePage - 1) / kHugePage * kHugePage;
  const auto end = reinterpret_cast<std::uintptr_t>(array.data() + array.size()) / kHugePage * kHugePage;
  if (begin < end) ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
}

}  // namespace sluice
