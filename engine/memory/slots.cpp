#include "engine/memory/slots.hpp"

#include <algorithm>
#include <numeric>

#include "engine/core/error.hpp"
#include "engine/core/memory_budget.hpp"
#include "engine/exec/memory/copy_lane.hpp"
#include "engine/exec/memory/threaded_copies.hpp"
#include "engine/memory/paged_plan.hpp"

namespace sluice {

namespace {

/// Two, so that the link is busy while one lane reads, derives or starts its next copy.
constexpr unsigned kLanes = 2;
/// More lanes for a file: each checks what it has read, and a disk needs several reads at once.
constexpr unsigned kFileLanes = 4;

}  // namespace

/// State of a thread that brings partitions: a stream, and page-locked memory for columns not in host memory.
struct Slots::Lane : ColumnsIn<Staging> {
  Lane(const Device& device, std::size_t column) : copies(device), uploads(device, column) {}

  CopyLane copies;
  ThreadedCopies uploads;
  Buffer<float> weights_there;  ///< of a partition, while its tables are made
};

PageSources PageSources::of(const CsrView& lists, const EdgeSource* from, bool weighted) {
  PageSources sources;
  // Slots are filled from these columns; nothing is written through the view.
  sources.columns.targets = const_cast<Vertex*>(lists.targets);
  sources.columns.weights = const_cast<float*>(lists.weights);
  sources.file = from, sources.weighted = weighted;
  return sources;
}

PageRequest::PageRequest(const ResidentGraph::Impl& graph) {
  if (!graph.paged) return;
  sources = PageSources::of(graph.host_view.csr, graph.graph.edges_elsewhere.get(), graph.graph.weighted);
  // A rank that owns a part of the graph brings only that part, which its host memory may well hold.
  sources.keep = graph.paging.shard && graph.paging.transport != Transport::file;
}

bool PageRequest::take_codes(ResidentGraph::Impl& graph, Layout layout, const ExpectedWork& work,
                             CodedSet& set, const AliasSlotsOf* slots) {
  if (!graph.paged) return false;
  // Ranks that own parts must agree, and one may have less memory than another.
  if (layout == Layout::automatic && (graph.paging.shard || in_place_pays(graph, work, set))) return false;
  sources.coded = graph.coded_lists(layout, columns, set, slots);
  columns.coded = sources.coded != nullptr;
  if (columns.coded && !graph.device.plans()) columns.rows = sources.coded->rows();
  if (layout == Layout::coded && !columns.coded) {
    throw UsageError(
        "--layout coded: needs sorted lists, and memory for them (raise --host-memory or --device-memory, or "
        "use csr or auto)");
  }
  return columns.coded;
}

/// True if little is read: reading the plain lists in place then takes less time than coding and bringing
/// them.
bool PageRequest::in_place_pays(ResidentGraph::Impl& graph, const ExpectedWork& work, CodedSet& set) const {
  if (!wants_codes(graph.device, graph.graph, Layout::automatic, columns, set)) return false;
  PageColumns coded = columns;
  coded.coded = true;
  const PagedPlan plan = plan_pages(graph.device, graph.graph, graph.paging, coded, work.instance_bytes,
                                    work.instances, work.steps, 0, work.row_bytes);
  return reads_in_place(plan, graph.paging, graph.graph.edges() * columns.bytes_per_edge(), work.instances,
                        work.reads);
}

Slots::Slots(const Device& device, std::span<const EdgeIndex> offsets, const PartitionPlan& plan,
             PageColumns columns, PageSources sources, Count count)
    : device_(device), offsets_(offsets), plan_(plan), columns_(columns), sources_(std::move(sources)) {
  const PageView& host = sources_.columns;
  if (columns.coded) sources_.columns.coded = sources_.coded->lists();
  can_map_ = count.here.empty();
  each_column(columns, [&](auto of, bool wanted) { can_map_ = can_map_ && (!wanted || of(host)); });
  const Capacity all = capacity_for(true), usual = count.large > 0 ? capacity_for(false) : all;
  most_edges_ = all.edges, least_bytes_ = count.least_bytes;
  slots_.resize(count.slots);
  for (unsigned slot = 0; slot < count.slots; ++slot) make(slots_[slot], slot < count.large ? all : usual);
  views_.assign(count.here.begin(), count.here.end());
  views_.resize(views_.size() + count.slots + 1);
  for (PageView& view : views_) view.coded.rows = host.coded.rows;  // kernels read rows by any slot
  views_.back() = host;
  slot_of_.assign(plan.size(), PageMap::kNoSlot);
  if (!count.here.empty()) std::iota(slot_of_.begin(), slot_of_.end(), 0u);
  if (sources_.keep && read_from_file()) kept_.resize(plan.size());
  if (count.slots > 0) owners();
  const unsigned lanes = read_from_file() ? kFileLanes : kLanes;
  if (!device.plans()) threads_.emplace(std::min(lanes, count.slots)).begin([this](unsigned) { work(); });
}

OwnershipView Slots::owners() {
  if (owners_.view().begins == nullptr)
    owners_ = DeviceOwnership(device_, plan_.ranges(), "the partition look-up");
  return owners_.view();
}

std::span<const std::uint32_t> Slots::host_words() const {
  const PageView& host = sources_.columns;
  if (columns_.coded) return {host.coded.words, sources_.coded->rows()[offsets_.size() - 1].begin};
  return {host.targets, offsets_.back()};
}

Slots::Capacity Slots::capacity_for(bool oversized) const {
  Capacity capacity;
  for (std::uint64_t p = 0; p < plan_.size(); ++p) {
    const std::uint64_t begin = plan_.begin(p), end = plan_.end(p);
    if (!oversized && plan_.oversized(p)) continue;
    // If the lists are yet to be made, only the plan has their sizes.
    const std::uint64_t edges = device_.plans() && !columns_.coded
                                    ? plan_.bytes(p) / columns_.bytes_per_edge()
                                    : offsets_[end] - offsets_[begin];
    capacity.edges = std::max(capacity.edges, edges);
    if (columns_.coded)
      capacity.codes = std::max(capacity.codes, sources_.coded->words_of(begin, end).size());
  }
  return capacity;
}

void Slots::make(Slot& slot, const Capacity& capacity) const {
  const auto take = [&]<class T>(Buffer<T>& buffer, std::uint64_t size) {
    buffer = Buffer<T>(device_, std::max<std::uint64_t>({size, least_bytes_ / sizeof(T), 1}),
                       "slots for partitions");
  };
  if (columns_.coded) take(slot.codes, capacity.codes);
  each_column(columns_, [&](auto of, bool wanted) {
    if (wanted) take(of(slot), capacity.edges);
  });
}

Slots::~Slots() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
    waiting_.clear();
  }
  begun_.notify_all();
}

