// Edge lists: one edge a line, "source target [weight] [time]", separated by blanks or commas.
#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <vector>

#include "io/readers/fault.hpp"
#include "io/readers/numbers.hpp"
#include "io/readers/rows.hpp"
#include "io/readers/text_format.hpp"

namespace sluice::io::readers {
namespace {

bool is_comment(char c) {
  return c == '#' || c == '%';
}

/// The columns of a line, without a comment at its end.
std::vector<std::string_view> columns_of(std::string_view line) {
  std::vector<std::string_view> columns = split(line, " \t,\r\n");
  const auto comment =
      std::ranges::find_if(columns, [](std::string_view column) { return is_comment(column[0]); });
  columns.erase(comment, columns.end());
  return columns;
}

/// The first line of edges after the first line of `text`; empty if `text` holds none.
std::string_view second_content_line(std::string_view text) {
  for (std::size_t end; (end = text.find('\n')) != std::string_view::npos;) {
    text.remove_prefix(end + 1);
    const std::string_view line = text.substr(0, text.find('\n'));
    const std::size_t first = line.find_first_not_of(" \t\r");
    if (first != std::string_view::npos && !is_comment(line[first])) return line.substr(first);
  }
  return {};
}

bool starts_with_two_numbers(const std::vector<std::string_view>& columns) {
  return columns.size() >= 2 && is_number(columns[0]) && is_number(columns[1]);
}

/// A title line ("id_1,id_2", or "V,E,u,graph" with numbers for V and E) is recognised by the next line: an
/// edge that looks different. Unclear lines are left to the parser, which refuses lines that are no edge.
bool is_title(std::string_view first_line, std::string_view second_line) {
  const auto first = columns_of(first_line), second = columns_of(second_line);
  if (first.size() < 2 || !starts_with_two_numbers(second)) return false;
  if (!starts_with_two_numbers(first)) return !is_number(first[0]) && !is_number(first[1]);
  return first.size() != second.size() && !std::all_of(first.begin(), first.end(), is_number);
}

/// SNAP and others write "# Undirected graph: ...", KONECT "% sym unweighted".
bool comment_is_undirected(std::string_view line) {
  const std::string text = lower_case(line);
  const auto words = words_of(text);
  return text.find("undirected") != text.npos || (words.size() > 1 && words[0] == "%" && words[1] == "sym");
}

/// Recognises the title "V,E,u,graph" of an undirected graph.
bool title_is_undirected(std::string_view line) {
  const auto columns = columns_of(line);
  return comment_is_undirected(line) ||
         (starts_with_two_numbers(columns) && columns.size() > 2 && columns[2] == "u");
}

std::uint64_t largest_id(const EdgeBatch& edges, std::size_t first) {
  std::uint64_t largest = 0;
  for (std::size_t i = first; i < edges.size(); ++i)
    largest = std::max({largest, edges.source[i], edges.target[i]});
  return largest;
}

class EdgeList final : public TextFormat {
 public:
  EdgeList(LineStream& stream, const ReadOptions& options) : TextFormat(options), rows_(rule_of(options)) {
    constexpr std::size_t kPeekBytes = 64u << 10;
    const auto note_title = [&](bool undirected) {
      if (undirected && info_.undirected_title == 0) info_.undirected_title = stream.line() + 1;
    };
    const auto first = skip_to_content(
        stream, "#%", [&](std::string_view comment) { note_title(comment_is_undirected(comment)); });
    if (!first) return;
    if (is_title(*first, second_content_line(stream.peek(kPeekBytes)))) {
      add_remark(fmt::format("line {} ({}) is not an edge and was read as a title", stream.line() + 1,
                             quote(*first)));
      note_title(title_is_undirected(*first));
      stream.skip_line();
      return;
    }
    note_possible_counts(*first, stream.line() + 1);
  }

  void parse(std::string_view text, ParsedBlock& block) const override {
    rows_.read_all(text, block, is_comment);
    block.largest = largest_id(block.edges, 0);
  }

  void accept(ParsedBlock& block, std::string_view text) override {
    const bool holds_first_line = edges_ == 0 && block.edges.size() > 0;
    TextFormat::accept(block, text);
    largest_ = std::max(largest_, holds_first_line ? largest_id(block.edges, 1) : block.largest);
  }

  /// A count line ("V E" or "rows columns entries") that is not commented out looks like an edge and is read
  /// as one. A remark reports it if the counts fit the lines that follow.
  std::optional<std::string> finish() override {
    if (edges_ > 1 && counted_edges_ == edges_ - 1 && counted_vertices_ >= largest_)
      add_remark(fmt::format(
          "line {} was read as an edge, but exactly {} edges follow it: if it counts vertices and "
          "edges, put # before it",
          first_line_, counted_edges_));
    return std::nullopt;
  }

 private:
  void note_possible_counts(std::string_view line, std::uint64_t number) {
    const auto columns = columns_of(line);
    if (columns.size() != 2 && columns.size() != 3) return;
    std::uint64_t values[3] = {};
    for (std::size_t i = 0; i < columns.size(); ++i)
      if (!scan_id((std::string(columns[i]) + '\n').c_str(), values[i])) return;
    first_line_ = number;
    counted_vertices_ = values[0];
    counted_edges_ = values[columns.size() - 1];
  }

  RowReader rows_;
  std::uint64_t largest_ = 0;  ///< of all edges but the first, which may be a count line
  std::uint64_t first_line_ = 0, counted_vertices_ = 0, counted_edges_ = 0;
};

}  // namespace

std::unique_ptr<TextFormat> make_edge_list(LineStream& stream, const ReadOptions& options) {
  return std::make_unique<EdgeList>(stream, options);
}

}  // namespace sluice::io::readers
