// Slots: memory on the device for a few partitions' edges, filled while others are worked on.
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

/// Columns of edges, each in `Memory`.
template <template <class> class Memory>
struct ColumnsIn {
  Memory<Vertex> targets;
  Memory<float> weights;
  Memory<std::uint64_t> cumulative, thresholds;
  Memory<std::uint32_t> others;
  Memory<WideAlias> wide_alias;
};

/// Calls each(of, wanted) for every column: of(x) is that of a PageView, or of ColumnsIn.
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

/// Where a partition's columns come from. Whole columns in (page-locked) host memory where they are there;
/// what is null is read from the graph's file, or derived from what was read.
struct PageSources {
  /// Edges in memory, or `from` a file.
  static PageSources of(const CsrView& lists, const EdgeSource* from, bool weighted);

  PageView columns;
  const CodedGraph* coded = nullptr;  ///< all lists, where the run wants them coded
  const EdgeSource* file = nullptr;
  bool weighted = false;  ///< the edges have weights, from which columns may be derived
  bool keep = false;      ///< what has come from the file stays in host memory, as far as it fits
  OwnedPartitions once;   ///< but these, which stay in their slots
  /// Fills the derived columns of the vertices [begin, end) from targets and weights, all in host memory.
  std::function<void(const PageView& page, std::uint64_t begin, std::uint64_t end)> derive;
  /// The same where all of them are in a GPU's memory; null where there is no code for that.
  std::function<void(const PageView& page, std::uint64_t begin, std::uint64_t end)> derive_there;
};

/// What a run does with lists in partitions, as far as that is known beforehand.
struct ExpectedWork {
  std::uint64_t instances;
  std::uint64_t instance_bytes;  ///< of one under way
  std::uint64_t steps;           ///< in which it goes from list to list
  std::uint64_t reads;           ///< entries of lists that it reads
  std::uint64_t row_bytes = 0;   ///< as plan_pages() has them
};

/// What a run wants of the edges.
struct PageRequest {
  PageRequest() = default;
  explicit PageRequest(const ResidentGraph::Impl& graph);

  /// Of a run that reads lists for single entries alone: has them coded, if the graph is in partitions, and
  /// `layout` says so or leaves it open and it pays; says whether they are. Throws UsageError where they must
  /// be and cannot.
  bool take_codes(ResidentGraph::Impl& graph, Layout layout, const ExpectedWork& work) {
    return take_codes(graph, layout, work, graph.coded, nullptr);
  }
  /// The same with alias slots of a bias, whose `set` it is, where columns have them.
  bool take_codes(ResidentGraph::Impl& graph, Layout layout, const ExpectedWork& work, CodedSet& set,
                  const AliasSlotsOf* slots);

  PageColumns columns;
  PageSources sources;

 private:
  bool in_place_pays(ResidentGraph::Impl& graph, const ExpectedWork& work, CodedSet& set) const;
};

class Slots {
 public:
  /// What has been brought, in all.
  struct Counters {
    std::atomic<std::uint64_t> transfers{0}, copied_bytes{0}, read_bytes{0};
  };

  /// How many partitions fit; only the first `large` slots hold oversized ones. Or, without slots, where
  /// every partition is already: `here`.
  struct Count {
    unsigned slots, large;
    std::uint64_t least_bytes = 0;        ///< of each column of a slot
    std::span<const PageView> here = {};  ///< [partitions]
  };

  /// Slots for partitions of the plan, which cuts `offsets` (kept, like the plan); without slots, partitions
  /// are read in place. Throws BudgetError.
  Slots(const Device& device, std::span<const EdgeIndex> offsets, const PartitionPlan& plan,
        PageColumns columns, PageSources sources, Count count);
  ~Slots();
  Slots(const Slots&) = delete;
  Slots& operator=(const Slots&) = delete;

  /// Can partitions be read in place, in host memory?
  bool can_map() const { return can_map_; }
  /// What is read of a list, one word at random, where partitions are read in place.
  std::span<const std::uint32_t> host_words() const;
  /// Do partitions come from the graph's file?
  bool read_from_file() const { return !columns_.coded && !sources_.columns.targets; }
  /// From now on the partition is read in place.
  void map(std::uint32_t partition) { slot_of_[partition] = in_place_slot(); }
  /// Starts to bring a partition into a slot that no kernel reads.
  void begin(unsigned slot, std::uint32_t partition);
  /// Waits until no more than `left` of what was begun are under way, and at least one has come; returns what
  /// has come since the last call, which is here now. Throws what went wrong.
  std::vector<std::uint32_t> wait(unsigned left = 0);
  /// From now on the partition is not here.
  void drop(std::uint32_t partition);

