// JSON as text, and texts as UTF-8, whatever bytes they hold.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace sluice::io {

/// Names of files, which any text of a user may be, need not be UTF-8: what is not is shown as U+FFFD.
std::string json_text(const nlohmann::ordered_json& json, int indent = -1);

/// The same for a text alone.
std::string utf8_text(const std::string& text);

}  // namespace sluice::io
