#include "io/generate/edge_generator.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "engine/core/error.hpp"
#include "engine/exec/threads.hpp"
#include "io/generate/device_edges.hpp"

#if defined(__x86_64__) && defined(__gnu_linux__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__) && !defined(__clang__)
#define SLUICE_WIDE_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define SLUICE_WIDE_CLONES
#endif

namespace sluice::io {
namespace {

/// The first draw of the label permutation, beyond all draws of an edge.
constexpr std::uint32_t kPermutationDraw = 1u << 16;

/// Edges that are drawn together, so that the compiler can use vector registers.
constexpr std::size_t kLanes = 16;
using Lanes = std::array<std::uint32_t, kLanes>;

/// One level of R-MAT for all lanes.
inline void descend(const Lanes& random, Lanes& source, Lanes& target) {
  for (std::size_t lane = 0; lane < kLanes; ++lane) io::descend(random[lane], source[lane], target[lane]);
}

/// The ends of edges first, first + 1, ... before any relabelling. Also compiled for wider vectors, which are
/// used where available; the integer arithmetic is the same.
SLUICE_WIDE_CLONES void draw_rmat(std::uint64_t first, std::uint64_t seed, unsigned scale, Lanes& source,
                                  Lanes& target) {
  source.fill(0), target.fill(0);
  for (unsigned level = 0; level < scale; level += kLevelsPerBlock) {
    Lanes x, y, z, w;
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const std::uint64_t edge = first + lane;
      const PhiloxBlock block =
          philox({draw_word(Stream::generate, level / kLevelsPerBlock), static_cast<std::uint32_t>(edge),
                  static_cast<std::uint32_t>(edge >> 32), scale},
                 seed);
      x[lane] = block.x, y[lane] = block.y, z[lane] = block.z, w[lane] = block.w;
    }
    descend(x, source, target);
    if (level + 1 < scale) descend(y, source, target);
    if (level + 2 < scale) descend(z, source, target);
    if (level + 3 < scale) descend(w, source, target);
  }
}

}  // namespace

LabelPermutation::LabelPermutation(unsigned bits, std::uint64_t seed)
    : mask_(static_cast<std::uint32_t>((std::uint64_t{1} << bits) - 1)),
      shift_(std::max(1u, (bits + 1) / 2)) {
  std::uint32_t draw = kPermutationDraw;
  for (Round& round : rounds_) {
    const PhiloxBlock block = philox({draw_word(Stream::generate, draw++), 0, 0, bits}, seed);
    round = {block.x | 1, block.y};
  }
}

EdgeGenerator::EdgeGenerator(const GenerateOptions& options) : options_(options) {
  if (options.scale > 31) throw UsageError(fmt::format("--scale {}: at most 31", options.scale));
  const std::uint64_t rows = std::uint64_t{1} << options.scale / 2, columns = vertices() / rows;
  switch (options.kind) {
    case GraphKind::kronecker:
      labels_ = LabelPermutation(options.scale, options.seed);
      [[fallthrough]];
    case GraphKind::rmat:
    case GraphKind::uniform:
      edges_ = vertices() * options.edge_factor;
      break;
    case GraphKind::grid:
      edges_ = rows * (columns - 1) + (rows - 1) * columns;
      break;
    case GraphKind::ring:
      edges_ = vertices();
      break;
  }
}

std::string EdgeGenerator::origin() const {
  const bool random = options_.kind != GraphKind::grid && options_.kind != GraphKind::ring;
  std::string text = fmt::format("generate {} --scale {}",
                                 kGraphKindNames[static_cast<std::size_t>(options_.kind)], options_.scale);
  if (random) text += fmt::format(" --edge-factor {} --seed {}", options_.edge_factor, options_.seed);
  return text;
}

void EdgeGenerator::fill(std::uint64_t first, std::span<Vertex> source, std::span<Vertex> target) const {
  if (options_.kind == GraphKind::rmat || options_.kind == GraphKind::kronecker)
    return fill_rmat(first, source, target);
  for (std::size_t i = 0; i < source.size(); ++i) {
    const EdgeEnds ends = at(first + i);
    source[i] = ends.source, target[i] = ends.target;
  }
}

void EdgeGenerator::fill_rmat(std::uint64_t first, std::span<Vertex> source, std::span<Vertex> target) const {
  Lanes u, v;
  for (std::size_t i = 0; i < source.size(); i += kLanes) {
    draw_rmat(first + i, options_.seed, options_.scale, u, v);
    const std::size_t count = std::min(kLanes, source.size() - i);
    std::copy_n(u.begin(), count, source.data() + i);
    std::copy_n(v.begin(), count, target.data() + i);
  }
  if (options_.kind == GraphKind::kronecker) {
    for (Vertex& id : source) id = labels_(id);
    for (Vertex& id : target) id = labels_(id);
  }
}

namespace {

constexpr std::uint64_t kPiece = 1u << 12;  // edges a thread draws at a time, in its own cache
constexpr std::uint64_t kBatchPerThread = 1u << 16, kLargestBatch = 1u << 20;

/// Delivers the generator's edges in the order of their indices.
class GeneratorSource final : public EdgeStream {
 public:
  explicit GeneratorSource(const GenerateOptions& options)
      : generator_(options),
        device_(options.device),
        threads_(std::max(options.threads, 1u)),
        batch_edges_(std::clamp<std::uint64_t>(reader_memory() / (2 * sizeof(std::uint64_t)), kPiece,
                                               std::min(kBatchPerThread * threads_, kLargestBatch))) {
    info_.vertices = generator_.vertices();
    info_.undirected = generator_.undirected();
    info_.origin = generator_.origin();
  }

  const EdgeStreamInfo& info() const override { return info_; }

  bool next(EdgeBatch& batch) override {
    batch.clear();
    const std::uint64_t size = std::min(generator_.edges() - next_, batch_edges_);
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

  SortedInput sort([[maybe_unused]] const SortRequest& request) override {
#if defined(SLUICE_HAVE_CUDA)
    if (device_ && device_->is_cuda()) {
      next_ = generator_.edges();
      return sort_on_device(*device_, generator_, request);
    }
#endif
    return {};
  }

  std::uint64_t bytes_read() const override { return 0; }
  std::pair<std::uint64_t, std::uint64_t> progress() const override {
    return {next_ * 2 * sizeof(Vertex), generator_.edges() * 2 * sizeof(Vertex)};
  }

 private:
  EdgeGenerator generator_;
  EdgeStreamInfo info_;
  const Device* device_;
  unsigned threads_;
  std::uint64_t batch_edges_;  ///< edges per batch
  std::uint64_t next_ = 0;
};

}  // namespace

std::unique_ptr<EdgeStream> make_generator(const GenerateOptions& options) {
  return std::make_unique<GeneratorSource>(options);
}

}  // namespace sluice::io
