#include "apps/bench/replay/temporal_edges.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <vector>

#include "apps/cli/console.hpp"
#include "engine/core/charged_vector.hpp"
#include "engine/core/error.hpp"
#include "engine/exec/memory/scratch_file.hpp"
#include "io/convert/edge_sorter.hpp"
#include "io/convert/id_set.hpp"
#include "io/edge_source.hpp"

namespace sluice::bench {

namespace {

/// A record for the sort of conversions. Its ends, the sort key, hold the time; its time holds the ends.
using Record = EdgeRecord<false, true>;

constexpr std::uint64_t kRecordsAtOnce = 1u << 16;
/// Edges above available memory / kHeldPart are kept in a file, which leaves memory to the graph.
constexpr std::uint64_t kHeldPart = 16;

Record record_of(Vertex source, Vertex target, std::int64_t time) {
  const std::uint64_t key = static_cast<std::uint64_t>(time) ^ std::uint64_t{1} << 63;  // ascends with time
  Record record;
  record.set_ends(static_cast<Vertex>(key >> 32), static_cast<Vertex>(key));
  record.set_time(static_cast<std::int64_t>(std::uint64_t{source} << 32 | target));
  return record;
}

/// The ids that occur. Ids above the number of bits that memory holds are `wide`: then all are listed.
class UsedIds {
 public:
  UsedIds() : limit_(std::min<std::uint64_t>(kMaxVertices, host_budget().available())) {}

  bool wide() const { return wide_; }
  /// Keeps the narrow ids that were added so far together with the wide ones.
  void widen() {
    wide_ = true;
    bits_.for_each([&](std::uint64_t id) { list_.push_back(id); });
    bits_.clear();
  }
  bool holds(std::uint64_t id) const { return wide_ || id < limit_; }
  void add(std::uint64_t id) {
    range_ = std::max(range_, id + 1);
    if (!wide_) {
      bits_.grow(id + 1);
      return bits_.mark(id);
    }
    list_.push_back(id);
    if (list_.size() > 2 * unique_ + kRecordsAtOnce) sort();
  }
  /// Call it after all ids were added. Throws InputError.
  void settle(const std::string& file, unsigned threads) {
    if (wide_) sort();
    const std::uint64_t used = wide_ ? unique_ : bits_.count(threads);
    compact_ = used < range_ - range_ / 2 && used * 2 < range_;
    vertices_ = compact_ ? used : range_;
    if (vertices_ > kMaxVertices)
      throw InputError(fmt::format("{}: more vertices than a graph can have", file));
    if (!wide_ && compact_) bits_.index();
  }
  std::uint64_t vertices() const { return vertices_; }
  Vertex vertex(std::uint64_t id) const {
    if (!compact_) return static_cast<Vertex>(id);
    if (!wide_) return bits_.rank(id);
    return static_cast<Vertex>(std::lower_bound(list_.begin(), list_.end(), id) - list_.begin());
  }

 private:
  void sort() {
    std::sort(list_.begin(), list_.end());
    list_.erase(std::unique(list_.begin(), list_.end()), list_.end());
    unique_ = list_.size();
  }

  std::uint64_t limit_, range_ = 0, vertices_ = 0, unique_ = 0;
  bool wide_ = false, compact_ = false;
  io::IdSet bits_;
  ChargedVector<std::uint64_t> list_{ChargedAllocator<std::uint64_t>("the list of used ids")};
};

/// Edges in a nameless file, with source and target in 8 bytes.
class ScratchEdges final : public TemporalSource {
 public:
  ScratchEdges(std::uint64_t vertices, const std::string& folder) : vertices_(vertices), file_(folder) {}

  void append(std::span<const std::uint64_t> pairs) { file_.append(std::as_bytes(pairs)); }
  std::uint64_t vertices() const override { return vertices_; }
  std::uint64_t size() const override { return file_.size() / sizeof(std::uint64_t); }
  void read(std::uint64_t first, std::span<Vertex> source, std::span<Vertex> target) const override {
    std::vector<std::uint64_t> pairs(std::min<std::uint64_t>(source.size(), kRecordsAtOnce));
    for (std::uint64_t done = 0; done < source.size(); done += pairs.size()) {
      pairs.resize(std::min<std::uint64_t>(pairs.size(), source.size() - done));
      file_.read((first + done) * sizeof(std::uint64_t), std::as_writable_bytes(std::span(pairs)));
      for (std::size_t i = 0; i < pairs.size(); ++i) {
        source[done + i] = static_cast<Vertex>(pairs[i] >> 32);
        target[done + i] = static_cast<Vertex>(pairs[i]);
      }
    }
  }

 private:
  std::uint64_t vertices_;
  ScratchFile file_;
};

/// Edges in memory that is charged to the host budget.
class HeldEdges final : public TemporalSource {
 public:
  HeldEdges(std::uint64_t vertices, std::uint64_t size)
      : vertices_(vertices), pairs_(size, "temporal edges") {}

  void append(std::span<const std::uint64_t> pairs) {
    std::copy(pairs.begin(), pairs.end(), pairs_.begin() + held_);
    held_ += pairs.size();
  }
  std::uint64_t vertices() const override { return vertices_; }
  std::uint64_t size() const override { return pairs_.size(); }
  void read(std::uint64_t first, std::span<Vertex> source, std::span<Vertex> target) const override {
    for (std::size_t i = 0; i < source.size(); ++i) {
      source[i] = static_cast<Vertex>(pairs_[first + i] >> 32);
      target[i] = static_cast<Vertex>(pairs_[first + i]);
    }
  }

