// A queue of parked walks on any backend, sorted by key. After a round, the advanced walks are sorted again,
// within one side of the memory or from one side to the other; ended walks are dropped.
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

/// Walks [begin, begin + count) of a QueueSide.
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
class HalfOn : public Half {
 public:
  HalfOn(const HalfOn&) = delete;
  HalfOn& operator=(const HalfOn&) = delete;

  void wait() override {
    setup_.router ? setup_.router->wait(stream(), "walks of other ranks") : backend_.wait();
  }
  void* stream() override { return backend_.stream(); }
  WalkTotals totals() override { return backend_.totals(); }
  const KernelTimes& times() override { return backend_.times(); }
  double exchange_seconds() const override { return exchange_seconds_; }

 protected:
  explicit HalfOn(const QueueSetup& setup)
      : setup_(setup), backend_(setup), key_of_(setup.device, setup.keys.of.size(), "the partition look-up") {
    copy_to_device(setup.device, key_of_.data(), setup.keys.of.data(), key_of_.bytes());
  }
  // Only between connected GPUs. The host waits for nothing but counts.
  /// The counts of all ranks, [ranks][keys]. Also adds the time of the last exchange.
  std::span<const std::uint64_t> gather() {
    const std::span<const std::uint64_t> all = backend_.gather(*setup_.router);
    exchange_seconds_ += backend_.gather_seconds() + travelling_.take_seconds();
    return all;
  }
  /// As Router::begin_send.
  void begin_send(const RoutedColumn& walks, std::span<const std::uint64_t> send,
                  std::span<const std::uint64_t> receive, std::uint64_t apart = 0) {
    travelling_.start(backend_);
    setup_.router->begin_send(walks, send, receive, stream(), apart);
    travelling_.stop(backend_);
  }
  std::size_t own() const { return setup_.router->own_rank(); }

  const QueueSetup setup_;
  Backend backend_;
  const Buffer<std::uint32_t> key_of_;  ///< QueueKeys::of
  typename Backend::Interval travelling_;
  double exchange_seconds_ = 0;
};

template <class Backend, class Walk>
class QueueOf : public HalfOn<Backend, WalkQueue> {
  using Base = HalfOn<Backend, WalkQueue>;

 public:
  ~QueueOf() override { backend_.finish(); }  // work under way uses buffers

  void clear_rows(std::uint64_t values) override { backend_.clear(setup_.paths, values); }
  void begin() override;
  void begin_leg() override;
  void advance(std::span<const std::uint32_t> keys) override;
  void go_on() override { advance({{setup_.keys.others}}); }
  void collect() override;
  std::span<const std::uint64_t> waiting() const override { return waiting_; }
  std::pair<Vertex, Vertex> first_pair(std::uint32_t key) override;
  Crossing exchange() override;

 protected:
  explicit QueueOf(const QueueSetup& setup);

  // The part that depends on the sampler:
  /// BeginWalks for walks [0, count).
  virtual void begin_walks(const QueueView<Walk>& view, std::uint64_t count) = 0;
  /// QueuedWalks for all walks of the segments.
  virtual void work(const QueueView<Walk>& view, std::span<const WalkSegment> segments) = 0;
  /// WalkProgram::scan_asks.
  virtual Vertex asked_by(const Walker& walker) const = 0;
  virtual const ActiveWalks& batch() const = 0;

  using Base::backend_, Base::setup_;

 private:
  using Base::exchange_seconds_, Base::key_of_;
  static constexpr const char* kLabel = "walks from other ranks";

  QueueSide<Walk> side(unsigned which) const { return {walks_[which].data(), keys_[which].data()}; }
  QueueView<Walk> view() const {
    return {side(side_), setup_.paths, setup_.row, key_of_.data(), setup_.keys.count};
  }
  void start(std::uint64_t count);
  void find_keys(std::uint64_t first, std::uint64_t count);
  void order(bool all);
  void take(std::span<const std::uint64_t> counts);
  std::vector<std::uint64_t> count_on_devices(Crossing& crossing);
  std::vector<std::uint64_t> count_on_hosts(Crossing& crossing);
  void send(std::span<const std::uint64_t> receive);

  const Device& device_;
  Buffer<Walk> walks_[2];
  Buffer<std::uint32_t> keys_[2];
  unsigned side_ = 0;
  std::uint64_t top_ = 0;  ///< end of the walks on the current side
  std::vector<std::uint64_t> waiting_;
  std::vector<std::vector<WalkSegment>> segments_;  ///< by key
  std::vector<WalkSegment> worked_;                 ///< advanced walks, to be sorted by their new keys
  std::uint64_t base_ = 0;                          ///< begin of the range that was last sorted
  bool collected_ = true;
};

