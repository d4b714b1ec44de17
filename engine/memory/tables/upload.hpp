// Tables derived from the graph alone, on its backend; left empty if the run is only planned.
#pragma once

#include "engine/exec/device.hpp"
#include "engine/graph/graph_view.hpp"
#include "engine/graph/wide.hpp"

namespace sluice {

void build_exponents(const Device& device, const GraphView& graph, std::int16_t* exponents);
void build_wide_edges(const Device& device, const GraphView& graph, WideEdge* edges);
void build_packed_edges(const Device& device, const GraphView& graph, EdgePacking packing,
                        std::uint64_t* edges);

}  // namespace sluice
