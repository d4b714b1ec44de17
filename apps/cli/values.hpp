// Parses numbers of the command line or a file of starts, and formats figures; errors name the option.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/readers/numbers.hpp"

namespace sluice::apps {

/// All of `text` as an integer, or nothing.
std::optional<std::int64_t> to_integer(std::string_view text);
/// All of `text` as a finite number, or nothing.
std::optional<double> to_real(std::string_view text);

/// Throws UsageError naming `option` if `text` is not a whole number in [min_value, max_value].
std::uint64_t parse_unsigned(std::string_view text, std::string_view option, std::uint64_t min_value = 0,
                             std::uint64_t max_value = std::numeric_limits<std::uint64_t>::max());

/// Throws UsageError naming `option` if `text` is not a finite number.
double parse_real(std::string_view text, std::string_view option);

/// Parses `15,10,-1`: integers of at least `min_value`. Throws UsageError naming `option`.
std::vector<std::int64_t> parse_list(std::string_view text, std::string_view option, std::int64_t min_value);

using io::readers::split;

/// Calls use(words, location) for each line that has words, without comments (`#`, `%`); `location` is
/// `FILE:LINE`. `purpose` names the charge of the line's memory. Throws InputError if the file cannot be
/// read.
using Words = std::vector<std::string_view>;
void for_each_line(const std::string& path, const char* purpose,
                   const std::function<void(const Words& words, const std::string& location)>& use);

/// `, did you mean --length?` for the element of `choices` nearest to `word`; empty if none is near.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& choices);

/// Formats as `1,234,567`.
std::string format_count(std::uint64_t count);

/// Formats a rate as `12.3 M`.
std::string format_rate(double per_second);

}  // namespace sluice::apps
