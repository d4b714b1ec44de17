// What generate and convert share: a stream of edges to a graph file, with progress, summary and report.
#pragma once

#include <string>

#include "apps/cli/command_line.hpp"
#include "apps/cli/common_options.hpp"
#include "io/convert/convert.hpp"
#include "io/edge_source.hpp"

namespace sluice::apps {

/// Converts `source` into `output`; completes `options` from `common`. `device`: the device that the source
/// uses, for the report; null if none.
void build_graph(const Command& command, const CommonOptions& common, io::EdgeStream& source,
                 const std::string& output, io::ConvertOptions options, const Device* device = nullptr);

}  // namespace sluice::apps
