// One conversion, step by step: read and sort, decide about compaction, hand on the rows.
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "engine/core/clock.hpp"
#include "engine/core/error.hpp"
#include "engine/core/memory_budget.hpp"
#include "engine/core/size.hpp"
#include "engine/exec/threads.hpp"
#include "io/convert/adjacency_writer.hpp"
#include "io/convert/convert.hpp"
#include "io/convert/edge_sorter.hpp"
#include "io/convert/id_set.hpp"
#include "io/convert/wide_ids.hpp"
#include "io/edge_source.hpp"
#include "io/graph_file/graph_file.hpp"

namespace sluice::io {

inline InputError id_too_large(const std::string& origin, std::uint64_t id) {
  return InputError(fmt::format("{}: id {} is not below 2^63", origin, id));
}

inline InputError too_many_vertices(std::uint64_t vertices) {
  return InputError(
      fmt::format("ids up to {} exceed the {} vertices a graph can have; use --compact to drop unused ids",
                  vertices - 1, kMaxVertices));
}

/// `Record` carries what the graph stores of an edge. Steps are called in the order in which they stand here.
template <class Record>
class Conversion {
 public:
  /// Takes one part in `share` of the free memory. `options` name threads and scratch.
  Conversion(EdgeStream& source, const ConvertOptions& options, unsigned share)
      : source_(source),
        options_(options),
        share_(share),
        undirected_(options.undirected || source.info().undirected),
        track_ids_(options.compact != false),
        sorter_(
            {!options.keep_duplicates && !Record::kTimed, undirected_, options.threads, options.scratch}) {}

  /// Reads and sorts all edges. Returns what the graph is.
  GraphInfo sort() {
    const auto declared = source_.info().vertices;
    if (declared && *declared > kMaxVertices && !track_ids_) throw too_many_vertices(*declared);
    if (!sort_at_source()) {
      EdgeBatch batch;
      source_.next(batch);
      claim_memory();
      divide_memory(0);
      read(source_, batch);
      report("sort", 0);
      enter_phase(&ConvertStats::sort_seconds);
      sorter_.finish();
    }
    const GraphInfo info = finish_info();
    enter_phase(&ConvertStats::write_seconds);
    return info;
  }

  /// Records of a block of rows.
  std::uint64_t block_records() const { return block_records_; }

  /// Hands on the rows of /out, after reverse() of /in.
  void write_rows(RowSink& sink) {
    const AdjacencyOptions adjacency{stats_.vertices,  stats_.compacted && !wide_ids_ ? &ids_ : nullptr,
                                     options_.weights, options_.seed,
                                     options_.threads, block_records_};
    AdjacencyWriter<Record> rows(adjacency, sink);
    edges_->scan([&](std::span<const Record> records) {
      rows.write(records);
      report(rows_phase_, static_cast<double>(rows.written()) / static_cast<double>(edges_->size()));
    });
    rows.finish();
  }

  void reverse() {
    report("sort in-edges", 0);
    enter_phase(&ConvertStats::sort_seconds);
    edges_->reverse();
    enter_phase(&ConvertStats::write_seconds);
    rows_phase_ = "write in-edges";
  }

  /// Calls append(ids) for all ids that a compacted graph had, ascending.
  template <class Append>
  void write_ids(Append&& append) const {
    if (!stats_.compacted) return;
    wide_ids_ ? write_original_ids(*wide_ids_, append) : write_original_ids(ids_, append);
  }

  /// What became of the edges, once all is written.
  const ConvertStats& finish() {
    stats_.sort_runs += sorter_.runs();
    enter_phase(&ConvertStats::write_seconds);
    return stats_;
  }

 private:
  /// What is left of the least budget beside the source, which takes less than a half.
  static constexpr std::uint64_t kMinMemory = kMinConversionMemory / 2;
  static constexpr std::uint64_t kMinSortMemory = 2u << 20;
  static constexpr std::uint64_t kMaxBlockRecords = 1u << 21;  // records written at a time
  static constexpr std::uint64_t kGrain = 1u << 14;      // edges surveyed and stored by one thread at a time
  static constexpr std::uint64_t kStoreEdges = 1u << 17;  // edges stored at a time, for each thread
  static constexpr std::uint64_t kIdEnd = std::uint64_t{1} << 63;

