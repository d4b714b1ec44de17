// `sluice check`: verifies every block against its checksum, then the structure. Memory holds only the
// offsets and a few blocks. Sums of edge hashes, which do not depend on order, show whether two lists of
// edges hold the same set.
#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <functional>
#include <vector>

#include "engine/exec/threads.hpp"
#include "io/graph_file/graph_reader.hpp"

namespace sluice::io {
namespace {

constexpr std::uint64_t kGrain = 1u << 20;  // edges a thread holds at a time

void check_blocks(const GraphFile& file, GraphPart part, GraphChecksum& whole, unsigned threads) {
  const Column column = file.open(part);
  const Column sums = file.open_sums(part);
  const std::uint64_t bytes = column.size() * column.element_bytes();
  if (sums.size() != checksum_blocks(bytes)) {
    throw sums.fault(fmt::format("{} sums instead of {}", sums.size(), checksum_blocks(bytes)));
  }
  std::vector<std::uint64_t> stored(sums.size());
  sums.read(0, std::span(stored));
  FirstFault fault;
  parallel_blocks(threads, stored.size(), 1, [&](std::uint64_t block, std::uint64_t, unsigned) {
    if (fault.found_before(block)) return;
    const std::uint64_t first = block * kChecksumBlock, last = std::min(bytes, first + kChecksumBlock);
    std::vector<std::byte> block_bytes(last - first);
    column.read_bytes(first / column.element_bytes(), block_bytes);
    if (checksum(block_bytes) == stored[block]) return;
    fault.add(block,
              column.fault(fmt::format("the checksum of bytes {} to {} does not match: the file is damaged",
                                       first, last - 1)));
  });
  fault.rethrow();
  if (is_in_part(part)) return;
  for (const std::uint64_t sum : stored) whole.add(sum);
}

/// Returns false if another tool wrote the file, without checksums.
bool check_checksums(const GraphFile& file, unsigned threads) {
  if (!file.has_sums() && !file.has_checksum()) return false;
  const GraphInfo& info = file.info();
  GraphChecksum whole(info);
  for (int i = 0; i < kGraphParts; ++i) {
    const auto part = static_cast<GraphPart>(i);
    const bool constant = !info.weighted && (part == GraphPart::out_data || part == GraphPart::in_data);
    if (!constant && file.has(part)) check_blocks(file, part, whole, threads);
  }
  if (whole.value() != info.checksum) {
    throw InputError(
        fmt::format("{}: the checksum of the header does not match: the file is damaged; convert the graph "
                    "again",
                    file.path()));
  }
  return true;
}

/// Sums of hashes over all edges, of (from, to) and of (to, from).
struct EdgeSums {
  std::uint64_t forward = 0, backward = 0;
};

std::uint64_t edge_hash(Vertex from, Vertex to, std::uint64_t payload) {
  return Checksum::finish(Checksum::finish(static_cast<std::uint64_t>(from) << 32 | to) + payload);
}

/// A block of edges with their weights and times.
struct Edges {
  std::vector<Vertex> targets;
  std::vector<float> weights;
  std::vector<std::int64_t> times;

  std::uint64_t payload(std::size_t i) const {
    std::uint64_t mixed = 0;
    if (!weights.empty())
      mixed = Checksum::finish(std::bit_cast<std::uint32_t>(weights[i] + 0.0f) + 1);  // -0 is 0
    if (!times.empty()) mixed = Checksum::finish(mixed + static_cast<std::uint64_t>(times[i]));
    return mixed;
  }
};

/// Checks /out or /in row by row.
class RowsCheck {
 public:
  RowsCheck(const GraphFile& file, bool in, unsigned threads)
      : info_(file.info()),
        offsets_(read_offsets(file, in, threads)),
        indices_(file.open(part_of(GraphPart::out_indices, in))) {
    if (info_.weighted) data_.push_back(file.open(part_of(GraphPart::out_data, in)));
    if (info_.timed) times_.push_back(file.open(part_of(GraphPart::out_times, in)));
  }

