#include "engine/acc/message_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <string>
#include <utility>

#include "engine/acc/belief_start.hpp"
#include "engine/core/error.hpp"
#include "engine/core/size.hpp"
#include "engine/residency/row_pieces.hpp"
#include "partition/plan.hpp"

namespace sluice::acc {

namespace {

constexpr std::uint64_t kEdgesAtOnce = 1u << 14;

/// Who tells, and who hears.
std::int64_t pair_of(std::uint64_t from, std::uint64_t to) {
  return static_cast<std::int64_t>(from << 32 | to);
}

std::int64_t bits_of(const float* weights, EdgeIndex e) {
  return weights == nullptr ? 0 : static_cast<std::int64_t>(std::bit_cast<std::uint32_t>(weights[e]));
}

template <class Byte, class T>
std::span<Byte> bytes_at(T* messages, std::uint64_t count) {
  return {reinterpret_cast<Byte*>(messages), count * sizeof(T)};
}

const OwnedRows& with_room(const OwnedRows& rows, unsigned states) {
  const std::uint64_t edges = rows.lists().edges, needed = MessageParts::bytes(edges, states),
                      left = host_accountant().available();
  if (needed <= left) return rows;
  throw BudgetError(
      fmt::format("host memory: the messages of {} edges and their places need {}, but {} are left (raise "
                  "--host-memory, or use more ranks)",
                  edges, format_size(needed), format_size(left)));
}

}  // namespace

MessageParts::MessageParts(const Device& device, const OwnedRows& rows, unsigned states)
    : rows_(with_room(rows, states)),
      lists_(rows.lists()),
      states_(states),
      first_edge_(lists_.vertices > 0 ? lists_.offsets[0] : 0),
      crew_(device.threads()),
      told_(device, lists_.edges * states, "the messages of edges"),
      heard_(device, lists_.edges * states, "the messages of edges"),
      arrivals_(device, lists_.edges, "the places of messages"),
      departures_(device, lists_.edges, "the places of messages") {}

void MessageParts::lay_out(std::span<const std::uint64_t> boundaries, std::int64_t uniform,
                           const UseLists& use) {
  boundaries_.assign(boundaries.begin(), boundaries.end());
  share_boundaries();
  make_strips();
  depart();
  require_same_counts();
  make_blocks();
  deliver();
  arrive();
  require_reverse(use);
  say_nothing(uniform);
  tallies_ = {};
}

void MessageParts::share_boundaries() {
  std::string mine;
  for (std::uint64_t part = 0; part < size(); ++part) {
    if (edges(part) >= BeliefPart::kMostEdges)
      throw BudgetError("bp: a partition of 2^31 edges or more (ask for more --partitions)");
    const std::uint64_t first = rows_.first() + begin(part);
    mine.append(reinterpret_cast<const char*>(&first), sizeof first);
  }
  const auto all = rows_.ranks().all_gather(mine, "the parts of all ranks", kUnlimited);
  first_parts_.assign(1, 0);
  for (const std::string& theirs : all) {
    const std::uint64_t parts = theirs.size() / sizeof(std::uint64_t), before = all_boundaries_.size();
    all_boundaries_.resize(before + parts);
    std::memcpy(all_boundaries_.data() + before, theirs.data(), theirs.size());
    first_parts_.push_back(all_boundaries_.size());
  }
  all_boundaries_.push_back(rows_.boundary(all.size()));
}

/// A part for every thread, or as many strips of parts.
void MessageParts::make_strips() {
  const std::uint64_t wanted = size() == 0 ? 0 : (crew_.size() + size() - 1) / size();
  for (std::uint64_t part = 0; part < size(); ++part) {
    const std::span offsets(lists_.offsets + begin(part), end(part) - begin(part) + 1);
    const PartitionPlan strips = PartitionPlan::of_count(offsets, {0, 1}, wanted);
    for (std::uint64_t i = 0; i < strips.size(); ++i)
      strips_.push_back({part, begin(part) + strips.begin(i), begin(part) + strips.end(i)});
  }
}

/// Calls body(lists, first_row, strip) for every strip of every piece of the lists.
template <class Body>
void MessageParts::over_lists(bool weights, Body&& body) {
  for_each_piece(
      lists_, rows_.out().file, true, weights && rows_.weighted(),
      [&](std::uint64_t begin, std::uint64_t end, const Vertex* targets, const float* w) {
        const CsrView lists{end - begin, 0, lists_.offsets + begin, targets, rows_.weighted() ? w : nullptr};
        crew_.blocks(strips_.size(), 1, [&](std::uint64_t first, std::uint64_t last, unsigned) {
          for (std::uint64_t i = first; i < last; ++i) body(lists, begin, i);
        });
      });
}

/// Calls use(vertex, e, part of the target) for the edges of a piece that are of a strip.
template <class UseEdge>
void MessageParts::over_targets(const CsrView& lists, std::uint64_t first_row, const Strip& strip,
                                UseEdge&& use) const {
  const auto begin = all_boundaries_.begin(), end = all_boundaries_.end();
  for (std::uint64_t row = std::max(first_row, strip.begin);
       row < std::min(first_row + lists.vertices, strip.end); ++row) {
    std::uint64_t part = 0, behind = 0;  // where the part of the last target ends
    for (EdgeIndex e = lists_.offsets[row]; e < lists_.offsets[row + 1]; ++e) {
      const Vertex target = lists.targets[e];
      if (target >= behind) {
        const auto next = std::upper_bound(begin, end, target);
        part = static_cast<std::uint64_t>(next - begin) - 1, behind = *next;
      }
      use(rows_.first() + row, e, part);
    }
  }
}

void MessageParts::depart() {
  tallies_ = HostArray<std::uint64_t>(strips_.size() * all_parts(), "counts of messages");
  blocks_ = HostArray<std::uint64_t>(size() * (all_parts() + 1), "counts of messages");
  std::fill(tallies_.begin(), tallies_.end(), 0);
  over_lists(false, [&](const CsrView& lists, std::uint64_t first_row, std::uint64_t strip) {
    over_targets(lists, first_row, strips_[strip],
                 [&](std::uint64_t, EdgeIndex, std::uint64_t to) { ++tally(strip, to); });
  });
  // Every strip's messages to a part stand behind those of the part's strips before it.
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
    std::int64_t* const chunk = told(strips_[strip].part);
    over_targets(lists, first_row, strips_[strip], [&](std::uint64_t v, EdgeIndex e, std::uint64_t to) {
      const std::uint64_t at = tally(strip, to)++;
      const bool loop = lists.targets[e] == v;
      departures_.data()[e - first_edge_] = static_cast<std::uint32_t>(at) | (loop ? BeliefPart::kLoop : 0);
      chunk[at * states_] = pair_of(v, lists.targets[e]);
      if (states_ > 1) chunk[at * states_ + 1] = bits_of(lists.weights, e);
    });
  });
}

