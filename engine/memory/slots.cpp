#include "engine/memory/slots.hpp"

#include <algorithm>
#include <numeric>
#include <type_traits>

#include "engine/core/error.hpp"
#include "engine/core/memory_budget.hpp"
#include "engine/exec/memory/copy_lane.hpp"
#include "engine/exec/memory/uploads.hpp"
#include "engine/memory/paged_plan.hpp"

namespace sluice {

namespace {

/// Two, so that the link is busy while one of them reads, derives or starts its next copy.
constexpr unsigned kLanes = 2;
/// From a file more: each looks at what it has read, and a disk wants several reads at once.
constexpr unsigned kFileLanes = 4;

}  // namespace

/// What a bringing thread has of its own: a stream, and page-locked memory for what is not in host memory.
class Slots::Lane : public ColumnsIn<Staging> {
 public:
  Lane(const Device& device, std::size_t column) : copies(device), uploads(device, column), device_(device) {}

  template <class T>
  T* stage(Staging<T>& column, std::uint64_t size) {
    if (column.size() < size)
      column = Staging<T>(), column = Staging<T>(device_, size, "a stage for partitions");
    return column.data();
  }

  CopyLane copies;
  Uploads uploads;
  Buffer<float> weights_there;  ///< of a partition, while tables are made of them

 private:
  const Device& device_;
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
  // A rank that owns a part of the graph brings that part alone, which its memory may well hold.
  sources.keep = graph.paging.shard && graph.paging.transport != Transport::file;
}

bool PageRequest::take_codes(ResidentGraph::Impl& graph, Layout layout, const ExpectedWork& work,
                             CodedSet& set, const AliasSlotsOf* slots) {
  if (!graph.paged) return false;
  // Ranks that share out the graph must agree, and one may have less memory than another.
  if (layout == Layout::automatic && (graph.paging.shard || in_place_pays(graph, work, set))) return false;
  sources.coded = graph.coded_lists(layout, columns, set, slots);
  columns.coded = sources.coded != nullptr;
  if (columns.coded && !graph.device.plans()) columns.begins = sources.coded->begins();
  if (layout == Layout::coded && !columns.coded) {
    throw UsageError(
        "--layout coded: needs sorted lists and enough host memory (raise --host-memory, or use csr or "
        "auto)");
  }
  return columns.coded;
}

/// Where little is read, reading lists as they are, where they lie, takes less time than to code and bring
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
  if (columns.coded) sources_.columns.coded = {sources_.coded->begins(), sources_.coded->words()};
  can_map_ = count.here.empty();
  each_column(columns, [&](auto of, bool wanted) { can_map_ = can_map_ && (!wanted || of(host)); });
  const Capacity all = capacity_for(true), usual = count.large > 0 ? capacity_for(false) : all;
  most_edges_ = all.edges, least_bytes_ = count.least_bytes;
  slots_.resize(count.slots);
  for (unsigned slot = 0; slot < count.slots; ++slot) make(slots_[slot], slot < count.large ? all : usual);
  views_.assign(count.here.begin(), count.here.end());
  views_.resize(views_.size() + count.slots + 1);
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
  if (columns_.coded) return {host.coded.words, host.coded.begins[offsets_.size() - 1]};
  return {host.targets, offsets_.back()};
}

Slots::Capacity Slots::capacity_for(bool oversized) const {
  const std::uint32_t* const begins = sources_.columns.coded.begins;
  Capacity capacity;
  for (std::uint64_t p = 0; p < plan_.size(); ++p) {
    const std::uint64_t begin = plan_.begin(p), end = plan_.end(p);
    if (!oversized && plan_.oversized(p)) continue;
    // Of lists that are yet to be made a plan knows the bytes.
    const std::uint64_t edges = device_.plans() && !columns_.coded
                                    ? plan_.bytes(p) / columns_.bytes_per_edge()
                                    : offsets_[end] - offsets_[begin];
    capacity.edges = std::max(capacity.edges, edges);
    if (columns_.coded)
      capacity.codes = std::max<std::uint64_t>(capacity.codes, end - begin + begins[end] - begins[begin]);
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
      if (failure_) return;  // another lane's: nothing is under way any more
      come_.push_back(load);
      if (--under_way_ <= most_left_) arrived_.notify_one();
    }
  } catch (...) {
    failure = std::current_exception();
  }
  // What was begun will not come: waiting threads get the error.
  const std::lock_guard lock(mutex_);
  if (!failure_) failure_ = failure;
  waiting_.clear();
  under_way_ = 0;
  arrived_.notify_one();
}

void Slots::bring(Lane& lane, const Load& load) {
  if (columns_.coded) {
    bring_coded(lane, load);
  } else if (Kept* const kept = place_to_keep(load.partition); kept || !bring_in_pieces(lane, load)) {
    bring_columns(lane, load, kept);
  }
  lane.copies.wait("bringing a partition");
  ++counters_.transfers;
}

void Slots::bring_coded(Lane& lane, const Load& load) {
  const std::uint64_t begin = plan_.begin(load.partition), end = plan_.end(load.partition);
  std::uint32_t* const codes = slots_[load.slot].codes.data();
  const auto copy = [&](std::uint32_t* to, const std::uint32_t* from, std::uint64_t size) {
    lane.copies.to_device(to, from, size * sizeof(std::uint32_t));
    counters_.copied_bytes += size * sizeof(std::uint32_t);
  };
  const CodedLists& host = sources_.columns.coded;
  copy(codes, host.begins + begin, end - begin);
  copy(codes + (end - begin), host.words + host.begins[begin], host.begins[end] - host.begins[begin]);
}

