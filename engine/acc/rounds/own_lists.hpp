// The lists of a rank's own vertices, in both directions where rounds may pull.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/acc/rounds/adjacency.hpp"
#include "engine/acc/rounds/rank_part.hpp"
#include "engine/core/error.hpp"
#include "engine/core/ownership.hpp"
#include "engine/exchange/shared_bits.hpp"
#include "engine/exec/executor.hpp"

namespace sluice::acc {

template <Executor E>
class OwnLists {
 public:
  /// Makes out-lists; if rounds `pull` and memory suffices, also in-lists, and shared vertex bits over ranks.
  /// `owners` are in the executor's memory. For `many` and required memory see Adjacency(). Keeps references.
  OwnLists(const Device& device, const RankPart& rows, E& executor, const OwnershipView& owners, bool pull,
           bool many) {
    const std::uint64_t own = rows.last() - rows.first();
    both_ = pull && make_both(device, rows, executor, owners, own, many);
    if (!both_) out_.emplace(device, rows, rows.out(), own, 1, many);
    out_->keep_short_lists(executor);
  }

  /// Are there in-lists?
  bool both() const { return both_; }
  Adjacency& out() { return *out_; }
  Adjacency& in() { return in_ ? *in_ : *out_; }
  /// Returns null with one rank, or without in-lists.
  SharedBits<E>* bits() { return bits_ ? &*bits_ : nullptr; }

  void add_traffic(AccStats& stats) const {
    if (in_) stats.add_traffic(in_->lists().traffic());
    out_->add_traffic(stats);
  }

 private:
  /// Returns false if memory holds only the lists of one direction, or lacks space for shared bits.
  bool make_both(const Device& device, const RankPart& rows, E& executor, const OwnershipView& owners,
                 std::uint64_t own, bool many) {
    try {
      if (rows.ranks().size() > 1) bits_.emplace(device, rows.router(), executor, owners, "active vertices");
      out_.emplace(device, rows, rows.out(), own, rows.symmetric() ? 1u : 2u, many);
      if (rows.symmetric() || out_->plans_without(rows.in().csr)) return true;
      // If out-lists are read in place, but in-lists cannot be, pushes are less work.
      if (out_->paged() || !rows.has_pages(rows.in())) {
        in_.emplace(device, rows, rows.in(), 0);
        return true;
      }
    } catch (const BudgetError&) {
    }
    in_.reset();
    out_.reset();
    bits_.reset();
    return false;
  }

  std::optional<SharedBits<E>> bits_;
  std::optional<Adjacency> out_, in_;  ///< in_: only if in-lists differ from out-lists
  bool both_ = false;
};

}  // namespace sluice::acc
