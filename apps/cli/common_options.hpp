// The options that jobs share (CONTRACT section 2), declared in groups that a command picks from.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "apps/cli/command_line.hpp"
#include "apps/cli/progress.hpp"
#include "engine/batch/starts.hpp"
#include "engine/exec/device.hpp"
#include "engine/graph/layout.hpp"
#include "engine/memory/paging.hpp"
#include "io/results/result_writer.hpp"

namespace sluice::apps {

/// `--instance-range A:B`: instances A up to, and without, B.
struct InstanceRange {
  Instance first = 0;
  Instance last = ~Instance{0};
};

/// One file, or one a rank and a file that joins them.
enum class OutputLayout { single, sharded };

/// What each rank reaches: the whole graph, or the partitions that it owns.
enum class Distribution { replicate, shard };

struct CommonOptions {
  std::string graph;  ///< the file that a job works on
  DeviceOptions device;
  bool share_gpu = false;
  std::uint64_t seed = 1;
  std::uint64_t host_memory = 0;  ///< bytes; 0: what is free, with a margin
  Layout layout = Layout::automatic;
  PagingOptions paging;
  Distribution distribution = Distribution::replicate;
  std::string output;
  std::string scratch;  ///< folder for temporary files; empty: beside the output, or the system's
  io::ResultFormat format = io::ResultFormat::h5;
  OutputLayout output_layout = OutputLayout::single;
  bool force = false;
  bool original_ids = false;
  bool verify = false;
  bool plan = false;
  std::optional<InstanceRange> range;
  std::string report;
  ProgressMode progress = ProgressMode::automatic;
  bool quiet = false;
  bool verbose = false;
};

/// GRAPH, under its heading; `help` says of a graph file what is of use to know.
void declare_graph(Command& command, CommonOptions& options,
                   const std::string& help = "a graph file (see generate, convert)");
void declare_seed(Command& command, CommonOptions& options);
/// --output, --force, --report ...
void declare_report(Command& command, CommonOptions& options);
void declare_results(Command& command, CommonOptions& options);
/// --threads, --host-memory, --scratch
void declare_host(Command& command, CommonOptions& options);
/// --device, --device-memory and those of the host
void declare_backend(Command& command, CommonOptions& options);
/// All of these, --layout and those that come with out-of-core support
void declare_device(Command& command, CommonOptions& options);
/// --progress, --quiet, --verbose
void declare_messages(Command& command, CommonOptions& options);
/// All of these under their headings: a job on a graph file, on one rank or many.
void declare_job(Command& command, CommonOptions& options);

/// Techniques of the papers, beside others that do the same work.
inline constexpr std::array<std::string_view, 11> kTechniques{
    "--filter",     "--fusion",      "--collision", "--rows",        "--split", "--affect-all",
    "--unexpanded", "--table-limit", "--balls",     "--score-units", "--state"};
/// What solvers, whose every result is of all vertices, have no meaning for: they read lists as they lie, and
/// bring a partition wherever one is needed.
inline constexpr std::array<std::string_view, 2> kIdleForSolvers{"--instance-range", "--layout"};

/// Says that `--slots` changes nothing where lists are one partition on every rank. All ranks call it.
void say_idle_slots(const Command& command, const CommonOptions& options, std::uint64_t partitions);
/// Throws UsageError if `--scratch` is no folder that can be written.
void require_scratch(const CommonOptions& options);

/// Makes `--host-memory` (or nine tenths of what is free) the ceiling of the host budget.
void apply_host_ceiling(const CommonOptions& options);

/// The device options of this rank: its share of its machine's cores, and its GPU. All ranks call it. Throws
/// UsageError where several would have to share a GPU and the user has not said that they may.
DeviceOptions device_of_rank(const CommonOptions& options);
/// One line where `--device auto` takes the host though there is a GPU.
void say_refused_gpu(const Command& command, const CommonOptions& options, const Device& device);

/// The options that would give other results if they differed from rank to rank, a line each.
std::string same_options(const Command& command);

/// The cores to use: `--threads`, or all that this process may use.
unsigned threads_of(const CommonOptions& options);

/// With --verbose: the resolved configuration on standard error. Throws UsageError for options that
/// contradict.
void announce(const Command& command, const CommonOptions& options);

}  // namespace sluice::apps
