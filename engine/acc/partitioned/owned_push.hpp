// What a round does on a rank of the host backend: active vertices send along their edges, where these are,
// and what goes to other ranks' vertices travels. A state that a rank keeps of another's vertex holds what
// was sent there: the smallest bound so far, so that only better ones travel, or the sum of what has not left
// yet.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "engine/acc/acc_graph.hpp"
#include "engine/acc/options.hpp"
#include "engine/acc/partitioned/owned_rows.hpp"
#include "engine/acc/partitioned/round_exchange.hpp"
#include "engine/acc/program.hpp"
#include "engine/acc/whole_host/host_bits.hpp"
#include "engine/core/charged_vector.hpp"
#include "engine/exec/memory/buffer.hpp"
#include "engine/exec/thread_pool.hpp"

namespace sluice::acc {

template <AccProgram Program>
class OwnedPush {
 public:
  using State = typename Program::State;

  /// Lists that come in partitions take what memory there is, divided by `shares`.
  OwnedPush(const AccGraph& graph, const Program& program, Crew& crew, std::uint64_t shares = 1)
      : rows_(*graph.owned()),
        program_(program),
        crew_(crew),
        states_(graph.device(), graph.vertices(), "vertex states"),
        waits_(graph.device(), graph.vertices(), "vertices that are sent to"),
        mine_(crew.size()),
        pages_(rows_.make_pages(rows_.out(), locks_, memory_for_sweep_pages(graph.device()) / shares)) {}

  const OwnedRows& rows() const { return rows_; }
  State* states() const { return states_.data(); }
  /// Null: lists are read in place.
  SweepPages* pages() const { return pages_.get(); }
  /// Of all vertices; none are set between rounds.
  VertexBits& spare_bits() { return waits_; }

  /// The states that vertices begin with. All ranks call it.
  void start() {
    crew_.blocks(rows_.last() - rows_.first(), kStatesAtOnce,
                 [&](std::uint64_t begin, std::uint64_t end, unsigned) {
                   for (std::uint64_t i = rows_.first() + begin; i < rows_.first() + end; ++i) {
                     const auto v = static_cast<Vertex>(i);
                     states_.data()[v] = program_.init(v, rows_.degree(v));
                   }
                 });
    if constexpr (kSums) {
      std::fill(states_.data(), states_.data() + rows_.first(), State{0});
      std::fill(states_.data() + rows_.last(), states_.data() + states_.size(), State{0});
    } else {
      rows_.share(states_.data(), "the states to begin with");
    }
  }

  /// Sends from the vertices of `front` for which sends(u), to those that do not refuse(v) it; calls note(v,
  /// now, thread) for own ones that became active. Returns how many edges that took.
  template <class Sends, class Refuse, class Note>
  std::uint64_t push(std::span<const Vertex> front, const AccRound& at, Sends&& sends, Refuse&& refuse,
                     Note&& note) {
    const auto from = [&](std::span<const Vertex> some, const Vertex* targets, const float* weights) {
      crew_.blocks(
          some.size(), kVerticesAtOnce, [&](std::uint64_t begin, std::uint64_t end, unsigned thread) {
            Mine& mine = mine_[thread];
            for (std::uint64_t i = begin; i < end; ++i) {
              const Vertex u = some[i];
              if (!sends(u)) continue;
              const EdgeIndex* list = rows_.lists().offsets + (u - rows_.first());
              mine.edges += list[1] - list[0];
              for (EdgeIndex e = list[0]; e < list[1]; ++e) {
                const Vertex v = targets[e];
                if (refuse(v)) continue;
                const State value = program_.compute({u, v, e, at, states_.data(), weights});
                if (!rows_.owns(v)) {
                  hold(v, value, at, mine);
                } else if (const auto is = combine_into(program_, states_.data() + v, value, at); is.active) {
                  note(v, is.now, thread);
                }
              }
            }
          });
    };
    if (pages_ == nullptr) {
      from(front, rows_.lists().targets, rows_.lists().weights);
    } else {
      sort_by_partition(front);
      pages_->for_each(
          [&](std::uint32_t p) { return edges_[p]; },
          [&](std::span<const SweepPage> pages) {
            for (const SweepPage& page : pages) {
              const std::uint64_t begin = begins_[page.partition];
              from({sorted_.data() + begin, begins_[page.partition + 1] - begin}, page.sources, page.weights);
            }
          });
    }
    std::uint64_t edges = 0;
    for (Mine& mine : mine_) edges += std::exchange(mine.edges, 0);
    return edges;
  }

