// METIS graphs: a header "vertices edges [fmt [ncon]]", then one line per vertex with its neighbours (ids
// from 1). Every edge is listed at both ends and delivered once. '%' begins a comment. The digits of fmt
// declare vertex sizes, vertex weights and edge weights.
#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "io/checksum.hpp"
#include "io/readers/fault.hpp"
#include "io/readers/numbers.hpp"
#include "io/readers/rows.hpp"
#include "io/readers/text_format.hpp"

namespace sluice::io::readers {
namespace {

struct Header {
  std::uint64_t vertices = 0, edges = 0;
  bool sizes = false, edge_weights = false;
  std::uint64_t vertex_weights = 0;  ///< numbers per vertex

  std::uint64_t vertex_numbers() const { return vertex_weights + (sizes ? 1 : 0); }
};

Header read_header(LineStream& stream, const std::string& line) {
  const auto words = words_of(line);
  const auto count = [&](std::size_t i) { return i < words.size() ? count_of(words[i]) : std::nullopt; };
  const auto vertices = count(0), edges = count(1);
  if (words.size() < 2 || words.size() > 4 || !vertices || !edges)
    stream.fault("the METIS header is " + quote(line) + "; it must read 'VERTICES EDGES [FMT [NCON]]'");
  Header header{.vertices = *vertices, .edges = *edges};
  std::string flags = words.size() > 2 ? words[2] : "0";
  if (flags.size() > 3 || flags.find_first_not_of("01") != std::string::npos)
    stream.fault("the fmt field is " + quote(flags) + "; it must be up to three digits 0 or 1");
  flags.insert(0, 3 - flags.size(), '0');
  header.sizes = flags[0] == '1';
  header.edge_weights = flags[2] == '1';
  header.vertex_weights = flags[1] == '1' ? 1 : 0;
  if (words.size() > 3) {
    constexpr std::uint64_t kMaxWeights = 1024;
    const auto ncon = count(3);
    if (!ncon || *ncon > kMaxWeights)
      stream.fault("the ncon field " + quote(words[3]) + " is not a valid count");
    if (*ncon > 0 && flags[1] == '0')
      stream.fault("ncon declares vertex weights, but fmt none; write fmt as " +
                   quote("01" + flags.substr(2)));
    if (flags[1] == '1') header.vertex_weights = *ncon;
  }
  stream.skip_line();
  return header;
}

class Metis final : public TextFormat {
 public:
  Metis(const ReadOptions& options, const Header& header)
      : TextFormat(options), header_(header), weight_remedy_(options.weight_remedy) {
    info_.vertices = header.vertices;
    info_.undirected = true;
    min_text_bytes_ = std::string_view(header.edge_weights ? "1 1 " : "1 ").size();
  }

  /// Sources are numbers of vertex lines within the block; accept() adds the number of earlier lines.
  void parse(std::string_view text, ParsedBlock& block) const override {
    const char* p = text.data();
    const char* const end = p + text.size();
    bool inside = block.continued;
    if (inside) --block.lines, --block.records;  // both count only lines that begin in this block
    for (; p < end; ++block.lines, inside = false) {
      p = skip_blanks(p);
      if (*p == '%' && !inside) {
        p = next_line(p, end);
      } else {
        p = parse_list(inside ? p : skip_vertex_numbers(p, block), block);
        ++block.records;
      }
    }
  }

  /// Cuts after a whole number of neighbours: a list may be longer than memory holds.
  std::size_t cut(std::string_view text, bool continued) const override {
    constexpr auto kBlanks = " \t";
    std::size_t pos = text.find_first_not_of(kBlanks), end = 0;
    if (pos == text.npos || (text[pos] == '%' && !continued)) return 0;
    const std::uint64_t skipped = continued ? 0 : header_.vertex_numbers();
    for (std::uint64_t words = 1; pos != text.npos; ++words, pos = text.find_first_not_of(kBlanks, pos)) {
      pos = text.find_first_of(kBlanks, pos);
      if (pos == text.npos || pos + 1 == text.size()) break;  // the list's end must be left
      if (words > skipped && (words - skipped) % (header_.edge_weights ? 2 : 1) == 0) end = pos + 1;
    }
    return end;
  }

