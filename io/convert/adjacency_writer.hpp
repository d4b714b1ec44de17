// Sorted edges to the rows of a graph file or of a graph in memory, a block at a time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/core/host_array.hpp"
#include "engine/exec/thread_pool.hpp"
#include "engine/exec/threads.hpp"
#include "io/convert/convert.hpp"
#include "io/convert/id_set.hpp"
#include "io/convert/uniform_weight.hpp"
#include "io/graph_file/graph_file.hpp"

namespace sluice::io {

struct AdjacencyOptions {
  std::uint64_t vertices = 0;         ///< of the finished graph
  const IdSet* compaction = nullptr;  ///< ids become their ranks in it; null: they stay
  WeightRule weights = WeightRule::none;
  std::uint64_t seed = 1;
  unsigned threads = 1;
  std::uint64_t block_records = 1u << 16;
};

inline constexpr std::uint64_t kRecordsAtOnce =
    1u << 14;  // records a thread turns into targets and weights at a time

/// Where the next rows go: `rows`, from `vertex` and `edge` on.
struct RowSpace {
  Csr& rows;
  std::uint64_t vertex, edge;
};

/// Takes blocks of rows, one after the other.
class RowSink {
 public:
  virtual ~RowSink() = default;
  /// Place for a block, of which `vertex` and `edge` are the first.
  virtual RowSpace begin_block(std::uint64_t vertex, std::uint64_t edge) = 0;
  /// The block is there.
  virtual void end_block(std::uint64_t /*vertices*/, std::uint64_t /*edges*/) {}
  /// Returns when all blocks are where they belong.
  virtual void finish() {}
};

/// Rows of a graph in memory are made where they stay.
class MemoryRowSink final : public RowSink {
 public:
  explicit MemoryRowSink(Csr& rows) : rows_(rows) {}
  RowSpace begin_block(std::uint64_t vertex, std::uint64_t edge) override { return {rows_, vertex, edge}; }

 private:
  Csr& rows_;
};

/// Rows of a file: a thread hashes and writes a block while all others make the next. A file is written by
/// one thread at a time.
class FileRowSink final : public RowSink {
 public:
  FileRowSink(GraphWriter& writer, const GraphInfo& info, bool in, std::uint64_t block_records)
      : writer_(writer), in_(in) {
    for (Csr& block : blocks_) {
      block.offsets = HostArray<EdgeIndex>(block_records, "CSR offsets");
      block.targets = HostArray<Vertex>(block_records, "CSR targets");
      if (info.weighted) block.weights = HostArray<float>(block_records, "CSR weights");
      if (info.timed) block.times = HostArray<std::int64_t>(block_records, "CSR times");
    }
  }

  RowSpace begin_block(std::uint64_t, std::uint64_t) override { return {blocks_[filling_ ^= 1], 0, 0}; }
  void end_block(std::uint64_t vertices, std::uint64_t edges) override {
    background_write_.begin([this, &rows = blocks_[filling_], vertices, edges] {
      writer_.append_offsets(rows.offsets.span().first(vertices), in_);
      writer_.append_targets(rows.targets.span().first(edges), in_);
      if (!rows.weights.empty()) writer_.append_weights(rows.weights.span().first(edges), in_);
      if (!rows.times.empty()) writer_.append_times(rows.times.span().first(edges), in_);
    });
  }
  void finish() override { background_write_.wait(); }

 private:
  GraphWriter& writer_;
  bool in_;
  Csr blocks_[2];  ///< one is written while the other is filled
  unsigned filling_ = 0;
  Background background_write_;  ///< the last: it ends before what it uses
};

/// All threads turn a block of records into rows.
template <class Record>
class AdjacencyWriter {
 public:
  AdjacencyWriter(const AdjacencyOptions& options, RowSink& sink) : options_(options), sink_(sink) {}

  void write(std::span<const Record> records) {
    while (!records.empty()) {
      const std::span<const Record> prefix = fitting_prefix(records);
      write_block(prefix, prefix.empty() ? offsets_end_ + options_.block_records
                                         : final_id(prefix.back().source()) + 1);
      records = records.subspan(prefix.size());
    }
  }