  /// Makes blocks for the other ranks of what was sent to their vertices, and calls sent(v) for those. They
  /// stay until the next call.
  template <class Sent>
  std::span<const RoundExchange::Block> pack(Sent&& sent) {
    const auto size = static_cast<std::size_t>(rows_.ranks().size());
    blocks_.assign(size, {});
    counts_.assign(size, 0);
    for (const Mine& mine : mine_)
      for (const Vertex v : mine.sent_to) ++counts_[rows_.owner(v)];
    std::uint64_t bytes = 0;
    for (const std::uint64_t count : counts_) bytes += Block::bytes(count);
    if (bytes == 0) return blocks_;
    outbox_.resize(bytes / sizeof(std::uint64_t));
    auto* at = reinterpret_cast<std::byte*>(outbox_.data());
    for (std::size_t r = 0; r < size; at += blocks_[r++].size()) blocks_[r] = {at, Block::bytes(counts_[r])};
    places_.assign(size, 0);
    for (Mine& mine : mine_) {
      for (const Vertex v : mine.sent_to) {
        const std::size_t r = rows_.owner(v);
        const auto block = Block::at(const_cast<std::byte*>(blocks_[r].data()), counts_[r]);
        block.states[places_[r]] = states_.data()[v];
        block.vertices[places_[r]++] = v;
        if (kSums) states_.data()[v] = 0;
        waits_.word(v / kWordBits) = 0;  // all of that word's leave now
        sent(v);
      }
      mine.sent_to.clear();
    }
    return blocks_;
  }

  /// Combines what other ranks have sent, as push() does.
  template <class Refuse, class Note>
  void take(std::span<const RoundExchange::Block> received, const AccRound& at, Refuse&& refuse,
            Note&& note) {
    for (const RoundExchange::Block bytes : received) {
      const std::uint64_t count = Block::count(bytes.size());
      const auto block = Block::at(const_cast<std::byte*>(bytes.data()), count);
      crew_.blocks(count, kEntriesAtOnce, [&](std::uint64_t begin, std::uint64_t end, unsigned thread) {
        for (std::uint64_t i = begin; i < end; ++i) {
          const Vertex v = block.vertices[i];
          if (refuse(v)) continue;
          const auto is = combine_into(program_, states_.data() + v, block.states[i], at);
          if (is.active) note(v, is.now, thread);
        }
      });
    }
  }

  /// Makes all states true on all ranks, and says what was brought. All ranks call it.
  void finish(AccStats& stats) {
    rows_.share(states_.data(), "the results");
    if (pages_ != nullptr) stats.add_traffic(pages_->traffic());
  }

 private:
  using Block = EntryBlock<State>;

  static constexpr bool kSums = SumProgram<Program>;
  static constexpr std::uint64_t kVerticesAtOnce = 64;
  static constexpr std::uint64_t kEntriesAtOnce = 1u << 12;
  static constexpr std::uint64_t kStatesAtOnce = 1u << 16;

  struct alignas(64) Mine {
    ChargedVector<Vertex> sent_to;  ///< other ranks' vertices, each once
    std::uint64_t edges = 0;
  };

  /// Keeps a value for another rank's vertex.
  void hold(Vertex v, State value, const AccRound& at, Mine& mine) {
    State before = load(states_.data() + v);
    for (;;) {
      State now;
      if constexpr (kSums) {
        now = program_.add(before, value);
      } else {
        now = program_.combine(before, value, at);
        if (now == before) return;
      }
      if (acc::exchange(states_.data() + v, before, now)) break;
    }
    if (waits_.take(v)) mine.sent_to.push_back(v);
  }

  std::uint32_t owner(Vertex v) const { return pages_->plan().owner(static_cast<Vertex>(v - rows_.first())); }

  /// Puts the front in order of partitions, and counts what is to be sent from each.
  void sort_by_partition(std::span<const Vertex> front) {
    begins_.assign(pages_->size() + 1, 0);
    edges_.assign(pages_->size(), 0);
    for (const Vertex u : front) {
      const std::uint32_t p = owner(u);
      ++begins_[p + 1];
      edges_[p] += rows_.degree(u);
    }
    for (std::size_t p = 0; p < edges_.size(); ++p) begins_[p + 1] += begins_[p];
    sorted_.resize(front.size());
    std::vector<std::uint64_t> next(begins_.begin(), begins_.end() - 1);
    for (const Vertex u : front) sorted_[next[owner(u)]++] = u;
  }

  const OwnedRows& rows_;
  Program program_;
  Crew& crew_;
  Buffer<State> states_;  ///< [vertices]
  VertexBits waits_;      ///< other ranks' vertices that are sent to
  std::vector<Mine> mine_;
  std::vector<PageLock> locks_;
  std::unique_ptr<SweepPages> pages_;
  ChargedVector<Vertex> sorted_;               ///< the front, by partition
  std::vector<std::uint64_t> begins_, edges_;  ///< by partition, in `sorted_`, and what it has of edges
  ChargedVector<std::uint64_t> outbox_;        ///< blocks for the other ranks
  std::vector<RoundExchange::Block> blocks_;
  std::vector<std::uint64_t> counts_, places_;  ///< entries, by rank
};

}  // namespace sluice::acc
