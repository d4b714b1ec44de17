// Computes departures and arrivals of edges' messages: every vertex sends its own id and the target's along
// its edges. This happens once, so that rounds need not read the lists again.
#include <algorithm>
#include <atomic>
#include <bit>
#include <utility>

#include "engine/acc/beliefs/message_parts.hpp"
#include "engine/memory/sweep_lists.hpp"
#include "partition/plan.hpp"

namespace sluice::acc {

namespace {

/// Sender and receiver in one word.
std::int64_t pair_of(std::uint64_t from, std::uint64_t to) {
  return static_cast<std::int64_t>(from << 32 | to);
}

std::int64_t bits_of(const float* weights, EdgeIndex e) {
  return weights == nullptr ? 0 : static_cast<std::int64_t>(std::bit_cast<std::uint32_t>(weights[e]));
}

}  // namespace

/// Cuts parts into strips, enough for all threads.
void MessageParts::make_strips() {
  const std::uint64_t wanted = size() == 0 ? 0 : (pool_.size() + size() - 1) / size();
  for (std::uint64_t part = 0; part < size(); ++part) {
    const std::span offsets(lists_.offsets + begin(part), end(part) - begin(part) + 1);
    const PartitionPlan strips = PartitionPlan::of_count(offsets, {0, 1}, wanted);
    for (std::uint64_t i = 0; i < strips.size(); ++i)
      strips_.push_back({part, begin(part) + strips.begin(i), begin(part) + strips.end(i)});
  }
}

/// Calls body(lists, first_row, strip) for every strip and every piece of the lists.
template <class Body>
void MessageParts::over_lists(bool weights, Body&& body) {
  for_each_piece(
      lists_, rows_.out().file, true, weights && rows_.weighted(),
      [&](std::uint64_t begin, std::uint64_t end, const Vertex* targets, const float* w) {
        const CsrView lists{end - begin, 0, lists_.offsets + begin, targets, rows_.weighted() ? w : nullptr};
        pool_.for_each_block(strips_.size(), 1, [&](std::uint64_t first, std::uint64_t last, unsigned) {
          for (std::uint64_t i = first; i < last; ++i) body(lists, begin, i);
        });
      });
}

/// Calls use(vertex, e, part of the target) for the edges of a piece that belong to a strip.
template <class UseEdge>
void MessageParts::over_targets(const CsrView& lists, std::uint64_t first_row, const Strip& strip,
                                UseEdge&& use) const {
  for (std::uint64_t row = std::max(first_row, strip.begin);
       row < std::min(first_row + lists.vertices, strip.end); ++row) {
    std::uint64_t part = 0, behind = 0;  // `behind`: end of the last target's part
    for (EdgeIndex e = lists_.offsets[row]; e < lists_.offsets[row + 1]; ++e) {
      const Vertex target = lists.targets[e];
      if (target >= behind) {
        part = all_parts_.owner(target), behind = all_parts_.end(part);
      }
      use(rows_.first() + row, e, part);
    }
  }
}

void MessageParts::depart() {
  std::fill(tallies_.begin(), tallies_.end(), 0);
  over_lists(false, [&](const CsrView& lists, std::uint64_t first_row, std::uint64_t strip) {
    over_targets(lists, first_row, strips_[strip],
                 [&](std::uint64_t, EdgeIndex, std::uint64_t to) { ++tally(strip, to); });
  });
  // A strip's messages to a part follow those of the earlier strips of its own part.
  for (std::uint64_t part = 0, strip = 0, end; part < size(); ++part, strip = end) {
    for (end = strip; end < strips_.size() && strips_[end].part == part;) ++end;
    std::uint64_t at = 0;
    for (std::uint64_t to = 0; to < all_parts(); ++to) {
      blocks_[part * (all_parts() + 1) + to] = at;
      for (std::uint64_t i = strip; i < end; ++i) at += std::exchange(tally(i, to), at);
    }
    blocks_[part * (all_parts() + 1) + all_parts()] = at;
  }
  over_lists(true, [&](const CsrView& lists, std::uint64_t first_row, std::uint64_t strip) {
    std::int64_t* const chunk = sent(strips_[strip].part);
    over_targets(lists, first_row, strips_[strip], [&](std::uint64_t v, EdgeIndex e, std::uint64_t to) {
      const std::uint64_t at = tally(strip, to)++;
      const bool loop = lists.targets[e] == v;
      departures_.data()[e - first_edge_] = static_cast<std::uint32_t>(at) | (loop ? BeliefPart::kLoop : 0);
      chunk[at * states_] = pair_of(v, lists.targets[e]);
      if (states_ > 1) chunk[at * states_ + 1] = bits_of(lists.weights, e);
    });
  });
}

/// Messages arrive in order of senders, and a list's targets ascend. So the messages that a vertex receives
/// are in the order of its list.
void MessageParts::arrive(HostArray<EdgeIndex> next) {
  std::copy_n(lists_.offsets, lists_.vertices, next.begin());
  std::atomic<bool> good{true};
  pool_.for_each_block(strips_.size(), 1, [&](std::uint64_t first, std::uint64_t last, unsigned) {
    for (std::uint64_t i = first; i < last; ++i) {
      const Strip& strip = strips_[i];
      const std::int64_t* const chunk = received(strip.part);
      for (std::uint64_t slot = 0; slot < edges(strip.part); ++slot) {
        const auto to = static_cast<std::uint64_t>(chunk[slot * states_]) & 0xffffffffu;
        const std::uint64_t row = to - rows_.first();
        if (row < strip.begin || row >= strip.end) continue;
        const EdgeIndex e = next[row]++;
        if (e >= lists_.offsets[row + 1]) {
          good = false;
        } else {
          arrivals_.data()[e - first_edge_] = static_cast<std::uint32_t>(slot);
        }
      }
    }
  });
  require_on_all_ranks(good);
}

void MessageParts::require_reverse(const UseLists& use) {
  std::atomic<bool> good{true};
  over_lists(true, [&](const CsrView& lists, std::uint64_t first_row, std::uint64_t i) {
    const Strip& strip = strips_[i];
    bool matches = true;
    over_targets(lists, first_row, strip, [&](std::uint64_t v, EdgeIndex e, std::uint64_t) {
      const std::int64_t* said =
          received(strip.part) + std::uint64_t{arrivals_.data()[e - first_edge_]} * states_;
      matches = matches && said[0] == pair_of(lists.targets[e], v) &&
                (states_ == 1 || said[1] == bits_of(lists.weights, e));
    });
    if (!matches) good = false;
    const std::uint64_t begin = std::max(first_row, strip.begin),
                        end = std::min(first_row + lists.vertices, strip.end);
    if (begin < end) use({end - begin, 0, lists_.offsets + begin, lists.targets, lists.weights}, begin);
  });
  require_on_all_ranks(good);
}

}  // namespace sluice::acc
