#include "engine/rank/change_upload.cuh"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <atomic>
#include <thread>
#include <utility>
#include <vector>

#include "engine/exec/scan.hpp"
#include "partition/edge_times.hpp"

namespace sluice::cuda {

namespace {

constexpr std::uint64_t kBlockChanges = std::uint64_t{1} << 11;  // staged by one thread at a time
constexpr std::size_t kBlocksSent = 64;   // at once: copies of less than 1 MiB do not fill the link
constexpr std::size_t kBlocksAlone = 16;  // are staged sooner than other threads wake up
constexpr std::uint64_t kKindsInWord = 16;

/// Past the caches: nobody but the GPU reads it, and memory is what all threads wait for.
void put_past(std::uint64_t* to, std::uint64_t value) {
#if defined(__x86_64__)
  _mm_stream_si64(reinterpret_cast<long long*>(to), static_cast<long long>(value));
#else
  *to = value;
#endif
}

/// Before others are told of what was put past the caches.
void settle_puts() {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

template <class T>
void copy_some(const Buffer<T>& to, const Staging<T>& from, std::uint64_t begin, std::uint64_t end,
               const Stream& stream) {
  if (begin == end) return;
  check(cudaMemcpyAsync(to.data() + begin, from.data() + begin, (end - begin) * sizeof(T),
                        cudaMemcpyHostToDevice, stream.get()),
        "copying changes");
}

/// Where the weights of inserted edges lie in the new graph: they are the last of their pair's entries.
const float* weights_of(const Csr& out, const EdgeChange& change) {
  const Vertex* const targets = out.targets.data();
  const Vertex* const end = std::upper_bound(targets + out.offsets[change.source],
                                             targets + out.offsets[change.source + 1], change.target);
  return out.weights.data() + (end - targets) - change.inserted;
}

}  // namespace

/// Changes that one thread stages.
struct ChangeUpload::Block {
  std::uint64_t growth = 0;    ///< of the edges, modulo 2^64
  std::uint64_t inserted = 0;  ///< entries; then: before the block
  std::atomic<bool> staged{false};
};

Crew& ChangeUpload::crew() {
  if (!crew_) crew_ = std::make_unique<Crew>(device_.threads());
  return *crew_;
}

void ChangeUpload::stage(std::span<const EdgeChange> changes, std::uint64_t begin, std::uint64_t end,
                         Block& block) {
  std::uint64_t inserted = 0, removed = 0;
  for (std::uint64_t from = begin; from < end; from += kKindsInWord) {
    const std::uint64_t until = std::min(end, from + kKindsInWord);
    std::uint32_t kinds = 0;
    for (std::uint64_t i = from; i < until; ++i) {
      const EdgeChange& change = changes[i];
      inserted += change.inserted, removed += change.removed;
      if (whole_) {
        staged_changes_.data()[i] = change;
        continue;
      }
      put_past(staged_pairs_.data() + i, std::uint64_t{change.source} << 32 | change.target);
      const unsigned kind = (change.removed > 0 ? 1u : 0u) | (change.inserted > 0 ? 2u : 0u);
      kinds |= kind << (i - from) * 2;
    }
    if (!whole_) staged_kinds_.data()[from / kKindsInWord] = kinds;
  }
  settle_puts();
  block.inserted = inserted, block.growth = inserted - removed;
  block.staged.store(true, std::memory_order_release);
}

void ChangeUpload::copy(std::uint64_t begin, std::uint64_t end, const Stream& stream) {
  if (whole_) return copy_some(changes_, staged_changes_, begin, end, stream);
  copy_some(pairs_, staged_pairs_, begin, end, stream);
}

std::uint64_t ChangeUpload::send(const Graph& graph, std::span<const EdgeChange> changes, bool weighted,
                                 const Stream& stream) {
  count_ = changes.size(), weighted_ = weighted;
  whole_ = is_timed(graph);
  const auto make_room = [&](auto& memory, std::uint64_t size) {
    reserve_for_batch(memory, device_, size, "changes");
  };
  make_room(changes_, count_);
  if (whole_) {
    make_room(staged_changes_, count_);
  } else {
    make_room(pairs_, count_), make_room(staged_pairs_, count_);
    make_room(kinds_, count_ / kKindsInWord + 1), make_room(staged_kinds_, count_ / kKindsInWord + 1);
  }
  std::vector<Block> blocks((count_ + kBlockChanges - 1) / kBlockChanges);
  std::atomic<std::size_t> next{0};
  const auto stage_next = [&] {
    const std::size_t block = next.fetch_add(1, std::memory_order_relaxed);
    if (block >= blocks.size()) return false;
    const std::uint64_t begin = block * kBlockChanges;
    stage(changes, begin, std::min(begin + kBlockChanges, count_), blocks[block]);
    return true;
  };
  // The caller sends what is staged, and stages where nothing is.
  const auto send_all = [&] {
    for (std::size_t sent = 0; sent < blocks.size();) {
      std::size_t until = sent;
      while (until < blocks.size() && blocks[until].staged.load(std::memory_order_acquire)) ++until;
      if (until == blocks.size() || until >= sent + kBlocksSent) {
        copy(sent * kBlockChanges, std::min(until * kBlockChanges, count_), stream);
        sent = until;
      } else if (!stage_next()) {
        std::this_thread::yield();
      }
    }
  };
  if (blocks.size() <= kBlocksAlone) {
    send_all();
  } else {
    crew().all([&](unsigned thread) {
      if (thread == 0) return send_all();
      while (stage_next()) {
      }
    });
  }
  if (!whole_) copy_some(kinds_, staged_kinds_, 0, (count_ + kKindsInWord - 1) / kKindsInWord, stream);
  std::uint64_t growth = 0, inserted = 0;
  for (Block& block : blocks) {
    growth += block.growth;
    inserted += std::exchange(block.inserted, inserted);
  }
  if (!weighted) return growth;
  make_room(came_, count_ + 1);
  make_room(weights_, inserted), make_room(staged_weights_, inserted);
  stage_weights(graph.out, changes, blocks);
  copy_some(weights_, staged_weights_, 0, inserted, stream);
  return growth;
}

void ChangeUpload::stage_weights(const Csr& out, std::span<const EdgeChange> changes,
                                 std::span<const Block> blocks) {
  const auto some = [&](std::uint64_t block, std::uint64_t, unsigned) {
    float* to = staged_weights_.data() + blocks[block].inserted;
    const std::uint64_t begin = block * kBlockChanges;
    for (const EdgeChange& change : changes.subspan(begin, std::min(kBlockChanges, count_ - begin))) {
      if (change.inserted > 0) to = std::copy_n(weights_of(out, change), change.inserted, to);
    }
  };
  if (blocks.size() <= kBlocksAlone) {
    for (std::size_t block = 0; block < blocks.size(); ++block) some(block, block + 1, 0);
  } else {
    crew().blocks(blocks.size(), 1, some);
  }
}

void ChangeUpload::number_weights(const Stream& stream) {
  if (weighted_) exclusive_sum(device_, came_.data(), came_.data(), count_, scratch_, stream.get());
}

ChangeView ChangeUpload::view() const {
  ChangeView view;
  if (!whole_) view.pairs = pairs_.data(), view.kinds = kinds_.data();
  view.changes = changes_.data();
  view.count = count_;
  if (weighted_) view.first_weights = came_.data(), view.weights = weights_.data();
  return view;
}

}  // namespace sluice::cuda
