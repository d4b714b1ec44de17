// Computes the checksum of a graph that has no file, from the block checksums that its file would have.
#include <algorithm>
#include <type_traits>
#include <vector>

#include "engine/core/piece.hpp"
#include "engine/exec/threads.hpp"
#include "io/graph_file/graph_file.hpp"
#include "io/graph_file/graph_layout.hpp"
#include "io/graph_file/graph_reader.hpp"

namespace sluice::io {
namespace {

/// Adds the checksums of a column's blocks; block(begin, end) returns that of elements [begin, end).
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

/// Most entries that are read from a file, or widened, at a time.
constexpr std::uint64_t kMaxPieceEntries = 1u << 16;

/// Adds a column of edges that is read from another file, or widened from T to the graph file's Stored.
template <class Stored, class T, class Read>
void add_read(GraphChecksum& sum, const Graph& graph, unsigned threads, Read&& read) {
  add_column(sum, graph.edges(), sizeof(Stored), threads, [&](std::uint64_t begin, std::uint64_t end) {
    constexpr bool kWidened = !std::is_same_v<Stored, T>;
    Checksum block;
    const std::uint64_t piece_size = std::min(
        entries_per_piece(sizeof(T) + (kWidened ? sizeof(Stored) : 0), kMinChecksumBytes, kMaxPieceEntries),
        end - begin);
    HostArray<T> piece(piece_size, "the checksum of the graph");
    HostArray<Stored> stored(kWidened ? piece_size : 0, "the checksum of the graph");
    for (std::uint64_t at = begin; at < end; at += piece_size) {
      const auto part = piece.span().first(std::min(piece_size, end - at));
      read(at, part);
      if constexpr (!kWidened) {
        block.update(std::as_bytes(part));
      } else {
        std::copy(part.begin(), part.end(), stored.begin());
        block.update(std::as_bytes(stored.span().first(part.size())));
      }
    }
    return block.value();
  });
}

/// Targets enter as i64 if i32 cannot number every vertex.
void add_edges(GraphChecksum& sum, const Graph& graph, unsigned threads) {
  const Csr& out = graph.out;
  const bool wide = needs_wide_ids(graph.vertices());
  const EdgeSource* const file = graph.edge_source.get();
  const auto read_targets = [&](EdgeIndex at, std::span<Vertex> part) {
    file != nullptr ? file->read_targets(at, part)
                    : void(std::copy_n(out.targets.data() + at, part.size(), part.data()));
  };
  if (wide) {
    add_read<std::int64_t, Vertex>(sum, graph, threads, read_targets);
  } else if (file != nullptr) {
    add_read<Vertex, Vertex>(sum, graph, threads, read_targets);
  } else {
    add_array(sum, out.targets, threads);
  }
  if (file == nullptr) {
    if (graph.weighted) add_array(sum, out.weights, threads);
    return add_array(sum, out.times, threads);
  }
  if (graph.weighted)
    add_read<float, float>(sum, graph, threads, [&](auto at, auto part) { file->read_weights(at, part); });
  if (file->timed())
    add_read<std::int64_t, std::int64_t>(sum, graph, threads,
                                         [&](auto at, auto part) { file->read_times(at, part); });
}

}  // namespace

std::uint64_t graph_checksum(const Graph& graph, unsigned threads) {
  GraphChecksum sum(info_of(graph));
  add_array(sum, graph.out.offsets, threads);
  add_edges(sum, graph, threads);
  add_array(sum, graph.original_ids, threads);
  return sum.value();
}

}  // namespace sluice::io
