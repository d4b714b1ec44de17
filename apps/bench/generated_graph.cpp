#include "apps/bench/generated_graph.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <vector>

#include "engine/core/error.hpp"
#include "engine/exec/threads.hpp"
#include "io/convert/id_set.hpp"
#include "io/convert/keep_rule.hpp"
#include "io/generate/edge_generator.hpp"
#include "partition/build.hpp"
#include "partition/radix_sort.hpp"

namespace sluice::bench {
namespace {

using io::ConvertOptions, io::ConvertStats, io::GenerateOptions, io::kNoKey;
using Record = EdgeRecord<false, false>;

constexpr std::uint64_t kPiece = 1u << 11;          // edges made at a time, in a core's own cache
constexpr unsigned kMostBucketBits = 11;            // as many open pages as a core translates without a walk
constexpr std::uint64_t kBucketRecords = 1u << 17;  // small buckets sort in a core's own cache

/// Edges go to buckets by the top bits of their source; each bucket is sorted, and becomes consecutive rows.
class GraphBuilder {
 public:
  GraphBuilder(const GenerateOptions& options, const ConvertOptions& rules)
      : generator_(options),
        rules_(rules),
        threads_(std::max(rules.threads, 1u)),
        scale_(options.scale),
        undirected_(rules.undirected || generator_.undirected()),
        track_ids_(rules.compact != false) {
    const std::uint64_t most = generator_.edges() * (undirected_ ? 2 : 1);
    bucket_bits_ =
        std::min({static_cast<unsigned>(std::bit_width(most / kBucketRecords)), kMostBucketBits, scale_});
    shift_ = scale_ - bucket_bits_;
    buckets_ = std::uint64_t{1} << bucket_bits_;
    chunk_edges_ = generator_.edges() / (std::uint64_t{threads_} * 8) + kPiece;
    if (track_ids_) ids_.cover(generator_.vertices());
  }

  Graph build(ConvertStats& stats);

 private:
  template <class Visit>
  void each_edge(std::uint64_t begin, std::uint64_t end, Visit&& visit) const;
  template <class Visit>
  void each_record(std::uint64_t begin, std::uint64_t end, Visit&& visit) const;
  std::uint64_t bucket_of(Vertex source) const { return std::uint64_t{source} >> shift_; }

  void count();
  void place();
  void sort();
  void sort_bucket(std::uint64_t bucket, Record* spare, unsigned workers);
  void decide_compaction();
  Csr rows();
  void write_bucket(std::uint64_t bucket, std::uint64_t position, Csr& csr) const;
  Vertex final_id(std::uint64_t id) const {
    return stats_.compacted ? ids_.rank(id) : static_cast<Vertex>(id);
  }

