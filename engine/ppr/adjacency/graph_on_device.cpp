#include "engine/ppr/adjacency/graph_on_device.hpp"

#include "engine/core/error.hpp"
#include "engine/ppr/adjacency/in_edges.hpp"
#include "engine/ppr/mass.hpp"
#include "engine/ppr/query_rules.hpp"
#include "engine/traverse/degree_class.hpp"

namespace sluice::ppr {

namespace {

/// In-edges get at most a quarter of the free memory: most of it is for queries.
constexpr std::uint64_t kInEdgeFraction = 4;

/// Copies a column to the device, and points `column` there.
template <class T>
void upload(const Device& device, Buffer<T>& buffer, const T*& column, std::uint64_t size,
            const char* purpose) {
  buffer = Buffer<T>(device, size, purpose);
  copy_to_device(device, buffer.data(), column, buffer.bytes());
  column = buffer.data();
}

/// Copies lists to the device, with weights if the view has them.
void upload(const Device& device, std::optional<SweepLists>& lists_on_device, CsrView& view,
            const char* purpose) {
  const SweepPage lists =
      lists_on_device.emplace(device, view, view.weights != nullptr, purpose, nullptr).whole();
  view.targets = lists.sources, view.weights = lists.weights;
}

}  // namespace

InEdgesOnDevice::InEdgesOnDevice(const Device& device, const Graph& graph, const CsrView& out) {
  const InEdges in(device, graph);
  const Csr& rows = in.rows();
  HostArray<std::uint64_t> reciprocals(graph.vertices(), "reciprocals of degrees");
  std::vector<Vertex> long_rows;
  if (!device.is_planning()) {
    long_rows = long_lists(rows.offsets.span(), kBlockDegree + 1, device.threads());
    for (std::uint64_t v = 0; v < graph.vertices(); ++v) {
      const std::uint64_t degree = graph.out.offsets[v + 1] - graph.out.offsets[v];
      reciprocals[v] = degree == 0 ? 0 : reciprocal_of(degree);
    }
  }
  long_rows_ = Buffer<Vertex>(device, long_rows.size(), "in-edges");
  copy_to_device(device, long_rows_.data(), long_rows.data(), long_rows_.bytes());
  const std::uint64_t* column = reciprocals.data();
  upload(device, reciprocals_, column, reciprocals.size(), "reciprocals of degrees");
  view_ = graph.directed ? rows.view() : out;
  if (!graph.directed) return;
  if (out.weights == nullptr) view_.weights = nullptr;
  upload(device, lists_, view_, "in-edges");
  upload(device, offsets_, view_.offsets, view_.vertices + 1, "in-edges");
}

GraphOnDevice::GraphOnDevice(const Device& device, const Graph& graph, const Options& options, bool in_place)
    : device_(device), graph_(graph), view_(graph.out.view()), in_place_(in_place) {
  if (!options.weighted) view_.weights = nullptr;
  if (options.weighted) {
    const HostArray<double> totals = device.is_planning()
                                         ? HostArray<double>(view_.vertices, "sums of weights")
                                         : weight_totals(view_, device.threads());
    const double* sums = totals.data();
    upload(device, totals_, sums, view_.vertices, "sums of weights");
  }
  if (in_place) {
    locks_ = lock_lists(device, view_);
  } else {
    upload(device, lists_, view_, "the graph's edges");
  }
  upload(device, offsets_, view_.offsets, view_.vertices + 1, "the graph's offsets");
}

GraphOnDevice::GraphOnDevice(const Device& device, const Graph& graph, std::unique_ptr<PeerLists> lists)
    : device_(device), graph_(graph), view_(graph.out.view()), in_place_(false), peers_(std::move(lists)) {
  upload(device, offsets_, view_.offsets, view_.vertices + 1, "the graph's offsets");
  view_.targets = peers_->targets(), view_.weights = peers_->weights();
}

const InEdgesOnDevice* GraphOnDevice::in_edges() {
  if (in_) return in_.get();
  const auto make = [this](const Device& device) {
    return std::make_unique<InEdgesOnDevice>(device, graph_, view_);
  };
  try {
    if (planned_bytes(device_, make) <= device_.memory().available() / kInEdgeFraction) in_ = make(device_);
  } catch (const BudgetError&) {  // too little host memory to build in-edges
  }
  return in_.get();
}

}  // namespace sluice::ppr
