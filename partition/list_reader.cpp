#include "partition/list_reader.hpp"

#include <algorithm>
#include <vector>

#include "engine/exec/threads.hpp"

namespace sluice {

namespace {

/// Most bytes of edges that are held at a time.
constexpr std::uint64_t kHeldBytes = 16u << 20;
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
struct ListReader::Stretch {
  EdgeIndex first = 0, last = 0;
  std::uint64_t place = 0;  ///< position of edge `first` in memory
  std::size_t begin = 0, end = 0;
};

void ListReader::for_each(std::span<const Vertex> vertices, const Use& use) const {
  if (file_ == nullptr) return use(rows_, 0, vertices.size());
  const std::uint64_t edge = sizeof(Vertex) + (weights_ ? sizeof(float) : 0);
  const std::uint64_t most_held = std::min<std::uint64_t>(kHeldBytes, host_budget().available() / 8) / edge;
  std::vector<Stretch> stretches;
  for (std::size_t next = 0; next < vertices.size();) {
    stretches.clear();
    std::uint64_t held = 0;
    for (; next < vertices.size(); ++next) {
      const EdgeIndex first = rows_.offsets[vertices[next]], last = rows_.offsets[vertices[next] + 1];
      const bool close = !stretches.empty() && first - stretches.back().last <= kGap;
      const std::uint64_t more = last - (close ? stretches.back().last : first);
      if (held > 0 && held + more > most_held) break;
      if (!close) stretches.push_back({first, first, held, next, next});
      stretches.back().last = last, stretches.back().end = next + 1;
      held += more;
    }
    HostArray<Vertex> targets(held, "reading edges");
    HostArray<float> weights(weights_ ? held : 0, "reading edges");
    read(stretches, targets.data(), weights.data());
    bytes_read_ += targets.bytes() + weights.bytes();
    CsrView lists = rows_;
    for (const Stretch& stretch : stretches) {
      lists.targets = moved(targets.data() + stretch.place, stretch.first);
      lists.weights = weights_ ? moved(weights.data() + stretch.place, stretch.first) : nullptr;
      use(lists, stretch.begin, stretch.end);
    }
  }
}

void ListReader::read(std::span<const Stretch> stretches, Vertex* targets, float* weights) const {
  struct Piece {
    EdgeIndex first;
    std::uint64_t place, size;
  };
  std::vector<Piece> pieces;
  for (const Stretch& stretch : stretches) {
    for (EdgeIndex at = stretch.first; at < stretch.last; at += kReadAtOnce)
      pieces.push_back({at, stretch.place + at - stretch.first, std::min(kReadAtOnce, stretch.last - at)});
  }
  parallel_blocks(threads_, pieces.size(), 1, [&](std::uint64_t i, std::uint64_t, unsigned) {
    const Piece& piece = pieces[i];
    file_->read_targets(piece.first, {targets + piece.place, piece.size});
    if (weights_) file_->read_weights(piece.first, {weights + piece.place, piece.size});
  });
}

}  // namespace sluice
