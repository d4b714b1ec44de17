// Inside of ResidentGraph: the graph where the device reaches it, and the tables derived from it.
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

/// Tables of one fixed bias, each empty until it is asked for.
struct BiasTables {
  Buffer<std::uint64_t> cumulative;  ///< [edges] CTPS: inclusive sums within each list
  Buffer<std::uint64_t> thresholds;  ///< [edges] alias, plain layout
  Buffer<std::uint32_t> others;      ///< [edges]
  Buffer<WideAlias> wide_alias;      ///< [edges] alias, wide layout
  Buffer<std::uint64_t> bounds;      ///< [vertices] largest bias of each list
  Buffer<std::uint32_t> positive;    ///< [vertices] entries of positive bias
  // The same by edge for a graph in partitions: page-locked host memory, from which slots are filled.
  Staging<std::uint64_t> host_cumulative;
  Staging<std::uint64_t> host_thresholds;
  Staging<std::uint32_t> host_others;
  CodedSet coded;  ///< lists and alias slots, both in fewer bits

  std::uint64_t bytes() const {
    return cumulative.bytes() + thresholds.bytes() + others.bytes() + wide_alias.bytes() + bounds.bytes() +
           positive.bytes();
  }
};

class PeerPartitions;

struct ResidentGraph::Impl {
  Impl(const Device& on, const Graph& of, const PagingOptions& in_parts);

  const Device& device;
  const Graph& graph;
  PagingOptions paging;
  bool paged = false;                     ///< edges are not on the device as a whole: see Slots
  const PeerPartitions* peers = nullptr;  ///< while a run reads other ranks' memory
  Ownership makers;                       ///< of tables, by rank: parts of about as many edges
  std::uint64_t available;                ///< of the device's memory, before the graph took any
  GraphView view;                         ///< pointers to the device's memory; no edges where `paged`
  GraphView host_view;  ///< the same in host memory, for tables that are made there; no edges if in a file
  Buffer<EdgeIndex> offsets;
  Buffer<Vertex> targets;
  Buffer<float> weights;
  Buffer<std::int16_t> exponents;
  HostArray<std::int16_t> host_exponents;  ///< `paged` on a GPU
  std::vector<PageLock> locks;
  Buffer<Vertex> hubs;  ///< GPU: vertices of more than kHubDegree edges
  CodedSet coded;
  Buffer<WideEdge> wide;
  Buffer<std::uint64_t> packed;  ///< wide edges in 8 bytes, where `packing` is worthwhile
  EdgePacking packing;
  std::array<BiasTables, 3> named;  ///< by Bias
  std::shared_ptr<void> workspace;  ///< memory that batches of samples reuse, made by the GPU's backend
  std::uint32_t max_degree = 0;
  bool settled = true;  ///< else edges, and exponents with them, are still to come
  double load_seconds = 0;
  double table_seconds = 0;  ///< all tables made so far
  std::uint64_t host_to_device_bytes = 0;
  std::optional<PlannedPages> planned;  ///< of a run in partitions that is only planned

  /// Can offsets and degrees be packed (40 and 24 bits)?
  bool packable() const {
    return view.edges() <= PackedRow::kMaxOffset && max_degree <= PackedRow::kMaxDegree;
  }
  /// Without weights every weight is 1, and a bias by weight is none.
  Bias effective(Bias bias) const { return bias == Bias::weight && !graph.weighted ? Bias::none : bias; }
  /// Calls body(view, begin, end) for ranges of vertices whose edges `view` has in host memory; all at once
  /// where they are there, else as they are read from the file. Ranks that share out the graph each take
  /// their part of the vertices: see share. Without targets, these need not be there.
  void for_each_range(const std::function<void(const GraphView&, std::uint64_t, std::uint64_t)>& body,
                      bool with_targets = true) const;
  /// Calls make(threads, begin, end) for ranges of all vertices, whose lists are in host memory: all at once,
  /// or, where edges are still to come, as they do, by several threads. Null: that they come. Not of a plan.
  using MakeOfLists = std::function<void(unsigned threads, std::uint64_t begin, std::uint64_t end)>;
  void as_lists_come(const MakeOfLists& make);
  void settle() { as_lists_come({}); }
  /// A clock that stands still while edges come.
  double seconds_without_loading() const { return seconds_now() - load_seconds; }
  /// A column by vertex that every rank has filled for its part becomes whole.
  template <class T>
  void share(std::span<T> column, const char* label) const {
    if (paging.shard) Router(*paging.shard, makers).share(column.data(), label);
  }
  /// Makes a table of `size` elements by fill(elements), when it is first asked for.
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
  /// All lists coded, for partitions, where `layout` wants it (wants_codes); null where it does not, or that
  /// cannot be (CodedGraph::of). `slots`: of the bias whose `set` it is, null without slots.
  const CodedGraph* coded_lists(Layout layout, const PageColumns& columns, CodedSet& set,
                                const AliasSlotsOf* slots);
  const std::uint64_t* packed_edges();
  /// How a run on this graph works in partitions: as plan_shard. A run that is only planned notes it.
  PagedPlan share_memory(const PageColumns& columns, std::uint64_t bytes_per_instance,
                         std::uint64_t instances, std::uint64_t steps, std::uint64_t row_bytes = 0);
  /// Notes it, and takes the memory of slots and instances.
  void note(PlannedPages pages);
  /// What GPUs of ranks that share out the graph hand each other work by, if any; not of a run that is only
  /// planned. All of these ranks call it.
  std::unique_ptr<DeviceRanks> link() const;
  /// Of all that was derived from the graph.
  std::uint64_t table_bytes() const;
  /// A graph that is whole is worked on in partitions from now on, if a run is to take `needed` bytes of the
  /// device with the graph itself, and there were fewer.
  void cut_unless_fits(std::uint64_t needed);
  void drop_tables();

 private:
  void upload();
  void bring_edges();
  void open_pages();
  template <class T>
  void bring(Buffer<T>& buffer, const T* from, std::size_t count, const char* purpose);
};

}  // namespace sluice
