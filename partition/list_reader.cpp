#include "partition/list_reader.hpp"

#include <algorithm>
#include <vector>

#include "engine/exec/threads.hpp"

namespace sluice {

namespace {

/// Most bytes of edges that are held at a time.
constexpr std::uint64_t kMaxBufferBytes = 16u << 20;
/// Lists at most this many edges apart are read together: the gap costs less than another request.
constexpr EdgeIndex kGap = 16u << 10;
/// Edges that one thread reads at a time.
constexpr EdgeIndex kReadAtOnce = 256u << 10;

/// A pointer to be indexed by positions in the whole graph; `memory` holds the entries from `first` on.
template <class T>
const T* moved(const T* memory, EdgeIndex first) {
  return reinterpret_cast<const T*>(reinterpret_cast<std::uintptr_t>(memory) - first * sizeof(T));
}

}  // namespace

/// Edges [first, last) of the file: the lists of entries [begin, end) of the requested vertices.
struct ListReader::ReadRange {
  EdgeIndex first = 0, last = 0;
  std::uint64_t buffer_offset = 0;  ///< position of edge `first` in memory
  std::size_t begin = 0, end = 0;
};

void ListReader::for_each(std::span<const Vertex> vertices, const Use& use) const {
  if (file_ == nullptr) return use(rows_, 0, vertices.size());
  const std::uint64_t edge = sizeof(Vertex) + (weights_ ? sizeof(float) : 0);
  const std::uint64_t max_buffered =
      std::min<std::uint64_t>(kMaxBufferBytes, host_budget().available() / 8) / edge;
  std::vector<ReadRange> ranges;
  for (std::size_t next = 0; next < vertices.size();) {
    ranges.clear();
    std::uint64_t buffered = 0;
    for (; next < vertices.size(); ++next) {
      const EdgeIndex first = rows_.offsets[vertices[next]], last = rows_.offsets[vertices[next] + 1];
      const bool mergeable = !ranges.empty() && first - ranges.back().last <= kGap;
      const std::uint64_t added = last - (mergeable ? ranges.back().last : first);
      if (buffered > 0 && buffered + added > max_buffered) break;
      if (!mergeable) ranges.push_back({first, first, buffered, next, next});
      ranges.back().last = last, ranges.back().end = next + 1;
      buffered += added;
    }
    HostArray<Vertex> targets(buffered, "reading edges");
    HostArray<float> weights(weights_ ? buffered : 0, "reading edges");
    read(ranges, targets.data(), weights.data());
    bytes_read_ += targets.bytes() + weights.bytes();
    CsrView lists = rows_;
    for (const ReadRange& range : ranges) {
      lists.targets = moved(targets.data() + range.buffer_offset, range.first);
      lists.weights = weights_ ? moved(weights.data() + range.buffer_offset, range.first) : nullptr;
      use(lists, range.begin, range.end);
    }
  }
}

void ListReader::read(std::span<const ReadRange> ranges, Vertex* targets, float* weights) const {
  struct Piece {
    EdgeIndex first;
    std::uint64_t buffer_offset, size;
  };
  std::vector<Piece> pieces;
  for (const ReadRange& range : ranges) {
    for (EdgeIndex position = range.first; position < range.last; position += kReadAtOnce)
      pieces.push_back({position, range.buffer_offset + position - range.first,
                        std::min(kReadAtOnce, range.last - position)});
  }
  parallel_blocks(threads_, pieces.size(), 1, [&](std::uint64_t i, std::uint64_t, unsigned) {
    const Piece& piece = pieces[i];
    file_->read_targets(piece.first, {targets + piece.buffer_offset, piece.size});
    if (weights_) file_->read_weights(piece.first, {weights + piece.buffer_offset, piece.size});
  });
}

}  // namespace sluice
