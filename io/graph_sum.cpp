// The checksum of a graph that has no file: the sums of the blocks that its file would have.
#include <algorithm>
#include <vector>

#include "engine/exec/threads.hpp"
#include "io/graph_file.hpp"
#include "io/graph_layout.hpp"
#include "io/graph_reader.hpp"

namespace sluice::io {
namespace {

/// Adds the sums of a column's blocks. `block` is the hash of elements [begin, end).
template <class Block>
void add_column(GraphChecksum& sum, std::uint64_t size, std::uint64_t element_bytes, unsigned threads,
                Block&& block) {
  const std::uint64_t elements = kChecksumBlock / element_bytes;
  std::vector<std::uint64_t> sums(checksum_blocks(size * element_bytes));
  parallel_blocks(threads, size, elements, [&](std::uint64_t begin, std::uint64_t end, unsigned) {
    sums[begin / elements] = block(begin, end);
  });
  for (const std::uint64_t value : sums) sum.add(value);
}

template <class T>
void add_array(GraphChecksum& sum, const HostArray<T>& array, unsigned threads) {
  add_column(sum, array.size(), sizeof(T), threads, [&](std::uint64_t begin, std::uint64_t end) {
    return checksum(std::as_bytes(array.span().subspan(begin, end - begin)));
  });
}

/// Targets as the file has them: i64 where i32 cannot name every vertex.
void add_targets(GraphChecksum& sum, const Graph& graph, unsigned threads) {
  if (!needs_wide_ids(graph.vertices())) return add_array(sum, graph.out.targets, threads);
  add_column(sum, graph.edges(), sizeof(std::int64_t), threads, [&](std::uint64_t begin, std::uint64_t end) {
    const std::vector<std::int64_t> wide(graph.out.targets.begin() + begin, graph.out.targets.begin() + end);
    return checksum(std::as_bytes(std::span(wide)));
  });
}

}  // namespace

std::uint64_t graph_checksum(const Graph& graph, unsigned threads) {
  threads = resolve_threads(threads);
  GraphChecksum sum(info_of(graph));
  add_array(sum, graph.out.offsets, threads);
  add_targets(sum, graph, threads);
  if (graph.weighted) add_array(sum, graph.out.weights, threads);
  add_array(sum, graph.out.times, threads);
  add_array(sum, graph.original_ids, threads);
  return sum.value();
}

}  // namespace sluice::io
