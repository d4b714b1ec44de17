// --verify: checks every result against the graph on its way to the writer. The check shares no code with the
// samplers: it tests only what CONTRACT section 4 requires of a legal result.
#pragma once

#include <memory>
#include <span>

#include "engine/batch/sink.hpp"
#include "engine/batch/starts.hpp"
#include "engine/core/memory_budget.hpp"
#include "engine/ppr/ppr.hpp"
#include "engine/samples/options.hpp"
#include "engine/sampling/run.hpp"
#include "engine/walks/options.hpp"
#include "partition/graph.hpp"

namespace sluice::apps {

/// A sink that throws RunError ("verify: instance 17, step 3: ...") at the first fault that one of `threads`
/// finds, and else passes the batch to `next`. `next` is null if the run is only planned: nothing is written
/// to the sink, and no list is read. Keeps references to all arguments.
std::unique_ptr<WalkSink> verify_walks(const Graph& graph, const Starts& starts,
                                       const walks::Options& options, WalkSink* next, unsigned threads = 1);
std::unique_ptr<SampleSink> verify_samples(const Graph& graph, const Starts& starts,
                                           const samples::Options& options, SampleSink* next,
                                           unsigned threads = 1);
/// The same for queries ("verify: query 17: ..."): recomputes each by diffusion over a dense vector of
/// doubles, with no code of the solver. Takes 24 bytes of host memory a vertex, 32 with weights. If lists are
/// in the file, each step reads all that mass reaches.
std::unique_ptr<ppr::Sink> verify_ppr(const Graph& graph, const Starts& starts, const ppr::Options& options,
                                      ppr::Sink& next);

/// Calls make_plan() while the sink of make_check() (may be null) exists; the plan includes its bytes.
template <class MakeCheck, class MakePlan>
sampling::RunPlan plan_with_check(const MakeCheck& make_check, const MakePlan& make_plan) {
  const std::uint64_t used = host_budget().used();
  const auto check = make_check();
  const std::uint64_t check_bytes = host_budget().used() - used;
  sampling::RunPlan plan = make_plan();
  plan.check_bytes = check_bytes;
  return plan;
}

/// Throws RunError unless `seeds` match `starts` (drawn: any vertices), without repeats if `repeated_once`.
void verify_seeds(const Graph& graph, const Starts& starts, Instance instance, std::span<const Vertex> seeds,
                  bool repeated_once);

}  // namespace sluice::apps
