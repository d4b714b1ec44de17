// Raw pairs of little-endian ids.

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "engine/core/host_array.hpp"
#include "io/readers/fault.hpp"
#include "io/readers/numbers.hpp"
#include "io/readers/text_format.hpp"

namespace sluice::io::readers {
namespace {

static_assert(std::endian::native == std::endian::little, "ids are copied from the file as they lie");

template <class Id>
class Binary final : public EdgeStream {
 public:
  Binary(std::unique_ptr<LineStream> stream, const ReadOptions& options)
      : stream_(std::move(stream)),
        may_be_empty_(options.may_be_empty),
        raw_(2 * pairs_per_batch(*stream_, options), "a block of binary edges") {
    info_.origin = stream_->path().substr(stream_->path().find_last_of('/') + 1);
    const ByteStream& bytes = stream_->bytes();
    if (!bytes.compressed()) check_size(bytes.total());
  }

  const EdgeStreamInfo& info() const override { return info_; }

  bool next(EdgeBatch& batch) override {
    batch.clear();
    const std::size_t size = stream_->read(reinterpret_cast<char*>(raw_.data()), raw_.bytes());
    check_size(size);
    const std::size_t pairs = size / kPair;
    batch.source.resize(pairs);
    batch.target.resize(pairs);
    for (std::size_t i = 0; i < pairs; ++i) {
      batch.source[i] = raw_[2 * i];
      batch.target[i] = raw_[2 * i + 1];
      if ((batch.source[i] | batch.target[i]) >= kIdLimit)
        throw_in(stream_->path(),
                 fmt::format("edge {} has an id that is not below 2^63; are these 64-bit ids?", edges_ + i));
      targets_are_zero_ &= batch.target[i] == 0;
    }
    edges_ += pairs;
    if (edges_ == 0 && !may_be_empty_) throw_in(stream_->path(), "holds no edges; is it the right file?");
    return pairs > 0;
  }

  std::pair<std::uint64_t, std::uint64_t> progress() const override {
    return {stream_->bytes().total() > 0 ? stream_->bytes().consumed() : 0, stream_->bytes().total()};
  }

  /// If small 64-bit ids are read as pairs of 32-bit ids, every target is an upper half, which is 0.
  std::string remark() const override {
    if (sizeof(Id) == 8 || edges_ < 2 || !targets_are_zero_) return {};
    return "every edge ends at vertex 0: if the ids have 64 bits, name the file .u64";
  }

 private:
  static constexpr std::size_t kPair = 2 * sizeof(Id);

  /// Pairs of a batch; memory holds each as file bytes and as an edge.
  static std::size_t pairs_per_batch(const LineStream& stream, const ReadOptions& options) {
    const std::uint64_t max_pairs = reader_memory() / (kPair + 2 * sizeof(std::uint64_t));
    const ByteStream& bytes = stream.bytes();
    const std::uint64_t file_pairs =
        bytes.total() > 0 && !bytes.compressed() ? bytes.total() / kPair : max_pairs;
    return std::max<std::uint64_t>(std::min({options.batch_bytes / kPair, max_pairs, file_pairs}), 1);
  }

  void check_size(std::uint64_t bytes) const {
    if (bytes % kPair != 0)
      throw_in(stream_->path(),
               fmt::format("ends with {} bytes that are no whole pair of {}-bit ids; the file is "
                           "truncated, or its ids have another size (name it .u32 or .u64)",
                           bytes % kPair, 8 * sizeof(Id)));
  }

  std::unique_ptr<LineStream> stream_;
  EdgeStreamInfo info_;
  bool may_be_empty_;
  HostArray<Id> raw_;
  std::uint64_t edges_ = 0;
  bool targets_are_zero_ = true;
};

}  // namespace

std::unique_ptr<EdgeStream> make_binary(std::unique_ptr<LineStream> stream, unsigned id_bytes,
                                        const ReadOptions& options) {
  if (options.weights == WeightColumn::column || options.timestamps)
    throw_in(stream->path(), "binary pairs hold neither weights nor times; " + options.remedy());
  if (id_bytes == 8) return std::make_unique<Binary<std::uint64_t>>(std::move(stream), options);
  return std::make_unique<Binary<std::uint32_t>>(std::move(stream), options);
}

}  // namespace sluice::io::readers
