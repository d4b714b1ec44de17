// The table of jobs, jobs.txt; its head describes the lines.
#pragma once

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "paths.hpp"

namespace sluice::test {

using Words = std::vector<std::string>;

/// Stands in a new line in place of its checksum.
inline constexpr const char* kNoChecksum = "?";
/// Jobs of this family keep their result for others, as NAME.h5.
inline constexpr const char* kFileFamily = "file";

struct GoldenJob {
  std::string name;      ///< FAMILY/REST
  std::string checksum;  ///< 16 hexadecimal digits, or kNoChecksum
  std::string passes;    ///< 'p': once more in partitions; 'r': once more on two ranks; '-': neither
  Words command;         ///< without the program, --output and --quiet

  std::string family() const { return name.substr(0, name.find('/')); }
  std::string rest() const { return name.substr(name.find('/') + 1); }
  bool takes(char pass) const { return passes.find(pass) != std::string::npos; }
  /// generate and convert build graphs: they have no device, partitions or ranks.
  bool builds() const { return command[0] == "generate" || command[0] == "convert"; }

  /// The line of the table with the given checksum.
  std::string line(const std::string& with) const {
    return fmt::format("{:<36} {:<16} {:<2} {}", name, with, passes, fmt::join(command, " "));
  }
};

inline GoldenJob parse_golden_line(const std::string& line) {
  std::istringstream words(line);
  GoldenJob job;
  words >> job.name >> job.checksum >> job.passes;
  for (std::string word; words >> word;) job.command.push_back(word);
  const bool named = job.name.find('/') != std::string::npos;
  const bool passes = !job.passes.empty() && job.passes.find_first_not_of("pr-") == std::string::npos;
  if (!named || !passes || job.command.empty())
    throw std::runtime_error("jobs.txt: not `FAMILY/NAME CHECKSUM PASSES COMMAND`: " + line);
  return job;
}

inline std::vector<GoldenJob> read_golden_table(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error(path + ": cannot be read");
  std::vector<GoldenJob> jobs;
  for (std::string line; std::getline(file, line);) {
    if (!line.empty() && line[0] != '#') jobs.push_back(parse_golden_line(line));
  }
  return jobs;
}

/// The table of this folder, read once.
inline const std::vector<GoldenJob>& golden_table() {
  static const std::vector<GoldenJob> jobs = read_golden_table(std::string(paths::kGolden) + "/jobs.txt");
  return jobs;
}

/// Families in order of their first line; with a pass, only those with a job in it.
inline std::vector<std::string> golden_families(char pass = 0) {
  std::vector<std::string> families;
  for (const GoldenJob& job : golden_table()) {
    if (pass != 0 && !job.takes(pass)) continue;
    if (std::find(families.begin(), families.end(), job.family()) == families.end())
      families.push_back(job.family());
  }
  return families;
}

}  // namespace sluice::test
