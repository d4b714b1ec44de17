#include "io/convert/edge_sorter.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "engine/core/error.hpp"
#include "engine/core/size.hpp"
#include "engine/exec/threads.hpp"
#include "io/convert/run_merger.hpp"
#include "partition/radix_sort.hpp"

namespace sluice::io {
namespace {

constexpr std::uint64_t kFirstBuffer = 1u << 16;  // records
constexpr std::uint64_t kReadBlock = 256u << 10;  // bytes per read of a run: enough to make seeks cheap
constexpr std::uint64_t kMinBlock = 64u << 10;    // the same if several threads merge
constexpr std::uint64_t kMaxBlock = 8u << 20;
constexpr std::uint64_t kMaxRuns = 256;     // merged at a time
constexpr std::uint64_t kPiece = 1u << 20;  // records freed of duplicates by one thread
constexpr std::uint64_t kGrain = 1u << 16;  // records copied by one thread at a time
constexpr std::uint64_t kSamples = 16;      // keys sampled per range of keys that is merged separately

/// No pair of ids has this key, since kNoVertex is not an id.
constexpr std::uint64_t kNoKey = ~std::uint64_t{0};

/// Swaps source and target.
template <class Record>
void reverse_all(std::span<const Record> records, Record* reversed, unsigned threads) {
  parallel_blocks(threads, records.size(), kGrain, [&](std::uint64_t begin, std::uint64_t end, unsigned) {
    for (std::uint64_t i = begin; i < end; ++i) {
      reversed[i] = records[i];
      reversed[i].set_ends(records[i].target(), records[i].source());
    }
  });
}

}  // namespace

template <class Record>
void EdgeSorter<Record>::set_memory(std::uint64_t bytes) {
  memory_ = bytes;
  if (buffer_.size() <= capacity()) return;
  spill();
  wait_for_spill();
  buffer_ = {}, spare_ = {};
}

template <class Record>
Record* EdgeSorter<Record>::add(std::uint64_t count) {
  if (count > capacity()) {
    throw BudgetError(
        fmt::format("host memory: sorting {} edges at a time needs {}, {} are left (raise --host-memory)",
                    count, format_size(2 * count * sizeof(Record)), format_size(memory_)));
  }
  if (used_ + count > capacity()) spill();
  if (used_ + count > buffer_.size()) grow(used_ + count);
  Record* const added = buffer_.data() + used_;
  used_ += count;
  return added;
}

template <class Record>
void EdgeSorter<Record>::grow(std::uint64_t wanted) {
  wait_for_spill();
  spare_ = {};
  wanted =
      std::max(wanted, expected_ > buffer_.size() ? expected_ : std::max(2 * buffer_.size(), kFirstBuffer));
  HostArray<Record> grown(std::min(wanted, capacity()), "sorting edges");
  parallel_blocks(options_.threads, used_, kGrain, [&](std::uint64_t begin, std::uint64_t end, unsigned) {
    std::copy_n(buffer_.begin() + begin, end - begin, grown.begin() + begin);
  });
  buffer_ = std::move(grown);
}

/// Sorts the buffer; pieces_ then holds the records that are kept.
template <class Record>
void EdgeSorter<Record>::sort_buffer(std::uint64_t spare_records) {
  wait_for_spill();
  if (spare_.size() < spare_records) {
    spare_ = {};
    spare_ = HostArray<Record>(spare_records, "sorting edges");
  }
  sort_records(std::span(buffer_.data(), used_), std::span(spare_.data(), used_), options_.threads);
  pieces_.clear();
  if (options_.drop_duplicates) {
    deduplicate_pieces();
  } else {
    pieces_.emplace_back(buffer_.data(), used_);
  }
}

template <class Record>
void EdgeSorter<Record>::deduplicate_pieces() {
  const std::uint64_t count = (used_ + kPiece - 1) / kPiece;
  std::vector<std::uint64_t> previous_keys(count,
                                           kNoKey);  // read first: other threads move these records meanwhile
  for (std::uint64_t i = 1; i < count; ++i) previous_keys[i] = buffer_[i * kPiece - 1].key();
  pieces_.resize(count);
  std::atomic<std::uint64_t> dropped{0};
  parallel_blocks(options_.threads, used_, kPiece, [&](std::uint64_t begin, std::uint64_t end, unsigned) {
    const std::uint64_t piece = begin / kPiece;
    Record* out = buffer_.data() + begin;
    std::uint64_t last = previous_keys[piece], piece_dropped = 0;
    for (std::uint64_t i = begin; i < end; ++i) {
      const Record record = buffer_[i];
      if (record.key() == last) {
        piece_dropped += is_counted(record);
      } else {
        last = record.key();
        *out++ = record;
      }
    }
    pieces_[piece] = {buffer_.data() + begin, out};
    dropped += piece_dropped;
  });
  dropped_ += dropped;
}

/// Sorts the buffer into a run, which is written while the other buffer fills.
template <class Record>
void EdgeSorter<Record>::spill() {
  if (used_ == 0) return;
  sort_buffer(buffer_.size());
  if (!file_) file_ = std::make_unique<ScratchFile>(options_.scratch);
  if (!spilling_) spilling_ = std::make_unique<Background>();
  Run run{spilled_bytes_, 0};
  for (const auto piece : pieces_) run.records += piece.size();
  spilled_bytes_ += run.records * sizeof(Record);
  runs_.push_back(run);
  ++spilled_;
  spilling_->begin([file = file_.get(), pieces = std::move(pieces_), run] {
    std::uint64_t at = run.offset;
    for (const auto piece : pieces) {
      file->write(at, std::as_bytes(piece));
      at += piece.size_bytes();
    }
  });
  pieces_.clear();
  std::swap(buffer_, spare_);
  used_ = 0;
}

template <class Record>
void EdgeSorter<Record>::wait_for_spill() {
  if (spilling_) spilling_->wait();
}

template <class Record>
void EdgeSorter<Record>::finish() {
  if (runs_.empty()) {
    sort_buffer(used_);
  } else {
    spill();
    wait_for_spill();
    buffer_ = {};
  }
  spare_ = {};
  merge_all();
  size_ = 0;
  for (const auto piece : pieces_) size_ += piece.size();
  for (const Run& run : runs_) size_ += run.records;
}

/// Runs, or parts of runs, that are merged into one.
template <class Record>
struct EdgeSorter<Record>::Merge {
  std::vector<Run> inputs;
  Run output;
  std::uint64_t dropped = 0;

