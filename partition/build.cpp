#include "partition/build.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "engine/core/error.hpp"
#include "engine/exec/threads.hpp"
#include "partition/radix_sort.hpp"

namespace sluice {
namespace {

constexpr std::uint64_t kGrain = 1u << 18;
constexpr std::uint64_t kVerticesAtOnce = 1u << 14;

/// Makes rows of sorted records. The lists of all vertices in (source of record i - 1, source of record i]
/// begin at position i.
template <class Record>
Csr rows_of(std::span<const Record> records, std::uint64_t vertices, unsigned threads) {
  Csr csr;
  csr.offsets = HostArray<EdgeIndex>(vertices + 1, "CSR offsets");
  csr.targets = HostArray<Vertex>(records.size(), "CSR targets");
  if (Record::kWeighted) csr.weights = HostArray<float>(records.size(), "CSR weights");
  if (Record::kTimed) csr.times = HostArray<std::int64_t>(records.size(), "CSR times");
  if (host_budget().counts_only()) return csr;
  parallel_blocks(threads, records.size(), kGrain, [&](std::uint64_t begin, std::uint64_t end, unsigned) {
    std::uint64_t next_list = begin == 0 ? 0 : std::uint64_t{records[begin - 1].source()} + 1;
    for (std::uint64_t i = begin; i < end; ++i) {
      const Record& record = records[i];
      for (; next_list <= record.source(); ++next_list) csr.offsets[next_list] = i;
      csr.targets[i] = record.target();
      if constexpr (Record::kWeighted) csr.weights[i] = record.weight();
      if constexpr (Record::kTimed) csr.times[i] = record.time();
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
    HostArray<Record> records(csr.edges(), "sorting edges");
    if (host_budget().counts_only()) return sort_into_rows(records, csr.vertices(), threads);
    parallel_blocks(threads, csr.vertices(), 1u << 14, [&](std::uint64_t begin, std::uint64_t end, unsigned) {
      for (std::uint64_t v = begin; v < end; ++v) {
        for (EdgeIndex i = csr.offsets[v]; i < csr.offsets[v + 1]; ++i) {
          records[i].set_ends(csr.targets[i], static_cast<Vertex>(v));
          if constexpr (Record::kWeighted) records[i].set_weight(csr.weights[i]);
          if constexpr (Record::kTimed) records[i].set_time(csr.times[i]);
        }
      }
    });
    return sort_into_rows(records, csr.vertices(), threads);
  });
}

std::uint64_t transpose_bytes(const Csr& csr) {
  return with_record_type(!csr.weights.empty(), !csr.times.empty(), [&]<class Record>() {
    const std::uint64_t records = csr.edges() * sizeof(Record),
                        rows = csr.offsets.bytes() + records - csr.edges() * sizeof(Vertex);
    return records + std::max(records, rows);
  });
}

Csr transpose_range(const Csr& out, Vertex first, std::uint64_t last, bool weighted, unsigned threads) {
  const std::uint64_t n = out.vertices();
  const auto targets_in_range = [&](std::uint64_t u) {
    const Vertex* begin = out.targets.data() + out.offsets[u];
    const Vertex* end = out.targets.data() + out.offsets[u + 1];
    const Vertex* from = std::lower_bound(begin, end, first);
    return std::pair(from,
                     std::lower_bound(from, end, last, [](Vertex v, std::uint64_t l) { return v < l; }));
  };
  const bool planned = host_budget().counts_only();
  const std::uint64_t rows = planned ? 0 : n;  // to scan: a plan scans none
  HostArray<EdgeIndex> offsets(n + 1, "in-edges");
  if (!planned) offsets[0] = 0;
  for (std::uint64_t u = 0; u < rows; ++u) {
    const auto [from, to] = targets_in_range(u);
    offsets[u + 1] = offsets[u] + static_cast<std::uint64_t>(to - from);
  }
  const EdgeIndex edges = planned ? out.offsets[last] - out.offsets[first] : offsets[n];
  HostArray<Vertex> heads(edges, "in-edges"), tails(edges, "in-edges");
  HostArray<float> weights(weighted ? edges : 0, "in-edges");
  parallel_blocks(threads, rows, kVerticesAtOnce, [&](std::uint64_t begin, std::uint64_t end, unsigned) {
    for (std::uint64_t u = begin; u < end; ++u) {
      const auto [from, to] = targets_in_range(u);
      std::copy(from, to, heads.data() + offsets[u]);
      std::fill(tails.data() + offsets[u], tails.data() + offsets[u + 1], static_cast<Vertex>(u));
      if (weighted) {
        const auto skipped = from - out.targets.data();
        std::copy_n(out.weights.data() + skipped, to - from, weights.data() + offsets[u]);
      }
    }
  });
  return build_csr(n, heads.span(), tails.span(), weights.span(), {}, threads);
}

}  // namespace sluice