  /// What a stretch of edges holds, learnt before any of it is stored.
  struct Survey {
    std::uint64_t largest_id = 0;
    std::uint64_t self_loops = 0;
  };

  /// Whether the source has sorted its edges itself.
  bool sort_at_source() {
    if constexpr (std::is_same_v<Record, PlainRecord>) {
      if (options_.keep_self_loops || options_.keep_duplicates) return false;
      report("sort", 0);
      const auto phase = enter_phase(&ConvertStats::sort_seconds);
      SortedInput input = source_.sort({undirected_, track_ids_ ? &ids_ : nullptr});
      if (!input.edges) {
        enter_phase(phase);
        return false;
      }
      claim_memory();
      sorted_ = std::move(input.edges);
      edges_ = sorted_.get();
      any_edge_ = input.count > 0;
      stats_.input_edges = input.count;
      stats_.self_loops = input.self_loops;
      return true;
    }
    return false;
  }

  /// Its share of all that the source and its batches leave.
  void claim_memory() {
    const MemoryBudget& host = host_budget();
    memory_ = host.available();
    if (memory_ < kMinMemory) {
      constexpr std::uint64_t kMiB = 1u << 20;  // whole ones, so that no digit is lost of what is said
      const std::uint64_t needed = (host.ceiling() - memory_ + kMinMemory + kMiB - 1) / kMiB * kMiB;
      throw BudgetError(
          fmt::format("host memory: this conversion needs at least {}, {} are allowed (raise --host-memory)",
                      format_size(needed), format_size(host.ceiling())));
    }
    memory_ /= share_;
    block_records_ = std::clamp<std::uint64_t>(std::min(options_.threads * kStoreEdges, memory_ / 512),
                                               1u << 14, kMaxBlockRecords);
    // One bit an id, and half as much for ranks and for growing, may take a quarter of the memory.
    id_limit_ = track_ids_ ? std::min(kMaxVertices, memory_) : kMaxVertices;
  }

  /// From now on time counts as that of `phase`; returns the phase before.
  double ConvertStats::*enter_phase(double ConvertStats::*phase) {
    const double now = seconds_now();
    stats_.*phase_ += now - std::exchange(phase_begin_, now);
    return std::exchange(phase_, phase);
  }

  void report(const char* phase, double fraction) const {
    if (options_.progress) options_.progress(phase, fraction);
  }

  /// Leaves the sort what others do not take. Ids below `ids` have or get their bits.
  void divide_memory(std::uint64_t ids) {
    const std::uint64_t reserved = adjacency_bytes(block_records_) + ids_.bytes(ids);
    sorter_.set_memory(memory_ > reserved + kMinSortMemory ? memory_ - reserved : kMinSortMemory);
  }

  /// Takes `batch` and all that follow.
  void read(EdgeStream& source, EdgeBatch& batch) {
    for (; batch.size() > 0; source.next(batch)) {
      const auto [done, total] = source.progress();
      const double fraction = total ? static_cast<double>(done) / static_cast<double>(total) : 0;
      if (&source == &source_) stats_.input_edges += batch.size();
      update_estimate(&source == &source_ ? fraction : 1);
      const std::size_t stored = store_edges(batch, 0);
      if (stored < batch.size()) {
        read_wide_ids(batch, stored);
        return;
      }
      report("read", fraction);
    }
  }

  /// So much of the input holds the edges that were read so far.
  void update_estimate(double fraction) {
    const auto records = static_cast<double>(records_of(stats_.input_edges, 0));
    if (fraction > 0) sorter_.expect_records(static_cast<std::uint64_t>(1.05 * records / fraction));
  }