  io::EdgeGenerator generator_;
  const ConvertOptions& rules_;
  unsigned threads_, scale_;
  bool undirected_, track_ids_;
  unsigned bucket_bits_ = 0, shift_ = 0;
  std::uint64_t buckets_ = 1, chunk_edges_ = 1;
  io::IdSet ids_;
  std::vector<std::uint64_t> next_;    ///< by chunk of edges, then bucket: counts, then places
  std::vector<std::uint64_t> starts_;  ///< of buckets in records_, and the end
  std::vector<std::uint64_t> kept_;    ///< by bucket: records left after dropping duplicates
  HostArray<Record> records_;
  ConvertStats stats_;
};

/// Calls visit(source, target) for edges begin, begin + 1, ... before end.
template <class Visit>
void GraphBuilder::each_edge(std::uint64_t begin, std::uint64_t end, Visit&& visit) const {
  std::array<Vertex, kPiece> source, target;
  while (begin < end) {
    const std::uint64_t count = std::min(kPiece, end - begin);
    generator_.fill(begin, {source.data(), count}, {target.data(), count});
    for (std::uint64_t i = 0; i < count; ++i) visit(source[i], target[i]);
    begin += count;
  }
}

/// The same for what is stored: no unwanted self-loops, both directions where undirected.
template <class Visit>
void GraphBuilder::each_record(std::uint64_t begin, std::uint64_t end, Visit&& visit) const {
  each_edge(begin, end, [&](Vertex source, Vertex target) {
    if (source == target && !rules_.keep_self_loops) return;
    visit(source, target);
    if (undirected_ && source != target) visit(target, source);
  });
}

void GraphBuilder::count() {
  const std::uint64_t chunks = (generator_.edges() + chunk_edges_ - 1) / chunk_edges_;
  next_.resize(chunks * buckets_);
  std::atomic<std::uint64_t> self_loops{0};
  parallel_blocks(threads_, generator_.edges(), chunk_edges_,
                  [&](std::uint64_t begin, std::uint64_t end, unsigned) {
                    std::uint64_t* const counts = next_.data() + begin / chunk_edges_ * buckets_;
                    std::uint64_t loops = 0;
                    each_edge(begin, end, [&](Vertex source, Vertex target) {
                      if (track_ids_) ids_.mark(source), ids_.mark(target);
                      const bool loop = source == target, keep = !loop || rules_.keep_self_loops;
                      loops += loop;
                      counts[bucket_of(source)] += keep;
                      if (undirected_) counts[bucket_of(target)] += !loop;
                    });
                    self_loops += loops;
                  });
  stats_.input_edges = generator_.edges();
  stats_.self_loops = rules_.keep_self_loops ? 0 : self_loops.load();
  starts_.assign(buckets_ + 1, 0);
  std::uint64_t sum = 0;
  for (std::uint64_t bucket = 0; bucket < buckets_; ++bucket) {
    starts_[bucket] = sum;
    for (std::uint64_t chunk = 0; chunk < chunks; ++chunk) {
      sum += std::exchange(next_[chunk * buckets_ + bucket], sum);
    }
  }
  starts_[buckets_] = sum;
}

void GraphBuilder::place() {
  records_ = HostArray<Record>(starts_[buckets_], "generated edges");
  parallel_blocks(threads_, generator_.edges(), chunk_edges_,
                  [&](std::uint64_t begin, std::uint64_t end, unsigned) {
                    std::uint64_t* const next = next_.data() + begin / chunk_edges_ * buckets_;
                    each_record(begin, end, [&](Vertex source, Vertex target) {
                      records_[next[bucket_of(source)]++].set_ends(source, target);
                    });
                  });
  next_ = {};
}

/// Equal records are alike, so that the order of the input need not be kept; the sort keeps it anyhow.
void GraphBuilder::sort() {
  kept_.assign(buckets_, 0);
  const std::uint64_t share =
      threads_ == 1 ? records_.size() + 1 : records_.size() / threads_ / 2 + kBucketRecords;
  std::vector<HostArray<Record>> spares(threads_);
  const auto spare_of = [&](std::uint64_t bucket, unsigned thread) {
    const std::uint64_t size = starts_[bucket + 1] - starts_[bucket];
    if (spares[thread].size() < size) {
      spares[thread] = {};
      spares[thread] = HostArray<Record>(size + size / 4, "sorting edges");
    }
    return spares[thread].data();
  };
  parallel_blocks(threads_, buckets_, 1, [&](std::uint64_t bucket, std::uint64_t, unsigned thread) {
    if (starts_[bucket + 1] - starts_[bucket] < share) sort_bucket(bucket, spare_of(bucket, thread), 1);
  });
  for (std::uint64_t bucket = 0; bucket < buckets_; ++bucket) {
    if (starts_[bucket + 1] - starts_[bucket] >= share) sort_bucket(bucket, spare_of(bucket, 0), threads_);
  }
}

void GraphBuilder::sort_bucket(std::uint64_t bucket, Record* spare, unsigned workers) {
  const std::span<Record> records(records_.data() + starts_[bucket], starts_[bucket + 1] - starts_[bucket]);
  radix::sort_level(records.data(), spare, records.size(), {scale_, scale_}, shift_ + scale_, false, workers);
  kept_[bucket] = records.size();
  if (rules_.keep_duplicates) return;
  const io::Dropped result = io::drop_duplicates(records, kNoKey, undirected_);
  kept_[bucket] = result.kept;
  std::atomic_ref(stats_.duplicates) += result.dropped;
}

void GraphBuilder::decide_compaction() {
  stats_.vertices = generator_.vertices();
  if (!track_ids_) return;
  const std::uint64_t used = ids_.count(threads_);
  stats_.compacted = rules_.compact.value_or(generator_.edges() > 0 && used * 2 < stats_.vertices);
  if (!stats_.compacted) return;
  stats_.unused_ids = stats_.vertices - used;
  stats_.vertices = used;
  ids_.index();
}

Csr GraphBuilder::rows() {
  std::vector<std::uint64_t> positions(buckets_);
  for (std::uint64_t bucket = 0; bucket < buckets_; ++bucket) {
    positions[bucket] = stats_.edges;
    stats_.edges += kept_[bucket];
  }
  Csr csr;
  csr.offsets = HostArray<EdgeIndex>(stats_.vertices + 1, "CSR offsets");
  csr.targets = HostArray<Vertex>(stats_.edges, "CSR targets");
  if (rules_.weights == io::WeightRule::uniform) csr.weights = HostArray<float>(stats_.edges, "CSR weights");
  csr.offsets[stats_.vertices] = stats_.edges;
  parallel_blocks(threads_, buckets_, 1, [&](std::uint64_t bucket, std::uint64_t, unsigned) {
    write_bucket(bucket, positions[bucket], csr);
  });
  return csr;
}

/// The rows of the bucket's vertices, the first of which begins at `position`.
void GraphBuilder::write_bucket(std::uint64_t bucket, std::uint64_t position, Csr& csr) const {
  const auto first_row = [&](std::uint64_t b) -> std::uint64_t {
    return b == buckets_ ? stats_.vertices : final_id(b << shift_);
  };
  const std::span<const Record> records(records_.data() + starts_[bucket], kept_[bucket]);
  const std::uint64_t end = first_row(bucket + 1);
  std::uint64_t open = first_row(bucket);  // the first vertex whose row has not begun
  Vertex source = kNoVertex, row = 0;
  for (const Record& record : records) {
    if (record.source() != source) {
      source = record.source();
      row = final_id(source);
      for (; open <= row; ++open) csr.offsets[open] = position;
    }
    const Vertex target = final_id(record.target());
    csr.targets[position] = target;
    if (!csr.weights.empty()) csr.weights[position] = io::uniform_weight(rules_.seed, row, target);
    ++position;
  }
  for (; open < end; ++open) csr.offsets[open] = position;
}

Graph GraphBuilder::build(ConvertStats& stats) {
  const auto report = [&](const char* phase, double fraction) {
    if (rules_.progress) rules_.progress(phase, fraction);
  };
  report("generate", 0);
  count();
  report("generate", 0.5);
  place();
  report("sort", 0);
  sort();
  report("write", 0);
  decide_compaction();
  Graph graph;
  graph.out = rows();
  records_ = {};
  graph.directed = !undirected_;
  graph.weighted = rules_.weights == io::WeightRule::uniform;
  graph.origin = generator_.origin();
  if (stats_.compacted) {
    graph.original_ids = HostArray<std::int64_t>(stats_.vertices, "original ids");
    std::int64_t* next = graph.original_ids.data();
    ids_.for_each([&](std::uint64_t id) { *next++ = static_cast<std::int64_t>(id); });
  }
  if (rules_.reverse) graph.in = transpose(graph.out, threads_);
  stats = stats_;
  return graph;
}

}  // namespace

Graph generate_graph(const GenerateOptions& options, const ConvertOptions& rules, ConvertStats* stats) {
  if (rules.weights == io::WeightRule::column)
    throw UsageError("--weights column: generated edges have no weights");
  ConvertStats ignored;
  return GraphBuilder(options, rules).build(stats ? *stats : ignored);
}

}  // namespace sluice::bench
