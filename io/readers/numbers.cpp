#include "io/readers/numbers.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <system_error>

#include "io/readers/fault.hpp"

namespace sluice::io::readers {
namespace {

std::string_view token_at(const char* p) {
  return {p, static_cast<std::size_t>(token_end(p) - p)};
}

/// std::from_chars rejects a leading '+', but some files have it.
std::string_view without_plus(std::string_view token) {
  return token.size() > 1 && token[0] == '+' && token[1] != '-' ? token.substr(1) : token;
}

struct Parsed {
  double value = 0;
  bool number = false, in_range = false;
};

Parsed parse_double(std::string_view token) {
  token = without_plus(token);
  Parsed parsed;
  const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), parsed.value);
  parsed.number = end == token.data() + token.size() && error != std::errc::invalid_argument;
  parsed.in_range = error == std::errc();
  return parsed;
}

bool all_digits(std::string_view token) {
  return token.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace

bool is_number(std::string_view token) {
  return !token.empty() && parse_double(token).number;
}

std::string id_error(const char* p) {
  const std::string_view token = token_at(p);
  if (token.empty()) return "a column is empty; every edge needs two vertex ids";
  if (token[0] == '-' && is_number(token))
    return "id " + quote(token) + " is negative; ids must be 0 or more";
  if (all_digits(token)) return "id " + quote(token) + " is too large; ids must be below 2^63";
  if (is_number(token)) return "id " + quote(token) + " is not a whole number; write ids as plain digits";
  return quote(token) + " is not a number; ids must be whole numbers, and comments begin with # or %";
}

const char* scan_weight(const char* p, float& value) {
  std::uint64_t whole;
  if (const char* q =
          scan_id(p, whole)) {  // most weights are small integers; the conversion rounds correctly
    value = static_cast<float>(whole);
    return q;
  }
  const std::string_view token = without_plus(token_at(p));
  const char* const end = token.data() + token.size();
  float v = 0;
  const auto [stop, error] = std::from_chars(token.data(), end, v);
  if (error != std::errc() || stop != end || !std::isfinite(v) || v < 0) return nullptr;
  value = v + 0.0f;  // no negative zero
  return end;
}

std::string weight_error(const char* p, const std::string& remedy) {
  const std::string_view token = token_at(p);
  if (token.empty()) return "the weight is missing; " + remedy;
  const Parsed parsed = parse_double(token);
  if (!parsed.number) return "weight " + quote(token) + " is not a number; " + remedy;
  if (std::isnan(parsed.value))
    return "weight " + quote(token) + " is not a number (NaN); weights must be finite";
  if (parsed.in_range && std::isinf(parsed.value))
    return "weight " + quote(token) + " is infinite; weights must be finite";
  if (token[0] == '-') return "weight " + quote(token) + " is negative; weights must be 0 or more";
  return "weight " + quote(token) + " does not fit a 32-bit float; scale the weights";
}

const char* scan_time(const char* p, std::int64_t& value, bool& cut) {
  const bool negative = *p == '-';
  if (negative || *p == '+') ++p;
  const char* const first = p;
  while (*p >= '0' && *p <= '9') ++p;
  std::uint64_t magnitude = 0;
  const auto [stop, error] = std::from_chars(first, p, magnitude);
  constexpr std::uint64_t kLargest = std::numeric_limits<std::int64_t>::max();
  if (error != std::errc() || stop != p || magnitude > kLargest) return nullptr;
  if (*p == '.')
    for (++p; *p >= '0' && *p <= '9'; ++p) cut |= *p != '0';
  if (!ends_token(*p)) return nullptr;
  value = negative ? -static_cast<std::int64_t>(magnitude) : static_cast<std::int64_t>(magnitude);
  return p;
}

std::vector<std::string_view> split(std::string_view text, std::string_view separators) {
  std::vector<std::string_view> pieces;
  for (std::size_t begin = text.find_first_not_of(separators); begin != std::string_view::npos;) {
    const auto end = std::min(text.find_first_of(separators, begin), text.size());
    pieces.push_back(text.substr(begin, end - begin));
    begin = text.find_first_not_of(separators, end);
  }
  return pieces;
}

std::vector<std::string> words_of(std::string_view line) {
  const auto words = split(line, " \t\r\n");
  return {words.begin(), words.end()};
}

std::optional<std::uint64_t> count_of(const std::string& word) {
  const std::string ended = word + '\n';  // the scanner stops there
  std::uint64_t value = 0;
  const char* const end = scan_id(ended.c_str(), value);
  if (!end || *end != '\n') return std::nullopt;
  return value;
}

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return lower;
}

}  // namespace sluice::io::readers