void Slots::begin(unsigned slot, std::uint32_t partition) {
  views_[slot] = rebased(slots_[slot], partition);
  const std::lock_guard lock(mutex_);
  waiting_.push_back({slot, partition});
  ++under_way_;
  begun_.notify_one();
}

std::vector<std::uint32_t> Slots::wait(unsigned left) {
  std::unique_lock lock(mutex_);
  most_left_ = left;
  arrived_.wait(lock, [&] { return failure_ || under_way_ == 0 || (under_way_ <= left && !come_.empty()); });
  if (failure_) std::rethrow_exception(failure_);
  std::vector<std::uint32_t> arrived;
  for (const Load& load : come_) {
    slot_of_[load.partition] = load.slot;
    arrived.push_back(load.partition);
  }
  come_.clear();
  return arrived;
}

void Slots::drop(std::uint32_t partition) {
  slot_of_[partition] = PageMap::kNoSlot;
}

Slots::Published Slots::publish(std::span<const std::byte> also) {
  constexpr std::size_t kAlignment = 16;
  look_up_.clear();
  const auto append = [&](std::span<const std::byte> part) {
    const std::size_t at = (look_up_.size() + kAlignment - 1) / kAlignment * kAlignment;
    look_up_.resize(at);
    look_up_.insert(look_up_.end(), part.begin(), part.end());
    return at;
  };
  const std::size_t pages = append(std::as_bytes(std::span(views_)));
  const std::size_t slot_of = append(std::as_bytes(std::span(slot_of_)));
  const std::size_t beside = append(also);
  device_look_up_.reserve(device_, look_up_.size(), "the partition look-up");
  const std::byte* const look_up = device_look_up_.data();
  copy_to_device(device_, device_look_up_.data(), look_up_.data(), look_up_.size());
  PageMap map;
  map.owners = owners();
  map.slot_of = reinterpret_cast<const std::uint32_t*>(look_up + slot_of);
  map.pages = reinterpret_cast<const PageView*>(look_up + pages);
  map.in_place = in_place_slot();
  map.rows = views_.back().coded.rows;
  return {map, look_up + beside};
}

