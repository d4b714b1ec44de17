// The built-in walks and samples. Each is compiled once, in instances/; no other file instantiates them.
#pragma once

#include "engine/batch/sink.hpp"
#include "engine/batch/starts.hpp"
#include "engine/memory/resident_impl.hpp"
#include "engine/memory/run_stats.hpp"
#include "engine/samples/options.hpp"
#include "engine/walks/options.hpp"

namespace sluice::sampling {

RunStats run_uniform(ResidentGraph&, const Starts&, const walks::Options&, WalkSink*);
RunStats run_biased(ResidentGraph&, const Starts&, const walks::Options&, WalkSink*);
RunStats run_metropolis_hastings(ResidentGraph&, const Starts&, const walks::Options&, WalkSink*);
RunStats run_jump(ResidentGraph&, const Starts&, const walks::Options&, WalkSink*);
RunStats run_restart(ResidentGraph&, const Starts&, const walks::Options&, WalkSink*);
RunStats run_node2vec(ResidentGraph&, const Starts&, const walks::Options&, WalkSink*);
RunStats run_multidimensional(ResidentGraph&, const Starts&, const walks::Options&, WalkSink*);

RunStats run_neighbor(ResidentGraph&, const Starts&, const samples::Options&, SampleSink*);
RunStats run_forest_fire(ResidentGraph&, const Starts&, const samples::Options&, SampleSink*);
RunStats run_snowball(ResidentGraph&, const Starts&, const samples::Options&, SampleSink*);
RunStats run_layer(ResidentGraph&, const Starts&, const samples::Options&, SampleSink*);
RunStats run_node(ResidentGraph&, const Starts&, const samples::Options&, SampleSink*);
RunStats run_edge(ResidentGraph&, const Starts&, const samples::Options&, SampleSink*);

}  // namespace sluice::sampling
