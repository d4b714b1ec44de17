#include "engine/pagerank/rank_graph.hpp"

#include <algorithm>
#include <atomic>

#include "engine/core/error.hpp"
#include "engine/exec/threads.hpp"
#include "engine/memory/sweep_lists.hpp"
#include "engine/pagerank/divisor.hpp"
#include "engine/pagerank/static/sweep_pieces.hpp"
#include "partition/build.hpp"

namespace sluice::pagerank {

namespace {

constexpr std::uint64_t kVerticesAtOnce = 1u << 14;

template <class Body>
void over_rows(unsigned threads, std::uint64_t first, std::uint64_t last, Body&& body) {
  parallel_blocks(threads, last - first, kVerticesAtOnce,
                  [&](std::uint64_t begin, std::uint64_t end, unsigned) {
                    for (std::uint64_t row = first + begin; row < first + end; ++row) body(row);
                  });
}

/// In-degrees as offsets: of the whole graph, from out-lists that every rank has.
HostArray<EdgeIndex> in_offsets(const Csr& out, unsigned threads) {
  HostArray<EdgeIndex> offsets(out.vertices() + 1, "in-degrees");
  std::fill(offsets.begin(), offsets.end(), 0);
  parallel_blocks(threads, out.edges(), kVerticesAtOnce,
                  [&](std::uint64_t begin, std::uint64_t end, unsigned) {
                    for (EdgeIndex i = begin; i < end; ++i) {
                      std::atomic_ref(offsets[out.targets[i] + 1]).fetch_add(1, std::memory_order_relaxed);
                    }
                  });
  for (std::uint64_t v = 0; v < out.vertices(); ++v) offsets[v + 1] += offsets[v];
  return offsets;
}

}  // namespace

std::uint64_t bytes_in_file(const RankGraph& graph, bool weighted) {
  return graph.file() == nullptr ? 0 : graph.in().edges * edge_bytes(weighted);
}

void require_stored_in_edges(const Graph& graph) {
  if (!graph.directed || !graph.edges_elsewhere || !graph.in.offsets.empty()) return;
  throw UsageError(
      "the graph stays in its file, which does not store in-edges (convert it with --reverse, or raise "
      "--host-memory)");
}

RankGraph::RankGraph(const Graph& graph, const Options& options, unsigned threads, Communicator& ranks)
    : symmetric_(!graph.directed), edges_(graph.edges()) {
  if (options.weighted && !graph.weighted)
    throw UsageError("--weighted: the graph has no weights (leave it out)");
  require_stored_in_edges(graph);
  const bool planned = host_budget().counts_only();
  if (!graph.directed) {
    take(graph.out, graph.edges_elsewhere.get(), options.weighted, ranks);
  } else if (!graph.in.offsets.empty()) {
    take(graph.in, graph.in_elsewhere.get(), options.weighted, ranks);
  } else {
    planned ? plan_made(graph, ranks) : make(graph, options.weighted, threads, ranks);
  }
  divisors_ = HostArray<double>(in_.vertices, "out-degrees");
  const bool loops = options.dangling == Dangling::self_loop;
  if (loops) added_loops_ = HostArray<std::uint8_t>(in_.vertices, "self-loops");
  if (planned) return;
  find_divisors(graph, threads, options.weighted);
  if (loops) add_loops(threads, options.weighted);
}

void RankGraph::take(const Csr& in, const EdgeSource* file, bool weighted, Communicator& ranks) {
  owners_ =
      Ownership(balanced_ranges(in.offsets.data(), in.vertices(), static_cast<std::uint64_t>(ranks.size())));
  file_ = file;
  set_rows(in, weighted, ranks);
}

void RankGraph::make(const Graph& graph, bool weighted, unsigned threads, Communicator& ranks) {
  if (ranks.size() == 1) {
    owners_ = Ownership({0, graph.vertices()});
    made_ = transpose(graph.out, threads);
  } else {
    owners_ = Ownership(balanced_ranges(in_offsets(graph.out, threads).data(), graph.vertices(),
                                        static_cast<std::uint64_t>(ranks.size())));
    const auto rank = static_cast<std::uint64_t>(ranks.rank());
    made_ = transpose_some(graph.out, static_cast<Vertex>(owners_.begin(rank)), owners_.end(rank), weighted,
                           threads);
  }
  set_rows(made_, weighted, ranks);
}

/// What a transpose takes while it is made, and what stays.
void RankGraph::plan_made(const Graph& graph, const Communicator& ranks) {
  const std::uint64_t n = graph.vertices(), size = static_cast<std::uint64_t>(ranks.size()),
                      m = (graph.edges() + size - 1) / size;
  const TransposeBytes made = transpose_bytes(graph.out, m);
  host_budget().charge_and_release(made.most, "in-edges");
  made_.targets = HostArray<Vertex>(made.kept / sizeof(Vertex), "in-edges");
  owners_ = Ownership::even(n, size);
  longest_ = std::max<std::uint64_t>(std::min(n, graph.edges()), 1);
  in_ = {(n + size - 1) / size, m, graph.out.offsets.data(), nullptr, nullptr};
}

void RankGraph::set_rows(const Csr& from, bool weighted, const Communicator& ranks) {
  const auto rank = static_cast<std::uint64_t>(ranks.rank());
  first_ = owners_.begin(rank);
  in_ = SweepRows::of(from.view(), file_, weighted, first_, first_ + owners_.count(rank)).in;
}

void RankGraph::find_divisors(const Graph& graph, unsigned threads, bool weighted) {
  CsrView out = graph.out.view();
  out.vertices = in_.vertices;
  out.offsets += first_;
  const auto find = [&](std::uint64_t first, std::uint64_t last, const Vertex*, const float* weights) {
    CsrView rows = out;
    rows.weights = weights;
    over_rows(threads, first, last, [&](std::uint64_t row) {
      divisors_[row] = out_weight(rows, static_cast<Vertex>(row), weighted);
    });
  };
  if (!weighted) return find(0, in_.vertices, nullptr, nullptr);
  for_each_piece(out, graph.out.weights.empty() ? graph.edges_elsewhere.get() : nullptr, false, true, find);
}

void RankGraph::add_loops(unsigned threads, bool weighted) {
  const auto add = [&](std::uint64_t first, std::uint64_t last, const Vertex* targets, const float* weights) {
    CsrView rows = in_;
    rows.targets = targets;
    rows.weights = weighted ? weights : nullptr;
    over_rows(threads, first, last, [&](std::uint64_t row) {
      const bool loops = has_loop(rows, row, static_cast<Vertex>(first_ + row));
      added_loops_[row] = loops ? 0 : 1;
      if (!loops) divisors_[row] += 1;
    });
  };
  for_each_piece(in_, file_, true, weighted, add);
}

}  // namespace sluice::pagerank
