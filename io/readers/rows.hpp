// Lines of the form "source target [weight] [time] ...", which edge lists, Matrix Market and DIMACS share.
#pragma once

#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "io/readers/numbers.hpp"
#include "io/readers/text_format.hpp"

namespace sluice::io::readers {

/// Which columns a line has and what its ids may be.
struct RowRule {
  bool weight = false;                                                 ///< the third column is a weight
  bool time = false;                                                   ///< the next column is a time
  bool one_based = false;                                              ///< ids begin at 1
  std::uint64_t vertices = std::numeric_limits<std::uint64_t>::max();  ///< ids are below, if declared
  unsigned columns = 0;                    ///< exact number of columns; 0: two or more
  std::string weight_remedy, time_remedy;  ///< for messages about a missing one
};

/// The rule of a format for the columns that the user requests.
RowRule rule_of(const ReadOptions& options, bool one_based = false,
                std::uint64_t vertices = std::numeric_limits<std::uint64_t>::max(), unsigned columns = 0);

/// The start of the next line.
inline const char* next_line(const char* p, const char* end) {
  return static_cast<const char*>(std::memchr(p, '\n', static_cast<std::size_t>(end - p))) + 1;
}

class RowReader {
 public:
  explicit RowReader(RowRule rule) : rule_(std::move(rule)) {}

  /// Reads all lines except empty lines and comments, whose first character c satisfies is_comment(c). The
  /// first column of line `line` is at first_column(p, line).
  template <class IsComment, class FirstColumn>
  void read_all(std::string_view text, ParsedBlock& block, const IsComment& is_comment,
                const FirstColumn& first_column) const {
    const char* p = text.data();
    for (const char* const end = p + text.size(); p < end; ++block.lines) {
      p = skip_blanks(p);
      p = is_comment(*p) || is_line_end(p) ? next_line(p, end)
                                           : read(first_column(p, block.lines), block.lines, block);
    }
  }
  template <class IsComment>
  void read_all(std::string_view text, ParsedBlock& block, const IsComment& is_comment) const {
    read_all(text, block, is_comment, [](const char* p, std::uint64_t) { return p; });
  }

  /// Reads the line whose first column is at `p`; returns the start of the next line.
  const char* read(const char* p, std::uint64_t line, ParsedBlock& block) const {
    std::uint64_t source, target;
    const char* q = scan_id(p, source);
    if (!q) throw_bad_id(p, line);
    const char* const second = skip_separator(q);
    if (is_line_end(second)) throw_one_column(line);
    q = scan_id(second, target);
    if (!q) throw_bad_id(second, line);
    if (rule_.one_based) {
      if (source == 0 || target == 0) throw_zero_id(line);
      --source, --target;
    }
    if (source >= rule_.vertices || target >= rule_.vertices) throw_out_of_range(line, source, target);
    block.edges.source.push_back(source);
    block.edges.target.push_back(target);
    return *q == '\n' && plain_ ? q + 1 : read_rest(q, line, block);
  }

 private:
  const char* read_rest(const char* p, std::uint64_t line, ParsedBlock& block) const;
  const char* end_line(const char* p, std::uint64_t line) const;
  [[noreturn]] void throw_bad_id(const char* p, std::uint64_t line) const;
  [[noreturn]] void throw_one_column(std::uint64_t line) const;
  [[noreturn]] void throw_zero_id(std::uint64_t line) const;
  [[noreturn]] void throw_out_of_range(std::uint64_t line, std::uint64_t source, std::uint64_t target) const;

  RowRule rule_;
  bool plain_ = !rule_.weight && !rule_.time && rule_.columns <= 2;  ///< nothing needs to follow the ids
};

}  // namespace sluice::io::readers
