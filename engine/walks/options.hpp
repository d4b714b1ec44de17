// Options of walks; names and defaults are those of CONTRACT section 4.
#pragma once

#include <cstdint>

#include "engine/batch/options.hpp"

namespace sluice::walks {

enum class Kind { uniform, biased, metropolis_hastings, jump, restart, node2vec, multidimensional };

struct Options : RunOptions {
  Kind kind = Kind::uniform;
  std::uint32_t length = 80;        ///< steps
  Bias bias = Bias::weight;         ///< biased; node2vec always uses weights
  double probability = 0.15;        ///< jump, restart
  double p = 1, q = 1;              ///< node2vec
  std::uint32_t frontier_size = 1;  ///< multidimensional: seeds in the pool
};

/// Throws UsageError naming the option (`--p`, `--length`, ...) if a value is invalid.
void validate(const Options& options);

}  // namespace sluice::walks
