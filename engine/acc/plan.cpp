// What the solvers allocate, said beforehand.
#include "engine/acc/rounds/rank_part.hpp"
#include "engine/acc/solve.hpp"
#include "engine/core/ownership.hpp"
#include "engine/exec/executor.hpp"

namespace sluice::acc {

namespace {

struct Shape {
  std::uint64_t state = 0;   ///< bytes a vertex
  std::uint64_t lists = 0;   ///< worklists of vertices
  std::uint64_t bits = 0;    ///< sets of vertices, on the host
  std::uint64_t result = 0;  ///< bytes a vertex, with what it is made from
  std::uint64_t check = 0;   ///< bits a vertex, of a check (verify.hpp)
  bool in_edges = false, weights = false, simple = false;
  bool made = false;    ///< the simple form is another one than the graph's own
  bool levels = false;  ///< an aggregation: a GPU lists the vertices that are left (resident_cuda/levels.cuh)
};

/// About: bins of the threads that a large GPU holds at once.
constexpr std::uint64_t kBinBytes = 80u << 20;

std::uint64_t check_bytes(const Graph& graph, const Shape& shape) {
  const std::uint64_t bytes = (graph.vertices() * shape.check + 7) / 8;
  const bool turned = shape.simple && graph.directed && graph.in.offsets.empty();
  return bytes + (turned ? transpose_bytes(graph.vertices(), graph.edges()) : 0);
}

/// Of lists that come in partitions, at most. Of in-edges that a file does not store a vertex may have as
/// many as there are vertices.
std::uint64_t longest_bytes(const Graph& graph, const Shape& shape) {
  std::uint64_t longest = longest_list(graph.out.offsets.span());
  const std::uint64_t in =
      graph.in.offsets.empty() ? graph.vertices() : longest_list(graph.in.offsets.span());
  if (graph.directed && shape.in_edges) longest = std::max(longest, in);
  return longest * (sizeof(Vertex) + (shape.weights ? sizeof(float) : 0));
}

std::uint64_t bits_bytes(std::uint64_t vertices) {
  return (vertices + 63) / 64 * 8;
}

/// Ranges of ranks, and counts of a round.
std::uint64_t range_bytes(std::uint64_t vertices, std::uint64_t ranks) {
  return Ownership::even(vertices, ranks).bytes() + (ranks + LaneOutput::kSums + 1) * sizeof(std::uint64_t);
}

/// Over ranks, or in partitions: states of all vertices, and of a rank's own what else there is.
AccPlan shared_out_plan(const Device& device, const Graph& graph, const Shape& shape, const AccPlace& place) {
  const OwnRows own = OwnRows::of(graph.out.offsets.span(), place.ranks);
  const std::uint64_t n = graph.vertices(), ranks = own.ranks, rows = own.rows(), edges = own.edges();
  const bool in_file = graph.edges_elsewhere != nullptr;
  if (shape.made && (graph.directed || in_file)) throw_no_simple_form(place);
  AccPlan plan;
  plan.state_bytes = n * shape.state;
  plan.result_bytes = n * shape.result;
  plan.check_bytes = check_bytes(graph, shape);
  // Vertices that are sent to, and those that are settled, are bits; a host's pulls also find bits.
  const std::uint64_t bits = device.is_cuda() ? 2 : std::max<std::uint64_t>(shape.bits, 2);
  std::uint64_t held = plan.state_bytes + bits_bytes(n) * bits + range_bytes(n, ranks);
  // Worklists of all vertices and of own ones (frontier_rounds.hpp). A GPU also has where lists begin; the
  // host has bins of an aggregation's vertices instead.
  if (device.is_cuda()) {
    held += n * sizeof(Vertex) + rows * (2 * sizeof(Vertex) + sizeof(EdgeIndex));
  } else if (shape.lists > 0) {
    held += ((shape.levels && ranks == 1 ? 0 : n) + rows * (shape.levels ? 1 : 2)) * sizeof(Vertex);
  }
  const std::uint64_t lists = edges * (sizeof(Vertex) + (shape.weights ? sizeof(float) : 0));
  plan.device_bytes = held;
  plan.host_bytes = n * (shape.state + shape.result);
  if (!device.is_cuda() && shape.levels) plan.host_bytes += rows * shape.lists * sizeof(Vertex);
  if (in_file || is_paged(device, lists, held, nullptr, place.paging)) {
    // In-lists come in partitions of their own where these fit, too.
    const SweepPagePlan pages = plan_sweep_pages(
        device, {lists, longest_bytes(graph, shape), shape.made ? std::span<const EdgeIndex>{} : own.offsets},
        {held, plan.host_bytes}, in_file, place.paging);
    plan.device_bytes += pages.least_bytes;
    plan.partitions = pages.partitions;
    plan.brought_bytes = pages.brought_bytes;
  } else if (device.is_cuda()) {
    plan.device_bytes += lists;
    // In-lists only where they fit beside these.
    const std::uint64_t in_lists = rows * sizeof(EdgeIndex) + lists;
    if (shape.in_edges && graph.directed && plan.device_bytes + in_lists <= device.memory().available())
      plan.device_bytes += in_lists;
  }
  if (!device.is_cuda()) plan.host_bytes += plan.device_bytes;
  plan.freed_bytes = plan.host_bytes - plan.result_bytes;
  // What goes to other ranks' vertices in a round, at most.
  plan.host_bytes += (n - rows) * (sizeof(Vertex) + shape.state);
  if (shape.made) plan.host_bytes += simple_list_bytes(graph, rows, edges);
  return plan;
}

AccPlan plan_of(const Device& device, const Graph& graph, const Shape& shape, const AccPlace& place) {
  const AccNeeds needs{.in_edges = shape.in_edges, .weights = shape.weights, .simple = shape.simple};
  if (is_shared_out(device, graph, needs, place)) return shared_out_plan(device, graph, shape, place);
  const std::uint64_t n = graph.vertices(), m = graph.edges();
  AccPlan plan;
  plan.state_bytes = n * shape.state;
  plan.device_bytes =
      plan.state_bytes + n * shape.lists * sizeof(Vertex) + bits_bytes(n) * shape.bits + range_bytes(n, 1);
  plan.result_bytes = n * shape.result;
  plan.check_bytes = check_bytes(graph, shape);
  plan.host_bytes = n * (shape.state + shape.result);
  const std::uint64_t edges = shape.made && graph.directed ? 2 * m : m;  // at most
  const std::uint64_t lists =
      (n + 1) * sizeof(EdgeIndex) + edges * (sizeof(Vertex) + (shape.weights ? 4 : 0));
  if (device.is_cuda()) {
    plan.device_bytes += lists * (shape.in_edges && graph.directed ? 2 : 1);
    // Worklists are three by degree, for two rounds, and every thread has a bin (resident_cuda/rounds.cuh).
    if (shape.lists > 0) plan.device_bytes += n * (6 - shape.lists) * sizeof(Vertex) + kBinBytes;
    if (shape.levels) plan.device_bytes += (n / 2 + n / 4) * sizeof(Vertex);
  }
  if (!device.is_cuda()) plan.host_bytes += plan.device_bytes;
  plan.freed_bytes = plan.host_bytes - plan.result_bytes;
  if (shape.made) plan.host_bytes += simple_list_bytes(graph, n, m);
  return plan;
}

}  // namespace

AccPlan plan_bfs(const Device& device, const Graph& graph, const AccPlace& place) {
  const bool in = !graph.directed || !graph.in.offsets.empty();
  return plan_of(device, graph, {.state = 8, .lists = 2, .bits = 3, .result = 8, .check = 1, .in_edges = in},
                 place);
}

AccPlan plan_sssp(const Device& device, const Graph& graph, const AccPlace& place) {
  return plan_of(
      device, graph,
      {.state = 8, .lists = 4, .result = 8, .check = 2 + 32, .weights = graph.weighted, .levels = true},
      place);
}

AccPlan plan_cores(const Device& device, const Graph& graph, const AccPlace& place, bool looks) {
  Shape shape{.state = 4,
              .lists = 4,
              .result = 4,
              .check = 64,
              .simple = true,
              .made = graph.directed,
              .levels = true};
  if (looks && !graph.directed) shape.made = !has_simple_lists(graph, place.ranks, device.threads());
  return plan_of(device, graph, shape, place);
}

AccPlan plan_components(const Device& device, const Graph& graph, const AccPlace& place) {
  return plan_of(device, graph, {.state = 4, .result = 8, .check = 32}, place);
}

}  // namespace sluice::acc
