#include "engine/acc/simple_file.hpp"

#include <algorithm>
#include <atomic>
#include <vector>

#include "engine/acc/acc_graph.hpp"
#include "engine/core/error.hpp"
#include "engine/exec/threads.hpp"
#include "engine/graph/partition_map.hpp"
#include "engine/memory/row_pieces.hpp"

namespace sluice {

namespace {

constexpr std::uint64_t kMostRoom = 256u << 20;
constexpr std::uint64_t kVerticesAtOnce = 1u << 12;
/// Pairs that wait for a range before they are written, at least and at most; and that are read at a time.
constexpr std::uint64_t kFewPairs = 512, kManyPairs = 1u << 17, kPairsAtOnce = 1u << 12;

/// An edge to a vertex whose in-list is made.
struct Pair {
  Vertex head, tail;
};

std::uint64_t degree(const EdgeIndex* offsets, std::uint64_t row) {
  return offsets[row + 1] - offsets[row];
}

/// Targets of some rows, in memory.
struct Rows {
  Rows(const Csr& csr, const EdgeSource* file, std::uint64_t first, std::uint64_t last) : view(csr.view()) {
    view.offsets += first, view.vertices = last - first;
    const EdgeIndex begin = view.offsets[0];
    view.edges = view.offsets[view.vertices] - begin;
    if (file == nullptr) return;
    targets = HostArray<Vertex>(view.edges, "the undirected graph's edges");
    file->read_targets(begin, targets.span());
    view.targets = moved(targets.data(), begin);
  }

  HostArray<Vertex> targets;
  CsrView view;
};

class Maker {
 public:
  /// `offsets` are of the rows that are made.
  Maker(const Graph& graph, std::uint64_t first, std::uint64_t last, const std::string& folder,
        unsigned threads, const ScratchFile& to, HostArray<EdgeIndex>& offsets)
      : graph_(graph),
        first_(first),
        rows_(last - first),
        folder_(folder),
        threads_(threads),
        to_(to),
        offsets_(offsets),
        transposes_(graph.directed && graph.in.offsets.empty()),
        room_(std::min(host_accountant().available() / 2, kMostRoom)) {}

  /// Returns how many bytes lay in scratch files at one time, at most.
  std::uint64_t run() {
    if (rows_ == 0) return 0;
    if (transposes_) count_heads();
    cut();
    if (transposes_) deal_out();
    EdgeIndex made = 0;
    for (std::size_t range = 0; range + 1 < cuts_.size(); ++range) made += make(range, made);
    return made * sizeof(Vertex) + (transposes_ ? dealt_.back() * sizeof(Pair) : 0);
  }

 private:
  const EdgeIndex* out_offsets() const { return graph_.out.offsets.data() + first_; }

  /// In-degrees, kept in offsets_ behind the row until that is made.
  void count_heads() {
    std::fill(offsets_.begin(), offsets_.end(), 0);
    const CsrView lists = graph_.out.view();
    for_each_piece(lists, graph_.edges_elsewhere.get(), true, false,
                   [&](std::uint64_t begin, std::uint64_t end, const Vertex* targets, const float*) {
                     parallel_blocks(threads_, end - begin, kVerticesAtOnce,
                                     [&](std::uint64_t from, std::uint64_t to, unsigned) {
                                       count_heads(lists.offsets[begin + from], lists.offsets[begin + to],
                                                   targets);
                                     });
                   });
  }
  void count_heads(EdgeIndex begin, EdgeIndex end, const Vertex* targets) {
    for (EdgeIndex e = begin; e < end; ++e) {
      if (targets[e] - first_ >= rows_) continue;
      std::atomic_ref(offsets_[targets[e] - first_ + 1]).fetch_add(1, std::memory_order_relaxed);
    }
  }

  std::uint64_t in_degree(std::uint64_t row) const {
    if (!graph_.directed) return 0;
    return transposes_ ? offsets_[row + 1] : degree(graph_.in.offsets.data() + first_, row);
  }

  /// Ranges of rows whose lists, and what comes of them, fit the room; of one row at least.
  void cut() {
    constexpr std::uint64_t kRowBytes = 3 * sizeof(EdgeIndex);
    std::uint64_t cost = 0, heads = 0;
    for (std::uint64_t row = 0; row < rows_; ++row) {
      const std::uint64_t in = in_degree(row),
                          more = kRowBytes + 2 * sizeof(Vertex) * (degree(out_offsets(), row) + in);
      if (cost > 0 && cost + more > room_) {
        cuts_.push_back(row), dealt_.push_back(heads);
        cost = 0;
      }
      cost += more, heads += in;
    }
    cuts_.push_back(rows_), dealt_.push_back(heads);
  }