  /// Stores the edges from `begin` on; returns where it met a wide id, or the end.
  std::size_t store_edges(const EdgeBatch& batch, std::size_t begin) {
    while (begin < batch.size()) {
      const std::uint64_t chunk =
          std::clamp<std::uint64_t>(sorter_.capacity() / 4, 1, options_.threads * kStoreEdges);
      const std::size_t end = std::min<std::size_t>(batch.size(), begin + chunk);
      const std::vector<Survey> found = survey(batch, begin, end);
      Survey total;
      for (const Survey& part : found) {
        total.largest_id = std::max(total.largest_id, part.largest_id);
        total.self_loops += part.self_loops;
      }
      if (total.largest_id >= id_limit_) return begin;
      if (track_ids_ && total.largest_id >= ids_.range()) {
        divide_memory(total.largest_id + 1);
        ids_.grow(total.largest_id + 1);
      }
      largest_id_ = std::max(largest_id_, total.largest_id);
      any_edge_ = true;
      if (!options_.keep_self_loops) stats_.self_loops += total.self_loops;
      const auto phase = enter_phase(&ConvertStats::sort_seconds);  // of a run that leaves memory before
      Record* const added = sorter_.add(records_of(end - begin, total.self_loops));
      enter_phase(phase);
      std::vector<std::uint64_t> starts(found.size());
      for (std::size_t i = 1; i < found.size(); ++i) {
        starts[i] = starts[i - 1] + records_of(kGrain, found[i - 1].self_loops);
      }
      parallel_blocks(options_.threads, end - begin, kGrain,
                      [&](std::uint64_t first, std::uint64_t last, unsigned) {
                        store(batch, begin + first, begin + last, added + starts[first / kGrain]);
                      });
      begin = end;
    }
    return begin;
  }

  /// Looks at blocks of kGrain edges.
  std::vector<Survey> survey(const EdgeBatch& batch, std::size_t begin, std::size_t end) const {
    std::vector<Survey> found((end - begin + kGrain - 1) / kGrain);
    parallel_blocks(
        options_.threads, end - begin, kGrain, [&](std::uint64_t first, std::uint64_t last, unsigned) {
          Survey survey;
          bool weights_valid = true;
          for (std::size_t i = begin + first; i < begin + last; ++i) {
            survey.largest_id = std::max({survey.largest_id, batch.source[i], batch.target[i]});
            survey.self_loops += batch.source[i] == batch.target[i];
            if constexpr (Record::kWeighted)
              weights_valid &= std::isfinite(batch.weight[i]) && batch.weight[i] >= 0;
          }
          if (!weights_valid) {
            throw InputError(fmt::format("{}: a weight is negative or not finite", source_.info().origin));
          }
          if (survey.largest_id >= kIdEnd) throw id_too_large(source_.info().origin, survey.largest_id);
          found[first / kGrain] = survey;
        });
    return found;
  }

  /// How many records edges become, so many of them self-loops.
  std::uint64_t records_of(std::uint64_t edges, std::uint64_t self_loops) const {
    return (edges - self_loops) * (undirected_ ? 2 : 1) + (options_.keep_self_loops ? self_loops : 0);
  }

  void store(const EdgeBatch& batch, std::size_t begin, std::size_t end, Record* out) {
    for (std::size_t i = begin; i < end; ++i) {
      const auto source = static_cast<Vertex>(batch.source[i]), target = static_cast<Vertex>(batch.target[i]);
      if (track_ids_) ids_.mark(source), ids_.mark(target);
      if (source == target && !options_.keep_self_loops) continue;
      Record record;
      record.set_ends(source, target);
      if constexpr (Record::kWeighted) record.set_weight(batch.weight[i]);
      if constexpr (Record::kTimed) record.set_time(batch.time[i]);
      *out++ = record;
      if (undirected_ && source != target) {
        record.set_ends(target, source);
        *out++ = record;
      }
    }
  }

  /// Moves what was sorted so far, and all that follows, to a spool; then reads it again with dense ids.
  /// Edges with equal ends leave the sort in input order, which is all the order that matters.
  void read_wide_ids(EdgeBatch& batch, std::size_t begin) {
    if (!track_ids_)
      throw too_many_vertices(std::max(std::ranges::max(batch.source), std::ranges::max(batch.target)) + 1);
    EdgeSpool spool(options_.scratch, options_.threads, source_.info());
    sorter_.finish();
    wide_ids_ = std::make_unique<IdList>(memory_ / 4, options_.threads, options_.scratch);
    spool_sorted(spool);
    ids_.for_each([&](std::uint64_t id) { wide_ids_->add(id); });
    ids_.clear();
    do {
      largest_id_ = std::max(largest_id_, spool.append(batch, begin, *wide_ids_));
      if (largest_id_ >= kIdEnd) throw id_too_large(source_.info().origin, largest_id_);
      begin = 0;
      batch.clear();
      if (source_.next(batch)) stats_.input_edges += batch.size();
    } while (batch.size() > 0);
    batch = {};
    spool.close();
    wide_ids_->close();
    any_edge_ = true;
    std::uint64_t first = 0;
    wide_ids_->read(0, {&first, 1});
    const bool compact = decide_compaction(wide_ids_->size(), first);
    track_ids_ = false;
    if (compact) {
      spool.rank_ids(*wide_ids_, memory_ / 4);
    } else {
      wide_ids_.reset();
    }
    const std::uint64_t largest = largest_id_;
    const auto replay = spool.replay();
    replay->next(batch);
    claim_memory();
    divide_memory(0);
    read(*replay, batch);
    largest_id_ = largest;
  }

