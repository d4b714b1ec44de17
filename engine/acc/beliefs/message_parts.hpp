// The messages of a rank's edges for belief propagation in parts: their storage by part, in host memory or
// scratch files, and their delivery from senders to receivers. Sent messages are ordered by the receiving
// part, received ones by their sender. So blocks move from part to part, and from rank to rank, unchanged.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/acc/beliefs/part.hpp"
#include "engine/acc/rounds/rank_part.hpp"
#include "engine/core/ownership.hpp"
#include "engine/exchange/pieces.hpp"
#include "engine/exec/memory/buffer.hpp"
#include "engine/exec/memory/scratch_file.hpp"
#include "engine/exec/thread_pool.hpp"

namespace sluice::acc {

/// An array in host memory, page-locked for a GPU; or in a scratch file, if `folder` is not empty.
template <class T>
class MessageArray {
 public:
  MessageArray(const Device& device, const std::string& folder, std::uint64_t size, const char* purpose)
      : memory_(device, folder.empty() ? size : 0, purpose),
        file_(folder.empty() || device.is_planning() ? ScratchMemory()
                                                     : ScratchMemory(folder, size * sizeof(T))),
        size_(size) {}

  T* data() const { return file_.data() != nullptr ? static_cast<T*>(file_.data()) : memory_.data(); }
  std::uint64_t size() const { return size_; }

 private:
  Staging<T> memory_;
  ScratchMemory file_;
  std::uint64_t size_;
};

class MessageParts {
 public:
  /// Allocates messages in host memory, or in scratch files if they exceed it. Parts are processed one after
  /// the other, so that few pages of a file are needed at a time. Keeps references. Throws BudgetError if
  /// host memory does not suffice and no folder for scratch files is given.
  MessageParts(const Device& device, const RankPart& rank_part, unsigned states);

  /// Called for pieces of the rank's lists as they are read; row 0 of `lists` is `first_row`.
  using UseLists = std::function<void(const CsrView& lists, std::uint64_t first_row)>;
  /// Cuts the rank's rows into `parts`, computes every edge's departure and arrival, and sets all messages to
  /// `uniform`. Throws InputError if an edge has no reverse of the same weight. All ranks call it. A plan
  /// allocates memory only, as if all ranks had as many parts.
  void build_routes(Ownership parts, std::int64_t uniform, const UseLists& use);

  std::uint64_t size() const { return parts_.size(); }
  /// Rows of a part, and its edges by position in the whole graph.
  std::uint64_t begin(std::uint64_t part) const { return parts_.begin(part); }
  std::uint64_t end(std::uint64_t part) const { return parts_.end(part); }
  EdgeIndex first_edge(std::uint64_t part) const { return first_edge_ + edges_.begin(part); }
  std::uint64_t edges(std::uint64_t part) const { return edges_.count(part); }
  /// [edges][states] ordered by departure, and by arrival.
  std::int64_t* sent(std::uint64_t part) const { return sent_.data() + edges_.begin(part) * states_; }
  std::int64_t* received(std::uint64_t part) const { return received_.data() + edges_.begin(part) * states_; }
  /// Departures and arrivals of the rank's edges, from its first on.
  const std::uint32_t* arrivals() const { return arrivals_.data(); }
  const std::uint32_t* departures() const { return departures_.data(); }

  std::uint64_t scratch_bytes() const { return folder_.empty() ? 0 : bytes(lists_.edges, states_); }

  /// The part of the edge at this position.
  std::uint64_t part_of(EdgeIndex e) const { return edges_.owner(e - first_edge_); }

  /// Delivers the sent messages. All ranks call it.
  void deliver();
  /// Restores the sent messages to those that were received, discarding any sent since. All ranks call it,
  /// and deliver nothing afterwards.
  void restore_sent();

  /// Bytes for a rank with `edges` edges, without the bookkeeping of blocks.
  static std::uint64_t bytes(std::uint64_t edges, unsigned states) {
    return edges * (2 * states * sizeof(std::int64_t) + 2 * sizeof(std::uint32_t));
  }
  /// Do messages fit in `available` bytes, beside states of vertices and slots for weights?
  static bool fits(std::uint64_t available, std::uint64_t rows, std::uint64_t edges, unsigned states,
                   bool weighted);

 private:
  /// Rows of one part that a thread processes.
  struct Strip {
    std::uint64_t part, begin, end;
  };

  std::uint64_t all_parts() const { return first_parts_.back(); }
  std::uint64_t& tally(std::uint64_t strip, std::uint64_t part) {
    return tallies_[strip * all_parts() + part];
  }

  void share_parts();
  void make_strips();
  template <class Body>
  void visit_lists(bool weights, Body&& body);
  template <class UseEdge>
  void visit_targets(const CsrView& lists, std::uint64_t first_row, const Strip& strip, UseEdge&& use) const;
  void compute_departures();
  template <class Sent, class Received, class Use>
  void visit_blocks(Use&& use);
  template <class Use>
  void visit_own_pairs(Use&& use);
  void make_exchange();
  void require_same_counts();
  void compute_arrivals(HostArray<EdgeIndex> next);
  void require_reverse(const UseLists& use);
  void require_on_all_ranks(bool valid) const;
  void init_messages(std::int64_t uniform);

  const RankPart& rank_part_;
  CsrView lists_;
  unsigned states_;
  std::string folder_;  ///< for scratch files; empty: messages are in memory
  EdgeIndex first_edge_ = 0;
  ThreadPool pool_;
  MessageArray<std::int64_t> sent_, received_;         ///< [edges][states]
  MessageArray<std::uint32_t> arrivals_, departures_;  ///< [edges]
  Ownership parts_, edges_;                            ///< rows and edges of this rank's parts
  Ownership all_parts_;                                ///< vertices of all ranks' parts
  std::vector<std::uint64_t> first_parts_;             ///< [ranks + 1] first part of each rank
  std::vector<Strip> strips_;
  HostArray<std::uint64_t> tallies_;  ///< [strips][all parts]
  HostArray<std::uint64_t> blocks_;   ///< [parts][all parts + 1] begins of blocks
  std::unique_ptr<BlockExchange> exchange_;
};

}  // namespace sluice::acc