  void add(Run run) {
    if (run.records > 0) inputs.push_back(run);
    output.records += run.records;
  }
};

/// Merges neighbouring runs, level by level, until memory holds one reader for each run. Then threads merge
/// ranges of keys, as many at a time as memory allows. Each level is a new file.
template <class Record>
void EdgeSorter<Record>::merge_all() {
  const std::uint64_t readers = std::clamp<std::uint64_t>(memory_ / kReadBlock, 3, kMaxRuns + 1);
  while (runs_.size() >= readers) merge(adjacent_merges(readers - 1));
  if (runs_.size() > 1) merge(range_merges(options_.threads == 1 ? 1 : 4 * options_.threads));
}

template <class Record>
auto EdgeSorter<Record>::adjacent_merges(std::uint64_t fan_in) const -> std::vector<Merge> {
  std::vector<Merge> merges((runs_.size() + fan_in - 1) / fan_in);
  for (std::size_t i = 0; i < runs_.size(); ++i) merges[i / fan_in].add(runs_[i]);
  return merges;
}

/// Splits all runs into about equal ranges of keys: each key lies in one range only.
template <class Record>
auto EdgeSorter<Record>::range_merges(std::uint64_t count) const -> std::vector<Merge> {
  std::uint64_t records = 0;
  for (const Run& run : runs_) records += run.records;
  const std::uint64_t step = records / (count * kSamples) + 1;
  std::vector<std::uint64_t> keys;
  for (const Run& run : runs_) {
    for (std::uint64_t i = step / 2; i < run.records; i += step) keys.push_back(key_at(run, i));
  }
  std::sort(keys.begin(), keys.end());
  std::vector<Merge> merges(count);
  parallel_blocks(options_.threads, count, 1, [&](std::uint64_t i, std::uint64_t, unsigned) {
    const auto begin_in = [&](const Run& run, std::uint64_t range) {
      if (range == 0) return std::uint64_t{0};
      return range == count || keys.empty() ? run.records
                                            : lower_bound(run, keys[range * keys.size() / count]);
    };
    for (const Run& run : runs_) {
      const std::uint64_t begin = begin_in(run, i);
      merges[i].add({run.offset + begin * sizeof(Record), begin_in(run, i + 1) - begin});
    }
  });
  return merges;
}

template <class Record>
std::uint64_t EdgeSorter<Record>::key_at(const Run& run, std::uint64_t record) const {
  Record read;
  file_->read(run.offset + record * sizeof(Record), std::as_writable_bytes(std::span(&read, 1)));
  return read.key();
}

/// The first record of a run whose key is not less than `key`.
template <class Record>
std::uint64_t EdgeSorter<Record>::lower_bound(const Run& run, std::uint64_t key) const {
  std::uint64_t begin = 0, end = run.records;
  while (begin < end) {
    const std::uint64_t middle = begin + (end - begin) / 2;
    key_at(run, middle) < key ? begin = middle + 1 : end = middle;
  }
  return begin;
}

/// Each result's place in the new file has space for all of its input records.
template <class Record>
void EdgeSorter<Record>::merge(std::vector<Merge> merges) {
  ScratchFile merged(options_.scratch);
  std::uint64_t offset = 0, max_inputs = 0;
  for (Merge& merge : merges) {
    merge.output.offset = offset;
    offset += merge.output.records * sizeof(Record);
    max_inputs = std::max<std::uint64_t>(max_inputs, merge.inputs.size());
  }
  const auto concurrent_merges = static_cast<unsigned>(
      std::clamp<std::uint64_t>(memory_ / ((max_inputs + 1) * kMinBlock), 1, options_.threads));
  const std::uint64_t block =
      std::min(memory_ / concurrent_merges / (max_inputs + 1), kMaxBlock) / sizeof(Record);
  parallel_blocks(concurrent_merges, merges.size(), 1,
                  [&](std::uint64_t i, std::uint64_t, unsigned) { merge_one(merges[i], merged, block); });
  runs_.clear();
  for (const Merge& merge : merges) {
    runs_.push_back(merge.output);
    dropped_ += merge.dropped;
  }
  *file_ = std::move(merged);
}

template <class Record>
void EdgeSorter<Record>::merge_one(Merge& merge, const ScratchFile& merged, std::uint64_t block) const {
  RunMerger<Record> merger;
  for (const Run& run : merge.inputs) merger.add(RunReader<Record>(*file_, run.offset, run.records, block));
  HostArray<Record> out(std::min(block, merge.output.records), "merging sorted runs");
  merge.output.records = 0;
  std::uint64_t filled = 0, last = kNoKey;
  const auto flush = [&] {
    merged.write(merge.output.offset + merge.output.records * sizeof(Record),
                 std::as_bytes(out.span().first(filled)));
    merge.output.records += filled;
    filled = 0;
  };
  for (merger.start(); !merger.empty(); merger.pop()) {
    if (options_.drop_duplicates && merger.key() == last) {
      merge.dropped += is_counted(merger.record());
      continue;
    }
    last = merger.key();
    out[filled++] = merger.record();
    if (filled == out.size()) flush();
  }
  flush();
}

template <class Record>
void EdgeSorter<Record>::scan(const std::function<void(std::span<const Record>)>& visit) {
  if (runs_.empty()) {
    for (const auto piece : pieces_) {
      if (!piece.empty()) visit(piece);
    }
    return;
  }
  const std::uint64_t block = std::min(memory_ / 2, kMaxBlock) / sizeof(Record);
  for (const Run& run : runs_) {
    RunReader<Record> reader(*file_, run.offset, run.records, block);
    for (auto records = reader.next_block(); !records.empty(); records = reader.next_block()) visit(records);
  }
}

template <class Record>
void EdgeSorter<Record>::reverse() {
  options_.drop_duplicates = false;
  if (runs_.empty()) {
    spare_ = HostArray<Record>(size_, "sorting edges");
    std::uint64_t begin = 0;
    for (const auto piece : pieces_) {
      reverse_all(std::span<const Record>(piece), spare_.data() + begin, options_.threads);
      begin += piece.size();
    }
    std::swap(buffer_, spare_);
    used_ = size_;
    finish();
    return;
  }
  EdgeSorter reversed(options_);
  // Half for the reader of scan(), half for the sorter's own buffers.
  reversed.set_memory(memory_ / 2);
  const std::uint64_t max_piece = std::max<std::uint64_t>(reversed.capacity() / 4, 1);
  scan([&](std::span<const Record> records) {
    for (; !records.empty(); records = records.subspan(std::min<std::uint64_t>(max_piece, records.size()))) {
      const auto piece = records.first(std::min<std::uint64_t>(max_piece, records.size()));
      reverse_all(piece, reversed.add(piece.size()), options_.threads);
    }
  });
  file_.reset();
  const std::uint64_t dropped = dropped_, spilled = spilled_ + reversed.spilled_, memory = memory_;
  reversed.finish();
  *this = std::move(reversed);
  dropped_ = dropped, spilled_ = spilled, memory_ = memory;
}

template class EdgeSorter<EdgeRecord<false, false>>;
template class EdgeSorter<EdgeRecord<false, true>>;
template class EdgeSorter<EdgeRecord<true, false>>;
template class EdgeSorter<EdgeRecord<true, true>>;

}  // namespace sluice::io
