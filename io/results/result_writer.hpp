// Result files (CONTRACT section 3): datasets by name, as HDF5, as a folder of .npy files, or as text.
#pragma once

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

std::uint64_t element_bytes(ElementType type);

/// Root attributes of a result file: the options of CONTRACT section 4, the seed, the graph's checksum.
using Attribute = std::pair<std::string, std::variant<std::int64_t, double, std::string>>;

/// Writes named datasets by appending rows; each grows until finish(). The file appears under its name at
/// commit(). In text form, each dataset is written one row a line (several datasets: one after the other,
/// each headed by
/// "# name"; `text_columns` names the datasets of equal length to be printed side by side as columns instead,
/// headed by
/// "# name name ..."; datasets that are not named are left out then).
/// The bytes of the file depend on the data alone, not on how it was cut into appends. What is declared first
/// streams straight into the file (h5, text) and the rest waits in unlinked scratch beside it: declare the
/// largest first.
class ResultWriter {
 public:
  virtual ~ResultWriter() = default;

  /// Declares a dataset, before any rows are appended; `row` is the shape behind the first axis ({} for one
  /// number a row). Returns its handle.
  virtual int declare(const std::string& name, ElementType type, std::vector<std::uint64_t> row) = 0;
  /// The same for rows that may end early, -1 behind their end; text leaves that out.
  virtual int declare_padded(const std::string& name, ElementType type, std::vector<std::uint64_t> row) = 0;
  /// Declares where lists end that lie one after the other in another dataset: i64, 0 and then the running
  /// sum of what append_counts() is given.
  virtual int declare_offsets(const std::string& name) = 0;
  /// Appends `rows` rows stored at `data` (of the declared type).
  virtual void append(int dataset, const void* data, std::uint64_t rows) = 0;
  /// For declare_offsets(): the lengths of the next lists.
  virtual void append_counts(int dataset, std::span<const std::uint64_t> counts) = 0;
  /// Adds a root attribute that was not known when the file was begun; text has none.
  virtual void note(const Attribute&) {}
  /// Writes all that is left, to the disk: after it nothing but the name is missing.
  virtual void finish() = 0;
  /// finish() unless that was called, and renames; nothing appears without it.
  virtual void commit() = 0;
  /// The names given to declare_offsets().
  virtual std::vector<std::string> offset_names() const = 0;
  /// Bytes written so far.
  virtual std::uint64_t bytes_written() const = 0;
};

/// Throws UsageError where one row of a dataset is more than this form can hold.
void require_row_fits(ResultFormat format, const std::string& dataset, std::uint64_t row_bytes);

/// `path` "-" is standard output, for text only (else UsageError); what waits for it lies in the folder
/// `scratch`, or in the system's for temporary files. Full disk and the like: RunError naming the path.
std::unique_ptr<ResultWriter> make_result_writer(const std::string& path, ResultFormat format, bool force,
                                                 const std::vector<Attribute>& attributes,
                                                 const std::vector<std::string>& text_columns = {},
                                                 const std::string& scratch = {});

}  // namespace sluice::io
