// A queue of parked walks on any backend, sorted by key. After a round, the advanced walks are sorted again,
// within one buffer or from one buffer to the other; ended walks are dropped.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "engine/exec/memory/buffer.hpp"
#include "engine/walks/queue/walk_queue.hpp"

namespace sluice::walks {

/// Walks [begin, begin + count) of a QueueBuffer.
struct WalkSegment {
  std::uint64_t begin, count;
};

inline std::uint64_t walks_in(std::span<const WalkSegment> segments) {
  std::uint64_t sum = 0;
  for (const WalkSegment& segment : segments) sum += segment.count;
  return sum;
}

/// The common part of WalkQueue and SteppedWalks (`Half`). `Backend`: host::QueueBackend or
/// cuda::QueueBackend.
template <class Backend, class Half>
class WalkHalfOn : public Half {
 public:
  WalkHalfOn(const WalkHalfOn&) = delete;
  WalkHalfOn& operator=(const WalkHalfOn&) = delete;

  void wait() override {
    setup_.router ? setup_.router->wait(stream(), "walks of other ranks") : backend_.wait();
  }
  void* stream() override { return backend_.stream(); }
  WalkTotals totals() override { return backend_.totals(); }
  const KernelTimes& times() override { return backend_.times(); }
  double exchange_seconds() const override { return exchange_seconds_; }

 protected:
  explicit WalkHalfOn(const QueueSetup& setup)
      : setup_(setup),
        backend_(setup),
        key_of_(setup.device, setup.keys.queue_key.size(), "the partition look-up") {
    copy_to_device(setup.device, key_of_.data(), setup.keys.queue_key.data(), key_of_.bytes());
  }
  // Only between connected GPUs. The host waits for nothing but counts.
  /// The counts of all ranks, [ranks][keys]. Also adds the time of the last exchange.
  std::span<const std::uint64_t> gather() {
    const std::span<const std::uint64_t> all_counts = backend_.gather(*setup_.router);
    exchange_seconds_ += backend_.gather_seconds() + transfer_timer_.consume_seconds();
    return all_counts;
  }
  /// As Router::begin_send.
  void begin_send(const RoutedColumn& walks, std::span<const std::uint64_t> send,
                  std::span<const std::uint64_t> receive, std::uint64_t stride = 0) {
    transfer_timer_.start(backend_);
    setup_.router->begin_send(walks, send, receive, stream(), stride);
    transfer_timer_.stop(backend_);
  }
  std::size_t own_rank() const { return setup_.router->own_rank(); }

  const QueueSetup setup_;
  Backend backend_;
  const Buffer<std::uint32_t> key_of_;  ///< QueueKeys::queue_key
  typename Backend::Interval transfer_timer_;
  double exchange_seconds_ = 0;
};

template <class Backend, class Walk>
class QueueOf : public WalkHalfOn<Backend, WalkQueue> {
  using Base = WalkHalfOn<Backend, WalkQueue>;

 public:
  ~QueueOf() override { backend_.finish(); }  // work under way uses buffers

  void clear_rows(std::uint64_t values) override { backend_.clear(setup_.paths, values); }
  void begin() override;
  void begin_leg() override;
  void advance(std::span<const std::uint32_t> keys) override;
  void advance_all() override { advance({{setup_.keys.rank_keys}}); }
  void collect() override;
  std::span<const std::uint64_t> waiting() const override { return waiting_; }
  std::pair<Vertex, Vertex> first_list_pair(std::uint32_t key) override;
  ExchangeCounts exchange() override;

 protected:
  explicit QueueOf(const QueueSetup& setup);

  // The part that depends on the sampler:
  /// BeginWalks for walks [0, count).
  virtual void begin_walks(const QueueView<Walk>& view, std::uint64_t count) = 0;
  /// QueuedWalks for all walks of the segments.
  virtual void work(const QueueView<Walk>& view, std::span<const WalkSegment> segments) = 0;
  /// WalkProgram::second_list.
  virtual Vertex second_list_of(const Walker& walker) const = 0;
  virtual const ActiveWalks& batch() const = 0;

  using Base::backend_, Base::setup_;

 private:
  using Base::exchange_seconds_, Base::key_of_;
  static constexpr const char* kLabel = "walks from other ranks";

  QueueBuffer<Walk> buffer(unsigned which) const { return {walks_[which].data(), keys_[which].data()}; }
  QueueView<Walk> view() const {
    return {buffer(current_), setup_.paths, setup_.row, key_of_.data(), setup_.keys.count};
  }
  void reset(std::uint64_t count);
  void find_keys(std::uint64_t first, std::uint64_t count);
  void sort_advanced(bool sort_all);
  void add_segments(std::span<const std::uint64_t> counts);
  std::vector<std::uint64_t> count_on_devices(ExchangeCounts& exchanged);
  std::vector<std::uint64_t> count_on_hosts(ExchangeCounts& exchanged);
  void send(std::span<const std::uint64_t> receive);

