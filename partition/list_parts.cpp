#include "partition/list_parts.hpp"

#include <algorithm>

namespace sluice {

namespace {

constexpr std::uint64_t kMinBytes = 64u << 10, kMaxBytes = 4u << 20;
/// Lists at most this many edges apart are read together: the gap costs less than another request.
constexpr EdgeIndex kGap = 4u << 10;

}  // namespace

ListParts::ListParts(const Graph& graph, bool weights)
    : rows_(graph.out.view()), file_(graph.edge_source.get()), weighted_(weights && graph.weighted) {
  if (file_ == nullptr) return;
  const std::uint64_t bytes = std::clamp(host_budget().available() / 16, kMinBytes, kMaxBytes);
  const std::uint64_t edges = bytes / (sizeof(Vertex) + (weighted_ ? sizeof(float) : 0));
  targets_ = HostArray<Vertex>(edges, "reading edges");
  weights_ = HostArray<float>(weighted_ ? edges : 0, "reading edges");
}

void ListParts::for_each(std::span<const Vertex> vertices, const Use& use) {
  for (std::size_t i = 0; i < vertices.size(); ++i) {
    EdgeIndex position = rows_.offsets[vertices[i]];
    const EdgeIndex end = rows_.offsets[vertices[i] + 1ull];
    if (file_ == nullptr && position < end)
      use(i, {position,
              {rows_.targets + position, end - position},
              weighted_ ? rows_.weights + position : nullptr});
    while (file_ != nullptr && position < end) {
      if (position < first_ || position >= last_) fill(position, fill_end(position, vertices, i));
      const EdgeIndex part_end = std::min(end, last_), offset = position - first_;
      use(i, {position,
              {targets_.data() + offset, part_end - position},
              weighted_ ? weights_.data() + offset : nullptr});
      position = part_end;
    }
  }
}

EdgeIndex ListParts::fill_end(EdgeIndex position, std::span<const Vertex> vertices, std::size_t i) const {
  const EdgeIndex max_end = position + targets_.size();
  EdgeIndex last = rows_.offsets[vertices[i] + 1ull];
  while (last < max_end && ++i < vertices.size() && rows_.offsets[vertices[i]] <= last + kGap)
    last = rows_.offsets[vertices[i] + 1ull];
  return std::min(last, max_end);
}

void ListParts::fill(EdgeIndex first, EdgeIndex last) {
  first_ = last_ = first;  // empty if a read fails
  file_->read_targets(first, targets_.span().first(last - first));
  if (weighted_) file_->read_weights(first, weights_.span().first(last - first));
  first_ = first, last_ = last;
}

}  // namespace sluice