void Slots::work() {
  std::exception_ptr failure;
  try {
    Lane lane(device_, most_edges_ * sizeof(Vertex));
    for (;;) {
      std::unique_lock lock(mutex_);
      begun_.wait(lock, [this] { return closing_ || !waiting_.empty(); });
      if (waiting_.empty()) return;
      const Load load = waiting_.front();
      waiting_.pop_front();
      lock.unlock();
      bring(lane, load);
      lock.lock();
      if (failure_) return;  // another lane failed: no load is under way any more
      come_.push_back(load);
      if (--under_way_ <= most_left_) arrived_.notify_one();
    }
  } catch (...) {
    failure = std::current_exception();
  }
  // Loads under way will not arrive: waiting threads get the error.
  const std::lock_guard lock(mutex_);
  if (!failure_) failure_ = failure;
  waiting_.clear();
  under_way_ = 0;
  arrived_.notify_one();
}

void Slots::bring(Lane& lane, const Load& load) {
  // Plans leave memory for deriving on the GPU: ResidentGraph::Impl::share_memory if lists come from their
  // file, plan_resident_shard if partitions are resident.
  const bool there = device_.is_cuda() && (read_from_file() || columns_.wide_alias) &&
                     sources_.derive_there && derives_there_;
  try {
    columns_.coded ? bring_coded(lane, load) : bring_columns(lane, load, there);
  } catch (const BudgetError&) {
    if (!there || !derives()) throw;
    derives_there_ = false;
    lane.weights_there = Buffer<float>();
    bring_columns(lane, load, false);
  }
  lane.copies.wait("bringing a partition");
  ++counters_.transfers;
}

template <class T>
void Slots::copy(Lane& lane, T* to, const T* from, std::uint64_t size) {
  lane.copies.copy(to, from, size * sizeof(T));
  counters_.copied_bytes += size * sizeof(T);
}

void Slots::bring_coded(Lane& lane, const Load& load) {
  const std::uint64_t begin = plan_.begin(load.partition), end = plan_.end(load.partition);
  const std::span<const std::uint32_t> words = sources_.coded->words_of(begin, end);
  copy(lane, slots_[load.slot].codes.data(), words.data(), words.size());
}

bool Slots::derives() const {
  const PageView& host = sources_.columns;
  return (columns_.cumulative && !host.cumulative) || (columns_.alias && !host.thresholds) ||
         columns_.wide_alias;
}

