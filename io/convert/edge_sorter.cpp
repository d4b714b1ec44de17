#include "io/convert/edge_sorter.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "engine/core/error.hpp"
#include "engine/core/size.hpp"
#include "engine/exec/threads.hpp"
#include "io/convert/keep_rule.hpp"
#include "io/convert/run_merger.hpp"
#include "partition/huge_pages.hpp"
#include "partition/radix_sort.hpp"

namespace sluice::io {
namespace {

constexpr std::uint64_t kFirstBuffer = 1u << 16;  // records
constexpr std::uint64_t kReadBlock = 256u << 10;  // bytes a run is read in: enough to make seeks cheap
constexpr std::uint64_t kMostBlock = 8u << 20;
constexpr std::uint64_t kMostRuns = 256;    // merged at a time
constexpr std::uint64_t kPiece = 1u << 20;  // records freed of duplicates by one thread

}  // namespace

template <class Record>
void EdgeSorter<Record>::set_memory(std::uint64_t bytes) {
  memory_ = bytes;
  if (buffer_.size() <= capacity()) return;
  spill();
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
  if (used_ + count > buffer_.size()) {
    spare_ = {};
    const std::uint64_t wanted = std::max({used_ + count, 2 * buffer_.size(), kFirstBuffer});
    HostArray<Record> grown(std::min(wanted, capacity()), "sorting edges");
    prefer_huge_pages(grown);
    std::copy_n(buffer_.begin(), used_, grown.begin());
    buffer_ = std::move(grown);
  }
  Record* const added = buffer_.data() + used_;
  used_ += count;
  return added;
}

/// Leaves the sorted records that stay in pieces_.
template <class Record>
void EdgeSorter<Record>::sort_buffer() {
  if (spare_.size() < used_) {
    spare_ = {};
    spare_ = HostArray<Record>(used_, "sorting edges");
    prefer_huge_pages(spare_);
  }
  sort_records(std::span(buffer_.data(), used_), std::span(spare_.data(), used_), options_.threads);
  pieces_.clear();
  if (options_.drop_duplicates) {
    drop_in_pieces();
  } else {
    pieces_.emplace_back(buffer_.data(), used_);
  }
}

template <class Record>
void EdgeSorter<Record>::drop_in_pieces() {
  const std::uint64_t count = (used_ + kPiece - 1) / kPiece;
  std::vector<std::uint64_t> before(count,
                                    kNoKey);  // taken first: the neighbour moves its own records meanwhile
  for (std::uint64_t i = 1; i < count; ++i) before[i] = buffer_[i * kPiece - 1].key();
  pieces_.resize(count);
  std::atomic<std::uint64_t> dropped{0};
  parallel_blocks(options_.threads, used_, kPiece, [&](std::uint64_t begin, std::uint64_t end, unsigned) {
    const std::uint64_t piece = begin / kPiece;
    const auto result = io::drop_duplicates(std::span(buffer_.data() + begin, end - begin), before[piece],
                                            options_.undirected);
    pieces_[piece] = {buffer_.data() + begin, result.kept};
    dropped += result.dropped;
  });
  dropped_ += dropped;
}

template <class Record>
void EdgeSorter<Record>::spill() {
  if (used_ == 0) return;
  sort_buffer();
  if (!file_) file_ = std::make_unique<ScratchFile>(options_.scratch);
  Run run{file_->size(), 0};
  for (const auto piece : pieces_) {
    file_->append(std::as_bytes(piece));
    run.records += piece.size();
  }
  runs_.push_back(run);
  ++spilled_;
  pieces_.clear();
  used_ = 0;
}

template <class Record>
void EdgeSorter<Record>::finish() {
  size_ = 0;
  if (runs_.empty()) {
    sort_buffer();
    for (const auto piece : pieces_) size_ += piece.size();
  } else {
    spill();
    buffer_ = {};
  }
  spare_ = {};
  if (!runs_.empty()) {
    merge_all();
    size_ = runs_[0].records;
  }
}

/// Merges neighbouring runs, level by level, until one is left. Each level is a file of its own.
template <class Record>
void EdgeSorter<Record>::merge_all() {
  const std::uint64_t fan_in = std::clamp<std::uint64_t>(memory_ / kReadBlock, 3, kMostRuns + 1) - 1;
  while (runs_.size() > 1) {
    auto merged = std::make_unique<ScratchFile>(options_.scratch);
    std::vector<Run> level;
    for (std::size_t first = 0; first < runs_.size(); first += fan_in) {
      const std::size_t count = std::min<std::size_t>(fan_in, runs_.size() - first);
      const std::uint64_t block = std::min(memory_ / (count + 1), kMostBlock) / sizeof(Record);
      RunMerger<Record> merger;
      for (std::size_t i = first; i < first + count; ++i) {
        merger.add(RunReader<Record>(*file_, runs_[i].offset, runs_[i].records, block));
      }
      HostArray<Record> out(block, "merging sorted runs");
      Run run{merged->size(), 0};
      std::uint64_t filled = 0, last = kNoKey;
      for (merger.start(); !merger.empty(); merger.pop()) {
        if (options_.drop_duplicates && merger.key() == last) {
          const Record& record = merger.record();
          dropped_ += !options_.undirected || record.source() <= record.target();
          continue;
        }
        last = merger.key();
        out[filled++] = merger.record();
        if (filled == out.size()) {
          merged->append(std::as_bytes(out.span()));
          run.records += filled;
          filled = 0;
        }
      }
      merged->append(std::as_bytes(out.span().first(filled)));
      run.records += filled;
      level.push_back(run);
    }
    file_ = std::move(merged);
    runs_ = std::move(level);
  }
}

template <class Record>
void EdgeSorter<Record>::scan(const std::function<void(std::span<const Record>)>& visit) {
  if (runs_.empty()) {
    for (const auto piece : pieces_) {
      if (!piece.empty()) visit(piece);
    }
    return;
  }
  const std::uint64_t block = std::min(memory_ / 2, kMostBlock) / sizeof(Record);
  RunReader<Record> reader(*file_, runs_[0].offset, runs_[0].records, block);
  for (auto records = reader.next_block(); !records.empty(); records = reader.next_block()) visit(records);
}

template <class Record>
void EdgeSorter<Record>::reverse() {
  const auto turn = [](const Record& record, Record& turned) {
    turned = record;
    turned.set_ends(record.target(), record.source());
  };
  options_.drop_duplicates = false;
  if (runs_.empty()) {
    used_ = 0;
    for (const auto piece : pieces_) {
      for (const Record& record : piece) turn(record, buffer_[used_++]);  // never overtakes what it reads
    }
    finish();
    return;
  }
  EdgeSorter reversed(options_);
  // Half for the reader of scan(), half for the sorter's own buffers.
  reversed.set_memory(memory_ / 2);
  const std::uint64_t most = std::max<std::uint64_t>(reversed.capacity() / 4, 1);
  scan([&](std::span<const Record> records) {
    for (; !records.empty(); records = records.subspan(std::min<std::uint64_t>(most, records.size()))) {
      const std::uint64_t count = std::min<std::uint64_t>(most, records.size());
      Record* const added = reversed.add(count);
      for (std::uint64_t i = 0; i < count; ++i) turn(records[i], added[i]);
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
