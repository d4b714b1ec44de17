// The loop of every run over instances: one batch is computed while the results of the previous one are
// written.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>

#include "engine/batch/batch_writer.hpp"
#include "engine/batch/starts.hpp"
#include "engine/core/error.hpp"
#include "engine/memory/owned_partitions.hpp"

namespace sluice {

/// Computes instances `range` in batches of a job, which has
///   next_size(left)             returns how many instances the next batch holds, of `left` that remain to
///                               this rank. Called once a batch, and again for a batch that is repeated
///   run(first, count, writer)   computes a batch and submits its results to the writer. Throws BudgetError
///                               if they do not fit
///   has_more(left)              optional: true if there is another batch; default: while instances are left.
///                               Ranks that compute batches together all return the same
///   shrink(count, writer)       optional: makes later batches smaller, after a BudgetError. False if that is
///                               impossible, or results are already being written: the error is then
///                               rethrown. Without it no batch is repeated
///   finished(count)             optional: called at the end of a batch
/// Instances do not depend on the batch in which they are computed. `stats.batches` counts batches, and
/// `stats.write_seconds` adds up the time spent waiting for writes. `progress` is called after every batch
/// with the instances done and in total; it may throw to stop the run.
template <class Job, class Stats>
void run_batches(Job&& job, InstanceRange range, const std::function<void(Instance, Instance)>& progress,
                 Stats& stats) {
  BatchWriter writer(&stats.write_seconds);
  const auto has_more = [&](std::uint64_t left) {
    if constexpr (requires { job.has_more(left); }) return static_cast<bool>(job.has_more(left));
    return left > 0;
  };
  for (Instance first = range.begin; has_more(range.end - first);) {
    [[maybe_unused]] const Stats previous = stats;
    std::uint64_t count = 0;
    try {
      count = std::min<std::uint64_t>(job.next_size(range.end - first), range.end - first);
      job.run(first, count, writer);
    } catch (const BudgetError&) {
      if constexpr (requires { job.shrink(count, writer); }) {
        if (writer.failed() || !job.shrink(count, writer)) throw;
        stats = previous;
        writer.finish();
        continue;
      }
      throw;
    }
    ++stats.batches;
    first += count;
    if constexpr (requires { job.finished(count); }) job.finished(count);
    if (progress && count > 0) progress(first - range.begin, range.end - range.begin);
  }
  writer.finish();
}

/// A job with batches of one size, computed by run(first, count, writer). `ranks`, which may be null, compute
/// their batches together.
template <class Run>
struct EqualBatches {
  std::uint64_t size;
  Run run;
  Communicator* ranks = nullptr;

  bool has_more(std::uint64_t left) const { return any_left(ranks, left, "the ranks' batches"); }
  std::uint64_t next_size(std::uint64_t) const { return size; }
};

}  // namespace sluice
