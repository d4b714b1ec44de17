// The interface of a text format; text_source.cpp applies it to a file on several threads.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "io/edge_source.hpp"
#include "io/readers/line_stream.hpp"

namespace sluice::io::readers {

/// The result of parsing one block of whole lines.
struct ParsedBlock {
  EdgeBatch edges;
  bool continued = false;  ///< the first line began in the block before
  bool cut = false;        ///< a part of a single line, continued in the next block
  std::uint64_t lines = 0;
  std::uint64_t records = 0;  ///< METIS: vertex lines
  std::uint64_t largest = 0;  ///< edge lists: the largest id
  bool time_cut = false;      ///< a time lost its fraction
  bool column_unread = false;  ///< a number follows the columns that were read
  /// METIS: the first line that lacks the vertex's own numbers; a fault only if it belongs to a vertex.
  struct IncompleteLine {
    std::uint64_t record, line;
    std::string text;
  };
  std::optional<IncompleteLine> incomplete;

  void clear();
};

class TextFormat {
 public:
  virtual ~TextFormat() = default;

  /// Parses whole lines, each ended by '\n'. Called on several threads at once; throws LineFault.
  virtual void parse(std::string_view text, ParsedBlock& block) const = 0;
  /// Called for every block in input order on one thread, for work that needs the earlier blocks (counts,
  /// vertex numbers).
  virtual void accept(ParsedBlock& block, std::string_view text);
  /// Where to cut the beginning of a line that is longer than a block: after a blank, or 0 if nowhere.
  virtual std::size_t cut(std::string_view, bool /*continued*/) const { return 0; }
  /// Called once after the last block; returns what is wrong with the whole input, or nullopt.
  virtual std::optional<std::string> finish() { return std::nullopt; }

  const EdgeStreamInfo& info() const { return info_; }
  const std::string& remark() const { return remark_; }
  /// The fewest bytes of text that an edge takes.
  std::size_t min_text_bytes() const { return min_text_bytes_; }

 protected:
  explicit TextFormat(const ReadOptions& options);
  void add_remark(const std::string& text);
  /// For finish(): what is wrong if `line` of the header promises another number of `what`; else nullopt.
  std::optional<std::string> count_mismatch(const char* line, std::uint64_t promised, const char* what) const;

  EdgeStreamInfo info_;
  std::uint64_t edges_ = 0;  ///< accepted so far
  std::size_t min_text_bytes_;

 private:
  std::string remark_;
  bool warned_time_cut_ = false, warned_column_unread_ = false;
};

// Each function reads the header and leaves the stream at the first line of edges; throws InputError.
std::unique_ptr<TextFormat> make_edge_list(LineStream& stream, const ReadOptions& options);
std::unique_ptr<TextFormat> make_matrix_market(LineStream& stream, const ReadOptions& options);
std::unique_ptr<TextFormat> make_metis(LineStream& stream, const ReadOptions& options);
std::unique_ptr<TextFormat> make_dimacs(LineStream& stream, const ReadOptions& options);

/// Edges that `format` reads from lines of text. All memory is charged when the source is made.
std::unique_ptr<EdgeStream> make_text_source(std::unique_ptr<LineStream> stream,
                                             std::unique_ptr<TextFormat> format, const ReadOptions& options);

/// Raw pairs of little-endian ids, of 4 or 8 bytes. Throws InputError if the file is no whole number of
/// pairs.
std::unique_ptr<EdgeStream> make_binary(std::unique_ptr<LineStream> stream, unsigned id_bytes,
                                        const ReadOptions& options);

/// Returns the next line that is neither empty nor begins with one of `comments`, without its end and outer
/// blanks; nullopt at the end of the file. Lines before it are consumed and passed to skipped().
std::optional<std::string> skip_to_content(LineStream& stream, std::string_view comments,
                                           const std::function<void(std::string_view)>& skipped = {});

}  // namespace sluice::io::readers
