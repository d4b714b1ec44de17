#include "partition/list_parts.hpp"

#include <algorithm>

namespace sluice {

namespace {

constexpr std::uint64_t kLeastBytes = 64u << 10, kMostBytes = 4u << 20;
/// Lists at most this many edges apart are read together: the gap costs less than another request.
constexpr EdgeIndex kGap = 4u << 10;

}  // namespace

ListParts::ListParts(const Graph& graph, bool weights)
    : rows_(graph.out.view()), file_(graph.edges_elsewhere.get()), weighted_(weights && graph.weighted) {
  if (file_ == nullptr) return;
  const std::uint64_t bytes = std::clamp(host_budget().available() / 16, kLeastBytes, kMostBytes);
  const std::uint64_t edges = bytes / (sizeof(Vertex) + (weighted_ ? sizeof(float) : 0));
  targets_ = HostArray<Vertex>(edges, "reading edges");
  weights_ = HostArray<float>(weighted_ ? edges : 0, "reading edges");
}

void ListParts::for_each(std::span<const Vertex> vertices, const Use& use) {
  for (std::size_t i = 0; i < vertices.size(); ++i) {
    EdgeIndex at = rows_.offsets[vertices[i]];
    const EdgeIndex end = rows_.offsets[vertices[i] + 1ull];
    if (file_ == nullptr && at < end)
      use(i, {at, {rows_.targets + at, end - at}, weighted_ ? rows_.weights + at : nullptr});
    while (file_ != nullptr && at < end) {
      if (at < first_ || at >= last_) fill(at, fill_to(at, vertices, i));
      const EdgeIndex until = std::min(end, last_), place = at - first_;
      use(i, {at, {targets_.data() + place, until - at}, weighted_ ? weights_.data() + place : nullptr});
      at = until;
    }
  }
}

EdgeIndex ListParts::fill_to(EdgeIndex at, std::span<const Vertex> vertices, std::size_t i) const {
  const EdgeIndex most = at + targets_.size();
  EdgeIndex last = rows_.offsets[vertices[i] + 1ull];
  while (last < most && ++i < vertices.size() && rows_.offsets[vertices[i]] <= last + kGap)
    last = rows_.offsets[vertices[i] + 1ull];
  return std::min(last, most);
}

void ListParts::fill(EdgeIndex first, EdgeIndex last) {
  first_ = last_ = first;  // empty if a read fails
  file_->read_targets(first, targets_.span().first(last - first));
  if (weighted_) file_->read_weights(first, weights_.span().first(last - first));
  first_ = first, last_ = last;
}

}  // namespace sluice
