#include "engine/walks/queue/queued_walks.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "engine/batch/run_batches.hpp"
#include "engine/core/error.hpp"
#include "engine/walks/transpose.hpp"

namespace sluice::walks {

WalksInQueues::WalksInQueues(const QueuedRun& run, PagedPlan plan, DeviceRanks* link, WalkMode mode)
    : graph_(run.graph),
      job_(run.job),
      options_(run.options),
      stats_(run.stats),
      ranks_(graph_.paging.shard),
      origins_(graph_.device, ranks_, run.range.begin, run.range.end, plan.batch),
      cache_(graph_, run.pages, std::move(plan), AccessPattern{.picks = 1, .steps = run.steps}),
      edge_set_(graph_.device, cache_.plan().edge_set),
      keys_(ranks_, cache_.partitions(), mode != WalkMode::paged),
      paths_(graph_.device, rows_of(origins_.capacity()), "a batch of walks"),
      waiting_(cache_.partitions(), 0) {
  ActiveWalks& batch = job_.batch();
  batch.own_begin = cache_.owned_partitions().begin, batch.own_end = cache_.owned_partitions().end;
  batch.origins = origins_.firsts(), batch.origin_counts = origins_.counts(), batch.per_origin = per_origin();
  batch.starts = run.starts;
  batch.length = options_.length;
  batch.partitions = cache_.partitions();
  if (ranks_ && keys_.resident && !graph_.device.is_cuda()) {  // as on all ranks
    router_.emplace(*ranks_);
  } else if (ranks_) {
    router_.emplace(*ranks_, graph_.device, link);
  }
  // On the host, the same threads advance and send walks: halves could not overlap.
  const unsigned halves = keys_.resident && linked() ? 2 : 1;
  for (unsigned half = 0; half < halves; ++half) {
    const QueueSetup setup{graph_.device, cache_.paging(), router_ ? &*router_ : nullptr,
                           keys_,         per_origin(),    origins_.capacity(),
                           paths_.data(), rows_of(1),      half,
                           halves};
    if (mode == WalkMode::stepped) {
      stepped_.push_back(job_.make_stepped(setup));
      halves_.push_back(stepped_.back().get());
    } else {
      queues_.push_back(job_.make_queue(setup));
      halves_.push_back(queues_.back().get());
    }
  }
}

void WalksInQueues::run_all(InstanceRange range, WalkSink* sink) {
  has_sink_ = sink != nullptr;
  const double connect_start = seconds_now();
  if (keys_.resident && linked()) connect();
  stats_.load_seconds += seconds_now() - connect_start;
  // Between GPUs, merge_rows() completes rows before they are copied.
  const auto row_steps = [&](std::uint32_t steps) { return job_.ends_only() ? kEndWords - 1 : steps; };
  rows_.emplace(graph_.device, origins_, linked() ? nullptr : ranks_, per_origin(),
                row_steps(options_.length), row_steps(leg()), sink, stats_);
  if (keys_.resident) {
    const double load_start = seconds_now();
    hold({});
    stats_.load_seconds += seconds_now() - load_start;
    make_edge_set();
  }
  run_batches(*this, range, options_.progress, stats_);
  for (WalkHalf* const half : halves_) {
    half->totals().add_to(stats_);
    stats_.kernels += half->times();
    stats_.exchange_seconds += half->exchange_seconds();
  }
  if (router_) stats_.exchanged_bytes += router_->link_bytes_sent();
  cache_.count(stats_);
}

/// Uses each connection once: connections open at first use, which takes longer than many rounds.
void WalksInQueues::connect() {
  const auto size = static_cast<std::size_t>(ranks_->size());
  const Buffer<std::uint64_t> source(graph_.device, size, "connections"),
      target(graph_.device, size, "connections");
  const std::vector<std::uint64_t> one_each(size, 1);
  for (WalkHalf* const half : halves_) {
    void* const stream = half->stream();
    router_->begin_all_gather(source.data(), target.data(), sizeof(std::uint64_t), stream);
    router_->begin_send({source.data(), target.data(), sizeof(std::uint64_t)}, one_each, one_each, stream);
    router_->begin_reduce_min(reinterpret_cast<std::uint32_t*>(target.data()), 1, stream);
    router_->wait(stream, "connections between GPUs");
  }
}

std::uint64_t WalksInQueues::next_size(std::uint64_t) {
  origins_.begin(batch_++);
  return origins_.own_count();
}

void WalksInQueues::run(Instance, std::uint64_t, BatchWriter& writer) {
  if (keys_.resident) ranks_->barrier("a batch of walks");
  const double start = seconds_now(), other_seconds = stats_.transfer_seconds + stats_.write_seconds;
  walk_batch(writer);
  const Vertex* const rows = linked() && has_sink_ ? merge_rows() : paths_.data();
  stats_.compute_seconds +=
      seconds_now() - start - (stats_.transfer_seconds + stats_.write_seconds - other_seconds);
  rows_->submit(rows, writer);
}

/// Merges what all ranks have of this rank's rows, and returns the rows.
const Vertex* WalksInQueues::merge_rows() {
  void* const stream = halves_[0]->stream();
  const double start = seconds_now();
  // Ranks that know the vertex of a step agree on it; the others have kNoVertex, the largest value.
  router_->begin_reduce_min(paths_.data(), rows_of(per_origin()), stream);
  router_->wait(stream, "rows of walks");
  stats_.exchange_seconds += seconds_now() - start;
  const Vertex* const first_own_row = paths_.data() + own_rows();
  if (stepped_.empty()) return first_own_row;
  // Overwrites the rows of another rank, which that rank has merged by now.
  Vertex* const rows = paths_.data() + (origins_.own_index() == 0 ? rows_of(per_origin()) : 0);
  stepped_[0]->transpose_rows(first_own_row, per_origin(), rows);
  return rows;
}

/// Computes a batch leg by leg. The rows of the last leg stay on the device.
void WalksInQueues::walk_batch(BatchWriter& writer) {
  ActiveWalks& batch = job_.batch();
  batch.leg_begin = 0, batch.leg_end = std::min(leg(), options_.length);
  if (!keys_.resident) job_.publish(cache_);
  if (stepped_.empty()) queues_[0]->clear_rows(rows_of(origins_.capacity()));
  for (WalkHalf* const half : halves_) half->begin();
  if (keys_.resident) return alternate_halves();
  walk_leg();
  while (batch.leg_end < options_.length) {
    rows_->copy_leg(paths_.data(), batch.leg_begin, batch.leg_end, writer);
    batch.leg_begin = batch.leg_end, batch.leg_end += std::min(leg(), options_.length - batch.leg_end);
    job_.publish(cache_);
    queues_[0]->clear_rows(rows_of(origins_.capacity()));
    queues_[0]->begin_leg();
    walk_leg();
  }
}

// ---- partitions that are brought

void WalksInQueues::walk_leg() {
  ExchangeCounts exchanged;
  do {
    walk_own_partitions();
  } while (ranks_ && exchange(*queues_[0], exchanged));
}

void WalksInQueues::count_waiting() {
  const auto own_waiting = queues_[0]->waiting().subspan(keys_.rank_keys, keys_.partition_keys);
  std::ranges::copy(own_waiting, waiting_.begin() + cache_.owned_partitions().begin);
}

std::uint64_t WalksInQueues::own_waiting_count() const {
  const std::span<const std::uint64_t> waiting = queues_[0]->waiting();
  return std::reduce(waiting.begin() + keys_.rank_keys, waiting.begin() + keys_.pair_key + 1);
}

/// Works until half of the walks that wait for this rank's partitions are gone; a single rank, until all are.
void WalksInQueues::walk_own_partitions() {
  // Walks that went to other ranks may return later, and it does not pay to bring every partition for the few
  // last walks: half of the waiting walks stay for the next time. Four H200s with slots for a third of their
  // part of a graph of scale 24 took 13 s; without this rule they had not finished after 60 s.
  const std::uint64_t max_waiting = ranks_ ? own_waiting_count() / 2 : 0;
  for (;;) {
    count_waiting();
    const auto work_on = [this](std::span<const std::uint32_t> present) {
      std::vector<std::uint32_t> keys;
      for (const std::uint32_t partition : present) keys.push_back(keys_.queue_key[partition]);
      work(std::move(keys));
    };
    cache_.drain(waiting_, work_on, max_waiting);
    if (own_waiting_count() <= max_waiting) return;
    // Most walks that still wait need two partitions at once. Bring those of one walk, and advance all walks
    // that can go on.
    const auto [current, other] = queues_[0]->first_list_pair(keys_.pair_key);
    const PartitionPlan& plan = cache_.plan().partitions;
    const std::array<std::uint32_t, 2> wanted{plan.owner(current), plan.owner(other)};
    cache_.work_on_all(wanted, waiting_, [this] { work({keys_.pair_key}); });
  }
}

void WalksInQueues::work(std::vector<std::uint32_t> keys) {
  job_.publish(cache_);
  queues_[0]->advance(keys);
  queues_[0]->collect();
  count_waiting();
}

/// Exchanges the walks of a half between ranks; returns false if no rank has any left.
bool WalksInQueues::exchange(WalkHalf& half, ExchangeCounts& exchanged) {
  exchanged = half.exchange();
  stats_.entries_sent += exchanged.sent, stats_.entries_received += exchanged.received;
  return exchanged.active > 0;
}

// ---- resident partitions

/// Halves take turns: the host waits for the exchange of one half while the GPU advances the other.
void WalksInQueues::alternate_halves() {
  std::vector<bool> active(halves_.size(), true);
  for (std::uint64_t round = 0; std::ranges::find(active, true) != active.end(); ++round) {
    const std::size_t half = round % halves_.size();
    if (!active[half]) continue;
    ExchangeCounts exchanged;
    active[half] = exchange(*halves_[half], exchanged);
    if (!active[half]) continue;
    if (job_.needs_other_lists() && round >= halves_.size() && exchanged.migrated == 0)
      fetch_list(*queues_[half], exchanged.local > 0);
    halves_[half]->advance_all();
    ++stats_.rounds;
  }
  for (WalkHalf* const half : halves_) half->wait();
}

/// All walks left in a queue need a list of another rank beside their own. Brings the list for one of them;
/// the next round advances all walks that can go on.
void WalksInQueues::fetch_list(WalkQueue& queue, bool has_walks) {
  for (WalkHalf* const half : halves_) half->wait();  // the last such partition may be in use
  if (has_walks) hold({cache_.plan().partitions.owner(queue.first_list_pair(keys_.pair_key).second)});
  ranks_->barrier("lists of other ranks");
}

/// Brings this rank's partitions and those in `more`, and makes them visible to the next round.
void WalksInQueues::hold(std::vector<std::uint32_t> extra) {
  const OwnedPartitions own = cache_.owned_partitions();
  const std::size_t extra_count = extra.size();
  extra.resize(extra_count + own.end - own.begin);
  std::iota(extra.begin() + static_cast<std::ptrdiff_t>(extra_count), extra.end(), own.begin);
  cache_.make_resident(extra);
  job_.publish(cache_);
}

/// Makes the set of the edges in this rank's lists, which are resident.
void WalksInQueues::make_edge_set() {
  if (edge_set_.bytes() == 0) return;
  const double begin = seconds_now();
  const OwnedPartitions own = cache_.owned_partitions();
  const auto begins = cache_.plan().partitions.ranges().begins();
  for (std::uint32_t p = own.begin; p < own.end; ++p)
    edge_set_.add(graph_, cache_.page(p), {begins[p], begins[p + 1]});
  job_.batch().set = edge_set_.view();
  graph_.table_seconds += seconds_now() - begin;
}

// ---- a run

namespace {

using Walks = std::optional<WalksInQueues>;

std::unique_ptr<DeviceRanks> link_of(const ResidentGraph::Impl& graph, RunStats& stats) {
  const double start = seconds_now();
  auto link = graph.connect_ranks();
  stats.load_seconds += seconds_now() - start;
  return link;
}

std::uint64_t row_bytes(const QueuedRun& run) {
  return (run.job.ends_only() ? kEndWords : std::uint64_t{run.options.length} + 1) * sizeof(Vertex);
}

std::uint64_t ranks_of(const QueuedRun& run) {
  const Communicator* const ranks = run.graph.paging.shard;
  return static_cast<std::uint64_t>(ranks ? ranks->size() : 1);
}

/// Device bytes of a walk, with its row.
std::uint64_t walk_bytes(const QueuedRun& run, WalkMode mode) {
  return row_bytes(run) + (mode == WalkMode::stepped ? stepped_walk_bytes(ranks_of(run))
                                                     : queued_walk_bytes(run.job.needs_other_lists()));
}

/// Constructs `walks` with resident partitions. Leaves it empty, on all ranks, if the graph's parts do not
/// fit or the ranks' GPUs cannot be connected. Returns true if the run is only planned.
bool make_resident(const QueuedRun& run, WalkMode mode, std::unique_ptr<DeviceRanks>& link, Walks& walks) {
  ResidentGraph::Impl& graph = run.graph;
  Communicator& ranks = *graph.paging.shard;
  const auto plan_for = [&](bool with_set) {
    // The program of a user's sampler may be larger than those of most kinds.
    return plan_resident_shard(ranks, graph.device, graph.graph, graph.paging, run.pages.columns,
                               walk_bytes(run, mode), run.instances(), run.job.needs_other_lists(),
                               std::max(kSlotLookUp, run.job.slot_bytes()), with_set);
  };
  std::optional<PagedPlan> plan;
  if (run.job.has_questions())
    plan = plan_for(edge_set_pays(graph.device, run.options.layout, run.instances() * run.options.length,
                                  graph.view.edges() / ranks_of(run)));
  if (!plan) plan = plan_for(false);
  if (!plan) return false;
  if (graph.device.is_planning()) {
    graph.record_plan({*std::move(plan), run.pages.columns, run.instances(), run.steps, true});
    return true;
  }
  link = link_of(graph, run.stats);
  if (graph.device.is_cuda() && !link) return false;
  try {
    agree_on_memory(&ranks, [&] { walks.emplace(run, *std::move(plan), link.get(), mode); });
  } catch (const BudgetError&) {
    walks.reset();
    if (link) link->abort();  // the failed rank has left it
    link.reset();             // on all ranks: WalkMode::paged needs less memory
  }
  return false;
}

}  // namespace

bool can_hold_shard(const PagingOptions& paging) {
  return paging.shard && paging.batching && paging.balance == Balance::automatic;
}

bool walk_in_queues(const QueuedRun& run, ShardResidency residency) {
  ResidentGraph::Impl& graph = run.graph;
  std::unique_ptr<DeviceRanks> link;
  Walks walks;
  const bool shared = residency != ShardResidency::never && can_hold_shard(graph.paging),
             steppable =
                 run.job.steppable() && ranks_of(run) > 1 && run.options.length < cuda::kMaxTransposedRow;
  if (shared && steppable && make_resident(run, WalkMode::stepped, link, walks)) return true;
  // With many ranks, stepped walks need more memory than queued walks.
  if (shared && !walks && make_resident(run, WalkMode::resident, link, walks)) return true;
  if (!walks) {
    if (residency == ShardResidency::required) return false;
    // Every rank has memory for the walks of all ranks.
    PagedPlan plan =
        graph.plan_partitions(run.pages, walk_bytes(run, WalkMode::paged) * ranks_of(run), run.instances(),
                              run.steps, run.job.ends_only() ? 0 : row_bytes(run));
    if (graph.device.is_planning()) return true;
    if (!link) link = link_of(graph, run.stats);
    walks.emplace(run, std::move(plan), link.get(), WalkMode::paged);
  }
  walks->run_all(run.range, run.sink);
  return true;
}

}  // namespace sluice::walks
