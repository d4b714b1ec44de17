// Sizes as people write and read them: 512MiB, 4GiB, 1.5 GB.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sluice {

/// Parses `512MiB`, `4GiB`, `2G`, `100MB`, `65536`. K, M, G, T and KiB... are powers of 1024; KB, MB, GB, TB
/// of 1000. Throws UsageError naming `option` if `text` is not a size.
std::uint64_t parse_size(std::string_view text, std::string_view option);

/// `1.50 GiB` and the like.
std::string format_size(std::uint64_t bytes);

}  // namespace sluice