  /// The edges to these rows, range by range, each in order of its tail.
  void deal_out() {
    pairs_ = ScratchFile(folder_);
    const std::size_t ranges = cuts_.size() - 1;
    const std::uint64_t each = std::clamp(room_ / ranges / sizeof(Pair), kFewPairs, kManyPairs);
    HostArray<Pair> waiting(ranges * each, "edges that wait to be turned");
    std::vector<std::uint64_t> count(ranges, 0), at(dealt_.begin(), dealt_.end() - 1);
    const auto put_away = [&](std::size_t range) {
      write_pairs(at[range], waiting.span().subspan(range * each, count[range]));
      at[range] += std::exchange(count[range], 0);
    };
    const CsrView lists = graph_.out.view();
    for_each_piece(lists, graph_.edges_elsewhere.get(), true, false,
                   [&](std::uint64_t begin, std::uint64_t end, const Vertex* targets, const float*) {
                     for (std::uint64_t u = begin; u < end; ++u) {
                       const Vertex* const last = targets + lists.offsets[u + 1];
                       std::size_t range = 0;
                       for (const Vertex* to = std::lower_bound(targets + lists.offsets[u], last, first_);
                            to < last && *to - first_ < rows_; ++to) {
                         while (*to - first_ >= cuts_[range + 1]) ++range;
                         waiting[range * each + count[range]] = {*to, static_cast<Vertex>(u)};
                         if (++count[range] == each) put_away(range);
                       }
                     }
                   });
    for (std::size_t range = 0; range < ranges; ++range) put_away(range);
  }

  void write_pairs(std::uint64_t at, std::span<const Pair> pairs) const {
    pairs_.write(at * sizeof(Pair), std::as_bytes(pairs));
  }

  /// The in-lists of a range, as the pairs that wait for it say. Row i is its i-th one.
  Csr turned(std::size_t range) const {
    const std::uint64_t begin = cuts_[range], rows = cuts_[range + 1] - begin;
    Csr in;
    in.offsets = HostArray<EdgeIndex>(rows + 1, "the undirected graph's offsets");
    // Where the next one of a list goes: in the end, where the next list begins.
    in.offsets[0] = 0;
    if (rows > 0) in.offsets[1] = 0;
    for (std::uint64_t i = 1; i < rows; ++i) in.offsets[i + 1] = in.offsets[i] + in_degree(begin + i - 1);
    const std::uint64_t edges = dealt_[range + 1] - dealt_[range];
    in.targets = HostArray<Vertex>(edges, "the undirected graph's edges");
    HostArray<Pair> some(std::min(edges, kPairsAtOnce), "the undirected graph's edges");
    for (std::uint64_t at = 0; at < edges; at += some.size()) {
      const auto here = some.span().first(std::min<std::uint64_t>(some.size(), edges - at));
      pairs_.read((dealt_[range] + at) * sizeof(Pair), std::as_writable_bytes(here));
      for (const Pair& pair : here) {
        const std::uint64_t row = pair.head - first_ - begin;
        const EdgeIndex place = row < rows ? in.offsets[row + 1]++ : edges;
        if (place >= edges) throw InputError("the graph's file has changed while it was read");
        in.targets[place] = pair.tail;
      }
    }
    return in;
  }

  /// Writes a range's lists behind those `made` so far. Returns how many edges they have.
  EdgeIndex make(std::size_t range, EdgeIndex made) {
    const std::uint64_t begin = cuts_[range], end = cuts_[range + 1];
    if (begin == end) return 0;
    const Rows out(graph_.out, graph_.edges_elsewhere.get(), first_ + begin, first_ + end);
    Csr lists;
    if (transposes_) {
      const Csr in = turned(range);
      lists = simple_lists(out.view, in.view(), first_ + begin, threads_);
    } else if (graph_.directed) {
      const Rows in(graph_.in, graph_.in_elsewhere.get(), first_ + begin, first_ + end);
      lists = simple_lists(out.view, in.view, first_ + begin, threads_);
    } else {
      lists = simple_lists(out.view, {}, first_ + begin, threads_);
    }
    for (std::uint64_t row = begin; row < end; ++row)
      offsets_[row + 1] = made + lists.offsets[row + 1 - begin];
    to_.write(made * sizeof(Vertex), std::as_bytes(lists.targets.span()));
    return lists.edges();
  }

  const Graph& graph_;
  std::uint64_t first_, rows_;
  const std::string& folder_;
  unsigned threads_;
  const ScratchFile& to_;
  HostArray<EdgeIndex>& offsets_;
  bool transposes_;  ///< there are no in-edges but those that out-edges tell of
  std::uint64_t room_;
  std::vector<std::uint64_t> cuts_{0};   ///< [ranges + 1] rows
  std::vector<std::uint64_t> dealt_{0};  ///< [ranges + 1] where a range's pairs begin in their file
  ScratchFile pairs_;
};

}  // namespace

SimpleFile::SimpleFile(const Graph& graph, std::uint64_t first, std::uint64_t last, const std::string& folder,
                       unsigned threads)
    : offsets_(last - first + 1, "the undirected graph's offsets"), file_(folder) {
  offsets_[0] = 0;
  scratch_bytes_ = Maker(graph, first, last, folder, threads, file_, offsets_).run();
}

CsrView SimpleFile::lists() const {
  const std::uint64_t rows = offsets_.size() - 1;
  return {rows, offsets_[rows], offsets_.data(), nullptr, nullptr};
}

void SimpleFile::read_targets(EdgeIndex first, std::span<Vertex> out) const {
  file_.read(first * sizeof(Vertex), std::as_writable_bytes(out));
}

void SimpleFile::read_weights(EdgeIndex, std::span<float>) const {
  throw RunError("the simple undirected form of a graph has no weights");
}

std::uint64_t SimpleFile::most_bytes(const Graph& graph, std::uint64_t edges) {
  if (!graph.directed) return edges * sizeof(Vertex);
  return edges * (2 * sizeof(Vertex) + (graph.in.offsets.empty() ? sizeof(Pair) : 0));
}

}  // namespace sluice
