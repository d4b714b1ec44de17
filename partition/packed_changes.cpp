#include "partition/packed_changes.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "engine/exec/threads.hpp"
#include "partition/row_edits.hpp"

namespace sluice {

namespace {

constexpr std::uint64_t kBlocksAtOnce = 64;

std::uint8_t bits_of(std::uint64_t value) {
  return static_cast<std::uint8_t>(std::bit_width(value));
}

/// The header of a block of edits. `inserted` is not final: it counts the block's own entries.
PackedBlock make_header(std::span<const RowEdit> edits) {
  PackedBlock block{};
  const RowEdit &first = edits.front(), &last = edits.back();
  block.begin = first.begin, block.source = first.source;
  block.shift = static_cast<std::uint64_t>(first.shift) - first.inserted + first.removed;
  std::uint64_t target = 0, removed = 0, inserted = 0;
  for (const RowEdit& edit : edits) {
    target |= edit.target, removed |= edit.removed, inserted |= edit.inserted;
    block.inserted += edit.inserted;
  }
  block.source_bits = bits_of(last.source - first.source);
  block.begin_bits = bits_of(last.begin - first.begin);
  block.target_bits = bits_of(target);
  block.removed_bits = bits_of(removed), block.inserted_bits = bits_of(inserted);
  return block;
}

std::uint64_t words_of(const PackedBlock& block, std::uint64_t edits) {
  return (edits * block.record_bits() + 63) / 64;
}

/// Writes bit fields one after the other.
class BitWriter {
 public:
  explicit BitWriter(std::uint64_t* words) : next_word_(words) {}

  void put(std::uint64_t value, unsigned bits) {
    word_ |= bits > 0 ? value << used_ : 0;
    used_ += bits;
    if (used_ < 64) return;
    *next_word_++ = word_;
    used_ -= 64;
    word_ = used_ > 0 ? value >> (bits - used_) : 0;
  }
  void flush() {
    if (used_ > 0) *next_word_ = word_;
  }

 private:
  std::uint64_t* next_word_;
  std::uint64_t word_ = 0;
  unsigned used_ = 0;
};

void write_records(std::span<const RowEdit> edits, const PackedBlock& block, std::uint64_t* words) {
  BitWriter writer(words);
  for (const RowEdit& edit : edits) {
    writer.put(edit.source - block.source, block.source_bits);
    writer.put(edit.begin - block.begin, block.begin_bits);
    writer.put(edit.target, block.target_bits);
    writer.put(edit.removed, block.removed_bits);
    writer.put(edit.inserted, block.inserted_bits);
  }
  writer.flush();
}

}  // namespace

PackedChanges pack_changes(std::span<const RowEdit> edits, unsigned threads, HostMemory* memory) {
  PackedChanges packed;
  packed.count = edits.size();
  if (edits.empty()) return packed;
  packed.growth = static_cast<std::uint64_t>(edits.back().shift);
  const std::uint64_t blocks = PackedChanges::blocks_of(edits.size());
  const auto edits_of = [&](std::uint64_t block) {
    const std::uint64_t begin = block * kPackedChanges;
    return edits.subspan(begin, std::min(kPackedChanges, edits.size() - begin));
  };
  HostArray<PackedBlock> headers(blocks, "packed changes");
  const auto for_each_block = [&](auto&& body) {
    parallel_blocks(threads, blocks, kBlocksAtOnce, [&](std::uint64_t begin, std::uint64_t end, unsigned) {
      for (std::uint64_t block = begin; block < end; ++block) body(block);
    });
  };
  for_each_block([&](std::uint64_t block) { headers[block] = make_header(edits_of(block)); });
  std::uint64_t words = 0, inserted = 0;
  for (std::uint64_t block = 0; block < blocks; ++block) {
    headers[block].word = words;
    words += words_of(headers[block], edits_of(block).size());
    inserted += std::exchange(headers[block].inserted, inserted);
    packed.repeats |= headers[block].inserted_bits > 1;
  }
  packed.bytes =
      make_host_array<std::byte>(memory, headers.bytes() + words * sizeof(std::uint64_t), "packed changes");
  std::copy(headers.begin(), headers.end(), reinterpret_cast<PackedBlock*>(packed.bytes.data()));
  auto* const records = reinterpret_cast<std::uint64_t*>(packed.bytes.data() + headers.bytes());
  for_each_block([&](std::uint64_t block) {
    write_records(edits_of(block), headers[block], records + headers[block].word);
  });
  return packed;
}

}  // namespace sluice
