#include "partition/row_edits.hpp"

namespace sluice {

RowEdits rows::join(std::vector<KeyRangeEdits> found, unsigned threads) {
  RowEdits all;
  std::vector<std::uint64_t> begins{0};
  std::vector<std::int64_t> shifts{0};
  for (const KeyRangeEdits& part : found) {
    all.present += part.present;
    all.missing += part.missing;
    begins.push_back(begins.back() + part.edits.size());
    shifts.push_back(shifts.back() + part.shift);
  }
  all.edits = HostArray<RowEdit>(begins.back(), "edits of lists");
  parallel_blocks(threads, found.size(), 1, [&](std::uint64_t part, std::uint64_t, unsigned) {
    RowEdit* out = all.edits.data() + begins[part];
    for (RowEdit edit : found[part].edits) {
      edit.shift += shifts[part];
      *out++ = edit;
    }
    found[part].edits = {};
  });
  return all;
}

HostArray<EdgeIndex> rewrite_offsets(const HostArray<EdgeIndex>& old, std::uint64_t vertices,
                                     std::span<const RowEdit> edits, unsigned threads) {
  HostArray<EdgeIndex> offsets(vertices + 1, "offsets");
  const EdgeIndex old_edges = old[old.size() - 1];
  parallel_blocks(
      threads, vertices + 1, rows::kCopyGrain, [&](std::uint64_t from, std::uint64_t to, unsigned) {
        // List v begins after the edits of all sources before v.
        auto next =
            static_cast<std::size_t>(std::partition_point(edits.begin(), edits.end(),
                                                          [&](const RowEdit& e) { return e.source < from; }) -
                                     edits.begin());
        for (std::uint64_t v = from; v < to;) {
          const std::int64_t shift = next == 0 ? 0 : edits[next - 1].shift;
          const std::uint64_t end =
              next < edits.size() ? std::min<std::uint64_t>(to, std::uint64_t{edits[next].source} + 1) : to;
          for (; v < end; ++v) {
            const EdgeIndex before = v < old.size() ? old[v] : old_edges;
            offsets[v] = static_cast<EdgeIndex>(static_cast<std::int64_t>(before) + shift);
          }
          while (next < edits.size() && edits[next].source < v) ++next;
        }
      });
  return offsets;
}

}  // namespace sluice
