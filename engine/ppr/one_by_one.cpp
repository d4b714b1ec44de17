#include "engine/ppr/one_by_one.hpp"

#include <algorithm>
#include <utility>

namespace sluice {

OneByOne::OneByOne(const Device& device, const CsrView& graph, const PprOptions& options)
    : options_(options),
      vertices_(graph.vertices),
      table_size_(std::uint64_t{options.table} * options.top),
      ball_(device, graph, options),
      next_stage_(device, options),
      table_(device, graph.vertices) {}

void OneByOne::run(const Seeds& seeds) {
  table_.clear();
  next_stage_.clear();
  edges_ = ball_bytes_ = list_bytes_ = largest_table_ = 0;
  const auto& stages = options_.stages;
  ball_.begin(seeds);
  for (std::int64_t step = 0; step < stages[0]; ++step) ball_.step();
  take_ball(stages.size() == 1);
  for (std::size_t i = 1; i < stages.size(); ++i) {
    next_stage_.choose(table_, 0);
    list_chosen();
    stage(seeds, stages[i], i + 1 == stages.size());
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

/// Mass of vertices without out-edges does not return to the ball's middle but to the seeds: it is gathered
/// by step, and goes on from there at the end, once for all balls.
void OneByOne::stage(const Seeds& seeds, std::int64_t steps, bool last) {
  const auto length = static_cast<std::size_t>(steps);
  returning_.assign(length, 0);
  for (const Waiting& from : chosen_) {
    ball_.begin_at(from.vertex, from.mass);
    for (std::size_t step = 0; step < length; ++step) returning_[step] += ball_.step_without_return();
    take_ball(last);
  }
  if (std::all_of(returning_.begin(), returning_.end(), [](Mass mass) { return mass == 0; })) return;
  ball_.begin_empty(seeds);
  for (std::size_t step = 0; step < length; ++step) ball_.step(returning_[step]);
  take_ball(last);
}

/// What the last stage leaves waiting is score.
void OneByOne::take_ball(bool last) {
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

}  // namespace sluice
