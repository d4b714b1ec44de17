// Converts JSON to text, and any bytes to UTF-8.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace sluice::io {

/// JSON as text. A user's text may be a file name, which need not be UTF-8: invalid bytes become U+FFFD.
std::string json_text(const nlohmann::ordered_json& json, int indent = -1);

/// `text` as UTF-8: invalid bytes become U+FFFD.
std::string utf8_text(const std::string& text);

}  // namespace sluice::io