  const Device& device_;
  Buffer<Walk> walks_[2];
  Buffer<std::uint32_t> keys_[2];
  unsigned current_ = 0;
  std::uint64_t end_ = 0;  ///< end of the walks in the current buffer
  std::vector<std::uint64_t> waiting_;
  std::vector<std::vector<WalkSegment>> segments_;  ///< by key
  std::vector<WalkSegment> advanced_;               ///< advanced walks, to be sorted by their new keys
  std::uint64_t sorted_begin_ = 0;                  ///< begin of the range that was last sorted
  bool collected_ = true;
};

template <class Backend, class Walk>
QueueOf<Backend, Walk>::QueueOf(const QueueSetup& setup)
    : Base(setup), device_(setup.device), waiting_(setup.keys.count, 0), segments_(setup.keys.count) {
  const std::uint64_t capacity = queue_capacity(setup.max_size());
  for (auto& walks : walks_) walks = Buffer<Walk>(device_, capacity, "walks under way");
  for (auto& keys : keys_) keys = Buffer<std::uint32_t>(device_, capacity, "queues of walks");
}

/// Resets the queue to `count` walks, whose keys the caller sets next.
template <class Backend, class Walk>
void QueueOf<Backend, Walk>::reset(std::uint64_t count) {
  end_ = count;
  std::ranges::fill(waiting_, 0);
  for (auto& segments : segments_) segments.clear();
  advanced_.assign(1, {0, count});
  backend_.reset_counts();
}

template <class Backend, class Walk>
void QueueOf<Backend, Walk>::begin() {
  reset(setup_.size());
  begin_walks(view(), setup_.size());
  if (!setup_.keys.resident) collect();
}

/// All walks that remain wait for the next leg.
template <class Backend, class Walk>
void QueueOf<Backend, Walk>::begin_leg() {
  sort_advanced(true);
  collect();
  reset(end_);
  find_keys(0, end_);
  collect();
}

template <class Backend, class Walk>
void QueueOf<Backend, Walk>::find_keys(std::uint64_t first, std::uint64_t count) {
  backend_.assign_keys(view(), first, count, FindKeys<Walk>{batch().map, view(), first});
}

template <class Backend, class Walk>
void QueueOf<Backend, Walk>::advance(std::span<const std::uint32_t> keys) {
  for (std::size_t begin = 0; begin < keys.size(); begin += Backend::kMaxKeys) {
    collect();
    const auto chunk = keys.subspan(begin, std::min(Backend::kMaxKeys, keys.size() - begin));
    if (backend_.works_per_key()) sort_advanced(true), collect();
    for (const std::uint32_t key : chunk) {
      advanced_.insert(advanced_.end(), segments_[key].begin(), segments_[key].end());
      segments_[key].clear();
      waiting_[key] = 0;
    }
    if (advanced_.empty()) continue;
    backend_.reset_counts();
    work(view(), advanced_);
  }
}

/// Sorts the advanced walks, or all walks if `sort_all` or if memory is short; collect() reads the counts.
template <class Backend, class Walk>
void QueueOf<Backend, Walk>::sort_advanced(bool sort_all) {
  const std::uint64_t advanced = walks_in(advanced_), capacity = keys_[0].size();
  sort_all = sort_all || end_ + advanced > capacity;
  if (advanced_.empty()) backend_.reset_counts();
  if (sort_all) {
    backend_.add_counts(waiting_);
    for (auto& segments : segments_) {
      advanced_.insert(advanced_.end(), segments.begin(), segments.end());
      segments.clear();
    }
  }
  sorted_begin_ = sort_all ? 0 : end_;
  QueueBuffer<Walk> target = buffer(sort_all ? 1 - current_ : current_);
  if (setup_.keys.resident) target.keys = nullptr;  // the next round advances all walks
  backend_.sort(buffer(current_), target, sorted_begin_, advanced_, setup_.keys.count);
  if (sort_all) current_ = 1 - current_, end_ = 0, std::ranges::fill(waiting_, 0);
  advanced_.clear();
  collected_ = false;
}

template <class Backend, class Walk>
void QueueOf<Backend, Walk>::collect() {
  if (!advanced_.empty()) sort_advanced(false);
  if (!collected_) add_segments(backend_.counts());
}

/// Adds segments for counts[key] walks of each key, sorted from `sorted_begin_` on.
template <class Backend, class Walk>
void QueueOf<Backend, Walk>::add_segments(std::span<const std::uint64_t> counts) {
  end_ = sorted_begin_;
  for (std::size_t key = 0; key < waiting_.size(); ++key) {
    if (counts[key] == 0) continue;
    segments_[key].push_back({end_, counts[key]});
    waiting_[key] += counts[key];
    end_ += counts[key];
  }
  collected_ = true;
}

template <class Backend, class Walk>
std::pair<Vertex, Vertex> QueueOf<Backend, Walk>::first_list_pair(std::uint32_t key) {
  this->wait();
  Walk walk;
  copy_to_host(device_, &walk, buffer(current_).walks + segments_[key].front().begin, sizeof walk);
  Walker walker;
  walk.restore(walker);
  return {walker.current, second_list_of(walker)};
}

template <class Backend, class Walk>
ExchangeCounts QueueOf<Backend, Walk>::exchange() {
  sort_advanced(true);
  ExchangeCounts exchanged;
  // Connected GPUs gather all counts themselves; otherwise the hosts exchange them.
  const std::vector<std::uint64_t> receive =
      setup_.exchanges_by_devices() ? count_on_devices(exchanged) : count_on_hosts(exchanged);
  exchanged.local = end_ - exchanged.sent + exchanged.received;
  if (exchanged.active > 0) send(receive);
  return exchanged;
}

template <class Backend, class Walk>
std::vector<std::uint64_t> QueueOf<Backend, Walk>::count_on_devices(ExchangeCounts& exchanged) {
  const std::span<const std::uint64_t> all_counts = this->gather();
  add_segments(all_counts.subspan(this->own_rank() * waiting_.size(), waiting_.size()));
  return tally(all_counts, setup_.keys.rank_keys, this->own_rank(), exchanged);
}

template <class Backend, class Walk>
std::vector<std::uint64_t> QueueOf<Backend, Walk>::count_on_hosts(ExchangeCounts& exchanged) {
  collect();
  struct Message {
    std::uint64_t to_receiver, sent, active;
  };
  std::vector<Message> out(setup_.keys.rank_keys), in(out.size());
  exchanged.sent = std::reduce(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(out.size()));
  for (std::size_t rank = 0; rank < out.size(); ++rank) out[rank] = {waiting_[rank], exchanged.sent, end_};
  setup_.router->ranks().all_to_all(std::as_bytes(std::span(out)), std::as_writable_bytes(std::span(in)),
                                    kLabel);
  std::vector<std::uint64_t> receive;
  for (const Message& message : in) {
    receive.push_back(message.to_receiver);
    exchanged.received += message.to_receiver;
    exchanged.migrated += message.sent, exchanged.active += message.active;
  }
  return receive;
}

/// Departing walks precede the remaining ones; arriving walks are appended. All ranks together never hold
/// more walks than one rank has memory for.
template <class Backend, class Walk>
void QueueOf<Backend, Walk>::send(std::span<const std::uint64_t> receive) {
  const std::span departures = std::span(waiting_).first(receive.size());
  const std::uint64_t departing = std::reduce(departures.begin(), departures.end()),
                      arriving = std::reduce(receive.begin(), receive.end()), remaining = end_;
  Walk* const walks = buffer(current_).walks;
  const RoutedColumn column{walks, walks + remaining, sizeof(Walk)};
  if (setup_.exchanges_by_devices()) {
    this->begin_send(column, departures, receive);
  } else {
    exchange_seconds_ += setup_.router->send({&column, 1}, departures, receive, this->stream(), kLabel);
  }
  for (std::uint32_t key = 0; key < setup_.keys.rank_keys; ++key) segments_[key].clear(), waiting_[key] = 0;
  end_ += arriving;
  if (setup_.keys.resident) {  // under the single key of this rank
    segments_.back().assign(1, {departing, end_ - departing});
    waiting_.back() = end_ - departing;
    return;
  }
  if (departing + arriving == 0) return;
  backend_.reset_counts();
  if (arriving > 0) find_keys(remaining, arriving);
  advanced_.assign(1, {remaining, arriving});
  collect();
}

/// The queue of the walks of one sampler.
template <class Backend, class Program>
class ProgramQueue final
    : public QueueOf<Backend, ParkedWalk<WalksOn<Program, Partitioned>::kNeedsOtherLists>> {
  using Walks = WalksOn<Program, Partitioned>;
  using Walk = ParkedWalk<Walks::kNeedsOtherLists>;

 public:
  ProgramQueue(const QueueSetup& setup, const Program& program, const Walks& walks)
      : QueueOf<Backend, Walk>(setup), program_(program), walks_(walks) {}

  /// True if SteppedWalks can run the program: every walk then makes one step a round.
  static constexpr bool kSteppable = Backend::kHasSteppedWalks && !Program::kScans && !Program::kEndsOnly;
  static std::unique_ptr<SteppedWalks> make_stepped(const QueueSetup& setup, const Walks& walks) {
    if constexpr (kSteppable) return Backend::make_stepped(setup, walks);
    return nullptr;
  }

 private:
  void begin_walks(const QueueView<Walk>& view, std::uint64_t count) override {
    const QueueSetup& setup = this->setup_;
    this->backend_.assign_keys(view, 0, count, BeginWalks<Program>{walks_, view, setup.half, setup.halves});
  }
  void work(const QueueView<Walk>& view, std::span<const WalkSegment> segments) override {
    this->backend_.work(QueuedWalks<Program>{walks_, view}, segments);
  }
  Vertex second_list_of(const Walker& walker) const override { return program_.second_list(walker); }
  const ActiveWalks& batch() const override { return walks_; }

  const Program& program_;
  const Walks& walks_;
};

}  // namespace sluice::walks
