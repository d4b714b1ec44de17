// What decides whether a graph is worked on whole, where that is left to its run.
#pragma once

#include <cstdint>

#include "engine/sampling/run.hpp"

namespace sluice::sampling {

/// What the run would take at least of a device: the graph whole, tables, the smallest batch. On a GPU a
/// sample whose size is not known beforehand is estimated.
template <class Options>
std::uint64_t whole_bytes(const Device& device, const Graph& graph, const Starts& starts, Options options);

/// The run of the kind that `options` name, on the graph as it is.
RunStats run_kind(ResidentGraph& graph, const Starts& starts, const walks::Options& options, WalkSink* sink);
RunStats run_kind(ResidentGraph& graph, const Starts& starts, const samples::Options& options,
                  SampleSink* sink);

}  // namespace sluice::sampling
