#include "engine/ppr/options.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "engine/core/error.hpp"

namespace sluice::ppr {

namespace {

void validate_stages(const Options& options) {
  const auto& stages = options.stages;
  if (stages.empty() || std::any_of(stages.begin(), stages.end(), [](auto steps) { return steps < 1; }))
    throw UsageError("--stages: every stage has at least one step (write 3,3)");
  std::uint64_t sum = 0;
  for (const std::int64_t steps : stages)
    sum += static_cast<std::uint64_t>(std::min<std::int64_t>(steps, ~0u));
  if (sum > ~0u) throw UsageError("--stages: their sum is too large");
  if (options.length != 0 && options.length != sum) {
    throw UsageError(
        fmt::format("--stages: their sum is {}, but --length is {} (omit one of them)", sum, options.length));
  }
  if (!(options.expand >= 0 && options.expand <= 1))
    throw UsageError("--expand: must be at least 0 and at most 1");
  if (options.table_limit == TableLimit::hard && options.table == 0)
    throw UsageError("--table-limit hard: a table of all scores has no limit (use --table)");
  if (options.balls == 0) throw UsageError("--balls: must be at least 1");
  if (options.table == 1 && options.table_limit == TableLimit::soft)
    throw UsageError("--table: must be 0 or at least 2, since half of a full table is kept");
}

}  // namespace

std::uint32_t length_of(const Options& options) {
  if (options.method != Method::staged) return options.length;
  std::uint32_t sum = 0;
  for (const std::int64_t steps : options.stages) sum += static_cast<std::uint32_t>(steps);
  return sum;
}

void validate(const Options& options) {
  if (!(options.alpha >= 0 && options.alpha < 1)) throw UsageError("--alpha: must be at least 0 and below 1");
  if (!(options.tolerance >= 0) || !std::isfinite(options.tolerance))
    throw UsageError("--tolerance: must be finite and not negative");
  if (options.top == 0) throw UsageError("--top: must be at least 1");
  if (!(options.residual_threshold >= 0 && options.residual_threshold <= 1))
    throw UsageError("--residual-threshold: must be at least 0 and at most 1");
  if (options.walks == 0 || options.walks > kMaxWalks)
    throw UsageError(fmt::format("--walks: must be at least 1 and at most {}", kMaxWalks));
  if (!(options.confidence > 0 && options.confidence < 1))
    throw UsageError("--confidence: must be above 0 and below 1");
  if (options.method == Method::push && options.length != 0)
    throw UsageError("--length: push always computes the limit (omit it)");
  if (has_coarse_mass(options)) {
    if (options.method == Method::push || options.method == Method::walks)
      throw UsageError("--score-units: only for exact and meloppr (omit it)");
    if (options.state == State::dense)
      throw UsageError("--score-units: queries need tables (omit --state dense)");
    if (options.score_units != 0 && options.unit_degree != BallDegree::none)
      throw UsageError("--score-units: a number, or the degree of a ball (give one of them)");
    if (options.unit_degree != BallDegree::none && length_of(options) == 0)
      throw UsageError("--score-units: the degree of a ball needs --length (give it, or a number of units)");
  }
  if (options.method == Method::staged) validate_stages(options);
}

}  // namespace sluice::ppr
