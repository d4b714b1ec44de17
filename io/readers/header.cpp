#include "io/readers/header.hpp"

#include <algorithm>

#include "io/readers/numbers.hpp"

namespace sluice::io::readers {

std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> words;
  std::size_t at = 0;
  while ((at = line.find_first_not_of(" \t\r\n", at)) != std::string_view::npos) {
    const std::size_t end = std::min(line.find_first_of(" \t\r\n", at), line.size());
    words.emplace_back(line.substr(at, end - at));
    at = end;
  }
  return words;
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
