// Ways to run the jobs of the table: those of the default tests, and additions of the environment.
#pragma once

#include <cstdlib>
#include <sstream>
#include <string>

#include "golden/table.hpp"
#include "paths.hpp"

namespace sluice::test {

inline std::string environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

inline Words words_of(const std::string& text) {
  std::istringstream stream(text);
  Words words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

/// Words before the program, and options appended to each job.
struct GoldenWay {
  Words launcher, options;
  bool may_refuse = false;  ///< jobs without use for the options count as refused, not as faults
};

/// Adds launcher and options of the environment, which some jobs may refuse.
inline GoldenWay with_environment(GoldenWay way) {
  const Words launcher = words_of(environment("SLUICE_GOLDEN_LAUNCHER"));
  const Words options = words_of(environment("SLUICE_GOLDEN_OPTIONS"));
  if (!launcher.empty()) way.launcher = launcher;
  way.options.insert(way.options.end(), options.begin(), options.end());
  way.may_refuse = !launcher.empty() || !options.empty();
  const bool placed = std::find(options.begin(), options.end(), "--device") != options.end();
  if (!placed) way.options.insert(way.options.end(), {"--device", "host"});
  return way;
}

/// The words that start the program. A launcher without a path is looked up in PATH.
inline Words started_by(const Words& launcher) {
  const std::string asked = environment("SLUICE_GOLDEN_PROGRAM");
  Words words = launcher;
  if (!words.empty() && words[0].find('/') == std::string::npos) words.insert(words.begin(), "/usr/bin/env");
  words.push_back(asked.empty() ? paths::kProgram : asked);
  return words;
}

}  // namespace sluice::test
