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

/// Two, so that the link is busy while one loader reads, derives or starts its next copy.
constexpr unsigned kLoaders = 2;
/// More lanes for a file: each checks what it has read, and a disk needs several reads at once.
constexpr unsigned kFileLoaders = 4;

}  // namespace

/// State of a thread that brings partitions: a stream, and page-locked memory for columns not in host memory.
struct Slots::Loader : ColumnsIn<Staging> {
  Loader(const Device& device, std::size_t column) : copies(device), uploads(device, column) {}

  CopyLane copies;
  ThreadedCopies uploads;
  Buffer<float> gpu_weights;  ///< of a partition, while its tables are made
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
  sources = PageSources::of(graph.host_view.csr, graph.graph.edge_source.get(), graph.graph.weighted);
  // A rank that owns a part of the graph brings only that part, which its host memory may well hold.
  sources.host_cache = graph.paging.shard && graph.paging.transport != Transport::file;
}

bool PageRequest::request_codes(ResidentGraph::Impl& graph, Layout layout, const ExpectedWork& work,
                                CodedSet& set, const AliasSlotsOf* slots) {
  if (!graph.paged) return false;
  // Ranks that own parts must agree, and one may have less memory than another.
  if (layout == Layout::automatic && (graph.paging.shard || in_place_pays(graph, work, set))) return false;
  sources.coded = graph.coded_lists(layout, columns, set, slots);
  columns.coded = sources.coded != nullptr;
  if (columns.coded && !graph.device.is_planning()) columns.rows = sources.coded->rows();
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
  if (!should_code(graph.device, graph.graph, Layout::automatic, columns, set)) return false;
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
  can_map_ = count.present.empty() && has_columns(host, columns);
  const Capacity largest = capacity_for(true), usual = count.large > 0 ? capacity_for(false) : largest;
  max_edges_ = largest.edges, min_bytes_ = count.min_bytes;
  slots_.resize(count.slots);
  for (unsigned slot = 0; slot < count.slots; ++slot)
    allocate(slots_[slot], slot < count.large ? largest : usual);
  views_.assign(count.present.begin(), count.present.end());
  views_.resize(views_.size() + count.slots + 1);
  for (PageView& view : views_) view.coded.rows = host.coded.rows;  // kernels read rows by any slot
  views_.back() = host;
  slot_of_.assign(plan.size(), PageMap::kNoSlot);
  if (!count.present.empty()) std::iota(slot_of_.begin(), slot_of_.end(), 0u);
  if (sources_.host_cache && read_from_file()) host_copies_.resize(plan.size());
  if (count.slots > 0) owners();
  const unsigned loaders = read_from_file() ? kFileLoaders : kLoaders;
  if (!device.is_planning())
    threads_.emplace(std::min(loaders, count.slots)).begin([this](unsigned) { run_loader(); });
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
    const std::uint64_t edges = device_.is_planning() && !columns_.coded
                                    ? plan_.bytes(p) / columns_.bytes_per_edge()
                                    : offsets_[end] - offsets_[begin];
    capacity.edges = std::max(capacity.edges, edges);
    if (columns_.coded)
      capacity.codes = std::max(capacity.codes, sources_.coded->words_of(begin, end).size());
  }
  return capacity;
}

void Slots::allocate(Slot& slot, const Capacity& capacity) const {
  const auto allocate_column = [&]<class T>(Buffer<T>& buffer, std::uint64_t size) {
    buffer = Buffer<T>(device_, std::max<std::uint64_t>({size, min_bytes_ / sizeof(T), 1}),
                       "slots for partitions");
  };
  if (columns_.coded) allocate_column(slot.codes, capacity.codes);
  each_column(columns_, [&](auto column_of, bool wanted) {
    if (wanted) allocate_column(column_of(slot), capacity.edges);
  });
}

Slots::~Slots() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
    queued_.clear();
  }
  load_queued_.notify_all();
}

void Slots::begin_load(unsigned slot, std::uint32_t partition) {
  views_[slot] = rebased(slots_[slot], partition);
  const std::lock_guard lock(mutex_);
  queued_.push_back({slot, partition});
  ++in_flight_;
  load_queued_.notify_one();
}

std::vector<std::uint32_t> Slots::wait(unsigned max_in_flight) {
  std::unique_lock lock(mutex_);
  max_in_flight_ = max_in_flight;
  arrived_.wait(lock, [&] {
    return failure_ || in_flight_ == 0 || (in_flight_ <= max_in_flight && !arrivals_.empty());
  });
  if (failure_) std::rethrow_exception(failure_);
  std::vector<std::uint32_t> arrived;
  for (const Load& load : arrivals_) {
    slot_of_[load.partition] = load.slot;
    arrived.push_back(load.partition);
  }
  arrivals_.clear();
  return arrived;
}

