#include "apps/cli/values.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fstream>

#include "engine/core/error.hpp"
#include "engine/core/host_charge.hpp"

namespace sluice::apps {

namespace {

template <class T>
bool parse_all(std::string_view text, T& number) {
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && rest == end;
}

/// Edit distance: characters added, removed, replaced, or swapped with their neighbour.
std::size_t spelling_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> of(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        of[i][j] = i + j;
        continue;
      }
      of[i][j] =
          std::min({of[i - 1][j] + 1, of[i][j - 1] + 1, of[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        of[i][j] = std::min(of[i][j], of[i - 2][j - 2] + 1);
    }
  }
  return of[a.size()][b.size()];
}

}  // namespace

std::optional<std::int64_t> to_integer(std::string_view text) {
  std::int64_t number = 0;
  if (!parse_all(text, number)) return std::nullopt;
  return number;
}

std::optional<double> to_real(std::string_view text) {
  double number = 0;
  if (!parse_all(text, number) || !std::isfinite(number)) return std::nullopt;
  return number;
}

std::uint64_t parse_unsigned(std::string_view text, std::string_view option, std::uint64_t min_value,
                             std::uint64_t max_value) {
  const bool negative = text.starts_with('-');
  const char* const end = text.data() + text.size();
  std::uint64_t number = 0;
  const auto [rest, error] = std::from_chars(text.data() + negative, end, number);
  if (rest != end || error == std::errc::invalid_argument)
    throw UsageError(fmt::format("{}: '{}' is not a whole number", option, text));
  if (negative || (error == std::errc() && number < min_value))
    throw UsageError(fmt::format("{}: {} is too small (at least {})", option, text, min_value));
  if (error != std::errc() || number > max_value)
    throw UsageError(fmt::format("{}: {} is too large (at most {})", option, text, max_value));
  return number;
}

double parse_real(std::string_view text, std::string_view option) {
  const auto number = to_real(text);
  if (!number) throw UsageError(fmt::format("{}: '{}' is not a number", option, text));
  return *number;
}

std::vector<std::int64_t> parse_list(std::string_view text, std::string_view option, std::int64_t min_value) {
  std::vector<std::int64_t> numbers;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const auto end = std::min(text.find(',', begin), text.size());
    const auto piece = text.substr(begin, end - begin);
    const auto number = to_integer(piece);
    if (!number || *number < min_value) {
      throw UsageError(fmt::format("{}: '{}' is not a whole number of at least {} (write 15,10)", option,
                                   piece, min_value));
    }
    numbers.push_back(*number);
    begin = end + 1;
  }
  return numbers;
}

void for_each_line(const std::string& path, const char* purpose,
                   const std::function<void(const Words& words, const std::string& location)>& use) {
  std::ifstream file(path);
  if (!file) throw InputError(fmt::format("{}: {}", path, std::strerror(errno)));
  std::string text;
  HostCharge line(purpose);
  for (std::uint64_t number = 1; std::getline(file, text); ++number) {
    const std::string_view content = std::string_view(text).substr(0, text.find_first_of("#%"));
    line.raise_to(text.capacity() + content.size() / 2 * sizeof(std::string_view));
    const Words words = split(content, " \t,\r");
    if (!words.empty()) use(words, fmt::format("{}:{}", path, number));
  }
  if (file.bad()) throw InputError(fmt::format("{}: cannot be read", path));
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& choices) {
  const auto bare = [](std::string_view text) {
    return text.substr(std::min(text.find_first_not_of('-'), text.size()));
  };
  const std::string_view given = bare(word);
  std::size_t min_value = given.size() / 3 + 1;  // a word further away is no likely misspelling
  std::string nearest;
  for (const auto& choice : choices) {
    const bool begins = given.size() > 1 && bare(choice).starts_with(given);
    const std::size_t distance = begins ? 0 : spelling_distance(given, bare(choice));
    if (distance < min_value) min_value = distance, nearest = choice;
  }
  return nearest.empty() ? "" : fmt::format(", did you mean {}?", nearest);
}

std::string format_count(std::uint64_t count) {
  std::string digits = std::to_string(count);
  for (auto position = static_cast<std::ptrdiff_t>(digits.size()) - 3; position > 0; position -= 3) {
    digits.insert(static_cast<std::size_t>(position), 1, ',');
  }
  return digits;
}

std::string format_rate(double per_second) {
  static constexpr const char* kUnits[] = {"", " k", " M", " G", " T"};
  int unit = 0;
  while (per_second >= 1000 && unit < 4) per_second /= 1000, ++unit;
  return fmt::format("{:.3g}{}", per_second, kUnits[unit]);
}

}  // namespace sluice::apps
