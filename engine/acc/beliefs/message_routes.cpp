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
std::int64_t pair_of(std::uint64_t sender, std::uint64_t receiver) {
  return static_cast<std::int64_t>(sender << 32 | receiver);
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
void MessageParts::visit_lists(bool weights, Body&& body) {
  for_each_piece(
      lists_, rank_part_.out().file, true, weights && rank_part_.weighted(),
      [&](std::uint64_t begin, std::uint64_t end, const Vertex* targets, const float* w) {
        const CsrView lists{end - begin, 0, lists_.offsets + begin, targets,
                            rank_part_.weighted() ? w : nullptr};
        pool_.for_each_block(strips_.size(), 1, [&](std::uint64_t first, std::uint64_t last, unsigned) {
          for (std::uint64_t i = first; i < last; ++i) body(lists, begin, i);
        });
      });
}

/// Calls use(vertex, e, part of the target) for the edges of a piece that belong to a strip.
template <class UseEdge>
void MessageParts::visit_targets(const CsrView& lists, std::uint64_t first_row, const Strip& strip,
                                 UseEdge&& use) const {
  for (std::uint64_t row = std::max(first_row, strip.begin);
       row < std::min(first_row + lists.vertices, strip.end); ++row) {
    std::uint64_t part = 0, part_end = 0;  // `part_end`: end of the last target's part
    for (EdgeIndex e = lists_.offsets[row]; e < lists_.offsets[row + 1]; ++e) {
      const Vertex target = lists.targets[e];
      if (target >= part_end) {
        part = all_parts_.owner(target), part_end = all_parts_.end(part);
      }
      use(rank_part_.first() + row, e, part);
    }
  }
}

void MessageParts::compute_departures() {
  std::fill(tallies_.begin(), tallies_.end(), 0);
  visit_lists(false, [&](const CsrView& lists, std::uint64_t first_row, std::uint64_t strip) {
    visit_targets(lists, first_row, strips_[strip],
                  [&](std::uint64_t, EdgeIndex, std::uint64_t receiver) { ++tally(strip, receiver); });
  });
  // A strip's messages to a part follow those of the earlier strips of its own part.
  for (std::uint64_t part = 0, strip = 0, end; part < size(); ++part, strip = end) {
    for (end = strip; end < strips_.size() && strips_[end].part == part;) ++end;
    std::uint64_t position = 0;
    for (std::uint64_t receiver = 0; receiver < all_parts(); ++receiver) {
      blocks_[part * (all_parts() + 1) + receiver] = position;
      for (std::uint64_t i = strip; i < end; ++i) position += std::exchange(tally(i, receiver), position);
    }
    blocks_[part * (all_parts() + 1) + all_parts()] = position;
  }
  visit_lists(true, [&](const CsrView& lists, std::uint64_t first_row, std::uint64_t strip) {
    std::int64_t* const chunk = sent(strips_[strip].part);
    visit_targets(lists, first_row, strips_[strip],
                  [&](std::uint64_t v, EdgeIndex e, std::uint64_t receiver) {
                    const std::uint64_t position = tally(strip, receiver)++;
                    const bool loop = lists.targets[e] == v;
                    departures_.data()[e - first_edge_] =
                        static_cast<std::uint32_t>(position) | (loop ? BeliefPart::kLoop : 0);
                    chunk[position * states_] = pair_of(v, lists.targets[e]);
                    if (states_ > 1) chunk[position * states_ + 1] = bits_of(lists.weights, e);
                  });
  });
}

/// Messages arrive in order of senders, and a list's targets ascend. So the messages that a vertex receives
/// are in the order of its list.
void MessageParts::compute_arrivals(HostArray<EdgeIndex> next) {
  std::copy_n(lists_.offsets, lists_.vertices, next.begin());
  std::atomic<bool> valid{true};
  pool_.for_each_block(strips_.size(), 1, [&](std::uint64_t first, std::uint64_t last, unsigned) {
    for (std::uint64_t i = first; i < last; ++i) {
      const Strip& strip = strips_[i];
      const std::int64_t* const chunk = received(strip.part);
      for (std::uint64_t slot = 0; slot < edges(strip.part); ++slot) {
        const auto receiver = static_cast<std::uint64_t>(chunk[slot * states_]) & 0xffffffffu;
        const std::uint64_t row = receiver - rank_part_.first();
        if (row < strip.begin || row >= strip.end) continue;
        const EdgeIndex e = next[row]++;
        if (e >= lists_.offsets[row + 1]) {
          valid = false;
        } else {
          arrivals_.data()[e - first_edge_] = static_cast<std::uint32_t>(slot);
        }
      }
    }
  });
  require_on_all_ranks(valid);
}

void MessageParts::require_reverse(const UseLists& use) {
  std::atomic<bool> valid{true};
  visit_lists(true, [&](const CsrView& lists, std::uint64_t first_row, std::uint64_t i) {
    const Strip& strip = strips_[i];
    bool matches = true;
    visit_targets(lists, first_row, strip, [&](std::uint64_t v, EdgeIndex e, std::uint64_t) {
      const std::int64_t* message =
          received(strip.part) + std::uint64_t{arrivals_.data()[e - first_edge_]} * states_;
      matches = matches && message[0] == pair_of(lists.targets[e], v) &&
                (states_ == 1 || message[1] == bits_of(lists.weights, e));
    });
    if (!matches) valid = false;
    const std::uint64_t begin = std::max(first_row, strip.begin),
                        end = std::min(first_row + lists.vertices, strip.end);
    if (begin < end) use({end - begin, 0, lists_.offsets + begin, lists.targets, lists.weights}, begin);
  });
  require_on_all_ranks(valid);
}

}  // namespace sluice::acc