void Slots::drop(std::uint32_t partition) {
  slot_of_[partition] = PageMap::kNoSlot;
}

Slots::Published Slots::publish(std::span<const std::byte> extra) {
  constexpr std::size_t kAlignment = 16;
  lookup_.clear();
  const auto append = [&](std::span<const std::byte> part) {
    const std::size_t at = (lookup_.size() + kAlignment - 1) / kAlignment * kAlignment;
    lookup_.resize(at);
    lookup_.insert(lookup_.end(), part.begin(), part.end());
    return at;
  };
  const std::size_t pages = append(std::as_bytes(std::span(views_)));
  const std::size_t slot_of = append(std::as_bytes(std::span(slot_of_)));
  const std::size_t extra_offset = append(extra);
  device_lookup_.reserve(device_, lookup_.size(), "the partition look-up");
  const std::byte* const lookup = device_lookup_.data();
  copy_to_device(device_, device_lookup_.data(), lookup_.data(), lookup_.size());
  PageMap map;
  map.owners = owners();
  map.slot_of = reinterpret_cast<const std::uint32_t*>(lookup + slot_of);
  map.pages = reinterpret_cast<const PageView*>(lookup + pages);
  map.in_place = in_place_slot();
  map.rows = views_.back().coded.rows;
  return {map, lookup + extra_offset};
}

void Slots::run_loader() {
  std::exception_ptr failure;
  try {
    Loader loader(device_, max_edges_ * sizeof(Vertex));
    for (;;) {
      std::unique_lock lock(mutex_);
      load_queued_.wait(lock, [this] { return closing_ || !queued_.empty(); });
      if (queued_.empty()) return;
      const Load load = queued_.front();
      queued_.pop_front();
      lock.unlock();
      load_partition(loader, load);
      lock.lock();
      if (failure_) return;  // another lane failed: no load is under way any more
      arrivals_.push_back(load);
      if (--in_flight_ <= max_in_flight_) arrived_.notify_one();
    }
  } catch (...) {
    failure = std::current_exception();
  }
  // Loads under way will not arrive: waiting threads get the error.
  const std::lock_guard lock(mutex_);
  if (!failure_) failure_ = failure;
  queued_.clear();
  in_flight_ = 0;
  arrived_.notify_one();
}

void Slots::load_partition(Loader& loader, const Load& load) {
  // Plans leave memory for deriving on the GPU: ResidentGraph::Impl::plan_partitions if lists come from their
  // file, plan_resident_shard if partitions are resident.
  const bool gpu_derives = device_.is_cuda() && (read_from_file() || columns_.wide_alias) &&
                           sources_.derive_on_gpu && can_derive_on_gpu_;
  try {
    columns_.coded ? load_coded(loader, load) : load_columns(loader, load, gpu_derives);
  } catch (const BudgetError&) {
    if (!gpu_derives || !derives()) throw;
    can_derive_on_gpu_ = false;
    loader.gpu_weights = Buffer<float>();
    load_columns(loader, load, false);
  }
  loader.copies.wait("loading a partition");
  ++counters_.transfers;
}

template <class T>
void Slots::copy(Loader& loader, T* to, const T* from, std::uint64_t size) {
  loader.copies.copy(to, from, size * sizeof(T));
  counters_.copied_bytes += size * sizeof(T);
}

void Slots::load_coded(Loader& loader, const Load& load) {
  const std::uint64_t begin = plan_.begin(load.partition), end = plan_.end(load.partition);
  const std::span<const std::uint32_t> words = sources_.coded->words_of(begin, end);
  copy(loader, slots_[load.slot].codes.data(), words.data(), words.size());
}

bool Slots::derives() const {
  const PageView& host = sources_.columns;
  return (columns_.cumulative && !host.cumulative) || (columns_.alias && !host.thresholds) ||
         columns_.wide_alias;
}

