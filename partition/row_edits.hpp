// Finds where the lists of a graph change, and makes the changed lists from the old ones in one rewrite.
// Entries between two edits are copied unchanged, so a batch of any size costs little more than a copy of the
// columns.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "engine/core/charged_vector.hpp"
#include "engine/core/host_array.hpp"
#include "engine/core/host_memory.hpp"
#include "engine/exec/threads.hpp"
#include "partition/edge_record.hpp"
#include "partition/graph.hpp"
#include "partition/list_reader.hpp"

namespace sluice {

/// One pair (source, target) whose entries change: `removed` entries from `begin` on are replaced by
/// `inserted` records. Edits are ordered by position and by key.
struct RowEdit {
  EdgeIndex begin = 0;        ///< position in the old columns
  std::uint64_t removed = 0;  ///< entries
  std::uint64_t first = 0;    ///< index of the first record in the sorted insertions
  std::uint64_t inserted = 0;
  std::int64_t shift = 0;  ///< shift of the entries after this edit
  Vertex source = 0, target = 0;

  EdgeIndex end() const { return begin + removed; }
};

/// The edits of a sorted batch.
struct RowEdits {
  HostArray<RowEdit> edits;
  std::uint64_t present = 0;  ///< insertions of edges that exist or are repeated
  std::uint64_t missing = 0;  ///< deletions of edges that do not exist or are repeated
};

namespace rows {

constexpr std::uint64_t kCopyGrain = 1u << 18;    // copied by one thread at a time
constexpr std::uint64_t kSearchGrain = 1u << 12;  // looked up by one thread at a time

template <class Record>
std::size_t lower_bound(std::span<const Record> records, std::uint64_t key) {
  return static_cast<std::size_t>(
      std::partition_point(records.begin(), records.end(), [&](const Record& r) { return r.key() < key; }) -
      records.begin());
}

/// The end of the records from `i` on that have this key.
template <class Record>
std::size_t end_of_key(std::span<const Record> records, std::size_t i, std::uint64_t key) {
  while (i < records.size() && records[i].key() == key) ++i;
  return i;
}

/// Whether a record counts: always if directed; of an undirected edge's two, the one stored first.
inline bool is_counted(bool undirected, Vertex source, Vertex target) {
  return !undirected || source <= target;
}

/// The edits of one stretch of keys; shifts are relative to its beginning.
struct KeyRangeEdits {
  ChargedVector<RowEdit> edits{ChargedAllocator<RowEdit>("edits of lists")};
  std::uint64_t present = 0, missing = 0;
  std::int64_t shift = 0;  ///< after all its edits
};

/// The range of entries equal to `target` in [begin, end). The search starts near `begin`: keys come in
/// order, so the next key of a list is seldom far.
inline std::pair<EdgeIndex, EdgeIndex> find_copies(const Vertex* targets, EdgeIndex begin, EdgeIndex end,
                                                   Vertex target) {
  EdgeIndex step = 1;
  while (begin + step < end && targets[begin + step] < target) begin += step, step *= 2;
  const Vertex* const last = targets + std::min(end, begin + step + 1);
  const Vertex* const first = std::lower_bound(targets + begin, last, target);
  auto copies_end = static_cast<EdgeIndex>(first - targets);
  while (copies_end < end && targets[copies_end] == target) ++copies_end;
  return {static_cast<EdgeIndex>(first - targets), copies_end};
}

/// Finds the edits of one stretch of keys. `first` is the index of insertions[0] among all insertions.
template <class Record, class Deletion>
KeyRangeEdits find_edits(const CsrView& old, std::span<const Record> insertions, std::uint64_t first,
                         std::span<const Deletion> deletions, bool undirected) {
  KeyRangeEdits found;
  found.edits.reserve(insertions.size() + deletions.size());
  std::size_t i = 0, d = 0;
  EdgeIndex begin = 0, end = 0;  // entries of the last target that was searched
  std::uint64_t row = ~std::uint64_t{0};
  while (i < insertions.size() || d < deletions.size()) {
    const bool from_insertions =
        d == deletions.size() || (i < insertions.size() && insertions[i].key() <= deletions[d].key());
    const std::uint64_t key = from_insertions ? insertions[i].key() : deletions[d].key();
    const std::size_t i_end = end_of_key(insertions, i, key), d_end = end_of_key(deletions, d, key);
    RowEdit edit;
    edit.source = static_cast<Vertex>(key >> 32), edit.target = static_cast<Vertex>(key);
    if (edit.source >= old.vertices) {
      begin = end = old.edges;
    } else {
      if (edit.source != row) end = old.offsets[edit.source];
      std::tie(begin, end) = find_copies(old.targets, end, old.offsets[edit.source + 1], edit.target);
    }
    row = edit.source;
    const bool counted = is_counted(undirected, edit.source, edit.target);
    if (d_end > d) edit.removed = end - begin;
    if (counted) found.missing += d_end - d - (edit.removed > 0);
    // Graphs with times keep all copies of an edge; others one, of a batch the first in input order.
    const bool absent = edit.removed == end - begin;
    edit.inserted = Record::kTimed ? i_end - i : std::min<std::uint64_t>(i_end - i, absent);
    if (counted) found.present += i_end - i - edit.inserted;
    edit.begin = edit.removed > 0 ? begin : end;
    edit.first = first + i;
    i = i_end, d = d_end;
    if (edit.removed + edit.inserted == 0) continue;
    found.shift += static_cast<std::int64_t>(edit.inserted) - static_cast<std::int64_t>(edit.removed);
    edit.shift = found.shift;
    found.edits.push_back(edit);
  }
  return found;
}

/// The sources of a batch that are vertices of the old graph, in order, each once.
template <class Record, class Deletion>
std::vector<Vertex> sources_of(std::span<const Record> insertions, std::span<const Deletion> deletions,
                               std::uint64_t vertices) {
  std::vector<Vertex> sources;
  for (const Record& record : insertions) sources.push_back(record.source());
  const auto middle = static_cast<std::ptrdiff_t>(sources.size());
  for (const Deletion& record : deletions) sources.push_back(record.source());
  std::inplace_merge(sources.begin(), sources.begin() + middle, sources.end());
  sources.erase(std::lower_bound(sources.begin(), sources.end(), vertices), sources.end());
  sources.erase(std::unique(sources.begin(), sources.end()), sources.end());
  return sources;
}

/// Joins the edits of consecutive stretches of keys.
RowEdits join(std::vector<KeyRangeEdits> found, unsigned threads);

}  // namespace rows

/// Finds the edits of a batch, sorted by (source, target), in the lists of `old`. Deletions apply first.
template <class Record, class Deletion>
RowEdits find_edits(const ListReader& old, std::span<const Record> insertions,
                    std::span<const Deletion> deletions, bool undirected, unsigned threads) {
  const auto edits_of_range = [&](const CsrView& lists, std::uint64_t first, std::uint64_t last) {
    const auto records_in_range = [&](const auto& records) {
      const std::size_t begin = rows::lower_bound(records, first);
      return std::pair(begin, records.subspan(begin, rows::lower_bound(records, last) - begin));
    };
    const auto [first_index, inserted] = records_in_range(insertions);
    return rows::find_edits(lists, inserted, first_index, records_in_range(deletions).second, undirected);
  };
  // No record has this key: all ids are smaller.
  constexpr std::uint64_t kEnd = ~std::uint64_t{0};
  std::vector<rows::KeyRangeEdits> found;
  std::vector<std::uint64_t> starts{0};
  if (old.in_file()) {
    const auto key = [](Vertex source) { return std::uint64_t{source} << 32; };
    const std::vector<Vertex> sources = rows::sources_of(insertions, deletions, old.rows().vertices);
    old.for_each(sources, [&](const CsrView& lists, std::size_t begin, std::size_t end) {
      found.push_back(edits_of_range(lists, key(sources[begin]), key(sources[end - 1] + 1)));
    });
    found.push_back(edits_of_range(old.rows(), old.rows().vertices << 32, kEnd));
    return rows::join(std::move(found), threads);
  }
  // Stretches begin at keys of the insertions or the deletions, whichever are more.
  const auto cut_at_keys = [&](const auto& records) {
    for (std::size_t i = rows::kSearchGrain; i < records.size(); i += rows::kSearchGrain) {
      if (records[i].key() != starts.back()) starts.push_back(records[i].key());
    }
  };
  insertions.size() >= deletions.size() ? cut_at_keys(insertions) : cut_at_keys(deletions);
  starts.push_back(kEnd);
  found.resize(starts.size() - 1);
  parallel_blocks(threads, found.size(), 1, [&](std::uint64_t block, std::uint64_t, unsigned) {
    found[block] = edits_of_range(old.rows(), starts[block], starts[block + 1]);
  });
  return rows::join(std::move(found), threads);
}

/// Makes a column of the edges after the edits; `memory`, if given, allocates it. inserted(i) is the value of
/// insertion i.
template <class T, class Inserted>
HostArray<T> rewrite_column(const HostArray<T>& old, std::span<const RowEdit> edits, Inserted&& inserted,
                            const char* purpose, unsigned threads, HostMemory* memory = nullptr) {
  const std::int64_t growth = edits.empty() ? 0 : edits.back().shift;
  HostArray<T> column = make_host_array<T>(
      memory, static_cast<std::size_t>(static_cast<std::int64_t>(old.size()) + growth), purpose);
  // The last block ends one after the last entry, so that it includes the insertions there.
  const std::uint64_t positions = old.size() + 1;
  parallel_blocks(threads, positions, rows::kCopyGrain, [&](std::uint64_t from, std::uint64_t to, unsigned) {
    auto next = static_cast<std::size_t>(
        std::partition_point(edits.begin(), edits.end(), [&](const RowEdit& e) { return e.begin < from; }) -
        edits.begin());
    EdgeIndex read = next == 0 ? from : std::max<EdgeIndex>(from, edits[next - 1].end());
    std::int64_t shift = next == 0 ? 0 : edits[next - 1].shift;
    const EdgeIndex last = std::min<EdgeIndex>(to, old.size());
    const auto copy_up_to = [&](EdgeIndex end) {
      if (read >= end) return;
      std::memcpy(column.data() + static_cast<std::int64_t>(read) + shift, old.data() + read,
                  (end - read) * sizeof(T));
    };
    for (; next < edits.size() && edits[next].begin < to; ++next) {
      const RowEdit& edit = edits[next];
      copy_up_to(edit.begin);
      T* write = column.data() + static_cast<std::int64_t>(edit.begin) + shift;
      for (std::uint64_t i = 0; i < edit.inserted; ++i) *write++ = inserted(edit.first + i);
      read = edit.end(), shift = edit.shift;
    }
    copy_up_to(last);
  });
  return column;
}

/// Makes the offsets of `vertices` lists after the edits; there may be more lists than before, not fewer.
HostArray<EdgeIndex> rewrite_offsets(const HostArray<EdgeIndex>& old, std::uint64_t vertices,
                                     std::span<const RowEdit> edits, unsigned threads);

}  // namespace sluice
