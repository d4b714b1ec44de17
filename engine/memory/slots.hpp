// Slots: device memory for the edges of a few partitions, filled while other partitions are worked on.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "engine/exec/memory/buffer.hpp"
#include "engine/exec/thread_pool.hpp"
#include "engine/graph/page_columns.hpp"
#include "engine/graph/partition_map.hpp"
#include "engine/memory/coded_graph.hpp"
#include "engine/memory/device_ownership.hpp"
#include "engine/memory/owned_partitions.hpp"
#include "engine/memory/resident_impl.hpp"
#include "partition/graph.hpp"
#include "partition/plan.hpp"

namespace sluice {

/// Columns of edges, each as `Memory`.
template <template <class> class Memory>
struct ColumnsIn {
  Memory<Vertex> targets;
  Memory<float> weights;
  Memory<std::uint64_t> cumulative, thresholds;
  Memory<std::uint32_t> others;
  Memory<WideAlias> wide_alias;
};

/// Calls each(column_of, wanted) for every column; column_of(x) is that column of a PageView or a ColumnsIn.
template <class Each>
void each_column(const PageColumns& columns, const Each& each) {
  each(
      [](auto& x) -> auto& { return x.targets; }, !columns.coded);
  each(
      [](auto& x) -> auto& { return x.weights; }, columns.weights);
  each(
      [](auto& x) -> auto& { return x.cumulative; }, columns.cumulative);
  each(
      [](auto& x) -> auto& { return x.thresholds; }, columns.alias && !columns.coded);
  each(
      [](auto& x) -> auto& { return x.others; }, columns.alias && !columns.coded);
  each(
      [](auto& x) -> auto& { return x.wide_alias; }, columns.wide_alias);
}

/// True if `view` has all these columns.
inline bool has_columns(const PageView& view, const PageColumns& columns) {
  bool has_all = true;
  each_column(columns,
              [&](auto column_of, bool wanted) { has_all = has_all && (!wanted || column_of(view)); });
  return has_all;
}

/// The sources of a partition's columns: whole columns in (page-locked) host memory. A null column is read
/// from the graph's file, or derived from what was read.
struct PageSources {
  /// Edges in memory, or in the file `from`.
  static PageSources of(const CsrView& lists, const EdgeSource* from, bool weighted);

  PageView columns;
  const CodedGraph* coded = nullptr;  ///< all lists, if the run reads them coded
  const EdgeSource* file = nullptr;
  bool weighted = false;  ///< the edges have weights, from which columns may be derived
  bool host_cache = false;   ///< partitions from the file stay in host memory if they fit
  OwnedPartitions uncached;  ///< except these, which stay in their slots
  /// Fills the derived columns of the vertices [begin, end) from targets and weights, all in host memory.
  std::function<void(const PageView& page, std::uint64_t begin, std::uint64_t end)> derive;
  /// As derive, with all columns in a GPU's memory; null if no code for it was compiled.
  std::function<void(const PageView& page, std::uint64_t begin, std::uint64_t end)> derive_on_gpu;
};

/// The expected work of a run on lists in partitions.
struct ExpectedWork {
  std::uint64_t instances;
  std::uint64_t instance_bytes;  ///< of one instance under way
  std::uint64_t steps;           ///< moves of an instance from list to list
  std::uint64_t reads;           ///< list entries that an instance reads
  std::uint64_t row_bytes = 0;   ///< as in plan_pages()
};

/// What a run needs of the edges.
struct PageRequest {
  PageRequest() = default;
  explicit PageRequest(const ResidentGraph::Impl& graph);

  /// For a run that reads single entries of lists only. Requests coded lists if the graph is in partitions
  /// and `layout` asks for them, or leaves it open and they pay. Returns true if so. Throws UsageError if
  /// `layout` asks for them and they are impossible.
  bool request_codes(ResidentGraph::Impl& graph, Layout layout, const ExpectedWork& work) {
    return request_codes(graph, layout, work, graph.coded, nullptr);
  }
  /// As above, with the alias slots of a bias if the columns have them; `set` belongs to that bias.
  bool request_codes(ResidentGraph::Impl& graph, Layout layout, const ExpectedWork& work, CodedSet& set,
                     const AliasSlotsOf* slots);

  PageColumns columns;
  PageSources sources;

 private:
  bool in_place_pays(ResidentGraph::Impl& graph, const ExpectedWork& work, CodedSet& set) const;
};

class Slots {
 public:
  /// Totals of what was brought.
  struct Counters {
    std::atomic<std::uint64_t> transfers{0}, copied_bytes{0}, read_bytes{0};
  };

  /// Number of slots; only the first `large` ones hold oversized partitions. Without slots, `present` may
  /// name where all partitions already are.
  struct Count {
    unsigned slots, large;
    std::uint64_t min_bytes = 0;             ///< least size of each column of a slot
    std::span<const PageView> present = {};  ///< [partitions]
  };