template <class Backend, class Walk>
QueueOf<Backend, Walk>::QueueOf(const QueueSetup& setup)
    : Base(setup), device_(setup.device), waiting_(setup.keys.count, 0), segments_(setup.keys.count) {
  const std::uint64_t capacity = queue_capacity(setup.most());
  for (auto& walks : walks_) walks = Buffer<Walk>(device_, capacity, "walks under way");
  for (auto& keys : keys_) keys = Buffer<std::uint32_t>(device_, capacity, "queues of walks");
}

/// Resets the queue to `count` walks, whose keys the caller sets next.
template <class Backend, class Walk>
void QueueOf<Backend, Walk>::start(std::uint64_t count) {
  top_ = count;
  std::ranges::fill(waiting_, 0);
  for (auto& segments : segments_) segments.clear();
  worked_.assign(1, {0, count});
  backend_.forget();
}

template <class Backend, class Walk>
void QueueOf<Backend, Walk>::begin() {
  start(setup_.size());
  begin_walks(view(), setup_.size());
  if (!setup_.keys.resident) collect();
}

/// All walks that remain wait for the next leg.
template <class Backend, class Walk>
void QueueOf<Backend, Walk>::begin_leg() {
  order(true);
  collect();
  start(top_);
  find_keys(0, top_);
  collect();
}

template <class Backend, class Walk>
void QueueOf<Backend, Walk>::find_keys(std::uint64_t first, std::uint64_t count) {
  backend_.each_key(view(), first, count, FindKeys<Walk>{batch().map, view(), first});
}

template <class Backend, class Walk>
void QueueOf<Backend, Walk>::advance(std::span<const std::uint32_t> keys) {
  for (std::size_t from = 0; from < keys.size(); from += Backend::kMostKeys) {
    collect();
    const auto some = keys.subspan(from, std::min(Backend::kMostKeys, keys.size() - from));
    if (backend_.wants_whole_keys()) order(true), collect();
    for (const std::uint32_t key : some) {
      worked_.insert(worked_.end(), segments_[key].begin(), segments_[key].end());
      segments_[key].clear();
      waiting_[key] = 0;
    }
    if (worked_.empty()) continue;
    backend_.forget();
    work(view(), worked_);
  }
}

/// Sorts the advanced walks, or all walks if `all` or if memory is short; collect() reads the counts.
template <class Backend, class Walk>
void QueueOf<Backend, Walk>::order(bool all) {
  const std::uint64_t worked = walks_in(worked_), capacity = keys_[0].size();
  all = all || top_ + worked > capacity;
  if (worked_.empty()) backend_.forget();
  if (all) {
    backend_.expect(waiting_);
    for (auto& segments : segments_) {
      worked_.insert(worked_.end(), segments.begin(), segments.end());
      segments.clear();
    }
  }
  base_ = all ? 0 : top_;
  QueueSide<Walk> to = side(all ? 1 - side_ : side_);
  if (setup_.keys.resident) to.keys = nullptr;  // the next round advances all walks
  backend_.order(side(side_), to, base_, worked_, setup_.keys.count);
  if (all) side_ = 1 - side_, top_ = 0, std::ranges::fill(waiting_, 0);
  worked_.clear();
  collected_ = false;
}

template <class Backend, class Walk>
void QueueOf<Backend, Walk>::collect() {
  if (!worked_.empty()) order(false);
  if (!collected_) take(backend_.counts());
}

/// Adds segments for counts[key] walks of each key, sorted from `base_` on.
template <class Backend, class Walk>
void QueueOf<Backend, Walk>::take(std::span<const std::uint64_t> counts) {
  top_ = base_;
  for (std::size_t key = 0; key < waiting_.size(); ++key) {
    if (counts[key] == 0) continue;
    segments_[key].push_back({top_, counts[key]});
    waiting_[key] += counts[key];
    top_ += counts[key];
  }
  collected_ = true;
}

template <class Backend, class Walk>
std::pair<Vertex, Vertex> QueueOf<Backend, Walk>::first_pair(std::uint32_t key) {
  this->wait();
  Walk walk;
  copy_to_host(device_, &walk, side(side_).walks + segments_[key].front().begin, sizeof walk);
  Walker walker;
  walk.go_on(walker);
  return {walker.current, asked_by(walker)};
}

