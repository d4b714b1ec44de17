// Header lines of formats, as words.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::io::readers {

/// Blank-separated words.
std::vector<std::string> words_of(std::string_view line);

/// The word as a count below 2^63, or nothing.
std::optional<std::uint64_t> count_of(const std::string& word);

std::string lower_case(std::string_view text);

}  // namespace sluice::io::readers