/// From the file into the slot by way of small pieces, and what is derived is made there. False: it cannot.
bool Slots::bring_in_pieces(Lane& lane, const Load& load) {
  const bool derives = columns_.cumulative || columns_.alias;
  if (!device_.is_cuda() || !read_from_file() || (derives && !(sources_.derive_there && derives_there_)))
    return false;
  const std::uint64_t begin = plan_.begin(load.partition), end = plan_.end(load.partition);
  const EdgeIndex first = offsets_[begin];
  const std::uint64_t edges = offsets_[end] - first;
  if (edges == 0) return true;
  const bool weighted = columns_.weights || (derives && sources_.weighted);
  PageView page = views_[load.slot];
  const auto bring_column = [&]<class T>(T* column, const auto& read) {
    lane.uploads.bring(
        column + first, edges * sizeof(T), [&](std::byte* to, std::size_t from, std::size_t until) {
          read(first + from / sizeof(T), std::span(reinterpret_cast<T*>(to), (until - from) / sizeof(T)));
        });
  };
  try {
    if (weighted && !columns_.weights) {
      lane.weights_there.reserve(device_, edges, "scratch of tables");
      page.weights = moved(lane.weights_there.data(), first);
    }
    bring_column(page.targets,
                 [&](EdgeIndex at, std::span<Vertex> to) { sources_.file->read_targets(at, to); });
    if (weighted)
      bring_column(page.weights,
                   [&](EdgeIndex at, std::span<float> to) { sources_.file->read_weights(at, to); });
    if (derives) {
      const std::lock_guard lock(deriving_);
      sources_.derive_there(page, begin, end);
    }
  } catch (const BudgetError&) {
    if (!derives) throw;
    derives_there_ = false;
    lane.weights_there = Buffer<float>();
    return false;
  }
  const std::uint64_t bytes = edges * (sizeof(Vertex) + (weighted ? sizeof(float) : 0));
  counters_.read_bytes += bytes, counters_.copied_bytes += bytes;
  return true;
}

void Slots::bring_columns(Lane& lane, const Load& load, Kept* kept) {
  const std::uint64_t begin = plan_.begin(load.partition), end = plan_.end(load.partition);
  const EdgeIndex first = offsets_[begin], last = offsets_[end];
  const std::uint64_t edges = last - first;
  // Of a graph without edges no column is anywhere, and none is read.
  if (edges == 0) return;
  const Slot& slot = slots_[load.slot];
  const PageView& host = sources_.columns;
  const bool derives = (columns_.cumulative && !host.cumulative) || (columns_.alias && !host.thresholds);
  const bool comes = !kept || !kept->whole;  // from the file; else it is kept
  PageView staged = host;  // where each column lies in host memory, by position in the graph
  const auto stage = [&](auto of) {
    auto& column = of(staged);
    if (kept) {
      auto& own = of(*kept);
      if (own.size() < edges)
        own = std::remove_reference_t<decltype(own)>(device_, edges, "partitions that stay in host memory");
      column = moved(own.data(), first);
    } else {
      // The host backend's slots are host memory themselves.
      column = moved(device_.is_cuda() ? lane.stage(of(lane), most_edges_) : of(slot).data(), first);
    }
  };
  each_column(columns_, [&](auto of, bool wanted) {
    if (wanted && !of(host)) stage(of);
  });
  if (comes) {
    if (derives && sources_.weighted && !staged.weights)
      staged.weights = moved(lane.stage(lane.weights, most_edges_), first);
    if (!host.targets) {
      sources_.file->read_targets(first, {staged.targets + first, edges});
      counters_.read_bytes += edges * sizeof(Vertex);
    }
    if (staged.weights && !host.weights) {
      sources_.file->read_weights(first, {staged.weights + first, edges});
      counters_.read_bytes += edges * sizeof(float);
    }
    if (derives) sources_.derive(staged, begin, end);
    if (kept) has_come(load.partition);
  }
  each_column(columns_, [&](auto of, bool wanted) {
    if (!wanted || of(slot).data() == of(staged) + first) return;
    const std::uint64_t bytes = edges * sizeof *of(staged);
    lane.copies.to_device(of(slot).data(), of(staged) + first, bytes);
    counters_.copied_bytes += bytes;
  });
}

std::uint64_t Slots::kept_bytes(std::uint32_t partition) const {
  return (offsets_[plan_.end(partition)] - offsets_[plan_.begin(partition)]) * columns_.bytes_per_edge();
}

/// Where a partition is, or shall be, kept; null: memory cannot hold it. What is left is shared with
/// results on their way to a file and with whatever batches take: half of all stays free for them.
Slots::Kept* Slots::place_to_keep(std::uint32_t partition) {
  if (kept_.empty() || (partition >= sources_.once.begin && partition < sources_.once.end)) return nullptr;
  Kept& kept = kept_[partition];
  if (kept.whole) return &kept;
  const std::lock_guard lock(mutex_);
  const MemoryBudget& memory = host_budget();
  // Other lanes bring partitions too, and may not have taken their memory yet.
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
    const std::uint64_t begin = plan_.begin(partition), vertices = plan_.end(partition) - begin;
    view.coded = {moved(slot.codes.data(), begin),
                  moved(slot.codes.data() + vertices, sources_.columns.coded.begins[begin])};
    view.targets = sources_.columns.targets, view.weights = sources_.columns.weights;
    return view;
  }
  each_column(columns_, [&](auto of, bool wanted) {
    if (wanted) of(view) = moved(of(slot).data(), first);
  });
  return view;
}

}  // namespace sluice
