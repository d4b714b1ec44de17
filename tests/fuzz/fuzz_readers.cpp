// Any bytes must be read, or refused with one line that names the file, without a crash. Every block size and
// number of threads must give the same edges. The first byte of an input chooses the options, the rest is the
// file.
#include <sys/mman.h>
#include <unistd.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>

#include "engine/core/error.hpp"
#include "io/edge_source.hpp"
#include "io/readers/numbers.hpp"

namespace {

using namespace sluice;
using namespace sluice::io;

void require(bool holds) {
  if (!holds) std::abort();
}

/// A file in memory with a path.
class MemoryFile {
 public:
  MemoryFile(const std::uint8_t* data, std::size_t size) : descriptor_(memfd_create("edges", 0)) {
    require(descriptor_ >= 0 && write(descriptor_, data, size) == static_cast<ssize_t>(size));
  }
  ~MemoryFile() { close(descriptor_); }
  MemoryFile(const MemoryFile&) = delete;
  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

void check(const EdgeBatch& batch, const EdgeStreamInfo& info) {
  require(batch.size() > 0 && batch.target.size() == batch.size());
  require(batch.weight.size() == (info.weighted ? batch.size() : 0));
  require(batch.time.size() == (info.timed ? batch.size() : 0));
  for (const std::uint64_t id : batch.source) require(id < readers::kIdLimit);
  for (const std::uint64_t id : batch.target) require(id < readers::kIdLimit);
  for (const float weight : batch.weight) require(std::isfinite(weight) && !std::signbit(weight));
}

/// All edges, or nullopt if the file was refused.
std::optional<EdgeBatch> load(const std::string& path, const ReadOptions& options) {
  try {
    const auto source = open_edge_file(path, options);
    EdgeBatch all, batch;
    while (source->next(batch)) {
      check(batch, source->info());
      all.source.insert(all.source.end(), batch.source.begin(), batch.source.end());
      all.target.insert(all.target.end(), batch.target.begin(), batch.target.end());
      all.weight.insert(all.weight.end(), batch.weight.begin(), batch.weight.end());
      all.time.insert(all.time.end(), batch.time.begin(), batch.time.end());
    }
    require(source->remark().find('\n') == std::string::npos);
    return all;
  } catch (const InputError& error) {
    const std::string message = error.what();
    require(message.starts_with(path + ":") && message.find('\n') == std::string::npos);
    return std::nullopt;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const MemoryFile file(data + 1, size - 1);
  ReadOptions options;
  options.format = EdgeFormat::SLUICE_FUZZ_FORMAT;
  options.weights = data[0] & 1 ? WeightColumn::column : WeightColumn::none;
  options.timestamps = data[0] & 2;
  options.batch_bytes = 64u << 10;
  const auto whole = load(file.path(), options);

  options.batch_bytes = data[0] & 4 ? 1 : 20;
  options.threads = data[0] & 8 ? 3 : 1;
  const auto pieces = load(file.path(), options);

  require(whole.has_value() == pieces.has_value());
  if (whole) {
    require(whole->source == pieces->source && whole->target == pieces->target);
    require(whole->weight == pieces->weight && whole->time == pieces->time);
  }
  return 0;
}
