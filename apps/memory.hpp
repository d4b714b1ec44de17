// How much memory this process may take, and how much it took.
#pragma once

#include <cstdint>

namespace sluice::apps {

/// Bytes that are free for this process: the system's, or what its control group still allows if that is
/// less.
std::uint64_t free_host_memory();

/// The largest resident size this process had so far, in bytes (VmHWM).
std::uint64_t peak_resident_bytes();

}  // namespace sluice::apps
