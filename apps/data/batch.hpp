// Reads a batch of insertions and deletions from files, in the graph's own vertex ids.
#pragma once

#include <string>

#include "apps/data/ids.hpp"
#include "engine/core/host_charge.hpp"
#include "partition/graph.hpp"
#include "partition/update.hpp"

namespace sluice::apps {

struct BatchFiles {
  std::string insert, remove;  ///< edge lists in any format of `convert`; may be empty
};

/// A batch whose columns are charged to the host budget.
struct ChargedBatch : UpdateBatch {
  HostCharge charge{"the edges to insert and to delete"};
};

/// Reads both files. Ids are the graph's or, if `ids` translates, original ones. In that case an unknown id
/// in an insertion is a new vertex; new vertices are appended by ascending id. Insertions into a weighted
/// graph need a weight column, into a graph with times a time column. Throws InputError naming file and line.
ChargedBatch read_batch(const BatchFiles& files, const Graph& graph, const IdMap& ids, unsigned threads);

}  // namespace sluice::apps
