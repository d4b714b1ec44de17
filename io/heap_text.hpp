// Text attributes of variable length, read without the library's own way to them.
#pragma once

#include <string>

#include "io/hdf5.hpp"

namespace sluice::io::h5 {

/// Text that is longer is taken for damage: no attribute beside its object's header has more bytes.
inline constexpr std::size_t kLongestText = 64u << 10;

/// Reads an attribute of one variable-length text; false where its reference leads to none.
bool read_heap_text(const Handle& attribute, std::string& text);

}  // namespace sluice::io::h5
