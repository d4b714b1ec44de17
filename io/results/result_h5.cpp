// Results as HDF5: chunks of about 1 MiB, each written whole past HDF5's chunk cache. The file's bytes depend
// only on the data: chunks have a fixed number of rows, and the last is padded with zeros. Chunks of columns
// stream into the file in the order of their last rows; those of a column that is ahead of the others wait in
// memory. Full chunks of other datasets wait in scratch until finish(), and follow the columns in the order
// of declaration.
#include <fmt/core.h>

#include <algorithm>
#include <deque>

#include "engine/core/error.hpp"
#include "engine/core/size.hpp"
#include "io/hdf5.hpp"
#include "io/output_file.hpp"
#include "io/results/result_forms.hpp"

namespace sluice::io {
namespace {

constexpr std::uint64_t kChunkBytes = 1u << 20;
constexpr std::uint64_t kChunkLimit = std::uint64_t{1}
                                      << 32;  // HDF5 chunks are smaller, and a row lies in one chunk

/// One dataset of the file: created with its first full chunk, or at the end if it has fewer rows.
class ChunkedDataset {
 public:
  explicit ChunkedDataset(const ResultDataset& declared) : declared_(&declared) {}

  std::uint64_t chunk_rows() const {
    return std::max<std::uint64_t>(1, kChunkBytes / std::max<std::uint64_t>(declared_->row_bytes(), 1));
  }
  std::uint64_t chunk_bytes() const { return chunk_rows() * declared_->row_bytes(); }
  /// The number of rows once the next chunk is written.
  std::uint64_t next_end() const { return rows_ + chunk_rows(); }

  /// Writes the next full chunk.
  void write_chunk(hid_t file, std::span<const std::byte> chunk) {
    if (!dataset_) create(file, chunk_rows());
    rows_ += chunk_rows();
    extend(rows_);
    put(rows_ - chunk_rows(), chunk);
  }

  /// Writes the remaining rows and sets the final shape.
  void finish(hid_t file, std::vector<std::byte> last_rows) {
    const std::uint64_t first = rows_;
    if (!dataset_) create(file, std::clamp<std::uint64_t>(declared_->rows, 1, chunk_rows()));
    extend(declared_->rows);
    if (!last_rows.empty()) {
      last_rows.resize(chunk_rows_ * declared_->row_bytes());
      put(first, last_rows);
    }
    if (!dataset_.reset()) h5::fail();
  }

 private:
  std::vector<hsize_t> shape(std::uint64_t rows, std::uint64_t min_length = 0) const {
    std::vector<hsize_t> made{rows};
    for (const std::uint64_t length : declared_->row) made.push_back(std::max(length, min_length));
    return made;
  }

  void create(hid_t file, std::uint64_t rows_per_chunk) {
    chunk_rows_ = rows_per_chunk;
    const std::vector<hsize_t> chunk = shape(rows_per_chunk, 1), initial_shape = shape(0);
    std::vector<hsize_t> max_shape = initial_shape;
    max_shape[0] = H5S_UNLIMITED;
    const int rank = static_cast<int>(initial_shape.size());
    const h5::Handle properties = h5::dataset_properties();
    h5::checked(H5Pset_chunk(properties.get(), rank, chunk.data()));
    h5::checked(H5Pset_fill_time(properties.get(), H5D_FILL_TIME_NEVER));
    const h5::Handle space(H5Screate_simple(rank, initial_shape.data(), max_shape.data()));
    const hid_t type = with_element_type(declared_->type, []<class T>() { return h5::file_type<T>(); });
    dataset_ = h5::create_dataset(file, declared_->name, type, space, properties);
  }

  void extend(std::uint64_t rows) { h5::checked(H5Dset_extent(dataset_.get(), shape(rows).data())); }

  void put(std::uint64_t first_row, std::span<const std::byte> chunk) {
    std::vector<hsize_t> at(declared_->row.size() + 1, 0);
    at[0] = first_row;
    h5::checked(H5Dwrite_chunk(dataset_.get(), H5P_DEFAULT, 0, at.data(), chunk.size(), chunk.data()));
  }

  const ResultDataset* declared_;
  h5::Handle dataset_;
  std::uint64_t rows_ = 0, chunk_rows_ = 0;
};

class H5Results final : public ResultWriter {
 public:
  H5Results(const std::string& path, bool force, const std::vector<Attribute>& attributes)
      : ResultWriter(path), output_(path, force) {
    translate_failures([&] {
      file_ = h5::create_file(output_.temporary());
      for (const Attribute& attribute : attributes) write(attribute);
    });
  }
  ~H5Results() override { abandon(); }

  /// The attribute follows all full chunks of columns, also those of other ranks, which come later.
  void add_attribute(const Attribute& attribute) override { late_attributes_.push_back(attribute); }

