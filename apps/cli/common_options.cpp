#include "apps/cli/common_options.hpp"

#include <fmt/core.h>
#include <malloc.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "apps/cli/console.hpp"
#include "apps/cli/values.hpp"
#include "apps/job/memory.hpp"
#include "apps/job/output.hpp"
#include "apps/job/ranks.hpp"
#include "engine/core/error.hpp"
#include "engine/core/size.hpp"
#include "engine/exchange/placement.hpp"
#include "engine/exec/backend.hpp"

namespace sluice::apps {

namespace {

constexpr std::array kDevices{
    Name<DeviceChoice>{"auto", DeviceChoice::automatic},
    Name<DeviceChoice>{"cuda", DeviceChoice::cuda},
    Name<DeviceChoice>{"host", DeviceChoice::host},
};

constexpr auto kProgressModes = names_in_order<ProgressMode>("auto", "always", "never");

constexpr auto kDistributions = names_in_order<Distribution>("replicate", "shard");

constexpr auto kOutputLayouts = names_in_order<OutputLayout>("single", "sharded");

InstanceRange parse_range(const std::string& text) {
  const auto colon = text.find(':');
  if (colon == std::string::npos) {
    throw UsageError(fmt::format("--instance-range: '{}' is not a range (write A:B, B not included)", text));
  }
  const std::string_view view(text);
  InstanceRange range;
  range.begin = parse_unsigned(view.substr(0, colon), "--instance-range");
  range.end = parse_unsigned(view.substr(colon + 1), "--instance-range");
  if (range.begin >= range.end) throw UsageError(fmt::format("--instance-range: {} is empty", text));
  return range;
}

}  // namespace

void declare_graph(Command& command, CommonOptions& options, const std::string& help) {
  command.group("Graph");
  command.input_file("GRAPH", options.graph, help + "; with --plan also VERTICES:EDGES[:undirected]");
}

void declare_seed(Command& command, CommonOptions& options) {
  command.integer("--seed", options.seed, 0, "the same seed gives the same output, bit for bit");
}

void declare_report(Command& command, CommonOptions& options) {
  command.output_file("--report", options.report, "write a JSON report: options, times, rates, memory");
}

void declare_results(Command& command, CommonOptions& options) {
  command.output_or_stdout(
      "--output", options.output,
      "file or folder of results; '-': standard output (text only) (required without --plan)");
  command.choice("--format", options.format, kResultFormats,
                 "HDF5, a folder of .npy files, or one row a line");
  command.choice("--output-layout", options.output_layout, kOutputLayouts,
                 "one file, or one per rank and a file that joins them (h5)");
  command.add_derived_file("the shards of --output", [&options] {
    return options.output_layout == OutputLayout::sharded || options.force ? folder_of_shards(options.output)
                                                                           : "";
  });
  command.flag("--force", options.force, "replace what exists");
  declare_report(command, options);
  command.text_value(
      "--instance-range", "A:B", [&options](const std::string& given) { options.range = parse_range(given); },
      [&options] {
        return OptionValue(options.range ? fmt::format("{}:{}", options.range->begin, options.range->end)
                                         : "");
      },
      "only instances A to B-1, for job arrays; joined parts equal the whole result");
  command.flag("--original-ids", options.original_ids,
               "use the original input's ids in options, inputs and results (minus 1 if they begin at 1)");
  command.flag("--verify", options.verify, "check every result against the graph before it is written");
  command.flag("--plan", options.plan, "print the memory that the job needs, without running it");
}

void declare_host_memory(Command& command, CommonOptions& options) {
  command.size("--host-memory", options.host_memory,
               "ceiling, like 4GiB (default: nine tenths of what is free)");
}

void declare_host(Command& command, CommonOptions& options) {
  command.group("Machine");
  command.integer("--threads", options.device.threads, 1,
                  "host threads (default: this rank's share of the cores it may use)", 4096);
  declare_host_memory(command, options);
  command.text("--scratch", "FOLDER", options.scratch,
               "folder of temporary files, such as sort runs (default: the output's folder; for standard "
               "output the system's)");
}

void declare_backend(Command& command, CommonOptions& options) {
  command.group("Machine");
  command.choice("--device", options.device.choice, kDevices, "auto: a GPU if one is usable");
  declare_host(command, options);
  command.size(
      "--device-memory", options.device.device_memory,
      "ceiling, like 4GiB; on the host it bounds tables and queues (default: what is free, with a margin)");
}

void declare_device(Command& command, CommonOptions& options) {
  declare_backend(command, options);
  command.flag("--share-gpu", options.share_gpu, "several ranks may share one GPU and its memory");
  command.choice("--layout", options.layout, kLayouts,
                 "layout of edges in memory; changes speed, never a result");
  command.choice("--distribution", options.distribution, kDistributions,
                 "replicate: every rank reaches the whole graph; shard: each rank owns a part of it");
  command.integer("--partitions", options.paging.partitions, 0,
                  "partitions of the graph; 0: as many as the budget requires, 1: keep it whole");
  command.integer("--slots", options.paging.slots, 0,
                  "partitions on the device at once, 1 counts as 2; 0: as many as the budget allows");
  command.choice("--transport", options.paging.transport, kTransports,
                 "how partitions reach the device: auto compares a copy with reading in place; file keeps "
                 "the graph in its file");
}

void declare_messages(Command& command, CommonOptions& options) {
  command.group("Messages");
  command.choice("--progress", options.progress, kProgressModes,
                 "a bar on standard error; auto: if it is a terminal");
  command.flag("--quiet", options.quiet, "errors and warnings only");
  command.flag("--verbose", options.verbose, "also print all options and the device");
}

void declare_job(Command& command, CommonOptions& options) {
  command.group("Results");
  declare_results(command, options);
  declare_device(command, options);
  declare_messages(command, options);
  command.set_allows_ranks();
}

void require_scratch(const CommonOptions& options) {
  if (options.scratch.empty()) return;
  std::error_code absent;
  if (!std::filesystem::is_directory(options.scratch, absent)) {
    throw UsageError(
        fmt::format("--scratch: {} is not a folder (make it, or choose another)", options.scratch));
  }
  if (::access(options.scratch.c_str(), W_OK | X_OK) != 0) {
    throw UsageError(fmt::format("--scratch: {} cannot be written ({}; choose another)", options.scratch,
                                 std::strerror(errno)));
  }
}

void warn_idle_slots(const Command& command, const CommonOptions& options, std::uint64_t partitions) {
  const std::uint64_t max_partitions = reduce_over_ranks(partitions, Reduce::max, "the partitions");
  if (options.paging.slots == 0 || max_partitions > 1 || options.quiet) return;
  // Not an error: with less memory, or on another machine, the same job has partitions.
  const char* const reason = options.paging.partitions > 1
                                 ? "no partition is loaded onto the device (omit it)"
                                 : "the graph is processed whole (use --partitions)";
  print_message(
      fmt::format("{}: --slots {} has no effect: {}\n", command.name(), options.paging.slots, reason));
}

void apply_host_ceiling(const CommonOptions& options) {
#if defined(__GLIBC__)
  // By default, malloc soon keeps freed vectors of up to 32 MiB; what the budget releases must be free.
  mallopt(M_MMAP_THRESHOLD, 1 << 20);
#endif
  const std::uint64_t share = free_host_memory() / 10 * 9 / static_cast<std::uint64_t>(world().node_size());
  host_budget().set_ceiling(options.host_memory != 0 ? options.host_memory : share);
}

std::string shared_options_text(const Command& command) {
  std::string text = fmt::format("command {}\n", command.name());
  for (const auto& [name, value] : command.resolved()) {
    // Paths and sizes may differ between nodes.
    if (name == "GRAPH" || name == "threads" || name == "scratch" || name.find("memory") != name.npos)
      continue;
    text += fmt::format("--{} '{}'\n", name, to_string(value));
  }
  return text;
}

DeviceOptions device_of_rank(const CommonOptions& options) {
  DeviceOptions device = options.device;
  if (world().size() == 1) return device;
  RankView view{world().node_leader(), usable_core_set(), usable_cores(), {}};
  if (device.choice != DeviceChoice::host) view.gpus = visible_gpus();
  const Placement placement = place_rank(world(), view);
  if (device.threads == 0) device.threads = placement.threads;
  if (placement.gpu_ranks == 0) return device;
  if (placement.gpu_ranks > 1 && !options.share_gpu) {
    throw UsageError(
        fmt::format("{} ranks of a machine would share a GPU (start one rank per GPU, or use --share-gpu or "
                    "--device host)",
                    placement.gpu_ranks));
  }
  device.gpu = placement.gpu;
  device.gpu_ranks = placement.gpu_ranks;
  return device;
}

void warn_unusable_gpu(const Command& command, const CommonOptions& options, const Device& device) {
  if (options.device.choice != DeviceChoice::automatic || device.is_cuda() || options.quiet) return;
  const cuda::GpuState gpu = cuda::gpu_state(options.device.gpu);
  if (gpu.present)
    print_message(fmt::format("{}: runs on the host, since the GPU cannot be used ({})\n", command.name(),
                              gpu.unusable_reason));
}

unsigned threads_of(const CommonOptions& options) {
  return options.device.threads != 0 ? options.device.threads : usable_cores();
}

void print_options(const Command& command, const CommonOptions& options) {
  if (options.quiet && options.verbose) throw UsageError("--quiet and --verbose contradict each other");
  if (!options.verbose) return;
  std::string text = command.full_name() + "\n";
  for (const auto& [name, value] : command.resolved()) {
    const std::string shown = to_string(value);
    text += fmt::format("  {:<18} {}\n", name, shown.empty() ? "-" : shown);
  }
  text += fmt::format("  {:<18} {}\n", "host ceiling", format_size(host_budget().ceiling()));
  print_message(text);
}

}  // namespace sluice::apps
