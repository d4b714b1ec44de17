// A batch of insertions and deletions as files say it, in the graph's own vertices.
#pragma once

#include <string>

#include "apps/data/ids.hpp"
#include "engine/core/host_charge.hpp"
#include "partition/graph.hpp"
#include "partition/update.hpp"

namespace sluice::apps {

struct BatchFiles {
  std::string insert, remove;  ///< edge lists of any format that `convert` reads; may be empty
};

/// A batch whose columns are charged to the host budget.
struct HeldBatch : UpdateBatch {
  HostCharge charge{"the edges to insert and to delete"};
};

/// Reads both. Ids are the graph's, or, where `ids` translates, the original ones: then an unknown one in an
/// insertion is a new vertex, and new ones are appended in ascending order. Insertions into a weighted graph
/// need a weight column, into one with times a time column. Throws InputError naming file and line.
HeldBatch read_batch(const BatchFiles& files, const Graph& graph, const IdMap& ids, unsigned threads);

}  // namespace sluice::apps
