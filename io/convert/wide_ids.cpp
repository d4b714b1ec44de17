#include "io/convert/wide_ids.hpp"

#include <algorithm>
#include <utility>

#include "engine/exec/threads.hpp"

namespace sluice::io {

IdList::IdList(std::uint64_t memory, unsigned threads, const std::string& scratch)
    : sorter_({true, false, threads, scratch}), file_(scratch) {
  sorter_.set_memory(memory);
}

void IdList::close() {
  sorter_.finish();
  ChargedVector<std::uint64_t> block;
  constexpr std::size_t kBlock = 1u << 16;
  block.reserve(kBlock);
  const auto flush = [&] {
    file_.append(std::as_bytes(std::span(block)));
    block.clear();
  };
  sorter_.scan([&](std::span<const Record> records) {
    for (const Record& record : records) {
      block.push_back(record.key());
      if (block.size() == kBlock) flush();
    }
  });
  flush();
  sorter_ = EdgeSorter<Record>({});
}

EdgeSpool::EdgeSpool(const std::string& scratch, unsigned threads, const EdgeStreamInfo& info)
    : scratch_(scratch), threads_(threads), file_(std::make_unique<ScratchFile>(scratch)), info_(info) {
  block_.reserve(kBlock);
}

void EdgeSpool::append(std::uint64_t source, std::uint64_t target, float weight, std::int64_t time) {
  block_.push_back({source, target, time, weight});
  if (block_.size() == kBlock) close();
}

std::uint64_t EdgeSpool::append(const EdgeBatch& batch, std::size_t begin, IdList& ids) {
  std::uint64_t largest = 0;
  for (std::size_t i = begin; i < batch.size(); ++i) {
    largest = std::max({largest, batch.source[i], batch.target[i]});
    ids.add(batch.source[i]);
    ids.add(batch.target[i]);
    append(batch.source[i], batch.target[i], info_.weighted ? batch.weight[i] : 1,
           info_.timed ? batch.time[i] : 0);
  }
  return largest;
}

void EdgeSpool::close() {
  file_->append(std::as_bytes(std::span(block_)));
  block_.clear();
}

std::span<EdgeSpool::Edge> EdgeSpool::read(std::uint64_t& offset, ChargedVector<Edge>& block) const {
  block.resize(std::min<std::uint64_t>((file_->size() - offset) / sizeof(Edge), kBlock));
  file_->read(offset, std::as_writable_bytes(std::span(block)));
  offset += block.size() * sizeof(Edge);
  if (ranks_) {
    parallel_blocks(threads_, block.size(), kGrain, [&](std::uint64_t begin, std::uint64_t end, unsigned) {
      rank(std::span(block).subspan(begin, end - begin));
    });
  }
  return block;
}

void EdgeSpool::rank(std::span<Edge> edges) const {
  constexpr std::size_t kEdgesPerSearch = 16;
  for (; edges.size() >= kEdgesPerSearch; edges = edges.subspan(kEdgesPerSearch)) {
    std::uint64_t* ids[2 * kEdgesPerSearch];
    for (std::size_t i = 0; i < kEdgesPerSearch; ++i)
      ids[2 * i] = &edges[i].source, ids[2 * i + 1] = &edges[i].target;
    ranks_->rank(ids);
  }
  for (Edge& edge : edges) ranks_->rank({&edge.source, &edge.target});
}

void EdgeSpool::rank_ids(const IdList& list, std::uint64_t memory) {
  const std::uint64_t max_ids = std::max<std::uint64_t>(memory / sizeof(std::uint64_t), 1);
  for (std::uint64_t first = 0; first < list.size(); first += max_ids) {
    if (first > 0) {
      auto ranked = std::make_unique<ScratchFile>(scratch_);
      for (std::uint64_t offset = 0; !read(offset, block_).empty();)
        ranked->append(std::as_bytes(std::span(block_)));
      file_ = std::move(ranked);
      ranks_.reset();
    }
    ranks_.emplace(list, first, std::min(max_ids, list.size() - first));
  }
}

/// Reads a spool back.
class SpoolSource final : public EdgeStream {
 public:
  explicit SpoolSource(const EdgeSpool& spool) : spool_(&spool) {}

  const EdgeStreamInfo& info() const override { return spool_->info_; }

  bool next(EdgeBatch& batch) override {
    batch.clear();
    for (const EdgeSpool::Edge& edge : spool_->read(offset_, block_)) {
      batch.source.push_back(IdRanks::unmarked(edge.source));
      batch.target.push_back(IdRanks::unmarked(edge.target));
      if (info().weighted) batch.weight.push_back(edge.weight);
      if (info().timed) batch.time.push_back(edge.time);
    }
    return batch.size() > 0;
  }

  std::pair<std::uint64_t, std::uint64_t> progress() const override {
    return {offset_, spool_->file_->size()};
  }

 private:
  const EdgeSpool* spool_;
  ChargedVector<EdgeSpool::Edge> block_;
  std::uint64_t offset_ = 0;
};

std::unique_ptr<EdgeStream> EdgeSpool::replay() const {
  return std::make_unique<SpoolSource>(*this);
}

}  // namespace sluice::io
