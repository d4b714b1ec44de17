// Matrix Market coordinate files: a banner, '%' comments, a size line, and one entry a line with ids from 1.
#include <fmt/core.h>

#include <string>

#include "io/readers/fault.hpp"
#include "io/readers/numbers.hpp"
#include "io/readers/rows.hpp"
#include "io/readers/text_format.hpp"

namespace sluice::io::readers {
namespace {

struct Banner {
  bool pattern = false, symmetric = false;
};

Banner read_banner(LineStream& stream) {
  const auto line = stream.peek_line();
  const auto words = words_of(line ? lower_case(*line) : "");
  if (words.empty() || words[0] != "%%matrixmarket")
    stream.fault("the banner %%MatrixMarket is missing; put one there, or read it with --format edges");
  if (words.size() != 5)
    stream.fault("the banner needs five words, as in '%%MatrixMarket matrix coordinate pattern general'");
  if (words[1] != "matrix") stream.fault("a " + quote(words[1]) + " cannot be read; only 'matrix' can");
  if (words[2] != "coordinate")
    stream.fault("the layout " + quote(words[2]) + " cannot be read; write the matrix as 'coordinate'");
  if (words[3] != "pattern" && words[3] != "real" && words[3] != "integer")
    stream.fault("values of kind " + quote(words[3]) + " cannot be read; use pattern, real or integer");
  if (words[4] != "general" && words[4] != "symmetric")
    stream.fault("the symmetry " + quote(words[4]) +
                 " does not apply to a graph; write it as general or symmetric");
  stream.skip_line();
  return {words[3] == "pattern", words[4] == "symmetric"};
}

class MatrixMarket final : public TextFormat {
 public:
  MatrixMarket(const ReadOptions& options, const Banner& banner, std::uint64_t vertices,
               std::uint64_t entries)
      : TextFormat(options),
        rows_(rule_of(options, true, vertices, banner.pattern ? 2 : 3)),
        entries_(entries) {
    info_.vertices = vertices;
    info_.undirected = banner.symmetric;
  }

  void parse(std::string_view text, ParsedBlock& block) const override {
    rows_.read_all(text, block, [](char c) { return c == '%'; });
  }

  std::optional<std::string> finish() override {
    return count_mismatch("the size line", entries_, "entries");
  }

 private:
  RowReader rows_;
  std::uint64_t entries_;
};

}  // namespace

std::unique_ptr<TextFormat> make_matrix_market(LineStream& stream, const ReadOptions& options) {
  const Banner banner = read_banner(stream);
  const bool weights = options.weights == WeightColumn::column;
  if (banner.pattern && (weights || options.timestamps))
    throw_at(stream.path(), 1, "a pattern matrix has no values; " + options.remedy());
  if (weights && options.timestamps)
    throw_at(stream.path(), 1, "an entry has one value, not a weight and a time; write both as an edge list");

  const auto size_line = skip_to_content(stream, "%");
  if (!size_line) stream.fault("the size line is missing; it holds rows, columns and entries");
  const auto words = words_of(*size_line);
  const auto count = [&](std::size_t i) { return i < words.size() ? count_of(words[i]) : std::nullopt; };
  const auto rows = count(0), columns = count(1), entries = count(2);
  if (words.size() != 3 || !rows || !columns || !entries)
    stream.fault("the size line is " + quote(*size_line) + "; it must hold rows, columns and entries");
  if (*rows != *columns)
    stream.fault(fmt::format("the matrix is {} by {}; a graph's matrix is square", *rows, *columns));
  stream.skip_line();
  return std::make_unique<MatrixMarket>(options, banner, *rows, *entries);
}

}  // namespace sluice::io::readers