/// Copies columns that are in host memory. The others are read from the file and derived: on a GPU in the
/// slot itself (`gpu_derives`), which they reach in small pieces; in host memory if they are kept there or
/// the GPU cannot derive them.
void Slots::load_columns(Loader& loader, const Load& load, bool gpu_derives) {
  const std::uint64_t begin = plan_.begin(load.partition), end = plan_.end(load.partition);
  const EdgeIndex first = offsets_[begin];
  const std::uint64_t edges = offsets_[end] - first;
  // A graph without edges has no columns, and nothing is read.
  if (edges == 0) return;
  const PageView& host = sources_.columns;
  HostCopy* const host_copy = cache_entry_for(load.partition);
  const bool derives = this->derives() && !(host_copy && host_copy->whole), gpu = device_.is_cuda();
  const bool on_gpu = gpu && !host_copy && (gpu_derives || !derives);  // missing columns bypass host memory
  PageColumns columns = columns_;
  columns.weights |= derives && sources_.weighted;
  PageView to = views_[load.slot], from = host;  // by position in the graph
  if (on_gpu && columns.weights && !to.weights) {
    loader.gpu_weights.reserve(device_, edges, "scratch of tables");
    to.weights = rebase(loader.gpu_weights.data(), first);
  }
  each_column(columns, [&](auto column_of, bool wanted) {
    if (!wanted || column_of(host) || on_gpu) return;
    const bool cached = host_copy && column_of(to);
    auto& memory = cached ? column_of(*host_copy) : column_of(loader);
    if (gpu || host_copy || !column_of(to)) {
      memory.reserve(device_, cached ? edges : max_edges_, "partitions in host memory");
      column_of(from) = rebase(memory.data(), first);
    } else {
      column_of(from) = column_of(to);  // the host backend's slots are host memory themselves
    }
  });
  if (!host_copy || !host_copy->whole) {
    const EdgeSource* const file = sources_.file;
    if (!host.targets)
      read<Vertex>(loader, to.targets, from.targets, first, edges,
                   [&](EdgeIndex begin_edge, std::span<Vertex> out) { file->read_targets(begin_edge, out); });
    if (columns.weights && !host.weights)
      read<float>(loader, to.weights, from.weights, first, edges,
                  [&](EdgeIndex begin_edge, std::span<float> out) { file->read_weights(begin_edge, out); });
    if (derives && !on_gpu) sources_.derive(from, begin, end);
    if (host_copy) mark_cached(load.partition);
  }
  each_column(columns, [&](auto column_of, bool wanted) {
    if (wanted && column_of(to) && column_of(from) && column_of(to) != column_of(from))
      copy(loader, column_of(to) + first, column_of(from) + first, edges);
  });
  if (!derives || !on_gpu) return;
  loader.copies.wait("loading a partition");  // tables are made on another stream
  const std::lock_guard lock(derive_mutex_);
  sources_.derive_on_gpu(to, begin, end);
}

/// Reads a column from the file to host memory (`from`) or, if that is null, to a GPU in small pieces.
template <class T, class Read>
void Slots::read(Loader& loader, T* to, T* from, EdgeIndex first, std::uint64_t edges, const Read& fill) {
  counters_.read_bytes += edges * sizeof(T);
  if (from) return fill(first, std::span(from + first, edges));
  loader.uploads.fill_device(
      to + first, edges * sizeof(T), [&](std::byte* piece, std::size_t begin, std::size_t end) {
        fill(first + begin / sizeof(T), std::span(reinterpret_cast<T*>(piece), (end - begin) / sizeof(T)));
      });
  counters_.copied_bytes += edges * sizeof(T);
}

std::uint64_t Slots::cache_bytes(std::uint32_t partition) const {
  return (offsets_[plan_.end(partition)] - offsets_[plan_.begin(partition)]) * columns_.bytes_per_edge();
}

/// Where a partition is kept, or will be; null if memory cannot hold it. Results on their way to a file and
/// batches also need memory, so half of all host memory stays free for them.
Slots::HostCopy* Slots::cache_entry_for(std::uint32_t partition) {
  if (host_copies_.empty() || (partition >= sources_.uncached.begin && partition < sources_.uncached.end))
    return nullptr;
  HostCopy& host_copy = host_copies_[partition];
  if (host_copy.whole) return &host_copy;
  const std::lock_guard lock(mutex_);
  const MemoryBudget& memory = host_budget();
  // Other lanes bring partitions too, and may not have allocated their memory yet.
  const std::uint64_t reserved = reserved_bytes_ + cache_bytes(partition);
  if (reserved + memory.ceiling() / 2 > memory.available()) return nullptr;
  reserved_bytes_ = reserved;
  return &host_copy;
}

void Slots::mark_cached(std::uint32_t partition) {
  host_copies_[partition].whole = true;
  const std::lock_guard lock(mutex_);
  reserved_bytes_ -= cache_bytes(partition);
}

PageView Slots::rebased(const Slot& slot, std::uint32_t partition) const {
  const EdgeIndex first = offsets_[plan_.begin(partition)];
  PageView view;
  if (columns_.coded) {
    view.coded = {sources_.columns.coded.rows,
                  rebase(slot.codes.data(), sources_.coded->rows()[plan_.begin(partition)].begin)};
    view.targets = sources_.columns.targets, view.weights = sources_.columns.weights;
    return view;
  }
  each_column(columns_, [&](auto column_of, bool wanted) {
    if (wanted) column_of(view) = rebase(column_of(slot).data(), first);
  });
  return view;
}

}  // namespace sluice
