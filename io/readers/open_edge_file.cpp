#include "io/edge_source.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "io/readers/byte_stream.hpp"
#include "io/readers/fault.hpp"
#include "io/readers/line_stream.hpp"
#include "io/readers/numbers.hpp"
#include "io/readers/text_format.hpp"

namespace sluice::io {
namespace {

using namespace readers;

template <std::size_t N>
bool is_one_of(const std::string& word, const std::array<std::string_view, N>& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// Refuses known formats that this reader lacks; the message names the format and the remedy.
void refuse_unsupported(const std::string& path, std::string_view head) {
  if (head.starts_with("AdjacencyGraph") || head.starts_with("WeightedAdjacencyGraph"))
    throw_in(path, "is a Ligra adjacency graph, which cannot be read; write it as an edge list");
  if (head.starts_with("\x89HDF\r\n"))
    throw_in(path, "is an HDF5 file, not edges; convert the edges that a graph file was made of");
  if (head.find('\0') != std::string_view::npos)
    throw_in(path, "holds bytes that are no text; name binary pairs .u32 or .u64, or give --format binary");
}

/// The words of the first line that is neither empty nor a comment in any format.
std::vector<std::string> first_words(std::string_view head) {
  while (!head.empty()) {
    std::string line(head.substr(0, head.find('\n')));
    head.remove_prefix(std::min(head.size(), line.size() + 1));
    std::replace(line.begin(), line.end(), ',', ' ');
    auto words = words_of(line);
    if (!words.empty() && words[0][0] != '#' && words[0][0] != '%' && words[0] != "c") return words;
  }
  return {};
}

bool looks_like_dimacs(const std::vector<std::string>& words) {
  return words.size() >= 3 && ((words[0] == "p" && (words[1] == "sp" || words[1] == "tw")) ||
                               (words[0] == "a" && is_number(words[1]) && is_number(words[2])));
}

/// The name's ending in lower case, without ".gz" and without the dot.
std::string extension_of(const std::string& path) {
  std::string name = lower_case(path.substr(path.find_last_of('/') + 1));
  if (name.ends_with(".gz")) name.resize(name.size() - 3);
  const std::size_t dot = name.find_last_of('.');
  return dot == std::string::npos ? "" : name.substr(dot + 1);
}

/// Detects the format by the name and the beginning of the (decompressed) text; never returns `automatic`.
/// Throws InputError if the file has no readable format, or no edges though it must have some.
EdgeFormat detect(const std::string& path, std::string_view head, bool may_be_empty) {
  const std::string extension = extension_of(path);
  if (is_one_of<3>(extension, {"bin", "u32", "u64"})) return EdgeFormat::binary;
  if (lower_case(head.substr(0, 14)) == "%%matrixmarket") return EdgeFormat::mtx;
  refuse_unsupported(path, head);
  if (extension == "mtx") return EdgeFormat::mtx;  // its reader reports the missing banner
  if (is_one_of<2>(extension, {"graph", "metis"})) return EdgeFormat::metis;
  const auto words = first_words(head);
  if (extension == "gr" || looks_like_dimacs(words)) return EdgeFormat::dimacs;
  if (is_one_of<9>(extension, {"el", "wel", "txt", "csv", "tsv", "edges", "edgelist", "edge", "snap"}))
    return EdgeFormat::edges;
  if (words.empty() && may_be_empty) return EdgeFormat::edges;
  if (words.empty()) throw_in(path, "holds no edges; is it the right file?");
  if (words.size() >= 2 && is_number(words[0]) && is_number(words[1])) return EdgeFormat::edges;
  throw_in(path, "is of no known format (its first line begins with " + quote(words[0]) +
                     "); name the format: --format edges, mtx, metis, dimacs or binary");
}

std::unique_ptr<TextFormat> make_format(EdgeFormat format, LineStream& stream, const ReadOptions& options) {
  switch (format) {
    case EdgeFormat::mtx:
      return make_matrix_market(stream, options);
    case EdgeFormat::metis:
      return make_metis(stream, options);
    case EdgeFormat::dimacs:
      return make_dimacs(stream, options);
    default:
      return make_edge_list(stream, options);
  }
}

/// Refuses a Matrix Market file under another format: an edge-list reader would take its banner for a comment
/// and its size line for an edge.
void refuse_wrong_format(const std::string& path, std::string_view head, EdgeFormat format) {
  if (format != EdgeFormat::mtx && lower_case(head.substr(0, 14)) == "%%matrixmarket")
    throw_at(path, 1, "this is a Matrix Market file; read it with --format mtx");
}

}  // namespace

std::unique_ptr<EdgeStream> open_edge_file(const std::string& path, const ReadOptions& options) {
  constexpr std::size_t kHead = 64u << 10;
  auto stream = std::make_unique<LineStream>(std::make_unique<ByteStream>(path));
  const std::string_view head = stream->peek(kHead);
  if (head.empty() && !options.may_be_empty) throw_in(path, "is empty; is it the right file?");
  EdgeFormat format = options.format;
  if (format == EdgeFormat::automatic) format = detect(path, head, options.may_be_empty);
  if (format == EdgeFormat::binary)
    return make_binary(std::move(stream), extension_of(path) == "u64" ? 8 : 4, options);
  refuse_wrong_format(path, head, format);
  auto reader = make_format(format, *stream, options);
  return make_text_source(std::move(stream), std::move(reader), options);
}

}  // namespace sluice::io
