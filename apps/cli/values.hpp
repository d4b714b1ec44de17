// Numbers as people write them on a command line or in a file of starts; a fault names the option.
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

/// The whole of `text` as a number, or nothing.
std::optional<std::int64_t> to_integer(std::string_view text);
/// The same for finite numbers.
std::optional<double> to_real(std::string_view text);

/// Throws UsageError naming `option` where `text` is no whole number in [least, most].
std::uint64_t parse_whole(std::string_view text, std::string_view option, std::uint64_t least = 0,
                          std::uint64_t most = std::numeric_limits<std::uint64_t>::max());

/// Throws UsageError naming `option` where `text` is no finite number.
double parse_real(std::string_view text, std::string_view option);

/// `15,10,-1`: whole numbers, at least `least` each. Throws UsageError naming `option`.
std::vector<std::int64_t> parse_list(std::string_view text, std::string_view option, std::int64_t least);

using io::readers::split;

/// Calls use(words, where) for every line of a file that holds words, without what `#` and `%` begin; `where`
/// is `FILE:LINE`. Throws InputError for a file that cannot be read.
using Words = std::vector<std::string_view>;
void for_each_line(const std::string& path, const char* purpose,
                   const std::function<void(const Words& words, const std::string& where)>& use);

/// `, did you mean --length?` for the one of `choices` that is nearest to `word`; empty where none is near.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& choices);

/// `1,234,567`.
std::string format_count(std::uint64_t count);

/// `12.3 M` and the like, for rates.
std::string format_rate(double per_second);

}  // namespace sluice::apps
