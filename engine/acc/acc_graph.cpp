#include "engine/acc/acc_graph.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <span>

#include "engine/acc/rounds/rank_part.hpp"
#include "engine/acc/solve.hpp"
#include "engine/core/error.hpp"
#include "engine/exec/threads.hpp"
#include "partition/build.hpp"

namespace sluice::acc {

namespace {

constexpr std::uint64_t kVerticesAtOnce = 1u << 12;

/// Calls use(neighbour) for the union of two ascending lists, each neighbour once, without v itself.
template <class Use>
void for_each_neighbor(Vertex v, std::span<const Vertex> a, std::span<const Vertex> b, Use&& use) {
  Vertex last = v;
  bool any = false;
  for (std::size_t i = 0, j = 0; i < a.size() || j < b.size();) {
    const Vertex next = j == b.size() || (i < a.size() && a[i] <= b[j]) ? a[i++] : b[j++];
    if (next == v || (any && next == last)) continue;
    use(next);
    last = next;
    any = true;
  }
}

std::span<const Vertex> list_of(const CsrView& csr, std::uint64_t v) {
  if (csr.offsets == nullptr) return {};
  return {csr.targets + csr.offsets[v], csr.offsets[v + 1] - csr.offsets[v]};
}

/// A level's width over the mean weight of an edge, times the degree that an edge meets: measured. It decides
/// speed alone. A GPU looks at more edges in vain sooner than it waits for more rounds: sssp of a Kronecker
/// graph of scale 22 took an H200 47.0 ms at 16, 20.4 at 64, 19.6 at 256 and 22.4 at 1024. Less so where it
/// reads them over the link: scale 24, a quarter of its bytes there, 286 ms at 64, 279 at 90 and 312 at 128.
constexpr double kDeltaFactor = 16, kDeltaFactorCuda = 128, kDeltaFactorOverLink = 80;
constexpr std::uint64_t kSampledWeights = 1u << 16;

/// Few edges of a vertex should be shorter than a level is wide (Meyer and Sanders). Paths run through hubs,
/// so that the degree which counts is the mean over edges, not over vertices.
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

double mean_weight_of(const CsrView& lists) {
  const std::uint64_t stride = lists.edges / kSampledWeights + 1;
  double weights = 0, count = 0;
  for (EdgeIndex e = 0; e < lists.edges; e += stride)
    weights += static_cast<double>(lists.weights[e]), ++count;
  return count > 0 ? weights / count : 1;
}

}  // namespace

/// Two passes over the lists: how many neighbours there are, and which.
Csr simple_lists(const CsrView& out, const CsrView& in, std::uint64_t first, unsigned threads) {
  const std::uint64_t n = out.vertices;
  const auto over_lists = [&](auto&& body) {
    parallel_blocks(threads, n, kVerticesAtOnce, [&](std::uint64_t begin, std::uint64_t end, unsigned) {
      for (std::uint64_t v = begin; v < end; ++v) body(v, list_of(out, v), list_of(in, v));
    });
  };
  Csr csr;
  csr.offsets = HostArray<EdgeIndex>(n + 1, "the undirected graph's offsets");
  csr.offsets[0] = 0;
  over_lists([&](std::uint64_t v, auto a, auto b) {
    std::uint64_t count = 0;
    for_each_neighbor(static_cast<Vertex>(first + v), a, b, [&](Vertex) { ++count; });
    csr.offsets[v + 1] = count;
  });
  for (std::uint64_t v = 0; v < n; ++v) csr.offsets[v + 1] += csr.offsets[v];
  csr.targets = HostArray<Vertex>(csr.offsets[n], "the undirected graph's edges");
  over_lists([&](std::uint64_t v, auto a, auto b) {
    Vertex* to = csr.targets.data() + csr.offsets[v];
    for_each_neighbor(static_cast<Vertex>(first + v), a, b, [&](Vertex next) { *to++ = next; });
  });
  return csr;
}

bool has_simple_lists(const CsrView& lists, unsigned threads, std::uint64_t first) {
  std::atomic<bool> simple{true};
  parallel_blocks(threads, lists.vertices, kVerticesAtOnce,
                  [&](std::uint64_t begin, std::uint64_t end, unsigned) {
                    for (std::uint64_t v = begin; v < end && simple.load(std::memory_order_relaxed); ++v) {
                      const auto list = list_of(lists, v);
                      if (std::adjacent_find(list.begin(), list.end()) != list.end() ||
                          std::binary_search(list.begin(), list.end(), static_cast<Vertex>(first + v)))
                        simple = false;
                    }
                  });
  return simple;
}

void throw_no_simple_form(const AccPlace& place) {
  const std::string line =
      "kcore ignores direction, self-loops and parallel edges only of a graph that one process holds whole "
      "in "
      "memory (`sluice convert --undirected` writes a graph without them)";
  const bool on_ranks = place.ranks != nullptr && place.ranks->size() > 1;
  if (on_ranks || place.paging.partitions > 1 || place.paging.transport != Transport::automatic)
    throw UsageError(line);
  throw BudgetError(line);
}

Csr simple_undirected(const Graph& graph, unsigned threads) {
  if (!graph.directed) return simple_lists(graph.out.view(), {}, 0, threads);
  if (!graph.in.offsets.empty()) return simple_lists(graph.out.view(), graph.in.view(), 0, threads);
  const Csr in = transpose(graph.out, threads);
  return simple_lists(graph.out.view(), in.view(), 0, threads);
}

AccGraph::AccGraph(const Device& device, const Graph& graph, const AccNeeds& needs, const AccPlace& place)
    : device_(&device) {
  const auto begin = std::chrono::steady_clock::now();
  const auto part = std::make_shared<RankPart>(device, graph, needs, place);
  out_ = part->complete() ? part->lists() : graph.out.view();
  if (needs.weights && graph.weighted && !device.plans()) {
    const double mean = part->complete() ? mean_weight_of(out_) : part->mean_weight();
    // Ranks have the same levels, and one may have less memory than another.
    const bool over_link = part->ranks().size() == 1 && part->has_pages(part->out());
    const double factor = !device.is_cuda() ? kDeltaFactor
                          : over_link       ? kDeltaFactorOverLink
                                            : kDeltaFactorCuda;
    usual_delta_ = delta_for(out_, mean, factor);
  }
  if (part->complete()) {
    in_ = part->in().in;
    if (device.is_cuda()) {
      const bool stored_in = in_.offsets != nullptr && !part->symmetric();
      out_ = upload(out_, out_there_);
      if (in_.offsets != nullptr) in_ = stored_in ? upload(in_, in_there_) : out_;
    }
  }
  rank_part_ = part;
  setup_seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

bool AccGraph::complete() const {
  return rank_part_->complete();
}

bool AccGraph::symmetric() const {
  return rank_part_->symmetric();
}

std::uint64_t AccGraph::first() const {
  return rank_part_->first();
}

std::uint64_t AccGraph::last() const {
  return rank_part_->last();
}

bool AccGraph::has_in_edges() const {
  return rank_part_->in().in.offsets != nullptr;
}

CsrView AccGraph::upload(const CsrView& from, OnDevice& to) {
  const auto send = [&]<class T>(Buffer<T>& buffer, const T* data, std::uint64_t count, const char* purpose) {
    buffer = Buffer<T>(*device_, count, purpose);
    copy_to_device(*device_, buffer.data(), data, buffer.bytes());
    uploaded_ += buffer.bytes();
  };
  send(to.offsets, from.offsets, from.vertices + 1, "the graph's offsets");
  send(to.targets, from.targets, from.edges, "the graph's edges");
  if (from.weights != nullptr) send(to.weights, from.weights, from.edges, "the graph's weights");
  return {from.vertices, from.edges, to.offsets.data(), to.targets.data(),
          from.weights != nullptr ? to.weights.data() : nullptr};
}

}  // namespace sluice::acc
