// How readers report faults: a fault at a line of a block becomes an InputError where the block's place in
// the file is known.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sluice::io::readers {

/// Thrown while a block is parsed; `line` counts from 0 within the block, since the parser does not know the
/// number of lines in earlier blocks.
struct LineFault {
  std::uint64_t line;
  std::string text;
};

/// Throws InputError "PATH:LINE: text"; `line` counts from 1.
[[noreturn]] void throw_at(const std::string& path, std::uint64_t line, const std::string& text);

/// Throws InputError "PATH: text", for faults that belong to no line.
[[noreturn]] void throw_in(const std::string& path, const std::string& text);

/// A token for a message: in quotes, cut to a sensible length, with unprintable bytes as \xNN.
std::string quote(std::string_view token);

}  // namespace sluice::io::readers
