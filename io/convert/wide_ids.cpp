#include "io/convert/wide_ids.hpp"

#include <fmt/core.h>

#include "engine/core/error.hpp"
#include "engine/core/size.hpp"

namespace sluice::io {
namespace {

constexpr std::uint64_t kFewestPending = 1u << 15;

}  // namespace

void IdList::settle() {
  const auto end = std::unique((std::sort(pending_.begin(), pending_.begin() + waiting_), pending_.begin()),
                               pending_.begin() + waiting_);
  const auto fresh = static_cast<std::uint64_t>(end - pending_.begin());
  // The list, the list as it will be, and as much again for what comes next.
  const std::uint64_t needed =
      (2 * size_ + 2 * fresh + std::max(kFewestPending, size_ / 2)) * sizeof(std::uint64_t);
  if (needed > memory_) {
    throw BudgetError(
        fmt::format("host memory: compacting more than {} vertices with sparse ids needs {}, {} are left "
                    "(raise --host-memory)",
                    size_, format_size(needed), format_size(memory_)));
  }
  if (fresh > 0) {
    HostArray<std::uint64_t> merged(size_ + fresh, "the list of used ids");
    const auto last =
        std::set_union(ids_.begin(), ids_.begin() + size_, pending_.begin(), end, merged.begin());
    size_ = static_cast<std::uint64_t>(last - merged.begin());
    ids_ = std::move(merged);
  }
  const std::uint64_t room = std::max(kFewestPending, size_ / 2);
  if (pending_.size() < room)
    pending_ = {}, pending_ = HostArray<std::uint64_t>(room, "the list of used ids");
  waiting_ = 0;
}

void EdgeSpool::append(std::uint64_t source, std::uint64_t target, float weight, std::int64_t time) {
  block_.push_back({source, target, time, weight});
  if (block_.size() == kBlock) close();
}

void EdgeSpool::close() {
  file_.append(block_.data(), block_.size() * sizeof(Edge));
  block_.clear();
}

/// Reads a spool back.
class SpoolSource final : public EdgeSource {
 public:
  SpoolSource(const EdgeSpool& spool, const IdList* list) : spool_(&spool), list_(list) {}

  const EdgeSourceInfo& info() const override { return spool_->info_; }

  bool next(EdgeBatch& batch) override {
    batch.clear();
    const std::uint64_t left = (spool_->file_.size() - offset_) / sizeof(EdgeSpool::Edge);
    block_.resize(std::min<std::uint64_t>(left, EdgeSpool::kBlock));
    if (block_.empty()) return false;
    spool_->file_.read(offset_, block_.data(), block_.size() * sizeof(EdgeSpool::Edge));
    offset_ += block_.size() * sizeof(EdgeSpool::Edge);
    for (const EdgeSpool::Edge& edge : block_) {
      batch.source.push_back(list_ ? list_->rank(edge.source) : edge.source);
      batch.target.push_back(list_ ? list_->rank(edge.target) : edge.target);
      if (info().weighted) batch.weight.push_back(edge.weight);
      if (info().timed) batch.time.push_back(edge.time);
    }
    return true;
  }

  std::pair<std::uint64_t, std::uint64_t> progress() const override {
    return {offset_, spool_->file_.size()};
  }

 private:
  const EdgeSpool* spool_;
  const IdList* list_;
  std::vector<EdgeSpool::Edge> block_;
  std::uint64_t offset_ = 0;
};

std::unique_ptr<EdgeSource> EdgeSpool::replay(const IdList* list) {
  return std::make_unique<SpoolSource>(*this, list);
}

}  // namespace sluice::io
