// A ball of a query that diffuses its balls one by one: mass spreads from one vertex, or from the seeds, for
// the steps of a stage. It reads the graph's lists, or extracts its sub-graph first (sub_graph.hpp).
#pragma once

#include <cstdint>

#include "engine/ppr/methods/diffusion.hpp"
#include "engine/ppr/methods/sub_graph.hpp"

namespace sluice::ppr {

template <class Group, class Workspace>
class Ball : public Diffusion<Group, Workspace> {
  using Base = Diffusion<Group, Workspace>;
  using Base::edges_, Base::group_, Base::rules_, Base::seeds_, Base::shared_, Base::workspace_;

 public:
  using Base::Base;

  /// Sums over all balls, valid in lane 0.
  SLUICE_HD BallFigures figures() const { return {Base::edges(), extraction_, largest_}; }
  SLUICE_HD void reset_figures() { edges_ = extraction_ = largest_ = 0; }
  /// Adds figures of balls in other workspaces; called by lane 0.
  SLUICE_HD void add(const BallFigures& other) {
    edges_ += other.edges;
    extraction_ += other.extraction_nanoseconds;
    largest_ = other.sub_graph_bytes > largest_ ? other.sub_graph_bytes : largest_;
  }

  /// True if a ball is diffused in its sub-graph.
  SLUICE_HD bool extracts() const { return Workspace::kExtracts && rules_.sub_graphs; }
  /// False if returning mass goes to the whole graph.
  SLUICE_HD bool extracts_from_seeds() const { return extracts() && rules_.dangling == Dangling::seed; }

  /// Runs rounds [step, steps) from the mass of one vertex, in a workspace that is empty at step 0. Mass of
  /// vertices without out-edges leaves the ball: it is added to `sums`, per round. A single thread that
  /// waited for lists is called again.
  SLUICE_HD void run_from(const RankedVertex& source, std::uint32_t& step, std::uint32_t steps, Mass* sums) {
    if constexpr (Workspace::kExtracts) {
      if (extracts()) return run_extracted_from(source, steps, sums);
    }
    if (step == 0) Base::begin_at(source.vertex, source.key);
    for (; step < steps && Base::has_active(); ++step) Base::round_without_return(sums[step]);
  }
  /// Runs all rounds.
  SLUICE_HD void run_from(const RankedVertex& source, std::uint32_t steps, Mass* sums) {
    std::uint32_t step = 0;
    run_from(source, step, steps, sums);
  }

  /// As run_from(), but all mass starts at the seeds, or `external` arrives there at the end of each round.
  /// Mass of vertices without out-edges returns to the seeds. Requires extracts_from_seeds().
  SLUICE_HD void run_from_seeds(std::uint32_t steps, const Mass* external) {
    for (std::uint32_t i = group_.rank(); i < seeds_.count; i += Group::kSize)
      workspace_.slot_of(seeds_.seeds[i].vertex);
    Extracted ball(group_, shared_.chunk, workspace_, rules_);
    if (!extract(ball, steps)) return;
    if (external == nullptr) add_to_seeds(ball, shared_.units.whole);
    for (std::uint32_t step = 0; step < steps; ++step) {
      const auto [moved, returning] = ball.round(edges_);
      if (!moved && external == nullptr) break;
      const Mass mass = returning + (external == nullptr ? 0 : external[step]);
      if (mass != 0) add_to_seeds(ball, mass);
    }
    ball.write_back();
  }

 private:
  using Extracted = SubGraph<Group, Workspace>;

  SLUICE_HD void run_extracted_from(const RankedVertex& source, std::uint32_t steps, Mass* sums) {
    if (group_.rank() == 0) workspace_.slot_of(source.vertex);
    Extracted ball(group_, shared_.chunk, workspace_, rules_);
    if (!extract(ball, steps)) return;
    if (group_.rank() == 0) ball.receive(0, source.key);
    group_.sync();
    for (std::uint32_t step = 0; step < steps; ++step) {
      const auto [moved, returning] = ball.round(edges_);
      if (!moved) break;
      if (group_.rank() == 0) sums[step] += returning;
    }
    ball.write_back();
  }

  SLUICE_HD bool extract(Extracted& ball, std::uint32_t depth) {
    const std::uint64_t begin = nanoseconds_now();
    const bool extracted = ball.extract(depth);
    extraction_ += nanoseconds_now() - begin;
    largest_ = ball.bytes() > largest_ ? ball.bytes() : largest_;
    return extracted;
  }

  /// Seeds are the middle of the ball, so they have lists.
  SLUICE_HD void add_to_seeds(const Extracted& ball, Mass mass) {
    for (std::uint32_t i = group_.rank(); i < seeds_.count; i += Group::kSize)
      ball.receive(ball.id_of(seeds_.seeds[i].vertex), seeds_.share(i, mass));
    group_.sync();
  }

  std::uint64_t extraction_ = 0;  ///< nanoseconds
  std::uint64_t largest_ = 0;     ///< bytes of the largest sub-graph
};

}  // namespace sluice::ppr
