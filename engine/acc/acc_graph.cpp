#include "engine/acc/acc_graph.hpp"

#include "engine/core/clock.hpp"
#include "engine/exchange/agreement.hpp"

namespace sluice::acc {

namespace {

/// Level width = mean weight * factor / mean degree over edges. The factors were measured; they affect speed
/// alone. A GPU gains more from fewer rounds than it loses by useless edge visits, above all where the host
/// takes part in a round. Kernels that end rounds by themselves join narrow levels (level_refill.cuh). The
/// factor is smaller if edges are read over the link: scale 24, a quarter of its bytes there, took an H200
/// 286 ms at 64, 279 at 90 and 312 at 128.
constexpr double kDeltaFactor = 16, kDeltaFactorCuda = 128, kDeltaFactorOverLink = 80, kJoinedWidth = 0.25;

/// Few edges of a vertex should be shorter than the level width (Meyer and Sanders). Paths run through hubs,
/// so the relevant degree is the mean over edges, not over vertices.
double delta_for(const CsrView& lists, double mean_weight, double factor) {
  if (lists.edges == 0) return 1;
  double squares = 0;
  for (std::uint64_t v = 0; v < lists.vertices; ++v) {
    const auto degree = static_cast<double>(lists.offsets[v + 1] - lists.offsets[v]);
    squares += degree * degree;
  }
  const double delta = mean_weight * factor * static_cast<double>(lists.edges) / squares;
  return delta > 0 ? delta : 1;
}

}  // namespace

AccGraph::AccGraph(const Device& device, const Graph& graph, const AccNeeds& needs, const AccPlace& place)
    : device_(&device) {
  const double begin = seconds_now();
  PendingEdges* const pending_edges = device.is_planning() ? nullptr : graph.pending_edges.get();
  // A GPU that will hold the whole graph uploads edges while they are still being read.
  const auto wait_for_edges = [&](bool needed) {
    if (pending_edges && needed) pending_edges->read(device.threads());
  };
  wait_for_edges(!device.is_cuda() || needs.weights || needs.simple);
  const auto part = std::make_shared<RankPart>(device, graph, needs, place);
  wait_for_edges(!part->complete());
  out_ = part->complete() ? part->lists() : graph.out.view();
  if (needs.weights && graph.weighted && !device.is_planning()) {
    // All ranks must agree on the level width, though one may have less memory than another.
    const bool paged = device.is_cuda() &&
                       any_left(&part->ranks(), part->has_pages(part->out()) ? 1 : 0, "the source of lists");
    const bool over_link = paged && part->ranks().size() == 1;
    const double factor = !device.is_cuda() ? kDeltaFactor
                          : over_link       ? kDeltaFactorOverLink
                                            : kDeltaFactorCuda;
    if (device.is_cuda() && !paged && (part->complete() || part->link() != nullptr))
      joined_levels_factor_ = kJoinedWidth;
    default_delta_ = delta_for(out_, part->mean_weight(), factor);
  }
  if (part->complete()) {
    in_ = part->in().csr;
    if (device.is_cuda()) {
      const bool stored_in = in_.offsets != nullptr && !part->symmetric();
      out_ = upload(out_, out_storage_, pending_edges);
      if (in_.offsets != nullptr) in_ = stored_in ? upload(in_, in_storage_) : out_;
    }
  }
  rank_part_ = part;
  setup_seconds_ = seconds_now() - begin;
}

CsrView AccGraph::upload(const CsrView& source, ListStorage& storage, PendingEdges* pending_edges) {
  storage.offsets = Buffer<EdgeIndex>(*device_, source.vertices + 1, "the graph's offsets");
  copy_to_device(*device_, storage.offsets.data(), source.offsets, storage.offsets.bytes());
  storage.lists.emplace(*device_, source, source.weights != nullptr, "the graph's edges", nullptr,
                        std::vector<PageLock>{}, pending_edges);
  uploaded_ += storage.offsets.bytes() + storage.lists->traffic().host_to_device_bytes;
  const SweepPage all = storage.lists->whole();
  return {source.vertices, source.edges, storage.offsets.data(), all.sources, all.weights};
}

}  // namespace sluice::acc
