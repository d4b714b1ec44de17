// Result files (CONTRACT section 3): datasets by name, as HDF5, as a folder of .npy files, or as text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace sluice::io {

enum class ResultFormat { h5, npy, text };
enum class ElementType { i32, i64, u8, f32, f64 };

/// Calls use.operator()<T>(), where T is the C++ type of `type`.
template <class Use>
auto with_element_type(ElementType type, Use&& use) {
  switch (type) {
    case ElementType::i32:
      return use.template operator()<std::int32_t>();
    case ElementType::i64:
      return use.template operator()<std::int64_t>();
    case ElementType::u8:
      return use.template operator()<std::uint8_t>();
    case ElementType::f32:
      return use.template operator()<float>();
    case ElementType::f64:
      break;
  }
  return use.template operator()<double>();
}

inline std::uint64_t element_bytes(ElementType type) {
  return with_element_type(type, []<class T>() { return sizeof(T); });
}

/// Root attributes of a result file: the options of CONTRACT section 4, the seed, the graph's checksum.
using Attribute = std::pair<std::string, std::variant<std::int64_t, double, std::string>>;

/// A declared dataset and its current number of rows.
struct ResultDataset {
  std::string name;
  ElementType type = ElementType::i32;
  std::vector<std::uint64_t> row;  ///< shape of one row (all axes but the first)
  std::uint64_t rows = 0;
  bool padded = false;   ///< declared by declare_padded(); integers only
  bool offsets = false;  ///< offsets of lists, declared by declare_offsets()
  std::int64_t end = 0;  ///< if `offsets`: the end of the last list

  std::uint64_t row_elements() const;
  std::uint64_t row_bytes() const { return row_elements() * element_bytes(type); }
};

/// Writes named datasets by appending rows; each dataset grows until finish(). The file gets its final name
/// in commit().
/// In text form, each row is a line. Several datasets follow one another, each headed by "# name". Or
/// `text_columns` names datasets of equal length to be printed side by side, headed by "# name name ..."; all
/// other datasets are then left out.
/// The bytes of the file depend only on the data, not on how it was split into appends. The first declared
/// dataset (text, h5) and all columns (h5) are streamed into the file. All other data waits in an unlinked
/// scratch file beside it: declare the largest dataset first.
class ResultWriter {
 public:
  virtual ~ResultWriter() = default;

  /// Declares a dataset, before any rows are appended; `row` is the shape of one row ({} for one number).
  /// Returns the dataset's handle.
  int declare(const std::string& name, ElementType type, std::vector<std::uint64_t> row);
  /// As declare(), for rows that may end early and are padded with -1; text omits the padding.
  int declare_padded(const std::string& name, ElementType type, std::vector<std::uint64_t> row);
  /// Declares the offsets of lists that are concatenated in another dataset. Their type is i64: first 0, then
  /// the running sum of the lengths given to append_counts().
  int declare_offsets(const std::string& name);
  /// Makes the first `datasets` declared datasets columns of equal length. Append to them in turn, a few rows
  /// at a time, since h5 buffers the rows of a column that is ahead of the others.
  void set_columns(std::size_t datasets) { columns_ = datasets; }
  /// Appends `rows` rows stored at `data` (of the declared type).
  void append(int dataset, const void* data, std::uint64_t rows);
  /// Appends the lengths of the next lists to a dataset of declare_offsets().
  virtual void append_counts(int dataset, std::span<const std::uint64_t> counts);
  /// Adds a root attribute after the file was created; text has no attributes.
  virtual void add_attribute(const Attribute&) {}
  /// Writes all remaining data and syncs it to disk; only the rename remains.
  void finish();
  /// Calls finish() if it was not called yet, then renames; without commit() no file appears.
  void commit();
  /// The names given to declare_offsets().
  std::vector<std::string> offset_names() const;
  /// Bytes written so far.
  std::uint64_t bytes_written() const { return bytes_written_; }

 protected:
  explicit ResultWriter(std::string path) : path_(std::move(path)) {}
  /// Called after a dataset was declared; it is the last of datasets().
  virtual void on_declared() {}
  /// Writes or stores appended rows; ResultDataset::rows already counts them.
  virtual void store_rows(std::size_t dataset, std::span<const std::byte> bytes) = 0;
  /// Called after the last store_rows(): writes all remaining data.
  virtual void complete() = 0;
  /// Renames the file to its final name, if it has one.
  virtual void publish() {}

  const std::vector<ResultDataset>& datasets() const { return datasets_; }
  /// The number of leading datasets that are columns; at least 1.
  std::size_t columns() const { return columns_; }
  const std::string& path() const { return path_; }
  void count_written(std::uint64_t bytes) { bytes_written_ += bytes; }

 private:
  std::string path_;
  std::vector<ResultDataset> datasets_;
  std::size_t columns_ = 1;
  std::vector<std::int64_t> ends_;  ///< kept to reuse its memory
  std::uint64_t bytes_written_ = 0;
  bool appending_ = false, finished_ = false;
};

/// Throws UsageError if one row of a dataset is larger than the format can hold.
void require_row_fits(ResultFormat format, const std::string& dataset, std::uint64_t row_bytes);

/// `path` "-" is standard output, for text only (else UsageError); its scratch files lie in `scratch`, or in
/// the system's folder for temporary files. System faults such as a full disk throw RunError with the path.
std::unique_ptr<ResultWriter> make_result_writer(const std::string& path, ResultFormat format, bool force,
                                                 const std::vector<Attribute>& attributes,
                                                 const std::vector<std::string>& text_columns = {},
                                                 const std::string& scratch = {});

// One rank's share of a result: a log of its appends, which another rank replays into the writer of the whole
// result. So in every form the whole file has the bytes that one process would have written.

/// Writes the log to the new file `path`, which is complete only after commit(). Errors name `display_path`.
std::unique_ptr<ResultWriter> make_shard_results(const std::string& path, const std::string& display_path);

/// Appends a complete log, in pieces of bounded size, to `writer`, which has the same declarations. Throws
/// RunError naming the file if it is missing or incomplete.
void replay_shard(const std::string& path, ResultWriter& writer);

}  // namespace sluice::io
