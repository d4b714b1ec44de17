// Sorted edges to the rows of a graph file, a block at a time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>

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

inline constexpr std::uint64_t kOffsetsAtOnce = 1u << 14;  // handed to the writer at a time
inline constexpr std::uint64_t kRecordsAtOnce =
    1u << 14;  // records a thread turns into targets and weights at a time

template <class Record>
class AdjacencyWriter {
 public:
  AdjacencyWriter(const AdjacencyOptions& options, GraphWriter& writer, bool in)
      : options_(options),
        writer_(writer),
        in_(in),
        offsets_(kOffsetsAtOnce, "CSR offsets"),
        targets_(options.block_records, "CSR targets") {
    if (weighted()) weights_ = HostArray<float>(options.block_records, "CSR weights");
    if (Record::kTimed) times_ = HostArray<std::int64_t>(options.block_records, "CSR times");
  }

  void write(std::span<const Record> records) {
    for (; !records.empty();
         records = records.subspan(std::min<std::size_t>(records.size(), targets_.size()))) {
      write_block(records.first(std::min<std::size_t>(records.size(), targets_.size())));
    }
  }

  void finish() {
    open_until(options_.vertices);
    flush_offsets();
  }

  std::uint64_t written() const { return position_; }

 private:
  bool weighted() const { return options_.weights != WeightRule::none; }
  Vertex final_id(Vertex id) const { return options_.compaction ? options_.compaction->rank(id) : id; }

  void write_block(std::span<const Record> records) {
    parallel_blocks(options_.threads, records.size(), kRecordsAtOnce,
                    [&](std::uint64_t begin, std::uint64_t end, unsigned) {
                      for (std::uint64_t i = begin; i < end; ++i) {
                        targets_[i] = final_id(records[i].target());
                        if constexpr (Record::kWeighted) weights_[i] = records[i].weight();
                        if constexpr (Record::kTimed) times_[i] = records[i].time();
                      }
                      if (options_.weights == WeightRule::uniform) draw_weights(records, begin, end);
                    });
    for (const Record& record : records) {
      if (record.source() != source_) {
        source_ = record.source();
        open_until(final_id(record.source()));
      }
      ++position_;
    }
    writer_.append_targets({targets_.data(), records.size()}, in_);
    if (weighted()) writer_.append_weights({weights_.data(), records.size()}, in_);
    if (Record::kTimed) writer_.append_times({times_.data(), records.size()}, in_);
  }

  void draw_weights(std::span<const Record> records, std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t i = begin; i < end; ++i) {
      weights_[i] = uniform_weight(options_.seed, final_id(records[i].source()), targets_[i]);
    }
  }

  /// The lists up to and including that of `vertex` begin here, or have ended.
  void open_until(std::uint64_t vertex) {
    for (; opened_ <= vertex; ++opened_) {
      if (waiting_ == offsets_.size()) flush_offsets();
      offsets_[waiting_++] = position_;
    }
  }

  void flush_offsets() {
    writer_.append_offsets({offsets_.data(), waiting_}, in_);
    waiting_ = 0;
  }

  const AdjacencyOptions& options_;
  GraphWriter& writer_;
  bool in_;
  HostArray<EdgeIndex> offsets_;
  HostArray<Vertex> targets_;
  HostArray<float> weights_;
  HostArray<std::int64_t> times_;
  std::size_t waiting_ = 0;     ///< offsets not yet handed over
  std::uint64_t opened_ = 0;    ///< vertices whose offset is known
  std::uint64_t position_ = 0;  ///< records written
  Vertex source_ = kNoVertex;   ///< of the last record
};

/// Bytes that write_adjacency() takes for blocks of this many records.
inline std::uint64_t adjacency_bytes(std::uint64_t block_records) {
  return kOffsetsAtOnce * sizeof(EdgeIndex) +
         block_records * (sizeof(Vertex) + sizeof(float) + sizeof(std::int64_t));
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

}  // namespace sluice::io
