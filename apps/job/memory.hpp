// How much memory this process may take, and how much it took.
#pragma once

#include <cstdint>
#include <string>

namespace sluice::apps {

/// Bytes that are free for this process: the machine's, or less where its control group (of version 1 or 2)
/// or any group around it allows less. Page cache that can be taken back counts as free. All is read below
/// the folder `root`.
std::uint64_t free_host_memory(const std::string& root = "");

/// The largest resident size this process had so far, in bytes (VmHWM).
std::uint64_t peak_resident_bytes();

}  // namespace sluice::apps
