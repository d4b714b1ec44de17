#include "engine/ppr/methods/one_by_one.hpp"

#include <algorithm>
#include <utility>

namespace sluice::ppr {

OneByOne::OneByOne(const Device& device, const CsrView& graph, const Options& options)
    : options_(options),
      vertices_(graph.vertices),
      table_size_(std::uint64_t{options.table} * options.top),
      ball_(device, graph, options),
      next_stage_(device, options),
      table_(device, graph.vertices) {}

void OneByOne::begin(const Seeds& seeds) {
  table_.clear();
  next_stage_.clear();
  chosen_.clear();
  edges_ = ball_bytes_ = list_bytes_ = largest_table_ = 0;
  seeds_ = &seeds;
  stage_ = next_ = 0;
  step_ = 0;
  from_chosen_ = false;
  ball_.begin(seeds);
}

bool OneByOne::advance(const ListsAtHand& lists) {
  do {
    if (!ball_.spread(lists)) return false;
    if (from_chosen_ && step_ > 0) returning_[static_cast<std::size_t>(step_) - 1] += ball_.returning();
  } while (begin_step());
  return true;
}

/// False where the last ball has ended. Mass of vertices without out-edges does not return to the ball's
/// middle but to the seeds: it is gathered by step, and goes on from there at the end, once for all balls.
bool OneByOne::begin_step() {
  while (step_ == options_.stages[stage_]) {
    take_ball();
    if (!next_ball()) return false;
  }
  const bool again = stage_ > 0 && !from_chosen_;
  ball_.begin_step(0, again ? returning_[static_cast<std::size_t>(step_)] : 0, !from_chosen_);
  ++step_;
  return true;
}

bool OneByOne::next_ball() {
  step_ = 0;
  while (true) {
    if (next_ < chosen_.size()) {
      const Waiting& from = chosen_[next_++];
      ball_.begin_at(from.vertex, from.mass);
      return from_chosen_ = true;
    }
    const bool any = std::any_of(returning_.begin(), returning_.end(), [](Mass mass) { return mass != 0; });
    if (std::exchange(from_chosen_, false) && any) {
      ball_.begin_empty(*seeds_);
      return true;
    }
    if (++stage_ == options_.stages.size()) return false;
    next_stage_.choose(table_, 0);
    list_chosen();
    next_ = 0;
    returning_.assign(static_cast<std::size_t>(options_.stages[stage_]), 0);
  }
}

/// In an order that follows from the scores alone: which entries a full table drops depends on it.
void OneByOne::list_chosen() {
  chosen_.clear();
  for (Reached& entry : table_) {
    if (entry.waiting[0] != 0) chosen_.push_back({entry.vertex, std::exchange(entry.waiting[0], 0)});
  }
  std::sort(chosen_.begin(), chosen_.end(), [](const Waiting& a, const Waiting& b) {
    return a.mass != b.mass ? a.mass > b.mass : a.vertex < b.vertex;
  });
  list_bytes_ = std::max(list_bytes_, chosen_.size() * sizeof(Waiting));
}

/// What the last stage leaves waiting is score.
void OneByOne::take_ball() {
  const bool last = stage_ + 1 == options_.stages.size();
  for (const Reached& entry : ball_.reached()) {
    Reached& sum = table_.at(entry.vertex);
    const Mass waiting = entry.waiting[ball_.now()];
    sum.score += entry.score + (last ? waiting : 0);
    sum.waiting[0] += last ? 0 : waiting;
  }
  edges_ += ball_.edges();
  ball_bytes_ = std::max(ball_bytes_, ball_.peak_bytes());
  largest_table_ = std::max(largest_table_, table_.size());
  if (table_size_ != 0 && table_.size() > table_size_) trim();
}

/// Half of the table stays, the larger scores; what waits for the next stage stays in any case.
void OneByOne::trim() {
  const auto stays = [](const Reached& entry) { return entry.waiting[0] != 0; };
  Reached* const rest = std::partition(table_.begin(), table_.end(), stays);
  const auto waiting = static_cast<std::uint64_t>(rest - table_.begin());
  const std::uint64_t kept = std::max(waiting, table_size_ / 2);
  const auto before = [](const Reached& a, const Reached& b) {
    return a.score != b.score ? a.score > b.score : a.vertex < b.vertex;
  };
  std::nth_element(rest, table_.begin() + kept, table_.end(), before);
  table_.keep_first(static_cast<std::uint32_t>(kept));
}

std::uint64_t OneByOne::peak_bytes() const {
  return ball_bytes_ + ReachedVertices::peak_bytes(largest_table_, vertices_) + list_bytes_ +
         next_stage_.peak_bytes();
}

}  // namespace sluice::ppr