/// As many edges must lead from a part to another as back.
void MessageParts::require_same_counts() {
  const std::uint64_t all = all_parts();
  const auto count = [&](std::uint64_t part, std::uint64_t to) {
    return blocks_[part * (all + 1) + to + 1] - blocks_[part * (all + 1) + to];
  };
  const std::size_t ranks = first_parts_.size() - 1;
  std::vector<std::vector<std::uint64_t>> there(ranks);
  std::vector<std::span<const std::byte>> send;
  for (std::size_t r = 0; r < ranks; ++r) {
    for (std::uint64_t part = 0; part < size(); ++part)
      for (std::uint64_t to = first_parts_[r]; to < first_parts_[r + 1]; ++to)
        there[r].push_back(count(part, to));
    send.push_back(std::as_bytes(std::span(there[r])));
  }
  std::vector<std::byte> received;
  std::vector<std::uint64_t> sizes;
  rows_.ranks().all_to_all(send, received, sizes, "counts of messages", kUnlimited);
  bool good = true;
  const std::byte* at = received.data();
  for (std::uint64_t from = 0; from < all; ++from) {
    for (std::uint64_t part = 0; part < size(); ++part, at += sizeof(std::uint64_t)) {
      std::uint64_t theirs = 0;
      std::memcpy(&theirs, at, sizeof theirs);
      good = good && theirs == count(part, from);
    }
  }
  require_on_all_ranks(good);
}

