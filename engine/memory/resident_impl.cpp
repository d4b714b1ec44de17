#include "engine/memory/resident_impl.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "engine/core/clock.hpp"
#include "engine/core/error.hpp"
#include "engine/core/search.hpp"
#include "engine/exec/threads.hpp"
#include "engine/graph/layout.hpp"
#include "engine/memory/owned_partitions.hpp"
#include "engine/memory/paged_plan.hpp"
#include "engine/memory/peer_partitions.hpp"
#include "engine/memory/slots.hpp"
#include "engine/memory/sweep_lists.hpp"
#include "engine/memory/tables/upload.hpp"
#include "engine/select/build_tables.hpp"

namespace sluice {

namespace {

Ownership even_edge_ranges(const Graph& graph, const Communicator* ranks) {
  const auto size = static_cast<std::uint64_t>(ranks ? ranks->size() : 1);
  std::vector<std::uint64_t> begins;
  for (std::uint64_t rank = 0; rank < size; ++rank)
    begins.push_back(count_below(graph.out.offsets.data(), graph.vertices(), graph.edges() / size * rank));
  begins.push_back(graph.vertices());
  return Ownership(std::move(begins));
}

/// Uses all threads: a job that searches for the memory it needs plans many times.
std::uint32_t largest_degree(const CsrView& graph, unsigned threads) {
  constexpr std::uint64_t kMaxDegree = 0xffffffffu;
  const std::span offsets(graph.offsets, graph.vertices + 1);
  const std::uint64_t largest = longest_list(offsets, threads);
  if (largest <= kMaxDegree) return static_cast<std::uint32_t>(largest);
  const auto too_long = std::ranges::adjacent_find(
      offsets, [](EdgeIndex begin, EdgeIndex end) { return end - begin > kMaxDegree; });
  throw InputError(fmt::format("vertex {} has more than 2^32 - 1 edges", too_long - offsets.begin()));
}

}  // namespace

ResidentGraph::Impl::Impl(const Device& on_device, const Graph& of_graph, const PagingOptions& options)
    : device(on_device),
      graph(of_graph),
      paging(options),
      table_owners(even_edge_ranges(of_graph, options.shard)),
      available(on_device.memory().available()) {
  const double begin = seconds_now();
  host_view.csr = graph.out.view();
  host_view.undirected = !graph.directed;
  packing = EdgePacking::of(host_view.vertices(), host_view.edges());
  max_degree = largest_degree(host_view.csr, device.threads());
  if (paging.transport == Transport::file && !graph.edge_source)
    throw UsageError("--transport file: the graph was read into memory; open it without its edges");
  view = host_view;
  paged = needs_pages(device, graph, paging);
  edges_read = !graph.pending_edges || graph.pending_edges->complete();
  if (paged) finish_reading();
  paged ? prepare_partitions() : upload();
  load_seconds = seconds_now() - begin;  // includes the time of reading edges
}

template <class T>
void ResidentGraph::Impl::upload_column(Buffer<T>& buffer, const T* source, std::size_t count,
                                        const char* purpose) {
  buffer = Buffer<T>(device, count, purpose);
  copy_to_device(device, buffer.data(), source, buffer.bytes());
  host_to_device_bytes += buffer.bytes();
}

void ResidentGraph::Impl::upload() {
  const CsrView host = host_view.csr;
  if (device.is_cuda()) {
    const std::vector<Vertex> hub_list =
        long_lists({host.offsets, host.vertices + 1}, GraphView::kHubDegree + 1, device.threads());
    upload_column(offsets, host.offsets, host.vertices + 1, "the graph's offsets");
    upload_edges();
    upload_column(hubs, hub_list.data(), hub_list.size(), "the list of hubs");
    view.hubs = hubs.data();
    view.hub_count = static_cast<std::uint32_t>(hub_list.size());
    view.csr.offsets = offsets.data();
    view.csr.targets = targets.data();
    view.csr.weights = graph.weighted ? weights.data() : nullptr;
  }
  if (graph.weighted) {
    exponents = Buffer<std::int16_t>(device, host.vertices, "exponents of weights");
    view.exponents = exponents.data();
    if (edges_read) build_exponents(device, view, exponents.data());
  }
}

void ResidentGraph::Impl::upload_edges() {
  const CsrView host = host_view.csr;
  targets = Buffer<Vertex>(device, host.edges, "the graph's edges");
  if (graph.weighted) weights = Buffer<float>(device, host.edges, "the graph's weights");
  host_to_device_bytes += targets.bytes() + weights.bytes();
  if (device.is_planning()) return;
  copy_lists_to_device(device, host, graph.pending_edges.get(), targets.data(), weights.data());
  edges_read = true;
}

void ResidentGraph::Impl::prepare_partitions() {
  const CsrView host = host_view.csr;
  if (device.is_cuda()) {
    upload_column(offsets, host.offsets, host.vertices + 1, "the graph's offsets");
    view.csr.offsets = offsets.data();
    view.csr.targets = nullptr;
    view.csr.weights = nullptr;
    locks = lock_lists(device, host);
  }
  if (!graph.weighted) return;
  exponents = Buffer<std::int16_t>(device, host.vertices, "exponents of weights");
  view.exponents = exponents.data();
  if (device.is_planning()) return;
  if (device.is_cuda()) host_exponents = HostArray<std::int16_t>(host.vertices, "exponents of weights");
  std::int16_t* const on_host = device.is_cuda() ? host_exponents.data() : exponents.data();
  for_each_range(
      [&](const GraphView& range, std::uint64_t begin, std::uint64_t end) {
        host::for_each_list(device.threads(), range, MakeExponents{range, on_host}, {begin, end});
      },
      false);
  share(std::span(on_host, host.vertices), "exponents of weights");
  if (device.is_cuda()) copy_to_device(device, exponents.data(), on_host, exponents.bytes());
  host_view.exponents = on_host;
}

void ResidentGraph::Impl::process_lists(const UseReadLists& make) {
  if (device.is_planning()) return;
  const auto use_range = [&](unsigned threads, std::uint64_t first, std::uint64_t last) {
    if (!edges_read && !exponents.empty())
      host::for_each_list(threads, view, MakeExponents{view, exponents.data()}, {first, last});
    if (make) make(threads, first, last);
  };
  if (edges_read || graph.pending_edges->complete()) {  // another user has read them
    use_range(device.threads(), 0, host_view.vertices());
  } else {
    const double begin = seconds_now();
    graph.pending_edges->read(device.threads(), [&](std::uint64_t first, std::uint64_t last, unsigned) {
      use_range(1, first, last);
    });
    load_seconds += seconds_now() - begin;
  }
  edges_read = true;
}

void ResidentGraph::Impl::for_each_range(
    const std::function<void(const GraphView&, std::uint64_t, std::uint64_t)>& body,
    bool with_targets) const {
  const EdgeSource* const file = graph.edge_source.get();
  CsrView rows = host_view.csr;
  std::uint64_t first = 0;
  if (file) {
    const auto rank = static_cast<std::uint64_t>(paging.shard ? paging.shard->rank() : 0);
    first = table_owners.begin(rank);
    rows.offsets += first, rows.vertices = table_owners.end(rank) - first;
  }
  for_each_piece(
      rows, file, with_targets, graph.weighted,
      [&](std::uint64_t begin, std::uint64_t end, const Vertex* piece_targets, const float* piece_weights) {
        GraphView range = host_view;
        range.csr.targets = piece_targets;
        if (graph.weighted) range.csr.weights = piece_weights;
        body(range, first + begin, first + end);
      });
}

const CodedGraph* ResidentGraph::Impl::coded_lists(Layout layout, const PageColumns& columns, CodedSet& set,
                                                   const AliasSlotsOf* slots) {
  const double begin = seconds_now();
  const bool wanted = should_code(device, graph, layout, columns, set);
  if (wanted && !set.graph) {
    if (!set.sizes) set.sizes.emplace(host_view.csr, device.threads(), slots != nullptr);
    set.graph = CodedGraph::of(device, host_view.csr, *set.sizes, slots);
  }
  table_seconds += seconds_now() - begin;
  return wanted && set.graph ? &*set.graph : nullptr;
}

const WideEdge* ResidentGraph::Impl::wide_edges() {
  finish_reading();
  return ensure(wide, view.edges(), "the wide edges",
                [&](WideEdge* edges) { build_wide_edges(device, view, edges); });
}

const std::uint64_t* ResidentGraph::Impl::packed_edges() {
  finish_reading();
  return ensure(packed, view.edges(), "the wide edges",
                [&](std::uint64_t* edges) { build_packed_edges(device, view, packing, edges); });
}

PagedPlan ResidentGraph::Impl::plan_partitions(const PageRequest& pages, std::uint64_t bytes_per_instance,
                                               std::uint64_t instances, std::uint64_t steps,
                                               std::uint64_t row_bytes) {
  if (peers) return peers->plan(bytes_per_instance, instances, steps);
  const PageColumns& columns = pages.columns;
  if (paging.transport == Transport::mapped && !has_columns(pages.sources.columns, columns)) {
    throw BudgetError(
        "--transport mapped: needs the edges and their tables in host memory (raise --host-memory, or "
        "use copied or file)");
  }
  // Tables of partitions from a file are made on the GPU, which takes memory beside slots.
  constexpr std::uint64_t kShareOfTables = 8;
  const bool makes_tables = device.is_cuda() && graph.edge_source && (columns.alias || columns.cumulative);
  const std::uint64_t reserved_bytes = makes_tables ? device.memory().available() / kShareOfTables : 0;
  PagedPlan plan = plan_shard(paging.shard, device, graph, paging, columns, bytes_per_instance, instances,
                              steps, reserved_bytes, row_bytes);
  if (device.is_planning()) record_plan({plan, columns, instances, steps});
  return plan;
}

void ResidentGraph::Impl::record_plan(PlannedPages pages) {
  const PagedPlan& plan = pages.plan;
  const std::uint64_t bytes = plan.slot_bytes + plan.edge_set.bytes() + plan.batch * plan.instance_bytes;
  device.memory().charge_and_release(bytes, "partitions and a batch");
  planned = std::move(pages);
}

std::unique_ptr<DeviceRanks> ResidentGraph::Impl::connect_ranks() const {
  return connect_gpus(paging.shard, device);
}

std::uint64_t ResidentGraph::Impl::table_bytes() const {
  std::uint64_t bytes = wide.bytes() + packed.bytes();
  for (const BiasTables& tables : named) bytes += tables.bytes();
  return bytes;
}

void ResidentGraph::Impl::drop_tables() {
  for (BiasTables& tables : named) tables = BiasTables{};
  coded.graph.reset();
  wide = Buffer<WideEdge>();
  packed = Buffer<std::uint64_t>();
  workspace.reset();
}

void ResidentGraph::Impl::partition_unless_fits(std::uint64_t needed) {
  if (needed <= available) return;
  finish_reading();
  const double begin = seconds_now();
  drop_tables();
  offsets = Buffer<EdgeIndex>();
  targets = Buffer<Vertex>();
  weights = Buffer<float>();
  exponents = Buffer<std::int16_t>();
  hubs = Buffer<Vertex>();
  view = host_view;
  paged = true;
  prepare_partitions();
  load_seconds += seconds_now() - begin;
}

ResidentGraph::ResidentGraph(const Device& device, const Graph& graph, const PagingOptions& paging)
    : impl_(std::make_unique<Impl>(device, graph, paging)) {}
ResidentGraph::~ResidentGraph() = default;
ResidentGraph::ResidentGraph(ResidentGraph&&) noexcept = default;
void ResidentGraph::drop_tables() {
  impl_->drop_tables();
}

ResidentGraph::Impl& ResidentGraph::impl() const {
  impl_->finish_reading();
  return *impl_;
}

const Device& ResidentGraph::device() const {
  return impl_->device;
}
const Graph& ResidentGraph::graph() const {
  return impl_->graph;
}

}  // namespace sluice
