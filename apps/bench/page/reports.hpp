// Reads the reports from which pages and tables are written.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace sluice::bench {

using Json = nlohmann::ordered_json;

/// Throws InputError if the file cannot be read or parsed.
Json read_json(const std::string& path);

/// The reports in a folder, sorted by file name. Throws InputError if one lacks a member of `members`.
std::vector<Json> read_reports(const std::string& folder, const std::vector<const char*>& members);

}  // namespace sluice::bench
