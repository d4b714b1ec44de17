#include "io/results/json_text.hpp"

#include <nlohmann/json.hpp>

namespace sluice::io {

using Json = nlohmann::ordered_json;

std::string json_text(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

std::string utf8_text(const std::string& text) {
  return Json::parse(json_text(text)).get<std::string>();
}

}  // namespace sluice::io
