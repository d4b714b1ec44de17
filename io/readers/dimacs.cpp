// DIMACS shortest-path files (.gr): 'c' comments, "p sp vertices arcs", "a source target weight", ids from 1.
// In files without the p line, ids are used unchanged. PACE files have the same extension: "p tw vertices
// edges" and plain "u v" lines, undirected.

#include <limits>
#include <string>

#include "io/readers/fault.hpp"
#include "io/readers/numbers.hpp"
#include "io/readers/rows.hpp"
#include "io/readers/text_format.hpp"

namespace sluice::io::readers {
namespace {

struct Problem {
  bool declared = false, pace = false;
  std::uint64_t vertices = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t arcs = 0;
};

Problem read_problem(LineStream& stream, const std::string& line) {
  const auto words = words_of(line);
  if (words[0] == "a") return {};
  if (words[0] != "p")
    stream.fault(quote(words[0]) +
                 " cannot begin a line of a DIMACS .gr file; lines begin with 'c', 'p' or 'a'");
  if (words.size() < 2 || (words[1] != "sp" && words[1] != "tw"))
    stream.fault("the problem " + quote(words.size() < 2 ? "" : words[1]) +
                 " is not supported; only 'p sp' and 'p tw' are");
  const auto vertices = words.size() == 4 ? count_of(words[2]) : std::nullopt;
  const auto arcs = words.size() == 4 ? count_of(words[3]) : std::nullopt;
  if (!vertices || !arcs)
    stream.fault("the problem line is " + quote(line) + "; it must read 'p " + words[1] + " VERTICES EDGES'");
  stream.skip_line();
  return {true, words[1] == "tw", *vertices, *arcs};
}

class Dimacs final : public TextFormat {
 public:
  Dimacs(const ReadOptions& options, const Problem& problem)
      : TextFormat(options),
        problem_(problem),
        rows_(rule_of(options, problem.declared, problem.vertices, problem.pace ? 2 : 0)) {
    if (problem.declared)
      info_.vertices = problem.vertices;
    else
      add_remark("there is no 'p' line: ids were read unchanged, from 0");
    info_.undirected = problem.pace;
  }

  void parse(std::string_view text, ParsedBlock& block) const override {
    rows_.read_all(
        text, block, [](char c) { return c == 'c'; },
        [this](const char* p, std::uint64_t line) { return problem_.pace ? p : arc_columns(p, line); });
  }

  std::optional<std::string> finish() override {
    return problem_.declared ? count_mismatch("the 'p' line", problem_.arcs, "edges") : std::nullopt;
  }

 private:
  static const char* arc_columns(const char* p, std::uint64_t line) {
    if (*p == 'a' && is_blank(p[1])) return skip_blanks(p + 1);
    if (*p == 'p') throw LineFault{line, "unexpected 'p' line; a file has one, before all arcs"};
    throw LineFault{
        line, quote({p, static_cast<std::size_t>(token_end(p) - p)}) +
                  " cannot begin a line of a DIMACS .gr file; arcs have the form 'a SOURCE TARGET WEIGHT'"};
  }

  Problem problem_;
  RowReader rows_;
};

}  // namespace

std::unique_ptr<TextFormat> make_dimacs(LineStream& stream, const ReadOptions& options) {
  const auto line = skip_to_content(stream, "c");
  if (!line) throw_in(stream.path(), "holds no edges; is it the right file?");
  const std::uint64_t number = stream.line() + 1;
  const Problem problem = read_problem(stream, *line);
  if (problem.pace && (options.weights == WeightColumn::column || options.timestamps))
    throw_at(stream.path(), number, "a 'p tw' file holds bare edges; " + options.remedy());
  return std::make_unique<Dimacs>(options, problem);
}

}  // namespace sluice::io::readers