  void finish() {
    const std::uint64_t end = options_.vertices + 1;
    while (offsets_end_ < end) write_block({}, std::min(end, offsets_end_ + options_.block_records));
    sink_.finish();
  }

  std::uint64_t written() const { return position_; }

 private:
  Vertex final_id(Vertex id) const { return options_.compaction ? options_.compaction->rank(id) : id; }

  /// The first records, as many as the buffers hold with the offsets of their vertices.
  std::span<const Record> fitting_prefix(std::span<const Record> records) const {
    records = records.first(std::min(records.size(), options_.block_records));
    const auto fits = [&](const Record& record) {
      return final_id(record.source()) < offsets_end_ + options_.block_records;
    };
    if (fits(records.back())) return records;
    return {records.begin(), std::partition_point(records.begin(), records.end(), fits)};
  }

  /// Records of vertices below `end`, whose offsets are known with them.
  void write_block(std::span<const Record> records, std::uint64_t end) {
    const RowSpace space = sink_.begin_block(offsets_end_, position_);
    parallel_blocks(options_.threads, records.size(), kRecordsAtOnce,
                    [&](std::uint64_t from, std::uint64_t to, unsigned) { fill(space, records, from, to); });
    const std::uint64_t vertices = end - offsets_end_;
    if (records.empty()) std::fill_n(space.rows.offsets.begin() + space.vertex, vertices, position_);
    offsets_end_ = end;
    position_ += records.size();
    sink_.end_block(vertices, records.size());
  }

  void fill(const RowSpace& space, std::span<const Record> records, std::uint64_t begin,
            std::uint64_t end) const {
    Vertex* const targets = space.rows.targets.data() + space.edge;
    for (std::uint64_t i = begin; i < end; ++i) {
      targets[i] = final_id(records[i].target());
      if constexpr (Record::kWeighted) space.rows.weights[space.edge + i] = records[i].weight();
      if constexpr (Record::kTimed) space.rows.times[space.edge + i] = records[i].time();
      if (i == 0 || records[i].source() != records[i - 1].source()) set_offsets(space, records, i);
    }
    if (options_.weights != WeightRule::uniform) return;
    float* const weights = space.rows.weights.data() + space.edge;
    for (std::uint64_t i = begin; i < end; ++i) {
      weights[i] = uniform_weight(options_.seed, final_id(records[i].source()), targets[i]);
    }
  }

  /// The list of record i's source begins there, as do those of the vertices without edges before it.
  void set_offsets(const RowSpace& space, std::span<const Record> records, std::uint64_t i) const {
    const std::uint64_t first = i == 0 ? offsets_end_ : final_id(records[i - 1].source()) + std::uint64_t{1};
    const std::uint64_t end = final_id(records[i].source()) + std::uint64_t{1};
    EdgeIndex* const offsets = space.rows.offsets.begin() + space.vertex;
    std::fill(offsets + (first - offsets_end_), offsets + (end - offsets_end_), position_ + i);
  }

  const AdjacencyOptions& options_;
  RowSink& sink_;
  std::uint64_t offsets_end_ = 0;  ///< vertices whose offset is known
  std::uint64_t position_ = 0;  ///< records written
};

/// Bytes that FileRowSink takes for blocks of this many records.
inline std::uint64_t adjacency_bytes(std::uint64_t block_records) {
  return 2 * block_records * (sizeof(EdgeIndex) + sizeof(Vertex) + sizeof(float) + sizeof(std::int64_t));
}

/// Calls append(ids) for all ids of a set or list, ascending.
template <class Ids, class Append>
void write_original_ids(const Ids& ids, Append&& append) {
  std::vector<std::int64_t> block;
  const auto flush = [&] {
    append(std::span<const std::int64_t>(block));
    block.clear();
  };
  ids.for_each([&](std::uint64_t id) {
    block.push_back(static_cast<std::int64_t>(id));
    if (block.size() == kRecordsAtOnce) flush();
  });
  flush();
}

}  // namespace sluice::io
