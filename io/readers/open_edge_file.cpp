#include "io/edge_source.hpp"

#include <utility>

#include "io/readers/binary.hpp"
#include "io/readers/byte_stream.hpp"
#include "io/readers/detect.hpp"
#include "io/readers/fault.hpp"
#include "io/readers/header.hpp"
#include "io/readers/line_stream.hpp"
#include "io/readers/text_format.hpp"
#include "io/readers/text_source.hpp"

namespace sluice::io {
namespace {

using namespace readers;

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

/// A banner in a file that is to be read as an edge list would pass for a comment, and the size line for an
/// edge.
void refuse_wrong_format(const std::string& path, std::string_view head, EdgeFormat format) {
  if (format != EdgeFormat::mtx && lower_case(head.substr(0, 14)) == "%%matrixmarket")
    throw_at(path, 1, "this is a Matrix Market file; read it with --format mtx");
}

}  // namespace

std::unique_ptr<EdgeSource> open_edge_file(const std::string& path, const ReadOptions& options) {
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
  return std::make_unique<TextSource>(std::move(stream), std::move(reader), options);
}

}  // namespace sluice::io
