// Merges sorted runs of a scratch file with a heap of their first records; ties go to the run added first.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/core/host_array.hpp"
#include "engine/exec/memory/scratch_file.hpp"

namespace sluice::io {

/// Reads one run block by block.
template <class Record>
class RunReader {
 public:
  RunReader(const ScratchFile& file, std::uint64_t offset, std::uint64_t records, std::uint64_t block_records)
      : file_(&file),
        offset_(offset),
        left_(records),
        block_(std::min(records, block_records), "reading a sorted run") {}

  /// The next block; empty at the end.
  std::span<const Record> next_block() {
    const std::uint64_t count = std::min<std::uint64_t>(left_, block_.size());
    file_->read(offset_, std::as_writable_bytes(block_.span().first(count)));
    offset_ += count * sizeof(Record);
    left_ -= count;
    return {block_.data(), count};
  }

 private:
  const ScratchFile* file_;
  std::uint64_t offset_, left_;
  HostArray<Record> block_;
};

/// Delivers the records of several runs in order.
template <class Record>
class RunMerger {
 public:
  void add(RunReader<Record> reader) {
    inputs_.push_back({std::move(reader), {}, 0});
    Input& input = inputs_.back();
    input.block = input.reader.next_block();
    if (!input.block.empty())
      heads_.push_back({input.block[0].key(), static_cast<std::uint32_t>(inputs_.size() - 1)});
  }

  void start() {
    for (std::size_t i = heads_.size() / 2; i-- > 0;) sift(i);
  }

  bool empty() const { return heads_.empty(); }
  std::uint64_t key() const { return heads_[0].key; }
  const Record& record() const {
    const Input& input = inputs_[heads_[0].run];
    return input.block[input.position];
  }

  void pop() {
    Input& input = inputs_[heads_[0].run];
    if (++input.position == input.block.size()) {
      input.block = input.reader.next_block();
      input.position = 0;
    }
    if (input.block.empty()) {
      heads_[0] = heads_.back();
      heads_.pop_back();
      if (heads_.empty()) return;
    } else {
      heads_[0].key = input.block[input.position].key();
    }
    sift(0);
  }

 private:
  struct Head {
    std::uint64_t key;
    std::uint32_t run;
    bool before(const Head& other) const { return key != other.key ? key < other.key : run < other.run; }
  };
  struct Input {
    RunReader<Record> reader;
    std::span<const Record> block;
    std::size_t position;
  };

  void sift(std::size_t hole) {
    const Head head = heads_[hole];
    for (std::size_t child; (child = 2 * hole + 1) < heads_.size(); hole = child) {
      if (child + 1 < heads_.size() && heads_[child + 1].before(heads_[child])) ++child;
      if (head.before(heads_[child])) break;
      heads_[hole] = heads_[child];
    }
    heads_[hole] = head;
  }

  std::vector<Input> inputs_;
  std::vector<Head> heads_;
};

}  // namespace sluice::io
