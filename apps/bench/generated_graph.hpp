// A synthetic graph in memory, without a file in between: what is measured, and what is tested, is of such
// graphs.
#pragma once

#include "io/convert/convert.hpp"
#include "io/generate/generate.hpp"
#include "partition/graph.hpp"

namespace sluice::bench {

/// The graph that make_generator() and convert() write. `stats`, if not null, is filled in.
inline Graph generate_graph(const io::GenerateOptions& options, const io::ConvertOptions& rules,
                            io::ConvertStats* stats = nullptr) {
  return io::convert_in_memory(*io::make_generator(options), rules, stats);
}

}  // namespace sluice::bench
