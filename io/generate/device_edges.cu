// A GPU draws an edge faster than it reads one from memory other than its own. So it keeps the records of
// only one range of sources; a second range draws all edges again. Records with equal ends are identical, so
// they may enter the sort in any order.
#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/core/error.hpp"
#include "engine/core/size.hpp"
#include "engine/exec/algorithms/sort.hpp"
#include "engine/exec/cuda_check.cuh"
#include "engine/exec/grid.cuh"
#include "engine/exec/memory/buffer.hpp"
#include "engine/exec/stream.cuh"
#include "io/convert/id_set.hpp"
#include "io/generate/device_edges.hpp"

namespace sluice::io {
namespace {

using cuda::kTeamBlock, cuda::kWarp;

constexpr unsigned kMaxBlocks = 4096;            // with more edges, threads take several
constexpr unsigned kMaxGroupBits = 16;           // sources are grouped by their top bits, at most this many
constexpr std::uint64_t kPiece = 1u << 21;       // records per copy to the host
constexpr std::uint64_t kMinPiece = 1u << 12;    // the same if host memory is small

// ---- kernels

/// Draws edges as records; `reversed` swaps their ends.
struct EdgeDrawer {
  EdgeGenerator generator;
  bool undirected = false, reversed = false;

  __device__ EdgeEnds at(std::uint64_t edge) const {
    const EdgeEnds ends = generator.at(edge);
    return reversed ? EdgeEnds{ends.target, ends.source} : ends;
  }
  /// Packs both ids in as few bits as ids have, so that the sort has fewer digits.
  __device__ std::uint64_t key(Vertex source, Vertex target) const {
    return std::uint64_t{source} << generator.scale() | target;
  }
};

/// Results of a pass over all edges; null: not needed.
struct Survey {
  unsigned long long* self_loops;
  unsigned long long* groups;  ///< [2^min(scale, kMaxGroupBits)] records by source
  unsigned long long* ids;     ///< a bit for every id in an edge
  unsigned shift;              ///< from a source to its group
};

__device__ void mark(unsigned long long* ids, Vertex id) {
  const unsigned long long bit = 1ull << (id & 63);
  if (!(ids[id >> 6] & bit)) atomicOr(ids + (id >> 6), bit);
}

__global__ void __launch_bounds__(kTeamBlock) survey_kernel(EdgeDrawer drawer, Survey survey) {
  unsigned long long loops = 0;
  const std::uint64_t edges = drawer.generator.edges();
  for (std::uint64_t edge = cuda::GridTeam{}.rank(); edge < edges; edge += cuda::GridTeam{}.size()) {
    const EdgeEnds ends = drawer.at(edge);
    if (survey.ids) mark(survey.ids, ends.source), mark(survey.ids, ends.target);
    if (ends.source == ends.target) {
      ++loops;
    } else if (survey.groups) {
      atomicAdd(survey.groups + (ends.source >> survey.shift), 1ull);
      if (drawer.undirected) atomicAdd(survey.groups + (ends.target >> survey.shift), 1ull);
    }
  }
  __syncwarp();
  loops = cuda::warp_sum(loops);
  if (threadIdx.x % kWarp == 0 && loops != 0) atomicAdd(survey.self_loops, loops);
}

/// Writes the keys of records with sources in [begin, end), in any order; `key_count` counts them. A warp
/// reserves the places of all its lanes at once.
__global__ void __launch_bounds__(kTeamBlock)
    draw_kernel(EdgeDrawer drawer, std::uint64_t begin, std::uint64_t end, std::uint64_t* keys,
                unsigned long long* key_count) {
  const unsigned lane = threadIdx.x % kWarp, below = (1u << lane) - 1;
  const std::uint64_t edges = drawer.generator.edges();
  for (std::uint64_t first = cuda::GridTeam{}.rank() - lane; first < edges;
       first += cuda::GridTeam{}.size()) {
    EdgeEnds ends{};
    if (first + lane < edges) ends = drawer.at(first + lane);
    const bool is_edge = ends.source != ends.target;
    const bool out = is_edge && ends.source >= begin && ends.source < end;
    const bool back = is_edge && drawer.undirected && ends.target >= begin && ends.target < end;
    const unsigned out_lanes = __ballot_sync(~0u, out), back_lanes = __ballot_sync(~0u, back);
    const unsigned out_count = static_cast<unsigned>(__popc(out_lanes));
    const unsigned count = out_count + static_cast<unsigned>(__popc(back_lanes));
    unsigned long long position = 0;
    if (lane == 0 && count != 0) position = atomicAdd(key_count, static_cast<unsigned long long>(count));
    position = __shfl_sync(~0u, position, 0);
    if (out)
      keys[position + static_cast<unsigned>(__popc(out_lanes & below))] =
          drawer.key(ends.source, ends.target);
    if (back)
      keys[position + out_count + static_cast<unsigned>(__popc(back_lanes & below))] =
          drawer.key(ends.target, ends.source);
  }
}

/// Turns packed keys into those of records.
__global__ void __launch_bounds__(kTeamBlock)
    unpack_kernel(std::uint64_t* keys, std::uint64_t count, unsigned scale) {
  const std::uint64_t targets = (std::uint64_t{1} << scale) - 1;
  for (std::uint64_t i = cuda::GridTeam{}.rank(); i < count; i += cuda::GridTeam{}.size())
    keys[i] = keys[i] >> scale << 32 | (keys[i] & targets);
}

// ---- sorted edges

static_assert(sizeof(PlainRecord) == sizeof(std::uint64_t), "a record lies in memory as its key does");

class DeviceEdges final : public SortedEdges<PlainRecord> {
 public:
  DeviceEdges(const Device& device, const EdgeGenerator& generator, const SortRequest& request)
      : device_(device),
        drawer_{generator, request.undirected, false},
        counts_(device, 1, "counts of edges"),
        piece_(std::clamp<std::uint64_t>(host_budget().available() / 64, kMinPiece, kPiece)) {
    for (auto& staging : staging_) staging = {device, piece_, "edges in transit to the host"};
    allocate_buffers();
    survey_edges(request.ids, false);
    plan_ranges();
    for (std::size_t range = 0; range < ranges_.size(); ++range) {
      sort_range(range);
      size_ += sorted_.size;
    }
  }

