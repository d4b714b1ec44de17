#include "engine/core/ownership.hpp"

#include <algorithm>
#include <utility>

namespace sluice {

namespace {

/// With more buckets per owner, fewer owners share a bucket.
constexpr std::uint64_t kBucketsPerOwner = 8;

}  // namespace

Ownership::Ownership(std::vector<std::uint64_t> begins) : begins_(std::move(begins)) {
  const std::uint64_t max_buckets = std::max<std::uint64_t>(size(), 1) * kBucketsPerOwner;
  while (vertices() >> shift_ > max_buckets) ++shift_;
  const std::uint64_t buckets = vertices() == 0 ? 0 : ((vertices() - 1) >> shift_) + 1;
  bucket_owners_.reserve(buckets + 1);
  std::uint32_t owner = 0;
  for (std::uint64_t bucket = 0; bucket < buckets; ++bucket) {
    while (end(owner) <= bucket << shift_) ++owner;
    bucket_owners_.push_back(owner);
  }
  bucket_owners_.push_back(size() == 0 ? 0 : static_cast<std::uint32_t>(size() - 1));
}

void Ownership::grow(std::uint64_t vertices) {
  begins_.back() = vertices;
  *this = Ownership(std::move(begins_));
}

Ownership Ownership::even(std::uint64_t items, std::uint64_t owners) {
  std::vector<std::uint64_t> begins(owners + 1);
  for (std::uint64_t i = 0; i <= owners; ++i) begins[i] = items * i / owners;
  return Ownership(std::move(begins));
}

}  // namespace sluice
