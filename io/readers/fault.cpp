#include "io/readers/fault.hpp"

#include <fmt/core.h>

#include "engine/core/error.hpp"

namespace sluice::io::readers {

void throw_at(const std::string& path, std::uint64_t line, const std::string& text) {
  throw InputError(fmt::format("{}:{}: {}", path, line, text));
}

void throw_in(const std::string& path, const std::string& text) {
  throw InputError(fmt::format("{}: {}", path, text));
}

std::string quote(std::string_view token) {
  constexpr std::size_t kMaxLength = 40;
  std::string text = "'";
  for (const char c : token.substr(0, kMaxLength)) {
    if (c >= ' ' && c <= '~')
      text += c;
    else
      text += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  }
  return text + (token.size() > kMaxLength ? "...'" : "'");
}

}  // namespace sluice::io::readers