  void complete() override {
    translate_failures([&] {
      fix_declarations();
      for (const Attribute& attribute : late_attributes_) write(attribute);
      for (std::size_t i = 0; i < chunked_.size(); ++i) {
        scratch_[i].drain(chunked_[i].chunk_bytes(),
                          [&](std::span<const std::byte> chunk) { write_chunk(i, chunk); });
        count_written(partial_chunks_[i].size());
        chunked_[i].finish(file_.get(), std::move(partial_chunks_[i]));
      }
      chunked_.clear();
      h5::close_file(file_);
    });
    output_.finish();
  }
  void publish() override { output_.commit(); }

 private:
  void write(const Attribute& attribute) {
    std::visit([&](const auto& value) { h5::write_attribute(file_.get(), attribute.first, value); },
               attribute.second);
  }

  void on_declared() override {
    require_row_fits(ResultFormat::h5, datasets().back().name, datasets().back().row_bytes());
    partial_chunks_.emplace_back();
    pending_chunks_.emplace_back();
    scratch_.emplace_back(output_.temporary(), output_.path());
  }

  void store_rows(std::size_t dataset, std::span<const std::byte> bytes) override {
    translate_failures([&] {
      fix_declarations();
      const std::uint64_t chunk_bytes = chunked_[dataset].chunk_bytes();
      std::vector<std::byte>& partial = partial_chunks_[dataset];
      while (!bytes.empty()) {
        if (partial.empty() && bytes.size() >= chunk_bytes) {
          submit_chunk(dataset, bytes.first(chunk_bytes));
          bytes = bytes.subspan(chunk_bytes);
          continue;
        }
        const auto piece = bytes.first(std::min<std::uint64_t>(chunk_bytes - partial.size(), bytes.size()));
        partial.insert(partial.end(), piece.begin(), piece.end());
        bytes = bytes.subspan(piece.size());
        if (partial.size() < chunk_bytes) break;
        submit_chunk(dataset, partial);
        partial.clear();
      }
    });
  }

  /// Declarations are final once the first row is appended.
  void fix_declarations() {
    if (!chunked_.empty()) return;
    for (const ResultDataset& dataset : datasets()) chunked_.emplace_back(dataset);
  }

  void submit_chunk(std::size_t dataset, std::span<const std::byte> chunk) {
    if (dataset >= columns()) return scratch_[dataset].append(chunk);
    if (next_column() != dataset)
      return static_cast<void>(pending_chunks_[dataset].emplace_back(chunk.begin(), chunk.end()));
    write_chunk(dataset, chunk);
    for (std::size_t next; !pending_chunks_[next = next_column()].empty(); pending_chunks_[next].pop_front())
      write_chunk(next, pending_chunks_[next].front());
  }

  /// The column whose next chunk ends first.
  std::size_t next_column() const {
    const auto end = chunked_.begin() + static_cast<std::ptrdiff_t>(columns());
    return static_cast<std::size_t>(
        std::ranges::min_element(chunked_.begin(), end, {}, &ChunkedDataset::next_end) - chunked_.begin());
  }

  void write_chunk(std::size_t dataset, std::span<const std::byte> chunk) {
    chunked_[dataset].write_chunk(file_.get(), chunk);
    count_written(chunk.size());
    writeback_.add_written(h5::descriptor_of(file_.get()), chunk.size());
  }

  template <class Action>
  void translate_failures(Action&& action) {
    h5::silence_errors();  // once per thread: any thread may append rows
    try {
      action();
    } catch (const h5::Failure& failure) {
      const std::string reason = failure.what();
      abandon();
      throw RunError(output_.path() + ": " + reason);
    }
  }

  void abandon() noexcept {
    chunked_.clear();
    h5::abandon_file(file_);
  }

  OutputFile output_;
  h5::Handle file_;
  Writeback writeback_;
  std::vector<Attribute> late_attributes_;
  std::vector<ChunkedDataset> chunked_;
  std::vector<std::deque<std::vector<std::byte>>> pending_chunks_;  // full chunks of columns ahead of others
  std::vector<Scratch> scratch_;                                    // full chunks of other datasets
  std::vector<std::vector<std::byte>> partial_chunks_;              // by dataset: the chunk being filled
};

}  // namespace

void require_row_fits(ResultFormat format, const std::string& dataset, std::uint64_t row_bytes) {
  if (format != ResultFormat::h5 || row_bytes < kChunkLimit) return;
  throw UsageError(
      fmt::format("a row of /{} has {}, but HDF5 needs less than {}; use --format npy, or "
                  "request less per row",
                  dataset, format_size(row_bytes), format_size(kChunkLimit)));
}

std::unique_ptr<ResultWriter> make_h5_results(const std::string& path, bool force,
                                              const std::vector<Attribute>& attributes) {
  return std::make_unique<H5Results>(path, force, attributes);
}

}  // namespace sluice::io
