#include "engine/pagerank/changes/change_upload.cuh"

#include <algorithm>
#include <cub/block/block_scan.cuh>

#include "engine/exec/memory/copy_lane.hpp"

namespace sluice::pagerank {

namespace {

constexpr unsigned kBlock = kPackedChanges;  // a block of threads takes a block of changes
/// To copy a piece takes less than half as long as to rewrite lists by it. So each piece is twice as long as
/// the one before: the first one is short, and rewriting waits for no other.
constexpr unsigned kMaxPieces = 4;
constexpr std::uint64_t kPieceGrowth = 2;
/// The fewest blocks of changes in the first of several pieces.
constexpr std::uint64_t kMinBlocks = 256;
/// So few bytes are read in place in less time than a copy takes to begin: up to 0.7 ms on an H100 if the GPU
/// did other work before.
constexpr std::uint64_t kFewBytes = std::uint64_t{1} << 20;

// ---- kernels

/// The destination of unpacked changes.
struct Unpacked {
  EdgeChange* changes;
  std::uint64_t* first_weights;  ///< null: weights are not wanted
  EditBuffers edits;
};

/// Unpacks blocks [first, first + gridDim.x) of changes, a thread a change. The headers of all `blocks` begin
/// at `packed`, and the words of their records follow.
__global__ void __launch_bounds__(kBlock)
    unpack_kernel(const PackedBlock* packed, std::uint64_t blocks, std::uint64_t first, std::uint64_t count,
                  Unpacked to, unsigned long long* cleared) {
  using Scan = cub::BlockScan<std::uint64_t, kBlock>;
  __shared__ typename Scan::TempStorage scratch;
  if (cleared != nullptr && blockIdx.x == 0 && threadIdx.x == 0) *cleared = 0;
  if (count == 0) {
    if (threadIdx.x == 0) to.edits.shifts[0] = 0;
    return;
  }
  const PackedBlock block = packed[first + blockIdx.x];
  const auto* const words = reinterpret_cast<const std::uint64_t*>(packed + blocks) + block.word;
  const std::uint64_t i = (first + blockIdx.x) * kBlock + threadIdx.x;
  PlacedChange placed{};
  if (i < count) placed = unpack_change(block, words, threadIdx.x);
  const EdgeChange change = placed.change;
  const std::uint64_t growth = std::uint64_t{change.inserted} - change.removed;
  std::uint64_t shift = 0;
  Scan(scratch).ExclusiveSum(growth, shift);
  shift += block.shift;
  if (to.first_weights != nullptr) {
    std::uint64_t before = 0;
    __syncthreads();
    Scan(scratch).ExclusiveSum(std::uint64_t{change.inserted}, before);
    if (i < count) to.first_weights[i] = block.inserted + before;
  }
  if (i >= count) return;
  to.changes[i] = change;
  to.edits.edits[i] = {placed.begin, change.source, change.inserted};
  to.edits.shifts[i] = shift;
  // The next block, if any, has the same value, but may not have been copied yet.
  if (threadIdx.x == kBlock - 1 || i + 1 == count) to.edits.shifts[i + 1] = shift + growth;
}

}  // namespace

// ---- launchers

void ChangeUpload::begin(const PackedChanges& changes, bool weighted) {
  packed_ = &changes, count_ = changes.count, weighted_ = weighted;
  const std::uint64_t blocks = changes.blocks().size();
  std::uint64_t parts = 1, part = 1;
  for (pieces_ = 1; pieces_ < kMaxPieces; ++pieces_, parts += part) {
    part *= kPieceGrowth;
    if (blocks < (parts + part) * kMinBlocks) break;
  }
  std::uint64_t before = 0;
  part = 1;
  first_blocks_.assign(1, 0);
  for (unsigned piece = 0; piece < pieces_; ++piece, part *= kPieceGrowth)
    first_blocks_.push_back(blocks * (before += part) / parts);
  const auto reserve = [&](auto& memory, std::uint64_t size) {
    reserve_for_batch(memory, device_, size, "changes");
  };
  const std::uint64_t bytes = changes.bytes.size();
  in_place_ = bytes > 0 && bytes <= kFewBytes && cuda::is_page_locked(changes.bytes.data());
  if (!in_place_) reserve(bytes_, bytes);
  reserve(changes_, count_);
  if (weighted) reserve(weights_, changes.weights.size()), reserve(first_weights_, count_);
}

void ChangeUpload::send(unsigned piece, cudaStream_t stream) const {
  const auto copy = [&](void* to, const void* from, std::uint64_t bytes) {
    if (bytes == 0) return;
    cuda::check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream), "copying changes");
  };
  const std::span<const PackedBlock> blocks = packed_->blocks();
  const auto byte_of = [&](unsigned index) -> std::uint64_t {
    if (index == 0) return 0;
    if (index == pieces_) return packed_->bytes.size();
    return blocks.size_bytes() + blocks[first_blocks_[index]].word * sizeof(std::uint64_t);
  };
  const std::uint64_t begin = byte_of(piece);
  if (!in_place_) copy(bytes_.data() + begin, packed_->bytes.data() + begin, byte_of(piece + 1) - begin);
  if (piece == 0 && weighted_) copy(weights_.data(), packed_->weights.data(), packed_->weights.bytes());
}

void ChangeUpload::unpack(unsigned piece, const EditBuffers& edits, unsigned long long* cleared,
                          cudaStream_t stream) const {
  const std::uint64_t first = first_blocks_[piece], last = first_blocks_[piece + 1];
  const std::byte* const packed = in_place_ ? packed_->bytes.data() : bytes_.data();
  const Unpacked to{changes_.data(), weighted_ ? first_weights_.data() : nullptr, edits};
  unpack_kernel<<<cuda::grid_for(std::max<std::uint64_t>(last - first, 1), 1), kBlock, 0, stream>>>(
      reinterpret_cast<const PackedBlock*>(packed), packed_->blocks().size(), first, count_, to,
      piece == 0 ? cleared : nullptr);
  cuda::check_launch("unpack_kernel");
}

RewriteLimit ChangeUpload::rewrite_limit(unsigned piece) const {
  if (piece + 1 == pieces_) return RewriteLimit::all(count_);
  const std::uint64_t next = first_blocks_[piece + 1];
  const PackedBlock& block = packed_->blocks()[next];
  return {next * kPackedChanges, block.begin + block.shift, block.source};
}

ChangeView ChangeUpload::view() const {
  return {changes_.data(), count_, weighted_ ? first_weights_.data() : nullptr,
          weighted_ ? weights_.data() : nullptr};
}

}  // namespace sluice::pagerank
