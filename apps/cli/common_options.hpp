// The options that jobs share (CONTRACT section 2), declared in groups from which a command chooses.
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

/// A single file, or one file per rank and a file that joins them.
enum class OutputLayout { single, sharded };

/// Does each rank access the whole graph, or own a part of it?
enum class Distribution { replicate, shard };

struct CommonOptions {
  std::string graph;  ///< the graph file of the job
  DeviceOptions device;
  bool share_gpu = false;
  std::uint64_t seed = 1;
  std::uint64_t host_memory = 0;  ///< bytes; 0: nine tenths of the free memory
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
  std::optional<InstanceRange> range;  ///< `--instance-range A:B`: instances A to B-1
  std::string report;
  ProgressMode progress = ProgressMode::automatic;
  bool quiet = false;
  bool verbose = false;
};

/// Declares GRAPH and its heading; `help` describes the graph file.
void declare_graph(Command& command, CommonOptions& options,
                   const std::string& help = "a graph file (see generate, convert)");
void declare_seed(Command& command, CommonOptions& options);
/// Declares --output, --force, --report ...
void declare_report(Command& command, CommonOptions& options);
void declare_results(Command& command, CommonOptions& options);
void declare_host_memory(Command& command, CommonOptions& options);
/// Declares --threads, --host-memory, --scratch, and their heading.
void declare_host(Command& command, CommonOptions& options);
/// Declares --device, --device-memory and all of declare_host.
void declare_backend(Command& command, CommonOptions& options);
/// Declares all of declare_backend, --layout, and those of ranks and out-of-core work.
void declare_device(Command& command, CommonOptions& options);
/// Declares --progress, --quiet, --verbose, and their heading.
void declare_messages(Command& command, CommonOptions& options);
/// Declares all of these and their headings: a job on a graph file, on one or several ranks.
void declare_job(Command& command, CommonOptions& options);

/// Techniques from the papers, and alternatives that do the same work.
inline constexpr std::array<std::string_view, 11> kTechniques{
    "--filter",     "--fusion",      "--collision", "--rows",        "--split", "--affect-all",
    "--unexpanded", "--table-limit", "--balls",     "--score-units", "--state"};
/// Options without effect for solvers, which compute results of all vertices, read lists in their stored
/// layout, and bring each partition where it is needed.
inline constexpr std::array<std::string_view, 2> kIdleForSolvers{"--instance-range", "--layout"};

/// Prints that `--slots` has no effect if no rank has more than one partition. All ranks call it.
void warn_idle_slots(const Command& command, const CommonOptions& options, std::uint64_t partitions);
/// Throws UsageError if `--scratch` is not a writable folder.
void require_scratch(const CommonOptions& options);

/// Sets the host budget's ceiling: `--host-memory`, or this rank's part of nine tenths of the free memory.
void apply_host_ceiling(const CommonOptions& options);

/// The device options of this rank: its share of the machine's cores, and its GPU. All ranks call it. Throws
/// UsageError if several ranks would share a GPU without --share-gpu.
DeviceOptions device_of_rank(const CommonOptions& options);
/// Prints a line if `--device auto` takes the host although there is a GPU.
void warn_unusable_gpu(const Command& command, const CommonOptions& options, const Device& device);

/// The options that must be equal on all ranks because results depend on them, one per line.
std::string shared_options_text(const Command& command);

/// The number of threads: `--threads`, or all cores that this process may use.
unsigned threads_of(const CommonOptions& options);

/// With --verbose, prints the configuration on standard error. Throws UsageError for contradictory options.
void print_options(const Command& command, const CommonOptions& options);

}  // namespace sluice::apps
