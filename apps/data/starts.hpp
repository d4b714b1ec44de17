// The starts of instances, from options and files (CONTRACT section 4, Starts).
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

/// The content of one line of the file.
enum class StartsLine { one_vertex, seeds, weighted_seeds };

/// Starts whose lists are charged to the host budget.
struct ChargedStarts : Starts {
  HostCharge charge{"the list of starts"};
};

/// Throws UsageError for contradictory options, InputError naming file and line. Default if no option is
/// given: one instance per vertex if `per_vertex_by_default`, else one instance drawn at random.
ChargedStarts make_starts(const Command& command, const StartsOptions& options, StartsLine line,
                          bool per_vertex_by_default, const IdMap& ids);

/// Reads one start (or list of seeds) per line. `#` and `%` begin comments; spaces, tabs and commas separate.
/// A weighted seed is `vertex` or `vertex:weight`.
ChargedStarts read_starts(const std::string& path, StartsLine line, const IdMap& ids);

/// This rank's share of the instances, or of `--instance-range`; it may be empty. With --plan, the largest
/// share. Throws UsageError if the range begins behind the last instance.
InstanceRange instances_of_rank(const CommonOptions& options, Instance instances);

/// Adds a result file's attributes about its starts. A checksum, not a file name, identifies listed starts.
void add_start_attributes(std::vector<io::Attribute>& attributes, const Starts& starts,
                          const std::optional<InstanceRange>& range);

}  // namespace sluice::apps
