// Paths of the programs and files that tests of this build use. Only paths.cpp is compiled with these paths,
// so that clones of the project share everything else in a compiler cache.
#pragma once

namespace sluice::paths {

extern const char* const kProgram;     ///< sluice
extern const char* const kBench;       ///< sluice-bench
extern const char* const kOnRanks;     ///< tests that run on several ranks
extern const char* const kMatrix;      ///< many jobs in one launch
extern const char* const kExamples;    ///< the folder of the examples' programs
extern const char* const kSource;      ///< the project's root
extern const char* const kGolden;      ///< tests/golden
extern const char* const kSharedData;  ///< real graphs with their counts; may be absent

}  // namespace sluice::paths
