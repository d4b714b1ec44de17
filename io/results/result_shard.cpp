#include <fcntl.h>

#include <algorithm>

#include "engine/core/error.hpp"
#include "io/results/result_forms.hpp"

namespace sluice::io {
namespace {

constexpr std::size_t kBufferBytes = 1u << 20;  // small appends are gathered
constexpr std::uint64_t kPieceBytes = 4u << 20;
constexpr std::uint64_t kEnd = ~std::uint64_t{0};

/// Header of each append in the log; the log ends with a header whose dataset is kEnd.
struct Record {
  std::uint64_t dataset = kEnd;
  std::uint64_t rows = 0;
  std::uint64_t bytes = 0;
  std::uint64_t counts = 0;  ///< 1: lengths of lists rather than rows
};

class ShardResults final : public ResultWriter {
 public:
  ShardResults(const std::string& path, const std::string& display_path)
      : ResultWriter(display_path), file_(path, O_WRONLY | O_CREAT | O_EXCL, display_path) {
    buffer_.reserve(kBufferBytes);
  }

  /// Logs the lengths themselves: offsets depend on the lists of earlier ranks, known only at the replay.
  void append_counts(int dataset, std::span<const std::uint64_t> counts) override {
    const auto bytes = std::as_bytes(counts);
    write_record({static_cast<std::uint64_t>(dataset), counts.size(), bytes.size(), 1}, bytes);
  }

 private:
  void store_rows(std::size_t dataset, std::span<const std::byte> bytes) override {
    write_record({dataset, bytes.size() / datasets()[dataset].row_bytes(), bytes.size(), 0}, bytes);
  }

  void complete() override {
    write_record({}, {});
    flush();
    file_.close();
  }

  void write_record(const Record& record, std::span<const std::byte> bytes) {
    write(std::as_bytes(std::span(&record, 1)));
    write(bytes);
  }

  void write(std::span<const std::byte> bytes) {
    if (buffer_.size() + bytes.size() > kBufferBytes) flush();
    if (bytes.size() > kBufferBytes) {
      file_.write_all(bytes);
    } else {
      buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
    }
    count_written(bytes.size());
  }

  void flush() {
    file_.write_all(buffer_);
    buffer_.clear();
  }

  Descriptor file_;
  std::vector<std::byte> buffer_;
};

}  // namespace

std::unique_ptr<ResultWriter> make_shard_results(const std::string& path, const std::string& display_path) {
  return std::make_unique<ShardResults>(path, display_path);
}

void replay_shard(const std::string& path, ResultWriter& writer) {
  const Descriptor file(path, O_RDONLY);
  std::uint64_t at = 0;
  const auto read = [&](std::span<std::byte> bytes) {
    if (file.read_at(bytes, at) < bytes.size()) throw RunError(path + ": the share of a rank is incomplete");
    at += bytes.size();
  };
  std::vector<std::uint64_t> piece;
  for (Record record; read(std::as_writable_bytes(std::span(&record, 1))), record.dataset != kEnd;) {
    const auto dataset = static_cast<int>(record.dataset);
    const std::uint64_t row = record.bytes / std::max<std::uint64_t>(record.rows, 1);
    const std::uint64_t max_rows = std::max<std::uint64_t>(kPieceBytes / std::max<std::uint64_t>(row, 1), 1);
    for (std::uint64_t rows; record.rows > 0; record.rows -= rows) {
      rows = std::min(record.rows, max_rows);
      piece.resize((rows * row + 7) / 8);
      read(std::as_writable_bytes(std::span(piece)).first(rows * row));
      if (record.counts) {
        writer.append_counts(dataset, std::span(piece).first(rows));
      } else {
        writer.append(dataset, piece.data(), rows);
      }
    }
  }
}

}  // namespace sluice::io
