// Numbers and columns in text. Every scanner needs the text to hold a '\n' at or after `p`: that is where it
// stops at the latest, so that the hot loops check no bounds.
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

/// A '\r' ends a line only before '\n'; alone it would swallow the lines of an old Mac file.
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

/// To the next column: blanks with at most one comma among them ("1,,2" has an empty column, which is then
/// seen).
inline const char* skip_separator(const char* p) {
  p = skip_blanks(p);
  return *p == ',' ? skip_blanks(p + 1) : p;
}

/// Reads an id; nullptr if the token is none (see why_no_id) or not below kIdLimit.
inline const char* scan_id(const char* p, std::uint64_t& value) {
  const char* const first = p;
  std::uint64_t v = 0;
  for (unsigned digit; (digit = static_cast<unsigned char>(*p) - unsigned{'0'}) <= 9; ++p) v = v * 10 + digit;
  if (p == first || !ends_token(*p)) return nullptr;
  if (p - first > 18) {  // only then can it have overflowed, unless the surplus is leading zeros
    const char* q = first;
    while (*q == '0') ++q;
    if (p - q > 19 || v >= kIdLimit) return nullptr;
  }
  value = v;
  return p;
}

/// Why the token at `p` is no id, with the remedy.
std::string why_no_id(const char* p);

/// Reads a finite, non-negative weight; nullptr if the token is none (see why_no_weight).
const char* scan_weight(const char* p, float& value);
std::string why_no_weight(const char* p, const std::string& remedy);

/// Reads a time; text such as "123.75" is cut to 123, and `cut` is set if that lost anything. nullptr if it
/// is none.
const char* scan_time(const char* p, std::int64_t& value, bool& cut);

/// Is the token a number of any kind (signed, fractional, nan)?
bool is_number(std::string_view token);

/// The pieces of `text` between any of `separators`; empty pieces are left out.
std::vector<std::string_view> split(std::string_view text, std::string_view separators);

// Header lines of formats.

/// Blank-separated words.
std::vector<std::string> words_of(std::string_view line);

/// The word as a count below 2^63, or nothing.
std::optional<std::uint64_t> count_of(const std::string& word);

std::string lower_case(std::string_view text);

}  // namespace sluice::io::readers