  DeviceEdges(const DeviceEdges&) = delete;
  DeviceEdges& operator=(const DeviceEdges&) = delete;
  ~DeviceEdges() override { cudaStreamSynchronize(stream_.get()); }  // pending work uses the buffers

  std::uint64_t self_loops() const { return self_loops_; }
  std::uint64_t size() const override { return size_; }
  std::uint64_t dropped() const override {
    const std::uint64_t records = (drawer_.generator.edges() - self_loops_) * (drawer_.undirected ? 2 : 1);
    return (records - size_) / (drawer_.undirected ? 2 : 1);
  }

  void scan(const std::function<void(std::span<const PlainRecord>)>& visit) override {
    for (std::size_t range = 0; range < ranges_.size(); ++range) {
      sort_range(range);
      visit_pieces(visit);
    }
  }

  void reverse() override {
    drawer_.reversed = !drawer_.reversed;
    current_range_ = kNone;
    plan_ranges();
  }

 private:
  struct Range {
    std::uint64_t begin, end;  ///< sources
  };
  static constexpr std::size_t kNone = ~std::size_t{0};

  unsigned scale() const { return drawer_.generator.scale(); }
  unsigned key_bits() const { return std::max(2 * scale(), 1u); }
  std::uint64_t max_records() const { return drawer_.generator.edges() * (drawer_.undirected ? 2 : 1); }
  static std::uint64_t bytes_of(std::uint64_t records, unsigned bits) {
    return 2 * records * sizeof(std::uint64_t) + cuda::distinct_scratch_bytes(records, bits);
  }
  unsigned grid(std::uint64_t count) const { return std::min(cuda::grid_for(count, kTeamBlock), kMaxBlocks); }

  /// Allocates memory for as many records as the budget holds, or for all. The survey's memory stays free.
  void allocate_buffers() {
    const std::uint64_t counts = sizeof(std::uint64_t) << group_bits(), free = device_.memory().available();
    const std::uint64_t ids = (drawer_.generator.vertices() + 63) / 64 * sizeof(std::uint64_t);
    const std::uint64_t usable = free > counts + ids ? free - counts - ids : 0;
    std::uint64_t records = std::max<std::uint64_t>(max_records(), 1);
    while (records > 1 && bytes_of(records, key_bits()) > usable)
      records = std::min(records - records / 64 - 1, usable / (2 * sizeof(std::uint64_t)) + 1);
    keys_ = {device_, records, "generated edges"};
    spare_ = {device_, records, "generated edges"};
    scratch_ = {device_, cuda::distinct_scratch_bytes(records, key_bits()), "scratch of sorts"};
  }

  unsigned group_bits() const { return std::min(scale(), kMaxGroupBits); }

