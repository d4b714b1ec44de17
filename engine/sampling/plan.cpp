#include "engine/sampling/run.hpp"

namespace sluice {

RunPlan plan_walks(const Device&, const Graph&, const Starts&, const WalkOptions&) { return {}; }
RunPlan plan_samples(const Device&, const Graph&, const Starts&, const SampleOptions&) { return {}; }

}  // namespace sluice
