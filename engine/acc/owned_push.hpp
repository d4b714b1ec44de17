// What a round does on a rank: active vertices send along their edges, where these are, and what goes to
// other ranks' vertices travels. A state that a rank keeps of another's vertex holds what was sent there: the
// smallest bound so far, so that only better ones travel, or the sum of what has not left yet.
#pragma once

#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "engine/acc/acc_graph.hpp"
#include "engine/acc/host_bits.hpp"
#include "engine/acc/options.hpp"
#include "engine/acc/owned_rows.hpp"
#include "engine/acc/program.hpp"
#include "engine/core/charged_vector.hpp"
#include "engine/exec/buffer.hpp"
#include "engine/exec/crew.hpp"

namespace sluice::acc {

template <AccProgram Program>
class OwnedPush {
 public:
  using State = typename Program::State;

  OwnedPush(const AccGraph& graph, const Program& program, Crew& crew)
      : rows_(*graph.owned()),
        program_(program),
        crew_(crew),
        states_(graph.device(), graph.vertices(), "vertex states"),
        waits_(graph.device(), graph.vertices(), "vertices that are sent to"),
        mine_(crew.size()),
        pages_(rows_.make_pages(rows_.out())) {}

  const OwnedRows& rows() const { return rows_; }
  State* states() const { return states_.data(); }

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

  /// Hands over what was sent to other ranks' vertices, and calls sent(v) for those; combines what comes, as
  /// push() does. All ranks call it.
  template <class Refuse, class Note, class Sent>
  void exchange(const AccRound& at, Refuse&& refuse, Note&& note, Sent&& sent) {
    Communicator& ranks = rows_.ranks();
    if (ranks.size() == 1) return;
    pack(sent);
    std::vector<std::span<const std::byte>> send;
    for (std::size_t r = 0; r < begins_of_ranks_.size() - 1; ++r)
      send.push_back(std::span(outbox_).subspan(
          begins_of_ranks_[r] * kEntryBytes, (begins_of_ranks_[r + 1] - begins_of_ranks_[r]) * kEntryBytes));
    // One rank may have all active vertices, and have read its lists from a file.
    ranks.all_to_all(send, inbox_, inbox_bytes_, "what active vertices send", kUnlimited);
    crew_.blocks(inbox_.size() / kEntryBytes, kEntriesAtOnce,
                 [&](std::uint64_t begin, std::uint64_t end, unsigned thread) {
                   for (std::uint64_t i = begin; i < end; ++i) {
                     const auto [v, value] = entry(i);
                     if (refuse(v)) continue;
                     const auto is = combine_into(program_, states_.data() + v, value, at);
                     if (is.active) note(v, is.now, thread);
                   }
                 });
  }

  /// Makes all states true on all ranks, and says what was brought. All ranks call it.
  void finish(AccStats& stats) {
    rows_.share(states_.data(), "the results");
    if (pages_ != nullptr) stats.add_traffic(pages_->traffic());
  }

 private:
  static constexpr bool kSums = SumProgram<Program>;
  static constexpr std::uint64_t kVerticesAtOnce = 64;
  static constexpr std::uint64_t kEntriesAtOnce = 1u << 12;
  static constexpr std::uint64_t kStatesAtOnce = 1u << 16;
  static constexpr std::uint64_t kEntryBytes = sizeof(Vertex) + sizeof(State);

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

  template <class Sent>
  void pack(Sent&& sent) {
    const auto size = static_cast<std::size_t>(rows_.ranks().size());
    begins_of_ranks_.assign(size + 1, 0);
    for (const Mine& mine : mine_)
      for (const Vertex v : mine.sent_to) ++begins_of_ranks_[rows_.owner(v) + 1];
    for (std::size_t r = 0; r < size; ++r) begins_of_ranks_[r + 1] += begins_of_ranks_[r];
    outbox_.resize(begins_of_ranks_[size] * kEntryBytes);
    std::vector<std::uint64_t> next(begins_of_ranks_.begin(), begins_of_ranks_.end() - 1);
    for (Mine& mine : mine_) {
      for (const Vertex v : mine.sent_to) {
        std::byte* to = outbox_.data() + next[rows_.owner(v)]++ * kEntryBytes;
        std::memcpy(to, &v, sizeof v);
        std::memcpy(to + sizeof v, states_.data() + v, sizeof(State));
        if (kSums) states_.data()[v] = 0;
        waits_.word(v / kWordBits) = 0;  // all of that word's leave now
        sent(v);
      }
      mine.sent_to.clear();
    }
  }

  std::pair<Vertex, State> entry(std::uint64_t i) const {
    std::pair<Vertex, State> is;
    const std::byte* from = inbox_.data() + i * kEntryBytes;
    std::memcpy(&is.first, from, sizeof is.first);
    std::memcpy(&is.second, from + sizeof is.first, sizeof is.second);
    return is;
  }

  const OwnedRows& rows_;
  Program program_;
  Crew& crew_;
  Buffer<State> states_;  ///< [vertices]
  VertexBits waits_;      ///< other ranks' vertices that are sent to
  std::vector<Mine> mine_;
  std::unique_ptr<SweepPages> pages_;
  ChargedVector<Vertex> sorted_;                ///< the front, by partition
  std::vector<std::uint64_t> begins_, edges_;   ///< by partition, in `sorted_`, and what it has of edges
  std::vector<std::uint64_t> begins_of_ranks_;  ///< entries, in the outbox
  ChargedVector<std::byte> outbox_;
  std::vector<std::byte> inbox_;
  std::vector<std::uint64_t> inbox_bytes_;
};

}  // namespace sluice::acc
