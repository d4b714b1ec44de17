// Which format a file has, by its name and its first bytes.
#pragma once

#include <string>
#include <string_view>

#include "io/edge_source.hpp"

namespace sluice::io::readers {

/// The name's ending in lower case, without ".gz" and without the dot.
std::string extension_of(const std::string& path);

/// The format, never `automatic`; throws InputError if the file is of no format that can be read, or has no
/// edges but must. `head` is the beginning of the (decompressed) text.
EdgeFormat detect(const std::string& path, std::string_view head, bool may_be_empty);

}  // namespace sluice::io::readers
