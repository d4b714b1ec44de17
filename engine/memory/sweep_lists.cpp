#include "engine/memory/sweep_lists.hpp"

#include <algorithm>

#include "engine/core/host_array.hpp"
#include "engine/exec/memory/threaded_copies.hpp"
#include "engine/graph/partition_map.hpp"
#include "partition/plan.hpp"

namespace sluice {

namespace {

/// Bytes of edges that are read from a file at a time.
constexpr std::uint64_t kPieceBytes = 16u << 20;

}  // namespace

void for_each_piece(const CsrView& rows, const EdgeSource* file, bool targets, bool weights,
                    const UseRows& use) {
  if (file == nullptr) return use(0, rows.vertices, rows.targets, rows.weights);
  const std::uint64_t edge = (targets ? sizeof(Vertex) : 0) + (weights ? sizeof(float) : 0);
  const std::uint64_t piece_bytes = std::min<std::uint64_t>(kPieceBytes, host_budget().available() / 8);
  const PartitionPlan pieces({rows.offsets, rows.vertices + 1}, {0, edge},
                             std::max<std::uint64_t>(piece_bytes, 1));
  const std::uint64_t max_edges = pieces.largest() / edge;
  HostArray<Vertex> target_buffer(targets ? max_edges : 0, "reading edges");
  HostArray<float> weight_buffer(weights ? max_edges : 0, "reading edges");
  for (std::uint64_t p = 0; p < pieces.size(); ++p) {
    const EdgeIndex first = rows.offsets[pieces.begin(p)], last = rows.offsets[pieces.end(p)];
    if (targets) file->read_targets(first, {target_buffer.data(), last - first});
    if (weights) file->read_weights(first, {weight_buffer.data(), last - first});
    use(pieces.begin(p), pieces.end(p), rebase(target_buffer.data(), first),
        rebase(weight_buffer.data(), first));
  }
}

void copy_lists_to_device(const Device& device, const CsrView& lists, PendingEdges* pending_edges,
                          Vertex* targets, float* weights) {
  const EdgeIndex begin = lists.vertices > 0 ? lists.offsets[0] : 0;
  const std::uint64_t bytes = lists.edges * sizeof(Vertex), weight_bytes = lists.edges * sizeof(float);
  if (pending_edges == nullptr || pending_edges->complete()) {
    copy_to_device(device, targets, lists.targets + begin, bytes);
    if (weights != nullptr) copy_to_device(device, weights, lists.weights + begin, weight_bytes);
    return;
  }
  ThreadedCopies uploads(device, bytes + (weights != nullptr ? weight_bytes : 0), device.threads());
  pending_edges->read(device.threads(), [&](std::uint64_t first, std::uint64_t last, unsigned thread) {
    const EdgeIndex position = lists.offsets[first], count = lists.offsets[last] - position;
    uploads.to_device_by(thread, targets + (position - begin), lists.targets + position,
                         count * sizeof(Vertex));
    if (weights != nullptr)
      uploads.to_device_by(thread, weights + (position - begin), lists.weights + position,
                           count * sizeof(float));
  });
}

std::vector<PageLock> lock_lists(const Device& device, const SweepRows& rows) {
  const CsrView& csr = rows.csr;
  std::vector<PageLock> locks;
  if (rows.file != nullptr || csr.edges == 0 || csr.targets == nullptr) return locks;
  locks.emplace_back(device, csr.targets + csr.offsets[0], csr.edges * sizeof(Vertex));
  if (csr.weights != nullptr)
    locks.emplace_back(device, csr.weights + csr.offsets[0], csr.edges * sizeof(float));
  return locks;
}

std::optional<CodedGraph> make_coded_lists(const Device& device, const SweepRows& rows,
                                           std::uint64_t targets) {
  if (rows.file != nullptr || rows.csr.targets == nullptr || rows.csr.weights != nullptr ||
      device.is_planning())
    return std::nullopt;
  const CodedSizes sizes(rows.csr, device.threads(), false, targets);
  if (!sizes.saves_space(sizeof(Vertex)) || sizes.word_bytes() > host_budget().available() / 2)
    return std::nullopt;
  return CodedGraph::of(device, rows.csr, sizes, nullptr);
}

SweepLists::SweepLists(const Device& device, const SweepRows& rows, bool weighted, const char* purpose,
                       std::unique_ptr<SweepPages> pages, std::vector<PageLock> locks,
                       PendingEdges* pending_edges)
    : rows_(rows), uploads_(device.is_cuda()), locks_(std::move(locks)), pages_(std::move(pages)) {
  if (pages_ != nullptr || !uploads_) return;
  targets_ = Buffer<Vertex>(device, rows.csr.edges, purpose);
  if (weighted) weights_ = Buffer<float>(device, rows.csr.edges, purpose);
  if (!device.is_planning()) upload(device, pending_edges);
}

void SweepLists::upload(const Device& device, PendingEdges* pending_edges) {
  if (rows_.file == nullptr)
    return copy_lists_to_device(device, rows_.csr, pending_edges, targets_.data(), weights_.data());
  const EdgeIndex* const offsets = rows_.csr.offsets;
  const auto copy = [&](auto& buffer, const auto* from, std::uint64_t begin, std::uint64_t end) {
    if (buffer.empty()) return;
    const EdgeIndex first = offsets[begin];
    copy_to_device(device, buffer.data() + (first - offsets[0]), from + first,
                   (offsets[end] - first) * sizeof *from);
  };
  for_each_piece(rows_.csr, rows_.file, true, !weights_.empty(),
                 [&](std::uint64_t begin, std::uint64_t end, const Vertex* targets, const float* weights) {
                   copy(targets_, targets, begin, end);
                   copy(weights_, weights, begin, end);
                 });
}

SweepPage SweepLists::whole() const {
  const CsrView& csr = rows_.csr;
  if (!uploads_) return {0, 0, csr.vertices, csr.targets, csr.weights};
  const EdgeIndex first = csr.vertices > 0 ? csr.offsets[0] : 0;
  return {0, 0, csr.vertices, rebase(targets_.data(), first),
          weights_.empty() ? nullptr : rebase(weights_.data(), first)};
}

void SweepLists::for_each(const SweepPages::Work& work) const {
  if (pages_ != nullptr) return pages_->for_each([](std::uint32_t) { return true; }, work);
  const SweepPage all = whole();
  if (all.end > 0) work({&all, 1});
}

Traffic SweepLists::traffic() const {
  Traffic traffic;
  if (pages_ == nullptr) {
    traffic.host_to_device_bytes = targets_.bytes() + weights_.bytes();
    if (rows_.file != nullptr) traffic.read_bytes = traffic.host_to_device_bytes;
    return traffic;
  }
  traffic = pages_->traffic();
  // The host's threads read in place over no link, and their worklists also name vertices that are not
  // needed.
  if (!uploads_) traffic.mapped_bytes = 0;
  return traffic;
}

std::uint64_t SweepLists::planned_bytes() const {
  return pages_ != nullptr ? pages_->slot_bytes() : targets_.bytes() + weights_.bytes();
}

}  // namespace sluice