  void accept(ParsedBlock& block, std::string_view text) override {
    TextFormat::accept(block, text);
    if (block.incomplete && vertices_ + block.incomplete->record < header_.vertices)
      throw LineFault{block.incomplete->line, block.incomplete->text};
    if (block.continued) text.remove_prefix(text.find('\n') + 1);
    if (block.records > header_.vertices - vertices_) check_surplus(text, header_.vertices - vertices_);
    keep_smaller_ends(block.edges, block.cut);
    vertices_ = std::min(vertices_ + block.records, header_.vertices);
  }

  std::optional<std::string> finish() override {
    if (vertices_ < header_.vertices)
      return fmt::format(
          "the header declares {} vertices, but only {} lines of neighbours follow; a vertex without "
          "neighbours needs an empty line",
          header_.vertices, vertices_);
    const std::uint64_t promised = header_.edges;
    const bool loops_listed_twice = edges_ % 2 == 0 && edges_ / 2 == promised;
    if (!loops_listed_twice && ((edges_ + loops_) % 2 != 0 || (edges_ + loops_) / 2 != promised)) {
      return fmt::format(
          "the header declares {} edges, which are listed at both ends, but {} neighbours are listed; "
          "correct the edge count or the fmt field",
          header_.edges, edges_);
    }
    if (unmatched_ != 0)
      return "an edge is listed at only one of its ends; list it at both, or write the graph as an edge "
             "list";
    if (!loops_listed_twice && halved_loops_)
      add_remark("self-loops that are listed an even number of times were halved");
    return std::nullopt;
  }

 private:
  /// Turns the block's vertex lines into vertices. Of an edge's two listings, the one at the smaller end is
  /// kept; sums of hashes show whether the others match. `cut`: the next block continues the last list.
  void keep_smaller_ends(EdgeBatch& edges, bool cut) {
    const bool weighted = !edges.weight.empty();
    std::size_t kept = 0;
    const auto append = [&](std::uint64_t source, std::uint64_t target, float weight) {
      edges.source[kept] = source, edges.target[kept] = target;
      if (weighted) edges.weight[kept] = weight;
      ++kept;
    };
    std::vector<std::pair<std::uint64_t, float>>
        deferred_loops;  // self-loops for which the block lacks space
    const auto emit_loops = [&](std::uint64_t source, std::size_t max_kept) {
      // Some writers list a self-loop once and some twice; an even number of listings is read as the latter.
      const std::size_t listings = list_loops_.size() % 2 == 0 ? 2 : 1;
      loops_ += list_loops_.size();
      halved_loops_ |= listings == 2;
      for (std::size_t i = 0; i < list_loops_.size(); i += listings) {
        if (kept < max_kept) {
          append(source, source, list_loops_[i]);
        } else {
          deferred_loops.emplace_back(source, list_loops_[i]);
        }
      }
      list_loops_.clear();
    };
    const bool continues_list = edges.size() > 0 && edges.source[0] + vertices_ == vertices_ - 1;
    if (!list_loops_.empty() && !continues_list) emit_loops(vertices_ - 1, 0);
    for (std::size_t i = 0; i < edges.size(); ++i) {
      const std::uint64_t source = edges.source[i] + vertices_, target = edges.target[i];
      const bool ends_list = i + 1 == edges.size() || edges.source[i + 1] + vertices_ != source;
      const float weight = weighted ? edges.weight[i] : 1;
      if (source < target) {
        unmatched_ += hash(source, target);
        append(source, target, weight);
      } else if (source > target) {
        unmatched_ -= hash(target, source);
      } else {
        list_loops_.push_back(weight);
      }
      if (ends_list && !cut && !list_loops_.empty()) emit_loops(source, i + 1);
    }
    edges.source.resize(kept), edges.target.resize(kept);
    if (weighted) edges.weight.resize(kept);
    for (const auto& [source, weight] : deferred_loops) {
      edges.source.push_back(source), edges.target.push_back(source);
      if (weighted) edges.weight.push_back(weight);
    }
  }

