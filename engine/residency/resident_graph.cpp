#include "engine/residency/resident_graph.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "engine/core/error.hpp"
#include "engine/residency/upload.hpp"
#include "engine/select/build_tables.hpp"

namespace sluice {

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

ResidentGraph::Impl::Impl(Device& on, const Graph& of) : device(on), graph(of) {
  const double begin = seconds_now();
  const CsrView host = graph.out.view();
  view.csr = host;
  view.undirected = !graph.directed;
  packing = EdgePacking::of(host.vertices, host.edges);
  std::vector<Vertex> hub_list;
  for (std::uint64_t v = 0; v < host.vertices; ++v) {
    const EdgeIndex degree = host.offsets[v + 1] - host.offsets[v];
    if (degree > 0xffffffffu)
      throw InputError("vertex " + std::to_string(v) + " has more than 2^32 - 1 edges");
    max_degree = std::max(max_degree, static_cast<std::uint32_t>(degree));
    if (degree > GraphView::kHubDegree) hub_list.push_back(static_cast<Vertex>(v));
  }
  if (device.is_cuda()) {
    const auto upload = [&]<class T>(Buffer<T>& buffer, const T* from, std::size_t count,
                                     const char* purpose) {
      buffer = Buffer<T>(device, count, purpose);
      copy_to_device(device, buffer.data(), from, buffer.bytes());
      host_to_device_bytes += buffer.bytes();
    };
    upload(offsets, host.offsets, host.vertices + 1, "the graph's offsets");
    upload(targets, host.targets, host.edges, "the graph's edges");
    if (host.weights) upload(weights, host.weights, host.edges, "the graph's weights");
    upload(hubs, std::as_const(hub_list).data(), hub_list.size(), "the list of hubs");
    view.hubs = hubs.data();
    view.hub_count = static_cast<std::uint32_t>(hub_list.size());
    view.csr.offsets = offsets.data();
    view.csr.targets = targets.data();
    view.csr.weights = host.weights ? weights.data() : nullptr;
  }
  if (host.weights) {
    exponents = Buffer<std::int16_t>(device, host.vertices, "exponents of weights");
    build_exponents(device, view, exponents.data());
    view.exponents = exponents.data();
  }
  load_seconds = seconds_now() - begin;
}

const WideEdge* ResidentGraph::Impl::wide_edges() {
  if (wide.empty() && view.edges() > 0) {
    const double begin = seconds_now();
    Buffer<WideEdge> edges(device, view.edges(), "the wide edges");
    build_wide_edges(device, view, edges.data());
    wide = std::move(edges);
    table_seconds += seconds_now() - begin;
  }
  return wide.data();
}

const std::uint64_t* ResidentGraph::Impl::packed_edges() {
  if (packed.empty() && view.edges() > 0) {
    const double begin = seconds_now();
    Buffer<std::uint64_t> edges(device, view.edges(), "the wide edges");
    build_packed_edges(device, view, packing, edges.data());
    packed = std::move(edges);
    table_seconds += seconds_now() - begin;
  }
  return packed.data();
}

ResidentGraph::ResidentGraph(Device& device, const Graph& graph)
    : impl_(std::make_unique<Impl>(device, graph)) {}
ResidentGraph::~ResidentGraph() = default;
ResidentGraph::ResidentGraph(ResidentGraph&&) noexcept = default;
void ResidentGraph::drop_tables() {
  for (BiasTables& tables : impl_->named) tables = BiasTables{};
  impl_->wide = Buffer<WideEdge>();
  impl_->packed = Buffer<std::uint64_t>();
  impl_->workspace.reset();
}

Device& ResidentGraph::device() const {
  return impl_->device;
}
const Graph& ResidentGraph::graph() const {
  return impl_->graph;
}

}  // namespace sluice
