#include "io/generate/generate.hpp"

#include <algorithm>
#include <array>

#include "engine/exec/threads.hpp"
#include "io/generate/edge_generator.hpp"

namespace sluice::io {
namespace {

constexpr std::uint64_t kPiece = 1u << 12;  // edges a thread makes at a time, in its own cache
constexpr std::uint64_t kBatchPerThread = 1u << 16, kLargestBatch = 1u << 20;

/// Hands out the generator's edges in the order of their indices.
class GeneratorSource final : public EdgeSource {
 public:
  explicit GeneratorSource(const GenerateOptions& options)
      : generator_(options),
        threads_(std::max(options.threads, 1u)),
        most_(std::clamp<std::uint64_t>(reader_memory() / (2 * sizeof(std::uint64_t)), kPiece,
                                        std::min(kBatchPerThread * threads_, kLargestBatch))) {
    info_.vertices = generator_.vertices();
    info_.undirected = generator_.undirected();
    info_.origin = generator_.origin();
  }

  const EdgeSourceInfo& info() const override { return info_; }

  bool next(EdgeBatch& batch) override {
    batch.clear();
    const std::uint64_t size = std::min(generator_.edges() - next_, most_);
    if (size == 0) return false;
    batch.source.resize(size);
    batch.target.resize(size);
    parallel_blocks(threads_, size, kPiece, [&](std::uint64_t begin, std::uint64_t end, unsigned) {
      std::array<Vertex, kPiece> source, target;
      const std::uint64_t count = end - begin;
      generator_.fill(next_ + begin, {source.data(), count}, {target.data(), count});
      std::copy_n(source.begin(), count, batch.source.begin() + static_cast<std::ptrdiff_t>(begin));
      std::copy_n(target.begin(), count, batch.target.begin() + static_cast<std::ptrdiff_t>(begin));
    });
    next_ += size;
    return true;
  }

  std::pair<std::uint64_t, std::uint64_t> progress() const override {
    return {next_ * 2 * sizeof(Vertex), generator_.edges() * 2 * sizeof(Vertex)};
  }

 private:
  EdgeGenerator generator_;
  EdgeSourceInfo info_;
  unsigned threads_;
  std::uint64_t most_;  ///< edges at a time
  std::uint64_t next_ = 0;
};

}  // namespace

std::unique_ptr<EdgeSource> make_generator(const GenerateOptions& options) {
  return std::make_unique<GeneratorSource>(options);
}

}  // namespace sluice::io
