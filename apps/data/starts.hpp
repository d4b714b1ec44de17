// Where instances start, as options and files say it (CONTRACT section 4, Starts).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/cli/command_line.hpp"
#include "apps/cli/common_options.hpp"
#include "apps/data/ids.hpp"
#include "engine/batch/starts.hpp"
#include "engine/core/host_charge.hpp"
#include "io/results/result_writer.hpp"

namespace sluice::apps {

struct StartsOptions {
  std::string file;
  std::uint64_t walks_per_vertex = 1;
  std::uint64_t instances = 0;
};

void declare_starts(Command& command, StartsOptions& options);

/// What a line of the file holds.
enum class StartsLine { one_vertex, seeds, weighted_seeds };

/// Starts whose lists are charged to the host budget.
struct HeldStarts : Starts {
  HostCharge charge{"the list of starts"};
};

/// Throws UsageError for options that contradict, InputError naming file and line.
/// `per_vertex_by_default`: without any option one instance a vertex, else one instance drawn at random.
HeldStarts make_starts(const Command& command, const StartsOptions& options, StartsLine line,
                       bool per_vertex_by_default, const IdMap& ids);

/// One start (or list of seeds) a line; `#` and `%` begin comments; spaces, tabs and commas separate. A
/// weighted seed is `vertex` or `vertex:weight`.
HeldStarts read_starts(const std::string& path, StartsLine line, const IdMap& ids);

/// This rank's share of the instances, or of those that `--instance-range` names; it may be empty. With
/// --plan the largest share. Throws UsageError where the range begins behind the last instance.
InstanceRange share_of_rank(const CommonOptions& options, Instance instances);

/// Adds what a result file says of its starts. Listed ones are named by a checksum, whatever their file is
/// called.
void add_start_attributes(std::vector<io::Attribute>& attributes, const Starts& starts,
                          const std::optional<InstanceRange>& range);

}  // namespace sluice::apps