  /// Hands what was sorted to the spool, of a mirrored pair one edge, and starts the sort anew.
  void spool_sorted(EdgeSpool& spool) {
    sorter_.scan([&](std::span<const Record> records) {
      for (const Record& record : records) {
        if (undirected_ && record.source() > record.target()) continue;
        spool.append(record.source(), record.target(), record.weight(), record.time());
      }
    });
    stats_.duplicates += sorter_.dropped();
    stats_.sort_runs += sorter_.runs();
    sorter_ = EdgeSorter<Record>(
        {!options_.keep_duplicates && !Record::kTimed, undirected_, options_.threads, options_.scratch});
  }

  /// Whether unused ids are dropped; sets the vertex count. A graph without any edge keeps the vertices it
  /// declares, unless compaction was asked for. `first`: the smallest of the `used` ids.
  bool decide_compaction(std::uint64_t used, std::uint64_t first) {
    const std::uint64_t range =
        std::max(source_.info().vertices.value_or(0), any_edge_ ? largest_id_ + 1 : 0);
    const bool sparse = any_edge_ && used < range - range / 2 && used * 2 < range;
    stats_.compacted = track_ids_ && options_.compact.value_or(sparse);
    stats_.vertices = stats_.compacted ? used : range;
    stats_.unused_ids = stats_.compacted ? range - used : 0;
    if (track_ids_ && any_edge_ && !stats_.compacted) {
      stats_.isolated_ids = range - used;
      stats_.first_id = first;
    }
    if (stats_.vertices > kMaxVertices) throw too_many_vertices(stats_.vertices);
    return stats_.compacted;
  }

  /// What the graph is, once all edges are sorted.
  GraphInfo finish_info() {
    const bool counted = track_ids_ && any_edge_;
    if (!wide_ids_ && !stats_.compacted &&
        decide_compaction(counted ? ids_.count(options_.threads) : 0, counted ? ids_.first() : 0))
      ids_.index();
    stats_.edges = edges_->size();
    stats_.duplicates += edges_->dropped();
    GraphInfo info;
    info.vertices = stats_.vertices;
    info.edges = stats_.edges;
    info.directed = !undirected_;
    info.weighted = options_.weights != WeightRule::none;
    info.timed = Record::kTimed;
    info.compacted = stats_.compacted;
    info.has_in = options_.reverse;
    info.origin = source_.info().origin;
    return info;
  }

  EdgeStream& source_;
  ConvertOptions options_;
  unsigned share_;
  bool undirected_;
  std::uint64_t memory_ = 0;
  std::uint64_t block_records_ = 0;  ///< written at a time
  std::uint64_t id_limit_ = 0;       ///< ids from here on are wide
  bool track_ids_ = true;            ///< compaction is possible
  bool any_edge_ = false;
  std::uint64_t largest_id_ = 0;
  EdgeSorter<Record> sorter_;
  std::unique_ptr<SortedEdges<PlainRecord>> sorted_;  ///< by the source
  SortedEdges<Record>* edges_ = &sorter_;             ///< what is written
  IdSet ids_;
  std::unique_ptr<IdList> wide_ids_;  ///< set once a wide id was met and the graph is compacted
  ConvertStats stats_;
  const char* rows_phase_ = "write";
  double phase_begin_ = seconds_now();
  double ConvertStats::*phase_ = &ConvertStats::load_seconds;
};

}  // namespace sluice::io
