// Raw pairs of little-endian ids.
#pragma once

#include <memory>

#include "io/edge_source.hpp"
#include "io/readers/line_stream.hpp"

namespace sluice::io::readers {

/// `id_bytes` is 4 or 8. Throws InputError if the file is no whole number of pairs.
std::unique_ptr<EdgeSource> make_binary(std::unique_ptr<LineStream> stream, unsigned id_bytes,
                                        const ReadOptions& options);

}  // namespace sluice::io::readers
