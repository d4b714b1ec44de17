#include "apps/bench/page/reports.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "engine/core/error.hpp"

namespace sluice::bench {

Json read_json(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw InputError(fmt::format("{}: cannot be read", path));
  try {
    return Json::parse(file);
  } catch (const Json::exception& error) {
    throw InputError(fmt::format("{}: {}", path, error.what()));
  }
}

std::vector<Json> read_reports(const std::string& folder, const std::vector<const char*>& members) {
  std::vector<std::string> paths;
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator(folder, failed))
    if (entry.path().extension() == ".json") paths.push_back(entry.path());
  if (failed || paths.empty()) throw InputError(fmt::format("{}: no folder with reports", folder));
  std::ranges::sort(paths);
  std::vector<Json> reports;
  for (const auto& path : paths) {
    reports.push_back(read_json(path));
    for (const char* const member : members)
      if (!reports.back().contains(member)) throw InputError(fmt::format("{}: has no {}", path, member));
  }
  return reports;
}

}  // namespace sluice::bench