  /// What kernels read of a round.
  struct Published {
    PageMap map;
    const std::byte* also;
  };
  /// The map of what is here, on the device, and a copy of `also` beside it: all goes at once. Valid until
  /// the next call. Not while kernels read the last one.
  Published publish(std::span<const std::byte> also = {});
  /// Partitions as ranges of vertices, on the device. Without slots they are brought when first asked for.
  /// Throws BudgetError.
  OwnershipView owners();
  /// Views by slot, the mapped one last.
  std::span<const PageView> views() const { return views_; }
  /// Is a partition that is here read in place?
  bool in_place(std::uint32_t partition) const { return slot_of_[partition] == in_place_slot(); }
  /// The columns of a partition that is here.
  const PageView& page(std::uint32_t partition) const { return views_[slot_of_[partition]]; }
  const Counters& counters() const { return counters_; }

 private:
  struct Slot : ColumnsIn<Buffer> {
    Buffer<std::uint32_t> codes;  ///< the lists' words
  };
  struct Load {
    unsigned slot;
    std::uint32_t partition;
  };
  struct Lane;
  /// A partition's columns as they go to a slot, in page-locked host memory.
  struct Kept : ColumnsIn<Staging> {
    bool whole = false;
  };
  /// The largest partition's, of some.
  struct Capacity {
    std::uint64_t edges = 0, codes = 0;
  };

  std::uint32_t in_place_slot() const { return static_cast<std::uint32_t>(views_.size()) - 1; }
  Capacity capacity_for(bool oversized) const;
  void make(Slot& slot, const Capacity& capacity) const;
  void work();
  void bring(Lane& lane, const Load& load);
  void bring_coded(Lane& lane, const Load& load);
  void bring_columns(Lane& lane, const Load& load, bool there);
  /// Are there columns that are made anew with each partition?
  bool derives() const;
  template <class T>
  void copy(Lane& lane, T* to, const T* from, std::uint64_t size);
  template <class T, class Read>
  void read(Lane& lane, T* to, T* from, EdgeIndex first, std::uint64_t edges, const Read& fill);
  std::uint64_t kept_bytes(std::uint32_t partition) const;
  Kept* place_to_keep(std::uint32_t partition);
  void has_come(std::uint32_t partition);
  PageView rebased(const Slot& slot, std::uint32_t partition) const;

  const Device& device_;
  std::span<const EdgeIndex> offsets_;
  const PartitionPlan& plan_;
  PageColumns columns_;
  PageSources sources_;
  bool can_map_ = false;
  std::uint64_t most_edges_ = 0;  ///< of a partition
  std::uint64_t least_bytes_ = 0;
  std::vector<Slot> slots_;
  std::vector<PageView> views_;         ///< [slots + 1]
  std::vector<std::uint32_t> slot_of_;  ///< [partitions]
  std::vector<Kept> kept_;              ///< [partitions], or empty
  std::uint64_t promised_ = 0;          ///< bytes of those that are being brought to be kept
  DeviceOwnership owners_;
  std::vector<std::byte> look_up_;  ///< views_, slot_of_ and what goes along
  Buffer<std::byte> device_look_up_;
  Counters counters_;
  std::atomic<bool> derives_there_{true};  ///< until memory was too short for it
  std::mutex deriving_;                    ///< one lane at a time takes memory for it

  std::mutex mutex_;
  std::condition_variable begun_;    ///< for bringing threads
  std::condition_variable arrived_;  ///< for the one that waits
  std::deque<Load> waiting_;
  std::vector<Load> come_;  ///< since the last wait
  unsigned under_way_ = 0;
  unsigned most_left_ = 0;  ///< that the one who waits leaves under way
  bool closing_ = false;
  std::exception_ptr failure_;
  std::optional<BorrowedThreads> threads_;  ///< the last: they end before what they use
};

}  // namespace sluice
