// Text attributes of variable length, read without the library's own way to them.
#pragma once

#include <string>

#include "io/hdf5.hpp"

namespace sluice::io::h5 {

/// Text that is longer is taken for damage. The longest are the names of a result's shards.
inline constexpr std::size_t kLongestText = 4u << 20;

/// Reads an attribute of one variable-length text; false where its reference leads to none.
bool read_heap_text(const Handle& attribute, std::string& text);

}  // namespace sluice::io::h5