template <class Backend, class Walk>
Crossing QueueOf<Backend, Walk>::exchange() {
  order(true);
  Crossing crossing;
  // Connected GPUs gather all counts themselves; otherwise the hosts exchange them.
  const std::vector<std::uint64_t> receive =
      setup_.by_devices() ? count_on_devices(crossing) : count_on_hosts(crossing);
  crossing.here = top_ - crossing.sent + crossing.received;
  if (crossing.left > 0) send(receive);
  return crossing;
}

template <class Backend, class Walk>
std::vector<std::uint64_t> QueueOf<Backend, Walk>::count_on_devices(Crossing& crossing) {
  const std::span<const std::uint64_t> all = this->gather();
  take(all.subspan(this->own() * waiting_.size(), waiting_.size()));
  return tally(all, setup_.keys.others, this->own(), crossing);
}

template <class Backend, class Walk>
std::vector<std::uint64_t> QueueOf<Backend, Walk>::count_on_hosts(Crossing& crossing) {
  collect();
  struct Message {
    std::uint64_t to_you, sent, left;
  };
  std::vector<Message> out(setup_.keys.others), in(out.size());
  crossing.sent = std::reduce(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(out.size()));
  for (std::size_t rank = 0; rank < out.size(); ++rank) out[rank] = {waiting_[rank], crossing.sent, top_};
  setup_.router->ranks().all_to_all(std::as_bytes(std::span(out)), std::as_writable_bytes(std::span(in)),
                                    kLabel);
  std::vector<std::uint64_t> receive;
  for (const Message& message : in) {
    receive.push_back(message.to_you);
    crossing.received += message.to_you;
    crossing.travelled += message.sent, crossing.left += message.left;
  }
  return receive;
}

/// Departing walks precede the remaining ones; arriving walks are appended. All ranks together never hold
/// more walks than one rank has memory for.
template <class Backend, class Walk>
void QueueOf<Backend, Walk>::send(std::span<const std::uint64_t> receive) {
  const std::span leave = std::span(waiting_).first(receive.size());
  const std::uint64_t leaving = std::reduce(leave.begin(), leave.end()),
                      arriving = std::reduce(receive.begin(), receive.end()), stayed = top_;
  Walk* const walks = side(side_).walks;
  const RoutedColumn column{walks, walks + stayed, sizeof(Walk)};
  if (setup_.by_devices()) {
    this->begin_send(column, leave, receive);
  } else {
    exchange_seconds_ += setup_.router->send({&column, 1}, leave, receive, this->stream(), kLabel);
  }
  for (std::uint32_t key = 0; key < setup_.keys.others; ++key) segments_[key].clear(), waiting_[key] = 0;
  top_ += arriving;
  if (setup_.keys.resident) {  // under the single key of this rank
    segments_.back().assign(1, {leaving, top_ - leaving});
    waiting_.back() = top_ - leaving;
    return;
  }
  if (leaving + arriving == 0) return;
  backend_.forget();
  if (arriving > 0) find_keys(stayed, arriving);
  worked_.assign(1, {stayed, arriving});
  collect();
}

/// The queue of the walks of one sampler.
template <class Backend, class Program>
class ProgramQueue final : public QueueOf<Backend, ParkedWalk<WalksOn<Program, Partitioned>::kAsks>> {
  using Walks = WalksOn<Program, Partitioned>;
  using Walk = ParkedWalk<Walks::kAsks>;

 public:
  ProgramQueue(const QueueSetup& setup, const Program& program, const Walks& walks)
      : QueueOf<Backend, Walk>(setup), program_(program), walks_(walks) {}

  /// True if SteppedWalks can run the program: every walk then makes one step a round.
  static constexpr bool kInSteps = Backend::kSteps && !Program::kScans && !Program::kEndsOnly;
  static std::unique_ptr<SteppedWalks> make_stepped(const QueueSetup& setup, const Walks& walks) {
    if constexpr (kInSteps) return Backend::make_stepped(setup, walks);
    return nullptr;
  }

 private:
  void begin_walks(const QueueView<Walk>& view, std::uint64_t count) override {
    const QueueSetup& setup = this->setup_;
    this->backend_.each_key(view, 0, count, BeginWalks<Program>{walks_, view, setup.half, setup.halves});
  }
  void work(const QueueView<Walk>& view, std::span<const WalkSegment> segments) override {
    this->backend_.work(QueuedWalks<Program>{walks_, view}, segments);
  }
  Vertex asked_by(const Walker& walker) const override { return program_.scan_asks(walker); }
  const ActiveWalks& batch() const override { return walks_; }

  const Program& program_;
  const Walks& walks_;
};

}  // namespace sluice::walks