/// Copies columns that are in host memory. The others are read from the file and derived: on a GPU in the
/// slot itself (`there`), which they reach in small pieces; in host memory if they are kept there or the GPU
/// cannot derive them.
void Slots::bring_columns(Lane& lane, const Load& load, bool there) {
  const std::uint64_t begin = plan_.begin(load.partition), end = plan_.end(load.partition);
  const EdgeIndex first = offsets_[begin];
  const std::uint64_t edges = offsets_[end] - first;
  // A graph without edges has no columns, and nothing is read.
  if (edges == 0) return;
  const PageView& host = sources_.columns;
  Kept* const kept = place_to_keep(load.partition);
  const bool derives = this->derives() && !(kept && kept->whole), gpu = device_.is_cuda();
  const bool on_gpu = gpu && !kept && (there || !derives);  // missing columns bypass host memory
  PageColumns columns = columns_;
  columns.weights |= derives && sources_.weighted;
  PageView to = views_[load.slot], from = host;  // by position in the graph
  if (on_gpu && columns.weights && !to.weights) {
    lane.weights_there.reserve(device_, edges, "scratch of tables");
    to.weights = moved(lane.weights_there.data(), first);
  }
  each_column(columns, [&](auto of, bool wanted) {
    if (!wanted || of(host) || on_gpu) return;
    const bool keeps = kept && of(to);
    auto& memory = keeps ? of(*kept) : of(lane);
    if (gpu || kept || !of(to)) {
      memory.reserve(device_, keeps ? edges : most_edges_, "partitions in host memory");
      of(from) = moved(memory.data(), first);
    } else {
      of(from) = of(to);  // the host backend's slots are host memory themselves
    }
  });
  if (!kept || !kept->whole) {
    const EdgeSource* const file = sources_.file;
    if (!host.targets)
      read<Vertex>(lane, to.targets, from.targets, first, edges,
                   [&](EdgeIndex at, std::span<Vertex> some) { file->read_targets(at, some); });
    if (columns.weights && !host.weights)
      read<float>(lane, to.weights, from.weights, first, edges,
                  [&](EdgeIndex at, std::span<float> some) { file->read_weights(at, some); });
    if (derives && !on_gpu) sources_.derive(from, begin, end);
    if (kept) has_come(load.partition);
  }
  each_column(columns, [&](auto of, bool wanted) {
    if (wanted && of(to) && of(from) && of(to) != of(from))
      copy(lane, of(to) + first, of(from) + first, edges);
  });
  if (!derives || !on_gpu) return;
  lane.copies.wait("bringing a partition");  // tables are made on another stream
  const std::lock_guard lock(deriving_);
  sources_.derive_there(to, begin, end);
}

/// Reads a column from the file to host memory (`from`) or, if that is null, to a GPU in small pieces.
template <class T, class Read>
void Slots::read(Lane& lane, T* to, T* from, EdgeIndex first, std::uint64_t edges, const Read& fill) {
  counters_.read_bytes += edges * sizeof(T);
  if (from) return fill(first, std::span(from + first, edges));
  lane.uploads.bring(to + first, edges * sizeof(T), [&](std::byte* piece, std::size_t at, std::size_t until) {
    fill(first + at / sizeof(T), std::span(reinterpret_cast<T*>(piece), (until - at) / sizeof(T)));
  });
  counters_.copied_bytes += edges * sizeof(T);
}

std::uint64_t Slots::kept_bytes(std::uint32_t partition) const {
  return (offsets_[plan_.end(partition)] - offsets_[plan_.begin(partition)]) * columns_.bytes_per_edge();
}

/// Where a partition is kept, or will be; null if memory cannot hold it. Results on their way to a file and
/// batches also need memory, so half of all host memory stays free for them.
Slots::Kept* Slots::place_to_keep(std::uint32_t partition) {
  if (kept_.empty() || (partition >= sources_.once.begin && partition < sources_.once.end)) return nullptr;
  Kept& kept = kept_[partition];
  if (kept.whole) return &kept;
  const std::lock_guard lock(mutex_);
  const MemoryBudget& memory = host_budget();
  // Other lanes bring partitions too, and may not have allocated their memory yet.
  const std::uint64_t taken = promised_ + kept_bytes(partition);
  if (taken + memory.ceiling() / 2 > memory.available()) return nullptr;
  promised_ = taken;
  return &kept;
}

void Slots::has_come(std::uint32_t partition) {
  kept_[partition].whole = true;
  const std::lock_guard lock(mutex_);
  promised_ -= kept_bytes(partition);
}

PageView Slots::rebased(const Slot& slot, std::uint32_t partition) const {
  const EdgeIndex first = offsets_[plan_.begin(partition)];
  PageView view;
  if (columns_.coded) {
    view.coded = {sources_.columns.coded.rows,
                  moved(slot.codes.data(), sources_.coded->rows()[plan_.begin(partition)].begin)};
    view.targets = sources_.columns.targets, view.weights = sources_.columns.weights;
    return view;
  }
  each_column(columns_, [&](auto of, bool wanted) {
    if (wanted) of(view) = moved(of(slot).data(), first);
  });
  return view;
}

}  // namespace sluice
