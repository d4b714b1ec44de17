// Sorted edges to the rows of a graph file, a block at a time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "engine/core/host_array.hpp"
#include "engine/exec/thread_pool.hpp"
#include "engine/exec/threads.hpp"
#include "io/convert/convert.hpp"
#include "io/convert/id_set.hpp"
#include "io/convert/keep_rule.hpp"
#include "io/convert/sorted_edges.hpp"
#include "io/graph_file/graph_file.hpp"

namespace sluice::io {

struct AdjacencyOptions {
  std::uint64_t vertices = 0;         ///< of the finished graph
  const IdSet* compaction = nullptr;  ///< ids become their ranks in it; null: they stay
  WeightRule weights = WeightRule::none;
  std::uint64_t seed = 1;
  unsigned threads = 1;
  std::uint64_t block_records = 1u << 16;
  std::function<void(double fraction)> progress;
};

inline constexpr std::uint64_t kRecordsAtOnce =
    1u << 14;  // records a thread turns into targets and weights at a time

/// All threads turn a block of records into rows while another thread hashes and writes the block before: a
/// file is written by one thread at a time.
template <class Record>
class AdjacencyWriter {
 public:
  AdjacencyWriter(const AdjacencyOptions& options, GraphWriter& writer, bool in)
      : options_(options), writer_(writer), in_(in) {
    for (Rows& rows : rows_) {
      rows.offsets = HostArray<EdgeIndex>(options.block_records, "CSR offsets");
      rows.targets = HostArray<Vertex>(options.block_records, "CSR targets");
      if (weighted()) rows.weights = HostArray<float>(options.block_records, "CSR weights");
      if (Record::kTimed) rows.times = HostArray<std::int64_t>(options.block_records, "CSR times");
    }
  }

  void write(std::span<const Record> records) {
    while (!records.empty()) {
      const std::span<const Record> some = fitting(records);
      write_block(some, some.empty() ? opened_ + options_.block_records : final_id(some.back().source()) + 1);
      records = records.subspan(some.size());
    }
  }

  void finish() {
    const std::uint64_t end = options_.vertices + 1;
    while (opened_ < end) write_block({}, std::min(end, opened_ + options_.block_records));
    written_behind_.wait();
  }

  std::uint64_t written() const { return position_; }

 private:
  struct Rows {
    HostArray<EdgeIndex> offsets;
    HostArray<Vertex> targets;
    HostArray<float> weights;
    HostArray<std::int64_t> times;
  };

  bool weighted() const { return options_.weights != WeightRule::none; }
  Vertex final_id(Vertex id) const { return options_.compaction ? options_.compaction->rank(id) : id; }

  /// The first records, as many as the buffers hold with the offsets of their vertices.
  std::span<const Record> fitting(std::span<const Record> records) const {
    records = records.first(std::min(records.size(), options_.block_records));
    const auto fits = [&](const Record& record) {
      return final_id(record.source()) < opened_ + options_.block_records;
    };
    if (fits(records.back())) return records;
    return {records.begin(), std::partition_point(records.begin(), records.end(), fits)};
  }

  /// Records of vertices below `end`, whose offsets are known with them.
  void write_block(std::span<const Record> records, std::uint64_t end) {
    Rows& rows = rows_[turn_ ^= 1];
    parallel_blocks(options_.threads, records.size(), kRecordsAtOnce,
                    [&](std::uint64_t from, std::uint64_t to, unsigned) { fill(rows, records, from, to); });
    const std::uint64_t vertices = end - opened_, edges = records.size();
    if (records.empty()) std::fill_n(rows.offsets.begin(), vertices, position_);
    opened_ = end;
    position_ += edges;
    written_behind_.begin([this, &rows, vertices, edges] {
      writer_.append_offsets(rows.offsets.span().first(vertices), in_);
      writer_.append_targets(rows.targets.span().first(edges), in_);
      if (weighted()) writer_.append_weights(rows.weights.span().first(edges), in_);
      if (Record::kTimed) writer_.append_times(rows.times.span().first(edges), in_);
    });
  }

  void fill(Rows& rows, std::span<const Record> records, std::uint64_t begin, std::uint64_t end) const {
    for (std::uint64_t i = begin; i < end; ++i) {
      rows.targets[i] = final_id(records[i].target());
      if constexpr (Record::kWeighted) rows.weights[i] = records[i].weight();
      if constexpr (Record::kTimed) rows.times[i] = records[i].time();
      if (i == 0 || records[i].source() != records[i - 1].source()) open(rows, records, i);
    }
    if (options_.weights != WeightRule::uniform) return;
    for (std::uint64_t i = begin; i < end; ++i) {
      rows.weights[i] = uniform_weight(options_.seed, final_id(records[i].source()), rows.targets[i]);
    }
  }

  /// The list of record i's source begins there, as do those of the vertices without edges before it.
  void open(Rows& rows, std::span<const Record> records, std::uint64_t i) const {
    const std::uint64_t first = i == 0 ? opened_ : final_id(records[i - 1].source()) + std::uint64_t{1};
    const std::uint64_t end = final_id(records[i].source()) + std::uint64_t{1};
    std::fill(rows.offsets.begin() + (first - opened_), rows.offsets.begin() + (end - opened_),
              position_ + i);
  }

  const AdjacencyOptions& options_;
  GraphWriter& writer_;
  bool in_;
  Rows rows_[2];  ///< one is written while the other is filled
  unsigned turn_ = 0;
  std::uint64_t opened_ = 0;    ///< vertices whose offset is known
  std::uint64_t position_ = 0;  ///< records written
  Background written_behind_;   ///< the last: it ends before what it uses
};

/// Bytes that write_adjacency() takes for blocks of this many records.
inline std::uint64_t adjacency_bytes(std::uint64_t block_records) {
  return 2 * block_records * (sizeof(EdgeIndex) + sizeof(Vertex) + sizeof(float) + sizeof(std::int64_t));
}

/// Writes /out, or /in.
template <class Record>
void write_adjacency(SortedEdges<Record>& edges, const AdjacencyOptions& options, GraphWriter& writer,
                     bool in) {
  AdjacencyWriter<Record> rows(options, writer, in);
  edges.scan([&](std::span<const Record> records) {
    rows.write(records);
    if (options.progress)
      options.progress(static_cast<double>(rows.written()) / static_cast<double>(edges.size()));
  });
  rows.finish();
}

/// Writes all ids of a set or list, ascending.
template <class Ids>
void write_original_ids(const Ids& ids, GraphWriter& writer) {
  std::vector<std::int64_t> block;
  const auto flush = [&] {
    writer.append_original_ids(block);
    block.clear();
  };
  ids.for_each([&](std::uint64_t id) {
    block.push_back(static_cast<std::int64_t>(id));
    if (block.size() == kRecordsAtOnce) flush();
  });
  flush();
}

}  // namespace sluice::io
