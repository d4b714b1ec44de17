// The built-in samples are compiled once each, in instances/; no other file instantiates them.
#pragma once

#include "engine/batch/sink.hpp"
#include "engine/batch/starts.hpp"
#include "engine/memory/run_stats.hpp"
#include "engine/samples/options.hpp"
#include "engine/sampling/run.hpp"

namespace sluice::sampling {

RunStats run_neighbor(ResidentGraph&, const Starts&, const samples::Options&, SampleSink*);
RunStats run_forest_fire(ResidentGraph&, const Starts&, const samples::Options&, SampleSink*);
RunStats run_snowball(ResidentGraph&, const Starts&, const samples::Options&, SampleSink*);
RunStats run_layer(ResidentGraph&, const Starts&, const samples::Options&, SampleSink*);
RunStats run_node(ResidentGraph&, const Starts&, const samples::Options&, SampleSink*);
RunStats run_edge(ResidentGraph&, const Starts&, const samples::Options&, SampleSink*);

}  // namespace sluice::sampling
