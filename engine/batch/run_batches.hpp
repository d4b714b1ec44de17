// The loop of every run over instances: batch after batch, while the results of the last one leave.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>

#include "engine/batch/batch_writer.hpp"
#include "engine/batch/starts.hpp"
#include "engine/core/error.hpp"
#include "engine/memory/owned_partitions.hpp"

namespace sluice {

/// Makes instances `range` in batches of a job, which has
///   next(left)                  how many instances the next batch holds, of `left` that this rank has yet to
///                               make. Called once a batch, and again for a batch that is made again
///   run(first, count, writer)   makes them and hands their results to the writer. Throws BudgetError where
///                               they do not fit
///   more(left)                  optional: is there another batch? Default: while instances are left. Where
///                               ranks make their batches together, all of them say the same
///   smaller(count, writer)      optional: makes later batches smaller, after a BudgetError; false: they
///                               cannot be, or results have begun to leave, and the error goes on. Without it
///                               no batch is made again
///   ran(count)                  optional: a batch has ended
/// Instances do not depend on the batch that they are made in. `stats.batches` counts batches, and
/// `stats.write_seconds` adds up what the run waited for writes. `progress` is called after every batch, with
/// instances done and in all; it may throw to stop the run.
template <class Job, class Stats>
void run_batches(Job&& job, InstanceRange range, const std::function<void(Instance, Instance)>& progress,
                 Stats& stats) {
  BatchWriter writer(&stats.write_seconds);
  const auto more = [&](std::uint64_t left) {
    if constexpr (requires { job.more(left); }) return static_cast<bool>(job.more(left));
    return left > 0;
  };
  for (Instance first = range.begin; more(range.end - first);) {
    [[maybe_unused]] const Stats before = stats;
    std::uint64_t count = 0;
    try {
      count = std::min<std::uint64_t>(job.next(range.end - first), range.end - first);
      job.run(first, count, writer);
    } catch (const BudgetError&) {
      if constexpr (requires { job.smaller(count, writer); }) {
        if (writer.failed() || !job.smaller(count, writer)) throw;
        stats = before;
        writer.finish();
        continue;
      }
      throw;
    }
    ++stats.batches;
    first += count;
    if constexpr (requires { job.ran(count); }) job.ran(count);
    if (progress && count > 0) progress(first - range.begin, range.end - range.begin);
  }
  writer.finish();
}

/// A job of batches of one size, made by run(first, count, writer). `ranks`, which may be null, make their
/// batches together.
template <class Run>
struct EvenBatches {
  std::uint64_t size;
  Run run;
  Communicator* ranks = nullptr;

  bool more(std::uint64_t left) const { return any_left(ranks, left, "the ranks' batches"); }
  std::uint64_t next(std::uint64_t) const { return size; }
};

}  // namespace sluice
