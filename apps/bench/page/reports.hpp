// Reports that pages and tables are written from.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace sluice::bench {

using Json = nlohmann::ordered_json;

/// Throws InputError.
Json read_json(const std::string& path);

/// The reports in a folder, in the order of their files' names; each has these members. Throws InputError.
std::vector<Json> read_reports(const std::string& folder, const std::vector<const char*>& members);

}  // namespace sluice::bench
