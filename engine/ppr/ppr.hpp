// Personalized PageRank (PPR) of many queries at once.
//
// A query is a distribution s over seeds. Its scores are (1 - a) sum_{k<L} a^k W^k s + a^L W^L s (GD(L)), or
// the limit for large L. Methods include diffusion, and diffusion in stages (Li et al., "MeLoPPR:
// Software/Hardware Co-design for Memory-efficient Low-latency Personalized PageRank", DAC'21). Queries are
// independent: each has its own vectors, and scores are integers (mass.hpp). Results are therefore identical
// to the bit for any threads, batches and ranks.
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
  std::span<const Vertex> seeds;          ///< [count] the first seed of each query
  std::span<const Vertex> vertices;       ///< [count, top]; kNoVertex after the last entry
  std::span<const double> scores;         ///< [count, top]
  std::span<const QueryFigures> figures;  ///< [count]
};

class Backend;

class Sink {
 public:
  virtual ~Sink() = default;
  /// Called in the order of queries; the spans are valid only during the call.
  virtual void write(const Batch& batch) = 0;
  /// The backend on which write() answers queries of its own; null if there is none. The run then frees its
  /// working memory before each write(). On the same device it shares the graph with that backend.
  virtual const Backend* query_backend() const { return nullptr; }
};

struct Stats {
  std::uint64_t queries = 0;
  std::uint64_t edges = 0;               ///< along which mass was sent
  std::uint64_t reached = 0;             ///< vertices reached, summed over queries
  std::uint64_t query_bytes = 0;         ///< peak memory, summed over queries
  std::uint64_t peak_query_bytes = 0;    ///< peak memory of the largest query
  std::uint64_t peak_table_entries = 0;  ///< one_by_one: entries of the largest score table
  double largest_error = 0, held = 0;    ///< `held` is summed over queries
  std::uint64_t batches = 0;
  double compute_seconds = 0, write_seconds = 0;
  ListTraffic traffic;             ///< lists that were fetched
  std::uint64_t mapped_bytes = 0;  ///< edges that mass and walks followed in place
};

/// Runs the queries `options.first_instance` up to `options.last_instance` on the device. Throws UsageError
/// for options out of range or not supported by the graph, InputError for a seed that is no vertex, and
/// BudgetError if memory does not suffice.
Stats run_ppr(const Device& device, const Graph& graph, const Starts& starts, const Options& options,
              Sink& sink, const PagingOptions& paging = {});

/// Memory that a run would take beside the graph. The vertices that a query reaches are not known in advance.
struct Plan {
  std::uint64_t graph_bytes = 0;          ///< in GPU memory
  bool in_place = false;                  ///< a GPU reads lists from host memory
  bool streamed = false;                  ///< lists are fetched to a GPU when queries need them
  std::uint64_t cache_bytes = 0;          ///< streamed: GPU memory for fetched lists
  std::uint64_t partitions = 1;           ///< approximate number, if lists are fetched
  std::uint64_t batch_bytes = 0;          ///< results of a batch, until the sink has them
  std::uint64_t largest_query_bytes = 0;  ///< of a query that reaches all vertices
  std::uint64_t rows_bytes = 0;           ///< dense rows
  std::uint64_t smallest_bytes = 0;       ///< the least memory with which the run works
  std::uint64_t host_bytes = 0;           ///< beside the graph: transfers between ranks or to a GPU
  std::uint64_t result_bytes = 0;
  unsigned threads = 1;  ///< queries at once
};
Plan plan_ppr(const Device& device, const Graph& graph, const Starts& starts, const Options& options,
              const PagingOptions& paging = {});

}  // namespace sluice::ppr