  /// Makes slots for partitions of the plan, which cuts `offsets`; both are kept by reference. Without slots,
  /// partitions are read in place. Throws BudgetError.
  Slots(const Device& device, std::span<const EdgeIndex> offsets, const PartitionPlan& plan,
        PageColumns columns, PageSources sources, Count count);
  ~Slots();
  Slots(const Slots&) = delete;
  Slots& operator=(const Slots&) = delete;

  /// True if partitions can be read in place, in host memory.
  bool can_map() const { return can_map_; }
  /// The host memory that reads in place access at random, a word of a list at a time.
  std::span<const std::uint32_t> host_words() const;
  /// True if partitions are read from the graph's file.
  bool read_from_file() const { return !columns_.coded && !sources_.columns.targets; }
  /// Makes the partition present, read in place.
  void map(std::uint32_t partition) { slot_of_[partition] = in_place_slot(); }
  /// Starts to bring a partition into a slot that no kernel reads.
  void begin_load(unsigned slot, std::uint32_t partition);
  /// Waits until at least one load has arrived and at most `max_in_flight` are under way. Returns the
  /// partitions that arrived since the last call, which are now present. Throws errors of loads.
  std::vector<std::uint32_t> wait(unsigned max_in_flight = 0);
  /// Makes the partition absent.
  void drop(std::uint32_t partition);

  /// What the kernels of a round read.
  struct Published {
    PageMap map;
    const std::byte* extra;
  };
  /// Copies the look-up of present partitions, and `extra` beside it, to the device in one transfer. Valid
  /// until the next call, before which kernels must have finished reading it.
  Published publish(std::span<const std::byte> extra = {});
  /// Partitions as ranges of vertices, in device memory. Without slots, copied at the first call. Throws
  /// BudgetError.
  OwnershipView owners();
  /// Views by slot; the last one reads in place.
  std::span<const PageView> views() const { return views_; }
  /// True if a present partition is read in place.
  bool in_place(std::uint32_t partition) const { return slot_of_[partition] == in_place_slot(); }
  /// The columns of a present partition.
  const PageView& page(std::uint32_t partition) const { return views_[slot_of_[partition]]; }
  const Counters& counters() const { return counters_; }

 private:
  struct Slot : ColumnsIn<Buffer> {
    Buffer<std::uint32_t> codes;  ///< words of the coded lists
  };
  struct Load {
    unsigned slot;
    std::uint32_t partition;
  };
  struct Loader;
  /// A partition's columns in page-locked host memory, as they are copied to a slot.
  struct HostCopy : ColumnsIn<Staging> {
    bool whole = false;
  };
  /// The largest sizes among some partitions.
  struct Capacity {
    std::uint64_t edges = 0, codes = 0;
  };

  std::uint32_t in_place_slot() const { return static_cast<std::uint32_t>(views_.size()) - 1; }
  Capacity capacity_for(bool oversized) const;
  void allocate(Slot& slot, const Capacity& capacity) const;
  void run_loader();
  void load_partition(Loader& loader, const Load& load);
  void load_coded(Loader& loader, const Load& load);
  void load_columns(Loader& loader, const Load& load, bool gpu_derives);
  /// True if columns are derived anew for each partition.
  bool derives() const;
  template <class T>
  void copy(Loader& loader, T* to, const T* from, std::uint64_t size);
  template <class T, class Read>
  void read(Loader& loader, T* to, T* from, EdgeIndex first, std::uint64_t edges, const Read& fill);
  std::uint64_t cache_bytes(std::uint32_t partition) const;
  HostCopy* cache_entry_for(std::uint32_t partition);
  void mark_cached(std::uint32_t partition);
  PageView rebased(const Slot& slot, std::uint32_t partition) const;

  const Device& device_;
  std::span<const EdgeIndex> offsets_;
  const PartitionPlan& plan_;
  PageColumns columns_;
  PageSources sources_;
  bool can_map_ = false;
  std::uint64_t max_edges_ = 0;  ///< of any partition
  std::uint64_t min_bytes_ = 0;
  std::vector<Slot> slots_;
  std::vector<PageView> views_;         ///< [slots + 1]
  std::vector<std::uint32_t> slot_of_;  ///< [partitions]
  std::vector<HostCopy> host_copies_;   ///< [partitions], or empty
  std::uint64_t reserved_bytes_ = 0;    ///< bytes of partitions that are being read to be kept
  DeviceOwnership owners_;
  std::vector<std::byte> lookup_;  ///< views_, slot_of_ and publish()'s `extra`
  Buffer<std::byte> device_lookup_;
  Counters counters_;
  std::atomic<bool> can_derive_on_gpu_{true};  ///< false once memory was too short for it
  std::mutex derive_mutex_;                    ///< one loader at a time allocates for it

  std::mutex mutex_;
  std::condition_variable load_queued_;  ///< signals copying threads
  std::condition_variable arrived_;  ///< signals wait()
  std::deque<Load> queued_;
  std::vector<Load> arrivals_;  ///< loads that arrived since the last wait
  unsigned in_flight_ = 0;
  unsigned max_in_flight_ = 0;  ///< loads that wait() leaves under way
  bool closing_ = false;
  std::exception_ptr failure_;
  std::optional<BorrowedThreads> threads_;  ///< the last: they end before what they use
};

}  // namespace sluice
