// One rank's share of a result: a log of what was declared and appended, which another rank replays into the
// writer of the whole. So the whole has the bytes that one process would have written, in every form.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "io/results/result_writer.hpp"

namespace sluice::io {

/// Writes the log to `path`, a fresh file that only commit() completes. Faults name `known_as`.
std::unique_ptr<ResultWriter> make_shard_results(const std::string& path, const std::string& known_as);

/// Appends a complete log to `into`, which has the same declarations, in pieces of bounded size. Throws
/// RunError naming the file where it is missing or incomplete.
void replay_shard(const std::string& path, ResultWriter& into);

}  // namespace sluice::io