  EdgeSums run(unsigned threads) {
    std::atomic<std::uint64_t> forward{0}, backward{0};
    parallel_blocks(threads, info_.edges, kGrain, [&](std::uint64_t begin, std::uint64_t end, unsigned) {
      if (fault_.found_before(begin)) return;
      const EdgeSums sums = check_block(begin, end);
      forward += sums.forward;
      backward += sums.backward;
    });
    fault_.rethrow();
    return {forward, backward};
  }

 private:
  EdgeSums check_block(std::uint64_t begin, std::uint64_t end) {
    const std::uint64_t lead = begin > 0 ? 1 : 0;  // the list may have begun in the block before
    Edges edges;
    edges.targets.resize(end - begin + lead);
    read_targets(indices_, info_.vertices, begin - lead, edges.targets, fault_);
    if (!data_.empty()) {
      edges.weights.resize(end - begin);
      read_weights(data_[0], begin, edges.weights, fault_);
    }
    if (!times_.empty()) {
      edges.times.resize(end - begin);
      times_[0].read(begin, std::span(edges.times));
    }
    const auto after = std::upper_bound(offsets_.begin(), offsets_.end(), begin);
    auto vertex = static_cast<std::uint64_t>(after - offsets_.begin()) - 1;
    EdgeSums sums;
    for (std::uint64_t i = begin; i < end; ++i) {
      while (offsets_[vertex + 1] <= i) ++vertex;
      const Vertex* const target = edges.targets.data() + (i - begin + lead);
      if (i > offsets_[vertex] && target[0] < target[-1]) {
        fault_.add(
            i, indices_.fault(fmt::format("position {}: the list of vertex {} is not ascending ({} after {})",
                                          i, vertex, target[0], target[-1])));
        break;
      }
      const std::uint64_t payload = edges.payload(i - begin);
      sums.forward += edge_hash(static_cast<Vertex>(vertex), *target, payload);
      sums.backward += edge_hash(*target, static_cast<Vertex>(vertex), payload);
    }
    return sums;
  }

  const GraphInfo& info_;
  HostArray<EdgeIndex> offsets_;
  Column indices_;
  std::vector<Column> data_, times_;  // one column or none
  FirstFault fault_;
};

/// Checks that original ids are distinct. They need not ascend: an update appends vertices with any ids.
void check_original_ids(const GraphFile& file) {
  const Column column = file.open(GraphPart::original_id);
  HostArray<std::int64_t> ids(column.size(), "original ids");
  column.read(0, ids.span());
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] < 0) throw column.fault(fmt::format("position {}: {} is not a valid id", i, ids[i]));
  }
  if (std::is_sorted(ids.begin(), ids.end(), std::less_equal<>())) return;
  std::sort(ids.begin(), ids.end());
  const auto duplicate = std::adjacent_find(ids.begin(), ids.end());
  if (duplicate != ids.end()) throw column.fault(fmt::format("id {} occurs twice", *duplicate));
}

}  // namespace

GraphCheck check_graph(const std::string& path, unsigned threads) {
  const GraphFile file(path);
  const GraphInfo& info = file.info();
  GraphCheck result;
  result.info = info;
  result.has_checksums = check_checksums(file, threads);
  const EdgeSums out = RowsCheck(file, false, threads).run(threads);
  if (!info.directed && out.forward != out.backward) {
    throw InputError(
        fmt::format("{}: the graph is undirected, but /out does not hold every edge in both directions; "
                    "convert its edges with --undirected",
                    path));
  }
  if (info.has_in && RowsCheck(file, true, threads).run(threads).backward != out.forward) {
    throw InputError(
        fmt::format("{}: /in and /out do not hold the same edges; convert the graph again", path));
  }
  if (info.compacted) check_original_ids(file);
  return result;
}

}  // namespace sluice::io
