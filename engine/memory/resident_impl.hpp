// The implementation of ResidentGraph: the graph in device memory, and the tables derived from it.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "engine/core/clock.hpp"
#include "engine/core/ownership.hpp"
#include "engine/exchange/nccl.hpp"
#include "engine/exchange/router.hpp"
#include "engine/exec/memory/buffer.hpp"
#include "engine/exec/memory/copy_lane.hpp"
#include "engine/graph/graph_view.hpp"
#include "engine/graph/layout.hpp"
#include "engine/graph/wide.hpp"
#include "engine/memory/coded_graph.hpp"
#include "engine/memory/paged_plan.hpp"
#include "engine/memory/paging.hpp"
#include "engine/memory/resident_graph.hpp"
#include "engine/select/bias.hpp"

namespace sluice {

struct PageRequest;

/// Tables of one fixed bias, each empty until it is needed.
struct BiasTables {
  Buffer<std::uint64_t> cumulative;  ///< [edges] CTPS: inclusive sums within each list
  Buffer<std::uint64_t> thresholds;  ///< [edges] alias, plain layout
  Buffer<std::uint32_t> others;      ///< [edges]
  Buffer<WideAlias> wide_alias;      ///< [edges] alias, wide layout
  Buffer<std::uint64_t> bounds;      ///< [vertices] largest bias of each list
  Buffer<std::uint32_t> positive;    ///< [vertices] entries of positive bias
  // The same by edge, for a graph in partitions: page-locked host memory, from which slots are filled.
  Staging<std::uint64_t> host_cumulative;
  Staging<std::uint64_t> host_thresholds;
  Staging<std::uint32_t> host_others;
  CodedSet coded;  ///< lists and alias slots, both coded

  std::uint64_t bytes() const {
    return cumulative.bytes() + thresholds.bytes() + others.bytes() + wide_alias.bytes() + bounds.bytes() +
           positive.bytes();
  }
};

class PeerPartitions;

struct ResidentGraph::Impl {
  Impl(const Device& on_device, const Graph& of_graph, const PagingOptions& options);

  const Device& device;
  const Graph& graph;
  PagingOptions paging;
  bool paged = false;                     ///< the edges are not all on the device: see Slots
  const PeerPartitions* peers = nullptr;  ///< while a run reads other ranks' memory
  Ownership table_owners;                 ///< vertices by the rank that makes their tables: even by edges
  std::uint64_t available;                ///< device bytes before the graph was allocated
  GraphView view;                         ///< in device memory; without edges if `paged`
  GraphView host_view;  ///< in host memory, for tables made there; without edges if in a file
  Buffer<EdgeIndex> offsets;
  Buffer<Vertex> targets;
  Buffer<float> weights;
  Buffer<std::int16_t> exponents;
  HostArray<std::int16_t> host_exponents;  ///< only if `paged` on a GPU
  std::vector<PageLock> locks;
  Buffer<Vertex> hubs;  ///< GPU: vertices of more than kHubDegree edges
  CodedSet coded;
  Buffer<WideEdge> wide;
  Buffer<std::uint64_t> packed;  ///< wide edges in 8 bytes, if `packing` is worthwhile
  EdgePacking packing;
  std::array<BiasTables, 3> named;  ///< by Bias
  std::shared_ptr<void> workspace;  ///< reused by batches of samples; made by the GPU backend
  std::uint32_t max_degree = 0;
  bool edges_read = true;  ///< false while edges, and their exponents, are still to be read
  double load_seconds = 0;
  double table_seconds = 0;  ///< all tables made so far
  std::uint64_t host_to_device_bytes = 0;
  std::optional<PlannedPages> planned;  ///< the plan of a run in partitions that is only planned

  /// True if offsets and degrees can be packed (40 and 24 bits).
  bool packable() const {
    return view.edges() <= PackedRow::kMaxOffset && max_degree <= PackedRow::kMaxDegree;
  }
  /// Without weights, every weight is 1: a bias by weight is then no bias.
  Bias effective(Bias bias) const { return bias == Bias::weight && !graph.weighted ? Bias::none : bias; }
  /// Calls body(view, begin, end) for ranges of vertices whose edges `view` has in host memory: one range if
  /// they are there, otherwise pieces as they are read from the file. Of a file, ranks that own parts of the
  /// graph take their vertices only: see share. Without `with_targets`, targets may be missing.
  void for_each_range(const std::function<void(const GraphView&, std::uint64_t, std::uint64_t)>& body,
                      bool with_targets = true) const;
  /// Calls make(threads, begin, end) for ranges of all vertices, whose lists are in host memory: one range,
  /// or, if edges are still to be read, ranges as they are read, by several threads. If `make` is null, only
  /// reads the edges. Does nothing in a run that is only planned.
  using UseReadLists = std::function<void(unsigned threads, std::uint64_t begin, std::uint64_t end)>;
  void process_lists(const UseReadLists& make);
  void finish_reading() { process_lists({}); }
  /// A clock that stops while edges are read.
  double seconds_without_loading() const { return seconds_now() - load_seconds; }
  /// Completes a column by vertex of which each rank has filled its own part.
  template <class T>
  void share(std::span<T> column, const char* label) const {
    if (paging.shard) Router(*paging.shard, table_owners).share(column.data(), label);
  }
  /// Makes a table of `size` elements by fill(elements) at the first call.
  template <class T, class Fill>
  const T* ensure(Buffer<T>& table, std::uint64_t size, const char* purpose, const Fill& fill) {
    if (table.empty() && size > 0) {
      const double begin = seconds_without_loading();
      Buffer<T> made(device, size, purpose);
      fill(made.data());
      table = std::move(made);
      table_seconds += seconds_without_loading() - begin;
    }
    return table.data();
  }
  const WideEdge* wide_edges();
  /// All lists coded, for partitions; null if `layout` does not ask for it (should_code), or it is impossible
  /// (CodedGraph::of). `slots`: alias slots of the bias that `set` belongs to, or null.
  const CodedGraph* coded_lists(Layout layout, const PageColumns& columns, CodedSet& set,
                                const AliasSlotsOf* slots);
  const std::uint64_t* packed_edges();
  /// Plans a run on this graph in partitions (plan_shard); also notes the plan if the run is only planned.
  /// Throws BudgetError if lists are to be read in place and host memory does not hold all their columns.
  PagedPlan plan_partitions(const PageRequest& pages, std::uint64_t bytes_per_instance,
                            std::uint64_t instances, std::uint64_t steps, std::uint64_t row_bytes = 0);
  /// Notes a plan, and charges the budget with its slots and instances.
  void record_plan(PlannedPages pages);
  /// Connects the GPUs of ranks that own parts of the graph. Null if they cannot be connected, or the run is
  /// only planned. All of these ranks call it.
  std::unique_ptr<DeviceRanks> connect_ranks() const;
  /// Bytes of all tables that were derived from the graph.
  std::uint64_t table_bytes() const;
  /// Changes a whole graph to partitions if a run needs more device memory, `needed` bytes with the graph
  /// itself, than there was.
  void partition_unless_fits(std::uint64_t needed);
  void drop_tables();

 private:
  void upload();
  void upload_edges();
  void prepare_partitions();
  template <class T>
  void upload_column(Buffer<T>& buffer, const T* source, std::size_t count, const char* purpose);
};

}  // namespace sluice
