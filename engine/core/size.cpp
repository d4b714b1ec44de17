#include "engine/core/size.hpp"

#include <fmt/core.h>

#include <charconv>
#include <cmath>

#include "engine/core/error.hpp"

namespace sluice {

std::uint64_t parse_size(std::string_view text, std::string_view option) {
  const auto invalid_size = [&] {
    return UsageError(fmt::format("{}: '{}' is not a size (write 65536, 512MiB, 4GiB, 1.5GB)", option, text));
  };
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || !(number >= 0)) throw invalid_size();
  std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  while (!unit.empty() && unit.front() == ' ') unit.remove_prefix(1);
  double factor = 1;
  if (!unit.empty() && unit != "B") {
    static constexpr std::string_view kPrefixes = "KMGT";
    const char prefix = unit.front() == 'k' ? 'K' : unit.front();
    const auto power = kPrefixes.find(prefix);
    const auto suffix = unit.substr(1);
    if (power == std::string_view::npos || !(suffix.empty() || suffix == "iB" || suffix == "B"))
      throw invalid_size();
    factor = std::pow(suffix == "B" ? 1000.0 : 1024.0, static_cast<double>(power + 1));
  }
  const double bytes = number * factor;
  if (bytes >= 9.2e18) throw invalid_size();
  return static_cast<std::uint64_t>(bytes);
}

std::string format_size(std::uint64_t bytes) {
  static constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  double value = static_cast<double>(bytes);
  int unit = 0;
  while (value >= 1024 && unit < 5) value /= 1024, ++unit;
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.2f} {}", value, kUnits[unit]);
}

}  // namespace sluice
