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

/// Calls use.operator()<T>(), T being the C++ type of such elements.
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

/// A dataset as declared, and how many rows it has by now.
struct ResultDataset {
  std::string name;
  ElementType type = ElementType::i32;
  std::vector<std::uint64_t> row;  ///< shape behind the first axis
  std::uint64_t rows = 0;
  bool padded = false;   ///< declared by declare_padded(): integers
  bool offsets = false;  ///< ends of lists, declared by declare_offsets()
  std::int64_t end = 0;  ///< of those: the end of the last list

  std::uint64_t row_elements() const;
  std::uint64_t row_bytes() const { return row_elements() * element_bytes(type); }
};

/// Writes named datasets by appending rows; each grows until finish(). The file appears under its name at
/// commit(). In text form, each dataset is written one row a line (several datasets: one after the other,
/// each headed by
/// "# name"; `text_columns` names the datasets of equal length to be printed side by side as columns instead,
/// headed by
/// "# name name ..."; datasets that are not named are left out then).
/// The bytes of the file depend on the data alone, not on how it was cut into appends. The dataset that is
/// declared first streams straight into the file (h5, text), of h5 all columns do, and the rest waits in
/// unlinked scratch beside it: declare the largest first.
class ResultWriter {
 public:
  virtual ~ResultWriter() = default;

  /// Declares a dataset, before any rows are appended; `row` is the shape behind the first axis ({} for one
  /// number a row). Returns its handle.
  int declare(const std::string& name, ElementType type, std::vector<std::uint64_t> row);
  /// The same for rows that may end early, -1 behind their end; text leaves that out.
  int declare_padded(const std::string& name, ElementType type, std::vector<std::uint64_t> row);
  /// Declares where lists end that lie one after the other in another dataset: i64, 0 and then the running
  /// sum of what append_counts() is given.
  int declare_offsets(const std::string& name);
  /// The first `datasets` that were declared are columns: they get equally many rows, in turn and few at a
  /// time, since h5 holds back what one has before the others.
  void set_columns(std::size_t datasets) { columns_ = datasets; }
  /// Appends `rows` rows stored at `data` (of the declared type).
  void append(int dataset, const void* data, std::uint64_t rows);
  /// For declare_offsets(): the lengths of the next lists.
  virtual void append_counts(int dataset, std::span<const std::uint64_t> counts);
  /// Adds a root attribute that was not known when the file was begun; text has none.
  virtual void note(const Attribute&) {}
  /// Writes all that is left, to the disk: after it nothing but the name is missing.
  void finish();
  /// finish() unless that was called, and renames; nothing appears without it.
  void commit();
  /// The names given to declare_offsets().
  std::vector<std::string> offset_names() const;
  /// Bytes written so far.
  std::uint64_t bytes_written() const { return bytes_written_; }

 protected:
  explicit ResultWriter(std::string path) : path_(std::move(path)) {}
  /// A dataset was declared, as the last of datasets().
  virtual void declared() {}
  /// Takes rows; `rows` is already counted in the dataset.
  virtual void take(std::size_t dataset, std::span<const std::byte> bytes) = 0;
  /// Everything was taken: writes what is left.
  virtual void complete() = 0;
  /// Gives the file its name, if it has one.
  virtual void publish() {}

  const std::vector<ResultDataset>& datasets() const { return datasets_; }
  /// How many of them are columns; the first always is one.
  std::size_t columns() const { return columns_; }
  const std::string& path() const { return path_; }
  void count_written(std::uint64_t bytes) { bytes_written_ += bytes; }

 private:
  std::string path_;
  std::vector<ResultDataset> datasets_;
  std::size_t columns_ = 1;
  std::vector<std::int64_t> ends_;  ///< reused from append to append
  std::uint64_t bytes_written_ = 0;
  bool appending_ = false, finished_ = false;
};

/// Throws UsageError where one row of a dataset is more than this form can hold.
void require_row_fits(ResultFormat format, const std::string& dataset, std::uint64_t row_bytes);

/// `path` "-" is standard output, for text only (else UsageError); what waits for it lies in the folder
/// `scratch`, or in the system's for temporary files. Full disk and the like: RunError naming the path.
std::unique_ptr<ResultWriter> make_result_writer(const std::string& path, ResultFormat format, bool force,
                                                 const std::vector<Attribute>& attributes,
                                                 const std::vector<std::string>& text_columns = {},
                                                 const std::string& scratch = {});

// One rank's share of a result: a log of what was declared and appended, which another rank replays into the
// writer of the whole. So the whole has the bytes that one process would have written, in every form.

/// Writes the log to `path`, a fresh file that only commit() completes. Faults name `known_as`.
std::unique_ptr<ResultWriter> make_shard_results(const std::string& path, const std::string& known_as);

/// Appends a complete log to `into`, which has the same declarations, in pieces of bounded size. Throws
/// RunError naming the file where it is missing or incomplete.
void replay_shard(const std::string& path, ResultWriter& into);

}  // namespace sluice::io