 private:
  std::uint64_t vertices_, held_ = 0;
  HostArray<std::uint64_t> pairs_;
};

class TemporalReader {
 public:
  TemporalReader(const std::string& file, const std::string& scratch, unsigned threads)
      : file_(file), scratch_(scratch), threads_(threads) {}

  TemporalFile read() {
    // Most ids are narrow, and one pass is enough. Otherwise all ids must be known before edges can be kept.
    sorter_ = fresh_sorter();
    const bool narrow = pass([&](const io::EdgeBatch& part) { return keep(part, true); });
    if (!narrow) {
      sorter_ = io::EdgeSorter<Record>({});
      loops_ = 0;
      ids_.widen();
      pass([&](const io::EdgeBatch& part) { return list_ids(part); });
    }
    ids_.settle(file_, threads_);
    if (!narrow) {
      sorter_ = fresh_sorter();
      pass([&](const io::EdgeBatch& part) { return keep(part, false); });
    }
    if (!remark_.empty()) apps::print_message(file_ + ": " + remark_ + '\n');
    sorter_.finish();
    if (sorter_.size() == 0) throw InputError(fmt::format("{}: no edge to replay", file_));
    return {in_order(narrow), loops_};
  }

 private:
  io::EdgeSorter<Record> fresh_sorter() const {
    io::EdgeSorter<Record> sorter({false, false, threads_, scratch_});
    sorter.set_memory(host_budget().available() / 2);
    return sorter;
  }

  /// Reads the file until `use` returns false. Returns true if it reached the end.
  bool pass(const std::function<bool(const io::EdgeBatch&)>& use) {
    io::ReadOptions options;
    options.timestamps = true;
    options.time_remedy = "a replay needs the time of every edge";
    options.threads = threads_;
    const auto source = io::open_edge_file(file_, options);
    io::EdgeBatch part;
    while (source->next(part)) {
      if (!use(part)) return false;
    }
    remark_ = source->remark();
    return true;
  }

  bool list_ids(const io::EdgeBatch& part) {
    for (const auto* ends : {&part.source, &part.target})
      for (const std::uint64_t id : *ends) ids_.add(id);
    return true;
  }

  /// Keeps the edges, with the file's ids, which it records, or with the graph's. False if an id is too wide.
  bool keep(const io::EdgeBatch& part, bool as_read) {
    const std::uint64_t chunk_size = std::clamp<std::uint64_t>(sorter_.capacity() / 4, 1, kRecordsAtOnce);
    std::vector<Record> chunk;
    for (std::size_t i = 0; i < part.size(); ++i) {
      const std::uint64_t source = part.source[i], target = part.target[i];
      if (as_read) {
        if (!ids_.holds(source) || !ids_.holds(target)) return false;
        ids_.add(source), ids_.add(target);
      }
      if (source == target) {
        ++loops_;
      } else {
        const auto vertex = [&](std::uint64_t id) {
          return as_read ? static_cast<Vertex>(id) : ids_.vertex(id);
        };
        chunk.push_back(record_of(vertex(source), vertex(target), part.time[i]));
      }
      if (chunk.size() == chunk_size || (i + 1 == part.size() && !chunk.empty())) {
        std::copy(chunk.begin(), chunk.end(), sorter_.add(chunk.size()));
        chunk.clear();
      }
    }
    return true;
  }

  std::unique_ptr<TemporalSource> in_order(bool as_read) {
    const std::uint64_t bytes = sorter_.size() * sizeof(std::uint64_t);
    if (bytes <= host_budget().available() / kHeldPart)
      return filled(std::make_unique<HeldEdges>(ids_.vertices(), sorter_.size()), as_read);
    return filled(std::make_unique<ScratchEdges>(ids_.vertices(), scratch_), as_read);
  }

  template <class Edges>
  std::unique_ptr<TemporalSource> filled(std::unique_ptr<Edges> edges, bool as_read) {
    std::vector<std::uint64_t> pairs;
    sorter_.scan([&](std::span<const Record> records) {
      for (; !records.empty(); records = records.subspan(pairs.size())) {
        pairs.clear();
        for (const Record& record : records.first(std::min<std::size_t>(records.size(), kRecordsAtOnce))) {
          const auto ends = static_cast<std::uint64_t>(record.time());
          const auto vertex = [&](std::uint64_t id) -> std::uint64_t {
            return as_read ? ids_.vertex(id) : id;
          };
          pairs.push_back(vertex(ends >> 32) << 32 | vertex(ends & 0xffffffffu));
        }
        edges->append(pairs);
      }
    });
    return edges;
  }

  std::string file_, scratch_, remark_;
  unsigned threads_;
  UsedIds ids_;
  io::EdgeSorter<Record> sorter_{{}};
  std::uint64_t loops_ = 0;
};

}  // namespace

TemporalFile read_temporal(const std::string& file, const std::string& scratch, unsigned threads) {
  return TemporalReader(file, scratch, threads).read();
}

}  // namespace sluice::bench