void MessageParts::make_blocks() {
  const std::size_t ranks = first_parts_.size() - 1;
  RankBlocks<const std::byte> send(ranks);
  RankBlocks<std::byte> receive(ranks);
  for (std::size_t r = 0; r < ranks; ++r) {
    const std::uint64_t first = first_parts_[r], last = first_parts_[r + 1];
    for (std::uint64_t part = 0; part < size(); ++part) {
      const std::uint64_t* begins = blocks_.data() + part * (all_parts() + 1);
      send[r].push_back(bytes_at<const std::byte>(told(part) + begins[first] * states_,
                                                  (begins[last] - begins[first]) * states_));
    }
    for (std::uint64_t from = first; from < last; ++from) {
      for (std::uint64_t part = 0; part < size(); ++part) {
        const std::uint64_t* begins = blocks_.data() + part * (all_parts() + 1) + from;
        receive[r].push_back(
            bytes_at<std::byte>(heard(part) + begins[0] * states_, (begins[1] - begins[0]) * states_));
      }
    }
  }
  exchange_ = std::make_unique<BlockExchange>(rows_.ranks(), std::move(send), std::move(receive));
}

void MessageParts::deliver() {
  const std::uint64_t own = first_parts_[static_cast<std::size_t>(rows_.ranks().rank())];
  crew_.blocks(size() * size(), 1, [&](std::uint64_t first, std::uint64_t last, unsigned) {
    for (std::uint64_t i = first; i < last; ++i) {
      const std::uint64_t to = i / size(), from = i % size();
      const std::uint64_t* away = blocks_.data() + from * (all_parts() + 1) + own + to;
      const std::uint64_t here = blocks_[to * (all_parts() + 1) + own + from];
      std::copy_n(told(from) + away[0] * states_, (away[1] - away[0]) * states_, heard(to) + here * states_);
    }
  });
  (*exchange_)("messages");
}

/// Messages come in order of who tells, and a list's targets ascend: so those that a vertex hears stand in
/// the order of its list.
void MessageParts::arrive() {
  HostArray<EdgeIndex> next(lists_.vertices, "the places of messages");
  std::copy_n(lists_.offsets, lists_.vertices, next.begin());
  std::atomic<bool> good{true};
  crew_.blocks(strips_.size(), 1, [&](std::uint64_t first, std::uint64_t last, unsigned) {
    for (std::uint64_t i = first; i < last; ++i) {
      const Strip& strip = strips_[i];
      const std::int64_t* const chunk = heard(strip.part);
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
    bool mine = true;
    over_targets(lists, first_row, strip, [&](std::uint64_t v, EdgeIndex e, std::uint64_t) {
      const std::int64_t* said =
          heard(strip.part) + std::uint64_t{arrivals_.data()[e - first_edge_]} * states_;
      mine = mine && said[0] == pair_of(lists.targets[e], v) &&
             (states_ == 1 || said[1] == bits_of(lists.weights, e));
    });
    if (!mine) good = false;
    const std::uint64_t begin = std::max(first_row, strip.begin),
                        end = std::min(first_row + lists.vertices, strip.end);
    if (begin < end) use({end - begin, 0, lists_.offsets + begin, lists.targets, lists.weights}, begin);
  });
  require_on_all_ranks(good);
}

void MessageParts::say_nothing(std::int64_t uniform) {
  crew_.blocks(told_.size(), kEdgesAtOnce, [&](std::uint64_t begin, std::uint64_t end, unsigned) {
    std::fill(told_.data() + begin, told_.data() + end, uniform);
    std::fill(heard_.data() + begin, heard_.data() + end, uniform);
  });
  // Self-loops tell nothing: their factors count with the prior.
  crew_.blocks(strips_.size(), 1, [&](std::uint64_t first, std::uint64_t last, unsigned) {
    for (std::uint64_t i = first; i < last; ++i) {
      const Strip& strip = strips_[i];
      for (EdgeIndex e = lists_.offsets[strip.begin] - first_edge_;
           e < lists_.offsets[strip.end] - first_edge_; ++e) {
        const std::uint32_t departure = departures_.data()[e];
        if ((departure & BeliefPart::kLoop) == 0) continue;
        std::fill_n(told(strip.part) + std::uint64_t{departure - BeliefPart::kLoop} * states_, states_, 0);
        std::fill_n(heard(strip.part) + std::uint64_t{arrivals_.data()[e]} * states_, states_, 0);
      }
    }
  });
}

/// All ranks end alike.
void MessageParts::require_on_all_ranks(bool good) const {
  std::uint64_t bad[] = {good ? 0u : 1u};
  rows_.ranks().all_reduce(bad, Reduce::max, "the edges of all ranks", kUnlimited);
  if (bad[0] != 0) throw InputError(kNoReverse);
}

}  // namespace sluice::acc
