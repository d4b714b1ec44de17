// Random node and random edge sampling, whose engine is compiled in samples/one_pass/one_pass.cpp.
#include "engine/samples/one_pass/one_pass.hpp"

#include "engine/samples/kinds/edge.hpp"
#include "engine/samples/kinds/node.hpp"
#include "engine/sampling/builtin.hpp"

namespace sluice::sampling {

RunStats run_node(ResidentGraph& graph, const Starts& starts, const samples::Options& options,
                  SampleSink* sink) {
  return samples::run_one_pass(graph, starts, samples::NodeSample{options.count}, options, sink);
}

RunStats run_edge(ResidentGraph& graph, const Starts& starts, const samples::Options& options,
                  SampleSink* sink) {
  return samples::run_one_pass(graph, starts, samples::EdgeSample{options.count}, options, sink);
}

}  // namespace sluice::sampling
