#include "io/convert/convert.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "engine/core/error.hpp"
#include "engine/core/memory_budget.hpp"
#include "engine/core/size.hpp"
#include "io/convert/adjacency_writer.hpp"
#include "io/convert/conversion.hpp"
#include "io/graph_file/graph_file.hpp"
#include "io/output_file.hpp"
#include "partition/build.hpp"

namespace sluice::io {
namespace {

/// Calls work(conversion) for one of records that carry what `options` ask for. They may leave `scratch`
/// open.
template <class Work>
auto with_conversion(EdgeStream& source, ConvertOptions options, unsigned share, const std::string& scratch,
                     Work&& work) {
  const EdgeStreamInfo& info = source.info();
  if (options.weights == WeightRule::column && !info.weighted) {
    throw InputError(fmt::format("{}: no weights in the input (use --weights none or uniform)", info.origin));
  }
  if (options.timestamps && !info.timed) {
    throw InputError(fmt::format("{}: no times in the input (omit --timestamps)", info.origin));
  }
  options.threads = std::max(options.threads, 1u);
  if (options.scratch.empty()) options.scratch = scratch;
  return with_record_type(options.weights == WeightRule::column, options.timestamps,
                          [&]<class Record>() { return work(Conversion<Record>(source, options, share)); });
}

template <class Record>
ConvertStats write_file(Conversion<Record>& conversion, const std::string& output,
                        const ConvertOptions& options) {
  const GraphInfo info = conversion.sort();
  GraphWriter writer(output, info, options.force);
  const auto write_rows = [&](bool in) {
    FileRowSink rows(writer, info, in, conversion.block_records());
    conversion.write_rows(rows);
  };
  write_rows(false);
  if (options.reverse) {
    conversion.reverse();
    write_rows(true);
  }
  conversion.write_ids([&](std::span<const std::int64_t> ids) { writer.append_original_ids(ids); });
  const std::uint64_t checksum = writer.finish();
  ConvertStats stats = conversion.finish();
  stats.checksum = checksum;
  stats.file_bytes = writer.bytes();
  if (options.completed) options.completed(stats);
  writer.commit();
  return stats;
}

}  // namespace

void require_conversion_memory() {
  const std::uint64_t allowed = host_budget().available();
  if (allowed >= kMinConversionMemory) return;
  throw BudgetError(
      fmt::format("host memory: a conversion needs at least {}, {} are allowed (raise --host-memory)",
                  format_size(kMinConversionMemory), format_size(allowed)));
}

ConvertStats convert(EdgeStream& source, const std::string& output, const ConvertOptions& options) {
  // Said now, not after hours of sorting; the writer looks again.
  OutputFile::require_free(output, options.force);
  return with_conversion(source, options, 1, folder_of(output),
                         [&](auto&& conversion) { return write_file(conversion, output, options); });
}

Graph convert_in_memory(EdgeStream& source, const ConvertOptions& options, ConvertStats* stats) {
  const auto make = [&](auto&& conversion) {
    Graph graph = make_graph(conversion.sort(), {}, nullptr);
    MemoryRowSink rows(graph.out);
    conversion.write_rows(rows);
    std::int64_t* next = graph.original_ids.data();
    conversion.write_ids(
        [&](std::span<const std::int64_t> ids) { next = std::copy(ids.begin(), ids.end(), next); });
    const ConvertStats& result = conversion.finish();
    if (stats) *stats = result;
    return graph;
  };
  std::error_code error;  // then only a sort that spills fails
  const std::string scratch = std::filesystem::temp_directory_path(error);
  // Half: the graph lies beside the sorted edges.
  Graph graph = with_conversion(source, options, 2, error ? "/tmp" : scratch, make);
  if (options.reverse) graph.in = transpose(graph.out, options.threads);
  return graph;
}

}  // namespace sluice::io
