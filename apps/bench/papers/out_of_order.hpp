// Samples whose instances advance to the next depth once their own depth is complete (C-SAW section V.C).
#pragma once

#include "engine/batch/sink.hpp"
#include "engine/batch/starts.hpp"
#include "engine/memory/resident_graph.hpp"
#include "engine/memory/run_stats.hpp"
#include "engine/samples/options.hpp"

namespace sluice::bench::papers {

/// Neighbor samples or forest fires under tree semantics, out of order if the graph is in partitions; they
/// equal those of run_samples. Errors as run_samples; UsageError for other samples, and on several ranks.
RunStats run_out_of_order(ResidentGraph& graph, const Starts& starts, const samples::Options& options,
                          SampleSink* sink);

}  // namespace sluice::bench::papers
