// Where a rank's lists are while a GPU works on them: in its memory, or in partitions that are brought; and
// the states of all vertices on the host, before the first round and after the last.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "engine/acc/partitioned/owned_rows.hpp"
#include "engine/core/host_array.hpp"
#include "engine/exec/memory/buffer.hpp"
#include "engine/exec/memory/copy_lane.hpp"
#include "engine/exec/threads.hpp"
#include "engine/graph/partition_map.hpp"

namespace sluice::acc {

/// Lists as the device reaches them. `page` of what is whole: all rows.
class ListedPlace {
 public:
  /// What else the device is to hold must be there already. Partitions take `most` bytes. Keeps references.
  ListedPlace(const Device& device, const OwnedRows& rows, const SweepRows& lists,
              std::uint64_t most = ~std::uint64_t{0})
      : rows_(lists) {
    const CsrView& in = lists.in;
    pages_ = rows.make_pages(lists, locks_, most);
    if (pages_ != nullptr || in.edges == 0) return;
    const EdgeIndex first = in.offsets[0];
    targets_ = upload(device, in.targets + first, in.edges, "the graph's edges");
    if (in.weights != nullptr) weights_ = upload(device, in.weights + first, in.edges, "the graph's weights");
  }

  /// Null: everything is there.
  SweepPages* pages() const { return pages_.get(); }
  /// All rows, where everything is there.
  SweepPage whole() const {
    const EdgeIndex first = rows_.in.vertices > 0 ? rows_.in.offsets[0] : 0;
    return {0, 0, rows_.in.vertices, moved(targets_.data(), first),
            weights_.empty() ? nullptr : moved(weights_.data(), first)};
  }
  /// Where partitions begin: [partitions + 1] rows.
  std::vector<std::uint64_t> boundaries() const {
    std::vector<std::uint64_t> all{0};
    for (std::uint64_t p = 0; p < pages_->size(); ++p) all.push_back(pages_->end(p));
    return all;
  }
  void add_traffic(AccStats& stats) const {
    stats.host_to_device_bytes += uploaded_;
    if (pages_ != nullptr) stats.add_traffic(pages_->traffic());
  }
  /// The same of in-lists, beside those of out-lists.
  void add_more_traffic(AccStats& stats) const {
    stats.host_to_device_bytes += uploaded_;
    if (pages_ != nullptr) stats.add_more_traffic(pages_->traffic());
  }

  template <class T>
  Buffer<T> upload(const Device& device, const T* from, std::uint64_t count, const char* purpose) {
    Buffer<T> buffer(device, count, purpose);
    copy_to_device(device, buffer.data(), from, buffer.bytes());
    uploaded_ += buffer.bytes();
    return buffer;
  }

 private:
  SweepRows rows_;
  std::vector<PageLock> locks_;
  std::unique_ptr<SweepPages> pages_;
  Buffer<Vertex> targets_;
  Buffer<float> weights_;
  std::uint64_t uploaded_ = 0;
};

/// States that all vertices begin with: own ones, and, where `shared`, those of the ranks that own the
/// others, which are 0 else. All ranks call it.
template <class Program>
HostArray<typename Program::State> first_states(const OwnedRows& rows, const Program& program,
                                                std::uint64_t vertices, bool shared, unsigned threads) {
  constexpr std::uint64_t kAtOnce = 1u << 16;
  HostArray<typename Program::State> states(vertices, "vertex states");
  std::fill(states.begin(), states.end(), typename Program::State{0});
  parallel_blocks(threads, rows.last() - rows.first(), kAtOnce,
                  [&](std::uint64_t begin, std::uint64_t end, unsigned) {
                    for (std::uint64_t v = rows.first() + begin; v < rows.first() + end; ++v)
                      states[v] = program.init(static_cast<Vertex>(v), rows.degree(static_cast<Vertex>(v)));
                  });
  if (shared) rows.share(states.data(), "the states to begin with");
  return states;
}

}  // namespace sluice::acc
