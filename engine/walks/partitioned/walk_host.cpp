#include "engine/walks/partitioned/walk_host.hpp"

#include <algorithm>

#include "engine/exec/threads.hpp"

namespace sluice::host {

namespace {
constexpr std::uint32_t kNone = ~0u;
constexpr std::uint64_t kGrain = 256;
}  // namespace

HostWalkQueues::HostWalkQueues(const Device& device, const PagingOptions& paging, bool asks,
                               std::uint64_t capacity, std::uint32_t length, std::uint32_t keys)
    : device_(device),
      row_(std::uint64_t{length} + 1),
      queues_(device.threads(), paging),
      parked_(device, capacity, "walks under way"),
      questions_(device, asks ? capacity : 0, "walks under way"),
      next_(device, capacity, "queues of walks"),
      order_(device, capacity, "queues of walks"),
      keys_(device, capacity, "queues of walks"),
      paths_(device, capacity * row_, "a batch of walks"),
      ended_(keys - 2),
      heads_(keys, kNone),
      waiting_(keys, 0) {}

/// All walks are put in queues anew, where park(from, to) says for those of a block.
template <class Park>
void HostWalkQueues::restart(const Park& park) {
  std::fill(heads_.begin(), heads_.end(), kNone);
  std::fill(waiting_.begin(), waiting_.end(), 0);
  parallel_blocks(device_.threads(), count_, kGrain, [&](std::uint64_t from, std::uint64_t to, unsigned) {
    std::fill(paths_.data() + from * row_, paths_.data() + to * row_, kNoVertex);
    park(from, to);
  });
  enqueue(count_);
}

void HostWalkQueues::begin(std::uint64_t count) {
  count_ = count;
  restart([this](std::uint64_t from, std::uint64_t to) { begin_block(from, to); });
}

void HostWalkQueues::begin_leg() {
  restart([this](std::uint64_t from, std::uint64_t to) {
    for (std::uint64_t i = from; i < to; ++i) {
      keys_.data()[i] = batch().key_in_leg(parked_.data()[i]);
      order_.data()[i] = static_cast<std::uint32_t>(i);
    }
  });
}

void HostWalkQueues::advance(std::span<const std::uint32_t> keys) {
  std::uint64_t count = 0;
  std::vector<std::uint64_t> begins, sizes;
  for (const std::uint32_t key : keys) {
    begins.push_back(count);
    for (std::uint32_t i = heads_[key]; i != kNone; i = next_.data()[i]) order_.data()[count++] = i;
    sizes.push_back(count - begins.back());
    heads_[key] = kNone;
    waiting_[key] = 0;
  }
  queues_.work(sizes, kGrain, {}, [&](std::size_t queue, std::uint64_t from, std::uint64_t to, unsigned) {
    work(begins[queue] + from, begins[queue] + to);
  });
  enqueue(count);
}

std::pair<Vertex, Vertex> HostWalkQueues::first_pair() {
  const Walker walker = walker_of(parked_.data()[heads_[batch().pairs()]]);
  return {walker.current, asked_by(walker)};
}

std::vector<std::uint64_t> HostWalkQueues::depart(std::span<const OwnedPartitions> ranges) {
  std::vector<std::uint64_t> counts;
  departed_.clear();
  std::uint64_t at = 0;
  for (const OwnedPartitions& range : ranges) {
    departed_.push_back(at);
    for (std::uint32_t key = range.begin; key < range.end; ++key) {
      for (std::uint32_t i = heads_[key]; i != kNone; i = next_.data()[i])
        order_.data()[at] = i, keys_.data()[at++] = key;
      heads_[key] = kNone;
      waiting_[ended_] += std::exchange(waiting_[key], 0);
    }
    counts.push_back(at - departed_.back());
  }
  return counts;
}

void HostWalkQueues::pack(std::size_t range, std::uint64_t from, std::uint64_t count, TravellingWalk* out) {
  for (std::uint64_t at = departed_[range] + from; count > 0; ++at, --count, ++out) {
    const std::uint32_t index = order_.data()[at];
    *out = {index, keys_.data()[at], parked_.data()[index], {}};
    if (!questions_.empty()) out->question = questions_.data()[index];
  }
}

void HostWalkQueues::settle(const TravellingWalk* walks, std::uint64_t count) {
  for (const TravellingWalk& walk : std::span(walks, count)) {
    parked_.data()[walk.index] = walk.parked;
    if (!questions_.empty()) questions_.data()[walk.index] = walk.question;
    next_.data()[walk.index] = heads_[walk.key];
    heads_[walk.key] = walk.index;
    ++waiting_[walk.key], --waiting_[ended_];
  }
}

void HostWalkQueues::enqueue(std::uint64_t count) {
  for (std::uint64_t at = 0; at < count; ++at) {
    const std::uint32_t key = keys_.data()[at], index = order_.data()[at];
    ++waiting_[key];
    if (key == ended_) continue;
    next_.data()[index] = heads_[key];
    heads_[key] = index;
  }
}

}  // namespace sluice::host
