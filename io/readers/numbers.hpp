// Scanners of numbers and columns in text. The text must hold a '\n' at or after `p`, where every scanner
// stops at the latest, so that the hot loops need no bounds checks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::io::readers {

/// Ids lie below this, so that they fit the graph file's signed integers.
inline constexpr std::uint64_t kIdLimit = std::uint64_t{1} << 63;

inline bool is_blank(char c) {
  return c == ' ' || c == '\t';
}

/// A '\r' ends a line only before '\n'. A lone '\r' does not, since a skip to the next '\n' would then
/// swallow the lines of an old Mac file.
inline bool is_line_end(const char* p) {
  return *p == '\n' || (*p == '\r' && p[1] == '\n');
}

inline bool ends_token(char c) {
  return is_blank(c) || c == ',' || c == '\n' || c == '\r';
}

inline const char* skip_blanks(const char* p) {
  while (is_blank(*p)) ++p;
  return p;
}

inline const char* token_end(const char* p) {
  while (!ends_token(*p)) ++p;
  return p;
}

/// Skips to the next column: blanks with at most one comma, so that the empty column of "1,,2" is found.
inline const char* skip_separator(const char* p) {
  p = skip_blanks(p);
  return *p == ',' ? skip_blanks(p + 1) : p;
}

/// Reads an id; returns its end, or nullptr if the token is no id (see id_error) or not below kIdLimit.
inline const char* scan_id(const char* p, std::uint64_t& value) {
  const char* const first = p;
  std::uint64_t v = 0;
  for (unsigned digit; (digit = static_cast<unsigned char>(*p) - unsigned{'0'}) <= 9; ++p) v = v * 10 + digit;
  if (p == first || !ends_token(*p)) return nullptr;
  if (p - first > 18) {  // more digits may overflow, unless they begin with zeros
    const char* q = first;
    while (*q == '0') ++q;
    if (p - q > 19 || v >= kIdLimit) return nullptr;
  }
  value = v;
  return p;
}

/// Why the token at `p` is no id, with the remedy.
std::string id_error(const char* p);

/// Reads a finite, non-negative weight; returns nullptr if the token is none (see weight_error).
const char* scan_weight(const char* p, float& value);
std::string weight_error(const char* p, const std::string& remedy);

/// Reads a time. "123.75" is cut to 123, and `cut` is set if the fraction was not 0. Returns nullptr if the
/// token is no time.
const char* scan_time(const char* p, std::int64_t& value, bool& cut);

/// Whether the token is a number of any kind (signed, fractional, nan).
bool is_number(std::string_view token);

/// The pieces of `text` between any of `separators`; empty pieces are left out.
std::vector<std::string_view> split(std::string_view text, std::string_view separators);

// Header lines of formats.

/// Blank-separated words.
std::vector<std::string> words_of(std::string_view line);

/// The word as a count below 2^63; nullopt if it is none.
std::optional<std::uint64_t> count_of(const std::string& word);

std::string lower_case(std::string_view text);

}  // namespace sluice::io::readers
