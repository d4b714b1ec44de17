#include "partition/build.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <vector>

#include "engine/core/error.hpp"
#include "engine/exec/threads.hpp"
#include "partition/radix_sort.hpp"

namespace sluice {
namespace {

constexpr std::uint64_t kGrain = 1u << 18;
/// Vertices of a bucket of transpose_rows(), whose counters fit a core's own cache.
constexpr unsigned kListsPerBucketBits = 13;

/// Memory for rows whose edges have what Record has.
template <class Record>
Csr make_rows(std::uint64_t vertices, std::uint64_t edges) {
  Csr csr;
  csr.offsets = HostArray<EdgeIndex>(vertices + 1, "CSR offsets");
  csr.targets = HostArray<Vertex>(edges, "CSR targets");
  if (Record::kWeighted) csr.weights = HostArray<float>(edges, "CSR weights");
  if (Record::kTimed) csr.times = HostArray<std::int64_t>(edges, "CSR times");
  return csr;
}

template <class Record>
void set_edge(Csr& csr, EdgeIndex edge, const Record& record) {
  csr.targets[edge] = record.target();
  if constexpr (Record::kWeighted) csr.weights[edge] = record.weight();
  if constexpr (Record::kTimed) csr.times[edge] = record.time();
}

/// Makes rows of sorted records. The lists of all vertices in (source of record i - 1, source of record i]
/// begin at position i.
template <class Record>
Csr rows_of(std::span<const Record> records, std::uint64_t vertices, unsigned threads) {
  Csr csr = make_rows<Record>(vertices, records.size());
  if (host_budget().counts_only()) return csr;
  parallel_blocks(threads, records.size(), kGrain, [&](std::uint64_t begin, std::uint64_t end, unsigned) {
    std::uint64_t next_list = begin == 0 ? 0 : std::uint64_t{records[begin - 1].source()} + 1;
    for (std::uint64_t i = begin; i < end; ++i) {
      const Record& record = records[i];
      for (; next_list <= record.source(); ++next_list) csr.offsets[next_list] = i;
      set_edge(csr, i, record);
    }
  });
  const std::uint64_t first_empty = records.empty() ? 0 : std::uint64_t{records.back().source()} + 1;
  std::fill(csr.offsets.begin() + first_empty, csr.offsets.end(), records.size());
  return csr;
}

template <class Record>
Csr sort_into_rows(HostArray<Record>& records, std::uint64_t vertices, unsigned threads) {
  {
    HostArray<Record> spare(records.size(), "sorting edges");
    if (!host_budget().counts_only()) sort_records(records.span(), spare.span(), threads);
  }
  return rows_of(std::span<const Record>(records.span()), vertices, threads);
}

/// The `edges` in-edges of vertices [first, last), with weights and times if Record has them. Edges come in
/// order of source, so a stable sort by target suffices: by all threads into buckets of targets whose
/// counters a cache holds, then bucket by bucket into the lists.
template <class Record>
Csr transpose_rows(const Csr& out, Vertex first, std::uint64_t last, std::uint64_t edges, unsigned threads) {
  const std::uint64_t rows = last - first;
  Csr in = make_rows<Record>(out.vertices(), edges);
  HostArray<Record> records(edges, "sorting edges");
  if (host_budget().counts_only()) return in;

  std::fill_n(in.offsets.data(), first, EdgeIndex{0});
  std::fill(in.offsets.data() + (edges == 0 ? first : last), in.offsets.data() + in.offsets.size(), edges);
  if (edges == 0) return in;
  threads = std::max(threads, 1u);
  const auto row_bits = static_cast<unsigned>(std::bit_width(rows - 1));
  const unsigned shift = std::max(kListsPerBucketBits, row_bits - std::min(row_bits, radix::kMaxDigit));
  std::vector<std::uint64_t> buckets(((rows - 1) >> shift) + 2);
  order_in_blocks(
      threads, out.edges(), buckets,
      [&](EdgeIndex edge, EdgeIndex end, const auto& emit) {
        const auto list = std::upper_bound(out.offsets.begin(), out.offsets.end(), edge);
        for (auto source = static_cast<std::uint64_t>(list - out.offsets.begin()) - 1; edge < end; ++source) {
          for (const EdgeIndex list_end = std::min(end, out.offsets[source + 1]); edge < list_end; ++edge) {
            const Vertex row = out.targets[edge] - first;
            if (row >= rows) continue;
            Record record;
            record.set_ends(row, static_cast<Vertex>(source));
            if constexpr (Record::kWeighted) record.set_weight(out.weights[edge]);
            if constexpr (Record::kTimed) record.set_time(out.times[edge]);
            emit(record, row >> shift);
          }
        }
      },
      [&](std::uint64_t position, const Record& record, std::uint32_t) { records[position] = record; });

  radix::for_each_bucket(buckets, threads, [&](std::uint64_t bucket, unsigned workers) {
    const std::uint64_t begin = buckets[bucket], first_row = bucket << shift;
    std::vector<EdgeIndex> lists(std::min(std::uint64_t{1} << shift, rows - first_row) + 1);
    lists[0] = begin;
    order_in_blocks(
        workers, buckets[bucket + 1] - begin, lists,
        [&](std::uint64_t i, std::uint64_t end, const auto& emit) {
          for (; i < end; ++i)
            emit(records[begin + i], static_cast<std::uint32_t>(records[begin + i].source() - first_row));
        },
        [&](EdgeIndex edge, const Record& record, std::uint32_t) { set_edge(in, edge, record); });
    std::copy(lists.begin(), lists.end() - 1, in.offsets.data() + first + first_row);
  });
  return in;
}

}  // namespace

Csr build_csr(std::uint64_t vertices, std::span<const Vertex> source, std::span<const Vertex> target,
              std::span<const float> weight, std::span<const std::int64_t> time, unsigned threads) {
  const auto same_length = [&](std::size_t size) { return size == source.size(); };
  if (!same_length(target.size()) || !(weight.empty() || same_length(weight.size())) ||
      !(time.empty() || same_length(time.size()))) {
    throw UsageError("edge columns differ in length");
  }
  return with_record_type(!weight.empty(), !time.empty(), [&]<class Record>() {
    HostArray<Record> records(source.size(), "sorting edges");
    if (host_budget().counts_only()) return sort_into_rows(records, vertices, threads);
    parallel_blocks(threads, source.size(), kGrain, [&](std::uint64_t begin, std::uint64_t end, unsigned) {
      for (std::uint64_t i = begin; i < end; ++i) {
        if (source[i] >= vertices || target[i] >= vertices) {
          throw InputError(fmt::format("edge {} ({} to {}) is outside the range of {} vertices", i, source[i],
                                       target[i], vertices));
        }
        records[i].set_ends(source[i], target[i]);
        if constexpr (Record::kWeighted) records[i].set_weight(weight[i]);
        if constexpr (Record::kTimed) records[i].set_time(time[i]);
      }
    });
    return sort_into_rows(records, vertices, threads);
  });
}

Csr transpose(const Csr& csr, unsigned threads) {
  return with_record_type(!csr.weights.empty(), !csr.times.empty(), [&]<class Record>() {
    return transpose_rows<Record>(csr, 0, csr.vertices(), csr.edges(), threads);
  });
}

std::uint64_t transpose_bytes(const Csr& csr) {
  return with_record_type(!csr.weights.empty(), !csr.times.empty(), [&]<class Record>() {
    const std::uint64_t records = csr.edges() * sizeof(Record);
    return csr.offsets.bytes() + 2 * records - csr.edges() * sizeof(Vertex);
  });
}

Csr transpose_range(const Csr& out, Vertex first, std::uint64_t last, bool weighted, unsigned threads) {
  std::atomic<std::uint64_t> edges{0};
  if (last - first == out.vertices()) {
    edges = out.edges();
  } else if (host_budget().counts_only()) {
    edges = out.offsets[last] - out.offsets[first];
  } else {
    parallel_blocks(threads, out.edges(), kGrain, [&](EdgeIndex begin, EdgeIndex end, unsigned) {
      edges += static_cast<std::uint64_t>(
          std::count_if(out.targets.data() + begin, out.targets.data() + end,
                        [first, rows = last - first](Vertex target) { return target - first < rows; }));
    });
  }
  return with_record_type(weighted, false, [&]<class Record>() {
    return transpose_rows<Record>(out, first, last, edges, threads);
  });
}

}  // namespace sluice
