// Memory that this process may take, and its peak use.
#pragma once

#include <cstdint>
#include <string>

namespace sluice::apps {

/// Bytes of memory that this process may still take: free memory of the machine, or less if its control group
/// (version 1 or 2) or a parent group allows less. Reclaimable page cache counts as free. Reads files below
/// the folder `root`.
std::uint64_t free_host_memory(const std::string& root = "");

/// The peak resident size of this process so far, in bytes (VmHWM).
std::uint64_t peak_resident_bytes();

}  // namespace sluice::apps
