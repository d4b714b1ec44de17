#include "apps/data/starts.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "apps/cli/values.hpp"
#include "apps/job/ranks.hpp"
#include "apps/report/report.hpp"
#include "engine/core/error.hpp"
#include "io/readers/fault.hpp"

namespace sluice::apps {

namespace {

/// Parses a vertex; `location` is `FILE:LINE`.
Vertex to_vertex(std::string_view word, const std::string& location, const IdMap& ids) {
  const auto id = to_integer(word);
  if (!id) throw InputError(fmt::format("{}: {} is not a vertex id", location, io::readers::quote(word)));
  const auto vertex = ids.to_internal(*id);
  if (!vertex) throw InputError(fmt::format("{}: the graph has no vertex {}", location, *id));
  return *vertex;
}

double to_weight(std::string_view word, const std::string& location) {
  const auto weight = to_real(word);
  if (!weight || !(*weight > 0)) {
    throw InputError(fmt::format("{}: {} is not a weight (write vertex:weight, above 0)", location,
                                 io::readers::quote(word)));
  }
  return *weight;
}

/// Appends the seeds of one line.
void read_line(const Words& words, const std::string& location, StartsLine line, const IdMap& ids,
               ChargedStarts& starts) {
  const std::size_t before = starts.weights.size();
  for (const auto word : words) {
    const auto colon = line == StartsLine::weighted_seeds ? word.find(':') : word.npos;
    starts.charge.push(starts.vertices, to_vertex(word.substr(0, colon), location, ids));
    if (line != StartsLine::weighted_seeds) continue;
    starts.charge.push(starts.weights, colon == word.npos ? 1 : to_weight(word.substr(colon + 1), location));
  }
  double total = 0;
  for (std::size_t i = before; i < starts.weights.size(); ++i) total += starts.weights[i];
  if (!std::isfinite(total)) throw InputError(fmt::format("{}: the weights' sum is too large", location));
}

/// FNV-1a over 64-bit words.
std::uint64_t checksum(const Starts& starts) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  const auto mix = [&](std::uint64_t word) { hash = (hash ^ word) * 0x100000001b3u; };
  for (const auto vertex : starts.vertices) mix(vertex);
  for (const auto offset : starts.offsets) mix(offset);
  for (const auto weight : starts.weights) mix(std::bit_cast<std::uint64_t>(weight));
  return hash;
}

}  // namespace

void declare_starts(Command& command, StartsOptions& options) {
  command.input_file("--starts", options.file,
                     "one start per line; for samples and pools, several seeds per line");
  command.integer("--walks-per-vertex", options.walks_per_vertex, 1,
                  "this many instances begin at every vertex");
  command.integer("--instances", options.instances, 1,
                  "this many instances, whose starts are drawn uniformly");
}

ChargedStarts read_starts(const std::string& path, StartsLine line, const IdMap& ids) {
  ChargedStarts starts;
  starts.mode = Starts::Mode::listed;
  if (line != StartsLine::one_vertex) starts.charge.push<std::uint64_t>(starts.offsets, 0);
  for_each_line(path, "a line of starts", [&](const Words& words, const std::string& location) {
    read_line(words, location, line, ids, starts);
    if (line != StartsLine::one_vertex) {
      starts.charge.push<std::uint64_t>(starts.offsets, starts.vertices.size());
    } else if (words.size() > 1) {
      throw InputError(fmt::format("{}: {} vertices, but a walk starts at one (write one per line)", location,
                                   words.size()));
    }
  });
  if (starts.vertices.empty()) throw InputError(fmt::format("{}: holds no vertex", path));
  return starts;
}

ChargedStarts make_starts(const Command& command, const StartsOptions& options, StartsLine line,
                          bool per_vertex_by_default, const IdMap& ids) {
  const bool listed = command.given("--starts");
  const bool per_vertex = command.given("--walks-per-vertex");
  const bool random = command.given("--instances");
  if (listed + per_vertex + random > 1) {
    throw UsageError("--starts, --walks-per-vertex and --instances exclude each other (give one of them)");
  }
  if (listed) return read_starts(options.file, line, ids);
  ChargedStarts starts;
  starts.rounds = options.walks_per_vertex;
  if (random || (!per_vertex && !per_vertex_by_default)) {
    starts.mode = Starts::Mode::random;
    starts.count = random ? options.instances : 1;
  }
  return starts;
}

InstanceRange instances_of_rank(const CommonOptions& options, Instance instances) {
  const InstanceRange range = options.range.value_or(InstanceRange{0, instances});
  if (options.range && range.begin >= instances) {
    throw UsageError(fmt::format("--instance-range {}:{} begins after the last of {} instances", range.begin,
                                 range.end, instances));
  }
  const auto ranks = static_cast<unsigned __int128>(world().size());
  const unsigned __int128 all = std::min(range.end, instances) - range.begin;
  // Shares differ by at most one, and the last one is never smaller than another.
  const auto rank = options.plan ? ranks - 1 : static_cast<unsigned __int128>(world().rank());
  return {range.begin + static_cast<Instance>(all * rank / ranks),
          range.begin + static_cast<Instance>(all * (rank + 1) / ranks)};
}

void add_start_attributes(std::vector<io::Attribute>& attributes, const Starts& starts,
                          const std::optional<InstanceRange>& range) {
  switch (starts.mode) {
    case Starts::Mode::per_vertex:
      attributes.emplace_back("walks_per_vertex", static_cast<std::int64_t>(starts.rounds));
      break;
    case Starts::Mode::random:
      attributes.emplace_back("instances", static_cast<std::int64_t>(starts.count));
      break;
    case Starts::Mode::listed:
      attributes.emplace_back("starts_checksum", format_checksum(checksum(starts)));
      break;
  }
  if (range) attributes.emplace_back("instance_range", fmt::format("{}:{}", range->begin, range->end));
}

}  // namespace sluice::apps
