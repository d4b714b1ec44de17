// Where a rank's lists are while an executor works on them: in host memory or the graph's file, in the GPU's
// memory, or in partitions that are brought.
#pragma once

#include <memory>
#include <vector>

#include "engine/acc/rounds/rank_part.hpp"
#include "engine/exec/memory/buffer.hpp"
#include "engine/exec/memory/copy_lane.hpp"
#include "engine/graph/partition_map.hpp"
#include "engine/memory/row_pieces.hpp"

namespace sluice::acc {

/// Lists as an executor reads them.
class EdgeLists {
 public:
  /// What else the device is to hold must be there already. Partitions take `most` bytes, and of slots that
  /// are asked for `taken` fewer. Keeps references.
  EdgeLists(const Device& device, const RankPart& rows, const SweepRows& lists,
            std::uint64_t most = ~std::uint64_t{0}, std::uint64_t taken = 0)
      : rows_(lists), uploads_(device.is_cuda()) {
    const CsrView& in = lists.in;
    pages_ = rows.make_pages(lists, locks_, most, taken);
    if (pages_ != nullptr || in.edges == 0 || !uploads_) return;
    const bool weighted = lists.file != nullptr ? rows.weighted() : in.weights != nullptr;
    targets_ = Buffer<Vertex>(device, in.edges, "the graph's edges");
    if (weighted) weights_ = Buffer<float>(device, in.edges, "the graph's weights");
    if (!device.plans()) upload(device);
  }

  /// All lists, in memory that the executor reads.
  explicit EdgeLists(const CsrView& lists) : rows_(lists), uploads_(false) {}

  /// Null: all lists are there.
  SweepPages* pages() const { return pages_.get(); }
  /// All rows, where all lists are there.
  SweepPage whole() const {
    if (!uploads_) return {0, 0, rows_.in.vertices, rows_.in.targets, rows_.in.weights};
    const EdgeIndex first = rows_.in.vertices > 0 ? rows_.in.offsets[0] : 0;
    return {0, 0, rows_.in.vertices, moved(targets_.data(), first),
            weights_.empty() ? nullptr : moved(weights_.data(), first)};
  }
  void add_traffic(AccStats& stats) const {
    stats.host_to_device_bytes += uploaded_, stats.read_bytes += read_;
    if (pages_ != nullptr) stats.add_traffic(traffic());
  }
  /// The same of in-lists, beside those of out-lists.
  void add_more_traffic(AccStats& stats) const {
    stats.host_to_device_bytes += uploaded_, stats.read_bytes += read_;
    if (pages_ != nullptr) stats.add_more_traffic(traffic());
  }

 private:
  void upload(const Device& device) {
    const EdgeIndex* const offsets = rows_.in.offsets;
    const auto copy = [&](auto& buffer, const auto* from, std::uint64_t begin, std::uint64_t end) {
      const EdgeIndex first = offsets[begin];
      copy_to_device(device, buffer.data() + (first - offsets[0]), from + first,
                     (offsets[end] - first) * sizeof *from);
    };
    for_each_piece(rows_.in, rows_.file, true, !weights_.empty(),
                   [&](std::uint64_t begin, std::uint64_t end, const Vertex* targets, const float* weights) {
                     copy(targets_, targets, begin, end);
                     if (!weights_.empty()) copy(weights_, weights, begin, end);
                   });
    uploaded_ = targets_.bytes() + weights_.bytes();
    if (rows_.file != nullptr) read_ = uploaded_;
  }

  /// Host threads read lists in place over no link, and their worklists name some vertices in vain.
  SweepTraffic traffic() const {
    SweepTraffic all = pages_->traffic();
    if (!uploads_) all.mapped_bytes = 0;
    return all;
  }

  SweepRows rows_;
  bool uploads_;  ///< or reads lists where they are
  std::vector<PageLock> locks_;
  std::unique_ptr<SweepPages> pages_;
  Buffer<Vertex> targets_;
  Buffer<float> weights_;
  std::uint64_t uploaded_ = 0, read_ = 0;  ///< bytes; read_: from a file
};

}  // namespace sluice::acc
