// What generate and convert share: a stream of edges becomes a graph file, with progress, summary and report.
#pragma once

#include <string>

#include "apps/cli/command_line.hpp"
#include "apps/cli/common_options.hpp"
#include "io/convert/convert.hpp"
#include "io/edge_source.hpp"

namespace sluice::apps {

/// Converts `source` into `output`; `options` are completed from `common`. `device`: what the source works
/// on, for the report; null: nothing but files.
void build_graph(const Command& command, const CommonOptions& common, io::EdgeSource& source,
                 const std::string& output, io::ConvertOptions options, const Device* device = nullptr);

}  // namespace sluice::apps
