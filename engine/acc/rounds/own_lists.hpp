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
  /// `owners` are in the executor's memory. For `many_rounds` and required memory see Adjacency(). Keeps
  /// references.
  OwnLists(const Device& device, const RankPart& part, E& executor, const OwnershipView& owners, bool pull,
           bool many_rounds) {
    const std::uint64_t own_rows = part.last() - part.first();
    has_in_lists_ = pull && make_both_directions(device, part, executor, owners, own_rows, many_rounds);
    if (!has_in_lists_) out_.emplace(device, part, part.out(), own_rows, 1, many_rounds);
    out_->load_short_lists(executor);
  }

  /// Are there in-lists?
  bool has_in_lists() const { return has_in_lists_; }
  Adjacency& out() { return *out_; }
  Adjacency& in() { return in_ ? *in_ : *out_; }
  /// Returns null with one rank, or without in-lists.
  SharedBits<E>* shared_bits() { return shared_bits_ ? &*shared_bits_ : nullptr; }

  void add_traffic(AccStats& stats) const {
    if (in_) stats.add_traffic(in_->lists().traffic());
    out_->add_traffic(stats);
  }

 private:
  /// Returns false if memory holds only the lists of one direction, or lacks space for shared bits.
  bool make_both_directions(const Device& device, const RankPart& part, E& executor,
                            const OwnershipView& owners, std::uint64_t own_rows, bool many_rounds) {
    try {
      if (part.ranks().size() > 1)
        shared_bits_.emplace(device, part.router(), executor, owners, "active vertices");
      out_.emplace(device, part, part.out(), own_rows, part.symmetric() ? 1u : 2u, many_rounds);
      if (part.symmetric() || out_->plans_without(part.in().csr)) return true;
      // If out-lists are read in place, but in-lists cannot be, pushes are less work.
      if (out_->paged() || !part.has_pages(part.in())) {
        in_.emplace(device, part, part.in(), 0);
        return true;
      }
    } catch (const BudgetError&) {
    }
    in_.reset();
    out_.reset();
    shared_bits_.reset();
    return false;
  }

  std::optional<SharedBits<E>> shared_bits_;
  std::optional<Adjacency> out_, in_;  ///< in_: only if in-lists differ from out-lists
  bool has_in_lists_ = false;
};

}  // namespace sluice::acc
