#include "io/readers/text_format.hpp"

#include <fmt/core.h>

namespace sluice::io::readers {

void ParsedBlock::clear() {
  edges.clear();
  continued = cut = false;
  lines = records = largest = 0;
  time_cut = column_unread = false;
  incomplete.reset();
}

TextFormat::TextFormat(const ReadOptions& options) {
  info_.weighted = options.weights == WeightColumn::column;
  info_.timed = options.timestamps;
  min_text_bytes_ = std::string_view("0 1\n").size() + 2 * (info_.weighted + info_.timed);
}

void TextFormat::accept(ParsedBlock& block, std::string_view) {
  edges_ += block.edges.size();
  if (block.time_cut && !warned_time_cut_) {
    warned_time_cut_ = true;
    add_remark("fractions of a second in the times were dropped");
  }
  const bool all = info_.weighted && info_.timed;
  if (block.column_unread && !all && !warned_column_unread_) {
    warned_column_unread_ = true;
    add_remark(info_.weighted ? "column 4 was not read (--timestamps reads it)"
               : info_.timed  ? "column 4 was not read (with --weights column the third is a weight)"
                              : "column 3 was not read (--weights column or --timestamps reads it)");
  }
}

void TextFormat::add_remark(const std::string& text) {
  if (!remark_.empty()) remark_ += "; ";
  remark_ += text;
}

std::optional<std::string> TextFormat::count_mismatch(const char* line, std::uint64_t promised,
                                                      const char* what) const {
  if (edges_ == promised) return std::nullopt;
  return fmt::format("{} declares {} {}, but {} follow; the file is truncated, or the line is wrong", line,
                     promised, what, edges_);
}

std::optional<std::string> skip_to_content(LineStream& stream, std::string_view comments,
                                           const std::function<void(std::string_view)>& skipped) {
  for (; auto line = stream.peek_line(); stream.skip_line()) {
    const std::size_t first = line->find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos || comments.find((*line)[first]) != std::string_view::npos) {
      if (skipped) skipped(*line);
      continue;
    }
    return std::string(line->substr(first, line->find_last_not_of(" \t\r\n") + 1 - first));
  }
  return std::nullopt;
}

}  // namespace sluice::io::readers