  static std::uint64_t hash(std::uint64_t smaller, std::uint64_t larger) {
    return Checksum::finish(Checksum::finish(smaller + 1) + larger);
  }

  /// Skips vertex size and weights, which a graph file cannot hold; they must still be numbers.
  const char* skip_vertex_numbers(const char* p, ParsedBlock& block) const {
    for (std::uint64_t i = 0; i < header_.vertex_numbers(); ++i) {
      const char* const token = p;
      p = token_end(p);
      if (p == token) {
        if (!block.incomplete)
          block.incomplete = {
              block.records, block.lines,
              fmt::format("the line lacks the vertex's own {} numbers (size, weights) that the fmt field "
                          "declares; correct the line or the field",
                          header_.vertex_numbers())};
        return p;
      }
      if (!is_number({token, static_cast<std::size_t>(p - token)}))
        throw LineFault{block.lines,
                        quote({token, static_cast<std::size_t>(p - token)}) + " is not a vertex weight"};
      p = skip_blanks(p);
    }
    return p;
  }

  const char* parse_list(const char* p, ParsedBlock& block) const {
    while (!is_line_end(p)) {
      std::uint64_t neighbour;
      const char* q = scan_id(p, neighbour);
      if (!q) throw LineFault{block.lines, id_error(p)};
      if (neighbour == 0 || neighbour > header_.vertices)
        throw LineFault{block.lines,
                        fmt::format("neighbour {} is not among the vertices 1 to {}; correct it or the "
                                    "header",
                                    neighbour, header_.vertices)};
      q = skip_blanks(q);
      if (header_.edge_weights) q = parse_weight(q, block);
      block.edges.source.push_back(block.records);
      block.edges.target.push_back(neighbour - 1);
      p = q;
    }
    return p + (*p == '\r' ? 2 : 1);
  }

  const char* parse_weight(const char* p, ParsedBlock& block) const {
    float weight = 0;
    const char* const q = scan_weight(p, weight);
    if (!q) throw LineFault{block.lines, weight_error(p, weight_remedy_)};
    if (info_.weighted) block.edges.weight.push_back(weight);
    return skip_blanks(q);
  }

  /// Lines after the last vertex may be empty or comments.
  static void check_surplus(std::string_view text, std::uint64_t vertices_left) {
    for (std::uint64_t line = 0; !text.empty(); ++line) {
      const std::size_t first = text.find_first_not_of(" \t\r");
      const bool comment = text[first] == '%';
      if (!comment && vertices_left > 0)
        --vertices_left;
      else if (!comment && text[first] != '\n')
        throw LineFault{line, "there are more lines than the header declares vertices; correct the header"};
      text.remove_prefix(text.find('\n') + 1);
    }
  }

  Header header_;
  std::string weight_remedy_;
  std::uint64_t vertices_ = 0;     ///< accepted so far
  std::vector<float> list_loops_;  ///< weights of the self-loops in the list so far
  std::uint64_t loops_ = 0;        ///< listings of self-loops
  bool halved_loops_ = false;
  std::uint64_t unmatched_ = 0;  ///< sum of hashes at smaller ends minus at larger ends
};

}  // namespace

std::unique_ptr<TextFormat> make_metis(LineStream& stream, const ReadOptions& options) {
  const auto line = skip_to_content(stream, "%");
  if (!line) throw_in(stream.path(), "holds no edges; is it the right file?");
  const std::uint64_t number = stream.line() + 1;
  const Header header = read_header(stream, *line);
  if (options.weights == WeightColumn::column && !header.edge_weights)
    throw_at(stream.path(), number,
             "the fmt field says that edges have no weights; " + options.weight_remedy);
  if (options.timestamps)
    throw_at(stream.path(), number, "a METIS graph has no times; " + options.time_remedy);
  return std::make_unique<Metis>(options, header);
}

}  // namespace sluice::io::readers
