#include "engine/pagerank/dynamic/affected.hpp"

#include <algorithm>
#include <numeric>

namespace sluice::pagerank {

namespace {

/// A set of more than this part of all vertices is put in order of id: a scan of the flags then costs less
/// than what is saved.
constexpr std::uint64_t kManyPart = 16;

}  // namespace

AffectedSet::AffectedSet(std::uint64_t first, std::uint64_t last, unsigned threads)
    : first_(first), threads_(threads), flags_(last - first, "flags of affected vertices") {
  std::fill(flags_.begin(), flags_.end(), std::uint8_t{0});
}

void AffectedSet::add(Vertex v) {
  if (v < first_ || v >= first_ + flags_.size()) return;
  std::uint8_t& flags = flags_[v - first_];
  if (flags & kMember) return;
  list_.push_back(v);
  if (!(flags & kEver)) ever_.push_back(v);
  flags |= kMember | kEver;
}

void AffectedSet::add_all() {
  list_.resize(flags_.size());
  std::iota(list_.begin(), list_.end(), static_cast<Vertex>(first_));
  ever_ = list_;
  std::fill(flags_.begin(), flags_.end(), std::uint8_t{kMember | kEver});
}

void AffectedSet::append(const std::vector<Found>& found) {
  for (const Found& part : found) {
    list_.insert(list_.end(), part.fresh.begin(), part.fresh.end());
    ever_.insert(ever_.end(), part.first.begin(), part.first.end());
  }
}

void AffectedSet::sort_if_many() {
  if (list_.size() < flags_.size() / kManyPart || std::is_sorted(list_.begin(), list_.end())) return;
  std::size_t next = 0;
  for (std::uint64_t i = 0; i < flags_.size(); ++i) {
    if (flags_[i] & kMember) list_[next++] = static_cast<Vertex>(first_ + i);
  }
}

std::vector<std::uint64_t> AffectedSet::group(const PartitionPlan& plan) {
  std::vector<std::uint64_t> begins(plan.size() + 1);
  const auto owner = [&](Vertex v) { return plan.owner(static_cast<Vertex>(v - first_)); };
  for (const Vertex v : list_) ++begins[owner(v) + 1];
  std::partial_sum(begins.begin(), begins.end(), begins.begin());
  if (std::is_sorted(list_.begin(), list_.end())) return begins;
  std::vector<std::uint64_t> next = begins;
  std::vector<Vertex> grouped(list_.size());
  for (const Vertex v : list_) grouped[next[owner(v)]++] = v;
  list_ = std::move(grouped);
  return begins;
}

void AffectedSet::keep(std::span<const std::uint8_t> stays) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < list_.size(); ++i) {
    if (stays[i]) {
      list_[kept++] = list_[i];
    } else {
      flags_[list_[i] - first_] = kEver;
    }
  }
  list_.resize(kept);
}

void AffectedSet::drop_all() {
  for (const Vertex v : list_) flags_[v - first_] = kEver;
  list_.clear();
}

void AffectedSet::clear() {
  for (const Vertex v : ever_) flags_[v - first_] = 0;
  list_.clear();
  ever_.clear();
}

}  // namespace sluice::pagerank
