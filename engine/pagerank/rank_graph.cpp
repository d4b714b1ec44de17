#include "engine/pagerank/rank_graph.hpp"

#include <algorithm>
#include <atomic>

#include "engine/core/error.hpp"
#include "engine/exec/threads.hpp"
#include "engine/memory/sweep_lists.hpp"
#include "engine/pagerank/static/sweep_pieces.hpp"
#include "partition/build.hpp"
#include "partition/ranges.hpp"

namespace sluice::pagerank {

namespace {

constexpr std::uint64_t kVerticesPerBlock = 1u << 14;

/// Ranges with equally many in-edges, counted in out-lists that every rank has; a plan takes out-edges.
Ownership owners_by_in_edges(const Csr& out, unsigned threads, std::uint64_t ranks) {
  HostArray<EdgeIndex> offsets(out.vertices() + 1, "in-degrees");
  if (host_budget().counts_only()) return balanced_ranges(out.offsets.span(), ranks);
  std::fill(offsets.begin(), offsets.end(), 0);
  parallel_blocks(threads, out.edges(), kVerticesPerBlock,
                  [&](std::uint64_t begin, std::uint64_t end, unsigned) {
                    for (EdgeIndex i = begin; i < end; ++i) {
                      std::atomic_ref(offsets[out.targets[i] + 1]).fetch_add(1, std::memory_order_relaxed);
                    }
                  });
  for (std::uint64_t v = 0; v < out.vertices(); ++v) offsets[v + 1] += offsets[v];
  return balanced_ranges(offsets.span(), ranks);
}

}  // namespace

std::uint64_t bytes_in_file(const RankGraph& graph, bool weighted) {
  return graph.file() == nullptr ? 0 : edge_bytes(graph.in().edges, weighted);
}

void require_stored_in_edges(const Graph& graph) {
  if (!graph.directed || !graph.edge_source || !graph.in.offsets.empty()) return;
  throw UsageError(
      "the graph stays in its file, which does not store in-edges (convert its edges with --reverse, raise "
      "--host-memory, or omit --transport file)");
}

RankGraph::RankGraph(const Graph& graph, const Options& options, unsigned threads, Communicator& ranks,
                     std::uint64_t added)
    : symmetric_(!graph.directed), edges_(graph.edges()) {
  if (options.weighted && !graph.weighted) throw UsageError("--weighted: the graph has no weights (omit it)");
  require_stored_in_edges(graph);
  if (!host_budget().counts_only()) pending_edges_ = graph.pending_edges.get();
  if (graph.directed || options.weighted || options.dangling == Dangling::self_loop || ranks.size() > 1)
    finish_reading(threads);
  if (!graph.directed) {
    use_stored_edges(graph.out, graph.edge_source.get(), options.weighted, ranks);
  } else if (!graph.in.offsets.empty()) {
    use_stored_edges(graph.in, graph.in_edge_source.get(), options.weighted, ranks);
  } else {
    build_transpose(graph, options.weighted, threads, ranks);
  }
  if (ranks.rank() + 1 == ranks.size()) in_.vertices += added_vertices_ = added;
  owners_.grow(owners_.vertices() + added);
  divisors_ = HostArray<double>(in_.vertices, "out-degrees");
  if (options.dangling == Dangling::self_loop) loops_ = HostArray<Loop>(in_.vertices, "self-loops");
  if (!host_budget().counts_only())
    find_sources(graph, options, first_, threads, divisors_.span(), loops_.span());
}

void RankGraph::for_each_loaded_range(unsigned threads,
                                      const std::function<void(EdgeIndex, EdgeIndex)>& visit) const {
  constexpr std::uint64_t kEdgesPerBlock = 1 << 16;
  if (pending_edges_ && !pending_edges_->complete()) {
    pending_edges_->read(threads, [&](std::uint64_t begin, std::uint64_t end, unsigned) {
      visit(in_.offsets[begin], in_.offsets[end]);
    });
  } else {
    parallel_blocks(threads, in_.edges, kEdgesPerBlock,
                    [&](EdgeIndex begin, EdgeIndex end, unsigned) { visit(begin, end); });
  }
}

void RankGraph::use_stored_edges(const Csr& in, const EdgeSource* file, bool weighted, Communicator& ranks) {
  owners_ = OwnedRows(in.offsets.span(), &ranks).owners;
  file_ = file;
  set_rows(in, weighted, ranks);
}

void RankGraph::build_transpose(const Graph& graph, bool weighted, unsigned threads, Communicator& ranks) {
  const auto size = static_cast<std::uint64_t>(ranks.size()), rank = static_cast<std::uint64_t>(ranks.rank());
  owners_ = size == 1 ? Ownership({0, graph.vertices()}) : owners_by_in_edges(graph.out, threads, size);
  transpose_ = transpose_range(graph.out, static_cast<Vertex>(owners_.begin(rank)), owners_.end(rank),
                               weighted, threads);
  const bool planned = host_budget().counts_only();
  if (planned) max_degree_ = std::max<std::uint64_t>(std::min(graph.vertices(), graph.edges()), 1);
  set_rows(planned ? graph.out : transpose_, weighted, ranks);
}

void RankGraph::set_rows(const Csr& lists, bool weighted, const Communicator& ranks) {
  const auto rank = static_cast<std::uint64_t>(ranks.rank());
  first_ = owners_.begin(rank);
  in_ = SweepRows::of(lists.view(), file_, weighted, first_, first_ + owners_.count(rank)).csr;
}

void find_sources(const Graph& graph, const Options& options, std::uint64_t first, unsigned threads,
                  std::span<double> divisors, std::span<Loop> loops) {
  if (divisors.empty()) return;
  const bool weighted = options.weighted, targets = !loops.empty();
  CsrView out = graph.out.view();
  out.vertices = divisors.size(), out.offsets += first;
  const auto find = [&](const CsrView& rows, std::uint64_t row) {
    if (!targets) {
      divisors[row] = out_weight(rows, row, weighted);
      return;
    }
    const RankSource source =
        source_of(rows, row, static_cast<Vertex>(first + row), weighted, options.dangling);
    divisors[row] = source.divisor, loops[row] = source.loop;
  };
  for_row_blocks(out, targets || weighted ? graph.edge_source.get() : nullptr, targets, weighted, threads,
                 kVerticesPerBlock, [&](const CsrView& rows, std::uint64_t begin, std::uint64_t end) {
                   for (std::uint64_t row = begin; row < end; ++row) find(rows, row);
                 });
}

}  // namespace sluice::pagerank
