#include "io/readers/rows.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "io/readers/fault.hpp"

namespace sluice::io::readers {

RowRule rule_of(const ReadOptions& options, bool one_based, std::uint64_t vertices, unsigned columns) {
  return {.weight = options.weights == WeightColumn::column,
          .time = options.timestamps,
          .one_based = one_based,
          .vertices = vertices,
          .columns = columns,
          .weight_remedy = options.weight_remedy,
          .time_remedy = options.time_remedy};
}

const char* RowReader::read_rest(const char* p, std::uint64_t line, ParsedBlock& block) const {
  p = skip_separator(p);
  unsigned columns = 2;
  if (rule_.weight) {
    float weight = 0;
    const char* const q = scan_weight(p, weight);
    if (!q) throw LineFault{line, weight_error(p, rule_.weight_remedy)};
    block.edges.weight.push_back(weight);
    p = skip_separator(q);
    ++columns;
  }
  if (rule_.time) {
    std::int64_t time = 0;
    const char* const q = scan_time(p, time, block.time_cut);
    if (!q && is_line_end(p)) throw LineFault{line, "the time is missing; " + rule_.time_remedy};
    if (!q)
      throw LineFault{line, "time " + quote({p, static_cast<std::size_t>(token_end(p) - p)}) +
                                " is not a whole number of 64 bits; " + rule_.time_remedy};
    block.edges.time.push_back(time);
    p = skip_separator(q);
    ++columns;
  }
  if (float number = 0; !block.column_unread && !is_line_end(p))
    block.column_unread = scan_weight(p, number) != nullptr;
  for (; columns < rule_.columns; ++columns) {
    if (is_line_end(p))
      throw LineFault{line, "the value is missing, which the header declares; correct either"};
    p = skip_separator(token_end(p));
  }
  if (rule_.columns > 0 && !is_line_end(p))
    throw LineFault{line, fmt::format("the line has more than the {} columns that the header declares; "
                                      "correct either",
                                      rule_.columns)};
  return end_line(p, line);
}

const char* RowReader::end_line(const char* p, std::uint64_t line) const {
  while (*p != '\n' && !(*p == '\r' && p[1] != '\n')) ++p;
  if (*p == '\r') throw LineFault{line, "the line contains a carriage return; end lines with \\n or \\r\\n"};
  return p + 1;
}

void RowReader::throw_bad_id(const char* p, std::uint64_t line) const {
  throw LineFault{line, id_error(p)};
}

void RowReader::throw_one_column(std::uint64_t line) const {
  throw LineFault{line, "the line has one column; an edge needs two ids (put # before a count or a title)"};
}

void RowReader::throw_zero_id(std::uint64_t line) const {
  throw LineFault{line, "id 0 in a format whose ids begin at 1; add 1 to all ids"};
}

void RowReader::throw_out_of_range(std::uint64_t line, std::uint64_t source, std::uint64_t target) const {
  throw LineFault{line, fmt::format("id {} is beyond the declared {} vertices; correct the id or the header",
                                    std::max(source, target) + (rule_.one_based ? 1 : 0), rule_.vertices)};
}

}  // namespace sluice::io::readers
