#include "io/convert/convert.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>

#include "engine/core/error.hpp"
#include "engine/core/memory_budget.hpp"
#include "engine/core/size.hpp"
#include "io/convert/conversion.hpp"
#include "io/output_file.hpp"

namespace sluice::io {

void require_conversion_memory() {
  const std::uint64_t allowed = host_budget().available();
  if (allowed >= kLeastConversionMemory) return;
  throw BudgetError(
      fmt::format("host memory: a conversion needs at least {}, {} are allowed (raise --host-memory)",
                  format_size(kLeastConversionMemory), format_size(allowed)));
}

ConvertStats convert(EdgeSource& source, const std::string& output, const ConvertOptions& options) {
  const EdgeSourceInfo& info = source.info();
  // Said now, not after hours of sorting; the writer looks again.
  OutputFile::require_free(output, options.force);
  if (options.weights == WeightRule::column && !info.weighted) {
    throw InputError(fmt::format("{}: no weights in the input (use --weights none or uniform)", info.origin));
  }
  if (options.timestamps && !info.timed) {
    throw InputError(fmt::format("{}: no times in the input (drop --timestamps)", info.origin));
  }
  ConvertOptions settled = options;
  settled.threads = std::max(options.threads, 1u);
  if (settled.scratch.empty()) {
    const std::filesystem::path folder = std::filesystem::path(output).parent_path();
    settled.scratch = folder.empty() ? "." : folder.string();
  }
  return with_record_type(options.weights == WeightRule::column, options.timestamps,
                          [&]<class Record>() { return Conversion<Record>(source, output, settled).run(); });
}

}  // namespace sluice::io