  /// Counts self-loops and what else is requested. Returns the number of records by group of sources.
  std::vector<std::uint64_t> survey_edges(IdSet* ids, bool groups) {
    const std::uint64_t words = (drawer_.generator.vertices() + 63) / 64;
    Buffer<unsigned long long> marked, grouped;
    if (ids) marked = {device_, words, "the set of used ids"};
    if (groups) grouped = {device_, std::size_t{1} << group_bits(), "counts of edges"};
    for (const auto* const zeroed : {&marked, &grouped, &counts_}) {
      if (!zeroed->empty())
        cuda::check(cudaMemsetAsync(zeroed->data(), 0, zeroed->bytes(), stream_.get()), "clearing memory");
    }
    survey_kernel<<<grid(drawer_.generator.edges()), kTeamBlock, 0, stream_.get()>>>(
        drawer_, {counts_.data(), grouped.data(), marked.data(), scale() - group_bits()});
    cuda::check_launch("a survey of edges");
    stream_.wait("a survey of edges");
    copy_to_host(device_, &self_loops_, counts_.data(), sizeof self_loops_);
    if (ids) {
      ids->grow(words * 64);
      copy_to_host(device_, ids->words().data(), marked.data(), marked.bytes());
    }
    std::vector<std::uint64_t> by_group(grouped.size());
    if (groups) copy_to_host(device_, by_group.data(), grouped.data(), grouped.bytes());
    return by_group;
  }

  /// Splits the sources into ranges, each as large as memory allows.
  void plan_ranges() {
    const std::uint64_t vertices = drawer_.generator.vertices();
    ranges_.assign(1, {0, vertices});
    if (max_records() <= keys_.size()) return;
    const std::vector<std::uint64_t> records = survey_edges(nullptr, true);
    const std::uint64_t sources = vertices >> group_bits();
    std::uint64_t sum = 0;
    ranges_.assign(1, {0, 0});
    for (const std::uint64_t group_records : records) {
      if (group_records > keys_.size()) throw too_small(group_records);
      if (sum + group_records > keys_.size()) {
        ranges_.push_back({ranges_.back().end, ranges_.back().end});
        sum = 0;
      }
      sum += group_records;
      ranges_.back().end += sources;
    }
  }

  BudgetError too_small(std::uint64_t records) const {
    return BudgetError("device memory: " + std::to_string(records) + " edges of neighbouring vertices need " +
                       format_size(bytes_of(records, key_bits())) + ", " +
                       format_size(bytes_of(keys_.size(), key_bits())) +
                       " are left (raise --device-memory, or use --device host)");
  }

  /// Draws and sorts the records of a range; sorted_ then holds them.
  void sort_range(std::size_t range) {
    if (std::exchange(current_range_, range) == range) return;
    cuda::check(cudaMemsetAsync(counts_.data(), 0, counts_.bytes(), stream_.get()), "clearing memory");
    draw_kernel<<<grid(drawer_.generator.edges()), kTeamBlock, 0, stream_.get()>>>(
        drawer_, ranges_[range].begin, ranges_[range].end, keys_.data(), counts_.data());
    cuda::check_launch("drawing edges");
    stream_.wait("drawing edges");
    std::uint64_t key_count = 0;
    copy_to_host(device_, &key_count, counts_.data(), sizeof key_count);
    sorted_ = cuda::sort_distinct(device_, keys_.data(), spare_.data(), key_count, key_bits(), scratch_,
                                  stream_.get());
    unpack_kernel<<<grid(sorted_.size), kTeamBlock, 0, stream_.get()>>>(sorted_.keys, sorted_.size, scale());
    cuda::check_launch("unpacking edges");
  }

  /// Visits sorted_ in pieces; the next piece is copied to the host meanwhile.
  void visit_pieces(const std::function<void(std::span<const PlainRecord>)>& visit) {
    const auto copy_piece = [&](std::uint64_t at) {
      if (at >= sorted_.size) return;
      cuda::check(cudaMemcpyAsync(staging_[at / piece_ % 2].data(), sorted_.keys + at,
                                  std::min(piece_, sorted_.size - at) * sizeof(std::uint64_t),
                                  cudaMemcpyDeviceToHost, stream_.get()),
                  "copying edges");
    };
    copy_piece(0);
    for (std::uint64_t at = 0; at < sorted_.size; at += piece_) {
      stream_.wait("copying edges");
      copy_piece(at + piece_);
      visit({staging_[at / piece_ % 2].data(), std::min(piece_, sorted_.size - at)});
    }
  }

  const Device& device_;
  EdgeDrawer drawer_;
  cuda::Stream stream_;
  Buffer<unsigned long long> counts_;
  Buffer<std::uint64_t> keys_, spare_;
  Buffer<unsigned char> scratch_;
  std::uint64_t piece_;
  std::array<Staging<PlainRecord>, 2> staging_;
  std::vector<Range> ranges_;
  std::size_t current_range_ = kNone;  ///< the range whose records are in sorted_
  cuda::DistinctKeys sorted_;
  std::uint64_t size_ = 0, self_loops_ = 0;
};

}  // namespace

SortedInput sort_on_device(const Device& device, const EdgeGenerator& generator, const SortRequest& request) {
  auto edges = std::make_unique<DeviceEdges>(device, generator, request);
  const std::uint64_t self_loops = edges->self_loops();
  return {std::move(edges), generator.edges(), self_loops};
}

}  // namespace sluice::io
