// Personalized PageRank of many queries at once.
//
// A query is a distribution over seeds; its scores are (1 - a) sum_{k<L} a^k W^k s + a^L W^L s (GD(L)), or
// their limit for large L. Methods are the diffusion itself and that in stages (Li et al., "MeLoPPR:
// Software/Hardware Co-design for Memory-efficient Low-latency Personalized PageRank", DAC'21). Queries do
// not know of each other: each has sparse vectors of its own, and its scores are integers (mass.hpp), so
// results are the same to the bit for any threads, batches and ranks.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/batch/starts.hpp"
#include "engine/exec/device.hpp"
#include "engine/memory/paging.hpp"
#include "engine/ppr/adjacency/traffic.hpp"
#include "engine/ppr/options.hpp"
#include "engine/ppr/query_rules.hpp"
#include "partition/graph.hpp"

namespace sluice::ppr {

/// Results of consecutive queries [first, first + count).
struct Batch {
  Instance first = 0;
  std::uint64_t count = 0;
  std::uint32_t top = 0;
  std::span<const Vertex> seeds;          ///< [count], the first of each
  std::span<const Vertex> vertices;       ///< [count, top], kNoVertex behind the last
  std::span<const double> scores;         ///< [count, top]
  std::span<const QueryFigures> figures;  ///< [count]
};

class Backend;

class Sink {
 public:
  virtual ~Sink() = default;
  /// Called in order of query; the spans are valid during the call only.
  virtual void write(const Batch& batch) = 0;
  /// Whom write() asks queries of its own, null: none. Those that were answered then free memory for them
  /// first, and a run on the same device shares the graph with it.
  virtual const Backend* asks() const { return nullptr; }
};

struct Stats {
  std::uint64_t queries = 0;
  std::uint64_t edges = 0;               ///< along which mass was sent
  std::uint64_t reached = 0;             ///< vertices, over all queries
  std::uint64_t query_bytes = 0;         ///< memory of a query, over all of them
  std::uint64_t peak_query_bytes = 0;    ///< of the largest
  std::uint64_t peak_table_entries = 0;  ///< one by one: the most that a query's table of scores had at once
  double largest_error = 0, held = 0;    ///< `held` over all queries
  std::uint64_t batches = 0;
  double compute_seconds = 0, write_seconds = 0;
  ListTraffic traffic;             ///< lists that were brought
  std::uint64_t mapped_bytes = 0;  ///< of edges that mass and walks went along in place
};

/// Runs the queries `options.first_instance` up to `options.last_instance` on the device. Throws UsageError
/// for options out of range or what the graph does not have, InputError for a seed that is no vertex,
/// BudgetError where memory does not suffice.
Stats run_ppr(const Device& device, const Graph& graph, const Starts& starts, const Options& options,
              Sink& sink, const PagingOptions& paging = {});

/// What a run would take beside the graph. How many vertices a query reaches is not known beforehand.
struct Plan {
  std::uint64_t graph_bytes = 0;          ///< of a GPU's memory
  bool in_place = false;                  ///< lists stay in host memory
  bool streamed = false;                  ///< lists are brought to a GPU as queries come to them
  std::uint64_t cache_bytes = 0;          ///< the same: lists that stay there for now
  std::uint64_t partitions = 1;           ///< in which lists are brought, about
  std::uint64_t batch_bytes = 0;          ///< results on their way to the sink
  std::uint64_t largest_query_bytes = 0;  ///< if it reaches all vertices
  std::uint64_t rows_bytes = 0;           ///< where queries go side by side
  std::uint64_t smallest_bytes = 0;       ///< without which nothing can be done
  std::uint64_t host_bytes = 0;           ///< beside the graph: what is on its way, between ranks or to a GPU
  std::uint64_t result_bytes = 0;
  unsigned threads = 1;  ///< queries at once
};
Plan plan_ppr(const Device& device, const Graph& graph, const Starts& starts, const Options& options,
              const PagingOptions& paging = {});

}  // namespace sluice::ppr
