#include "partition/updated_edges.hpp"

#include <algorithm>

#include "engine/core/piece.hpp"

namespace sluice {

namespace {

/// Stretches between two edits that have fewer entries are read together.
constexpr std::uint64_t kEntriesAtOnce = 16u << 10;

/// Positions in the new columns: end_after() of the entries after an edit, begin_after() of its insertions.
EdgeIndex end_after(const RowEdit& edit) {
  return static_cast<EdgeIndex>(static_cast<std::int64_t>(edit.end()) + edit.shift);
}
EdgeIndex begin_after(const RowEdit& edit) {
  return end_after(edit) - edit.inserted;
}

std::uint64_t count_removed(const RowEdit* edit, const RowEdit* end) {
  std::uint64_t entries = 0;
  for (; edit != end && entries < kEntriesAtOnce; ++edit) entries += edit->removed;
  return entries;
}

/// Copies stretches of a column, which are in ascending order and end before `last`.
template <class T, class Read>
class BufferedColumn {
 public:
  /// Reads `buffer_entries` entries at a time if the stretches are shorter.
  BufferedColumn(Read& read, std::uint64_t buffer_entries, EdgeIndex last)
      : read_(read), last_(last), buffer_(buffer_entries, "reading edges") {}

  void copy(EdgeIndex from, std::span<T> out) {
    while (!out.empty()) {
      if (from >= buffered_ && from < buffered_end_) {
        const std::uint64_t size = std::min<std::uint64_t>(out.size(), buffered_end_ - from);
        std::copy_n(buffer_.data() + (from - buffered_), size, out.data());
        from += size, out = out.subspan(size);
      } else if (out.size() >= buffer_.size()) {
        return read_(from, out);
      } else {
        buffered_ = from, buffered_end_ = std::min<EdgeIndex>(from + buffer_.size(), last_);
        read_(from, buffer_.span().first(buffered_end_ - buffered_));
      }
    }
  }

 private:
  Read& read_;
  EdgeIndex last_, buffered_ = 0, buffered_end_ = 0;
  HostArray<T> buffer_;
};

}  // namespace

UpdatedEdges::UpdatedEdges(std::shared_ptr<const EdgeSource> old, HostArray<RowEdit> edits,
                           InsertedEdges inserted)
    : old_(std::move(old)), edits_(std::move(edits)), inserted_(std::move(inserted)) {}

template <class T, class Old>
void UpdatedEdges::read(EdgeIndex first, std::span<T> out, const HostArray<T>& inserted, Old&& old) const {
  const EdgeIndex last = first + out.size();
  // Old position of an entry at `position` in the new column, which lies between two edits, before `edit`.
  const auto old_position = [&](EdgeIndex position, const RowEdit* edit) {
    return static_cast<std::int64_t>(position) - (edit == edits_.begin() ? 0 : edit[-1].shift);
  };
  const RowEdit* edit = std::partition_point(edits_.begin(), edits_.end(),
                                             [&](const RowEdit& e) { return end_after(e) <= first; });
  const RowEdit* const end =
      std::partition_point(edit, edits_.end(), [&](const RowEdit& e) { return begin_after(e) < last; });
  // The end of what is read of the old column; inserted entries at either end have no old position.
  const auto old_last = static_cast<EdgeIndex>(std::max(
      old_position(last, end), end == edits_.begin() ? 0 : static_cast<std::int64_t>(end[-1].begin)));
  BufferedColumn<T, Old> old_column(
      old,
      std::min<EdgeIndex>(out.size() + count_removed(edit, end),
                          entries_per_piece(sizeof(T), UpdatedEdges::kMinBytes, kEntriesAtOnce)),
      old_last);
  for (EdgeIndex position = first; position < last; ++edit) {
    const EdgeIndex copied_end = edit == end ? last : std::max(position, begin_after(*edit));
    old_column.copy(static_cast<EdgeIndex>(old_position(position, edit)),
                    out.subspan(position - first, copied_end - position));
    position = copied_end;
    if (edit == end) break;
    for (std::uint64_t i = position - begin_after(*edit); i < edit->inserted && position < last;
         ++i, ++position)
      out[position - first] = inserted[edit->first + i];
  }
}

void UpdatedEdges::read_targets(EdgeIndex first, std::span<Vertex> out) const {
  read(first, out, inserted_.targets,
       [&](EdgeIndex begin, std::span<Vertex> column) { old_->read_targets(begin, column); });
}

void UpdatedEdges::read_weights(EdgeIndex first, std::span<float> out) const {
  read(first, out, inserted_.weights,
       [&](EdgeIndex begin, std::span<float> column) { old_->read_weights(begin, column); });
}

void UpdatedEdges::read_times(EdgeIndex first, std::span<std::int64_t> out) const {
  read(first, out, inserted_.times,
       [&](EdgeIndex begin, std::span<std::int64_t> column) { old_->read_times(begin, column); });
}

}  // namespace sluice
