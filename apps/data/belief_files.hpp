// The files of a Markov random field: rows of numbers.
#pragma once

#include <string>

#include "apps/data/ids.hpp"
#include "engine/acc/beliefs/beliefs.hpp"

namespace sluice::apps {

/// Reads S rows of S (`coupling`), then a row of S for every vertex (`priors`): of the i-th in the graph
/// file's order, or with original ids headed by the vertex. Throws InputError naming file and line.
acc::BeliefModel read_belief_model(const std::string& priors, const std::string& coupling, const Graph& graph,
                                   const IdMap& ids);

}  // namespace sluice::apps
