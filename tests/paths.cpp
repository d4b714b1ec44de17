#include "paths.hpp"

namespace sluice::paths {

const char* const kProgram = SLUICE_PROGRAM;
const char* const kBench = SLUICE_BENCH;
const char* const kOnRanks = SLUICE_ON_RANKS;
const char* const kMatrix = SLUICE_MATRIX;
const char* const kExamples = SLUICE_EXAMPLES;
const char* const kSource = SLUICE_SOURCE;
const char* const kGolden = SLUICE_SOURCE "/tests/golden";
const char* const kSharedData = SLUICE_SHARED_DATA;

}  // namespace sluice::paths
