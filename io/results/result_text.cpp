// Results as text: one row a line, numbers separated by spaces, with digits enough to read back exactly.
// Datasets follow one another, so all but the first wait in scratch; or named ones are printed side by side.
#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <optional>

#include "engine/core/error.hpp"
#include "io/output_file.hpp"
#include "io/results/result_forms.hpp"

namespace sluice::io {
namespace {

constexpr std::size_t kBufferBytes = 1u << 20;
constexpr std::size_t kMaxNumberLength = 32;  // -1.7976931348623157e+308 has 24 characters

/// A buffer of characters for a sink; numbers are formatted in place.
class TextBuffer {
 public:
  /// Whether one more number with its separator does not fit, so that the buffer must be flushed.
  bool full() const { return characters_.size() - used_ < kMaxNumberLength; }
  bool empty() const { return used_ == 0; }
  std::span<const std::byte> bytes() const { return std::as_bytes(std::span(characters_).first(used_)); }
  void clear() { used_ = 0; }
  void add(char separator) { characters_[used_++] = separator; }

  template <class T>
  void add_number(const std::byte* at) {
    T number;
    std::memcpy(&number, at, sizeof number);
    char* const begin = characters_.data() + used_;
    used_ += static_cast<std::size_t>(std::to_chars(begin, begin + kMaxNumberLength - 1, number).ptr - begin);
  }

 private:
  std::vector<char> characters_ = std::vector<char>(kBufferBytes);
  std::size_t used_ = 0;
};

using AddNumber = void (TextBuffer::*)(const std::byte*);

AddNumber formatter(ElementType type) {
  return with_element_type(type, []<class T>() -> AddNumber { return &TextBuffer::add_number<T>; });
}

/// Elements of the row before its padding of -1, in which every bit is set.
std::uint64_t length_of(const std::byte* row, std::uint64_t elements, std::uint64_t element_size) {
  constexpr std::byte kPadding[] = {std::byte{0xff}, std::byte{0xff}, std::byte{0xff}, std::byte{0xff},
                                    std::byte{0xff}, std::byte{0xff}, std::byte{0xff}, std::byte{0xff}};
  std::uint64_t length = 0;
  while (length < elements && std::memcmp(row + length * element_size, kPadding, element_size) != 0) ++length;
  return length;
}

class TextResults : public ResultWriter {
 public:
  TextResults(const std::string& path, bool force, const std::string& scratch)
      : ResultWriter(path == "-" ? "standard output" : path), scratch_(scratch) {
    if (path == "-") {
      sink_ = Descriptor(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3), this->path());
    } else {
      output_.emplace(path, force);
      sink_ = Descriptor(output_->temporary(), O_WRONLY, path);
    }
  }

  void complete() final {
    write_remaining();
    flush();
    sink_.close();
    if (output_) output_->finish();
  }
  void publish() final {
    if (output_) output_->commit();
  }

 protected:
  virtual void write_remaining() = 0;

  void write(std::span<const std::byte> bytes) {
    sink_.write_all(bytes);
    if (output_) writeback_.add_written(sink_.get(), bytes.size());
    count_written(bytes.size());
  }
  void write(const std::string& text) { write(std::as_bytes(std::span(text))); }
  void flush() {
    write(buffer_.bytes());
    buffer_.clear();
  }
  /// Scratch lies beside the output. For standard output, it lies in the folder `scratch`, or in the system's
  /// folder for temporary files.
  std::string scratch_base() const {
    if (output_) return output_->temporary();
    return ((scratch_.empty() ? std::filesystem::temp_directory_path() : scratch_) / "sluice").string();
  }

  TextBuffer buffer_;

 private:
  std::filesystem::path scratch_;
  std::optional<OutputFile> output_;
  Descriptor sink_;
  Writeback writeback_;
};

/// Datasets one after the other, each under its name if there are several.
class TextBlocks final : public TextResults {
 public:
  using TextResults::TextResults;

 private:
  void on_declared() override { scratches_.emplace_back(scratch_base(), path()); }

  void store_rows(std::size_t dataset, std::span<const std::byte> bytes) override {
    const ResultDataset& rows = datasets()[dataset];
    if (dataset == 0) write_heading(0);
    const AddNumber add = formatter(rows.type);
    const std::uint64_t element_size = element_bytes(rows.type), elements = rows.row_elements();
    for (const std::byte *row = bytes.data(), *const end = row + bytes.size(); row < end;
         row += elements * element_size) {
      const std::uint64_t length = rows.padded ? length_of(row, elements, element_size) : elements;
      for (std::uint64_t i = 0; i < length; ++i) {
        if (buffer_.full()) flush_dataset(dataset);
        (buffer_.*add)(row + i * element_size);
        buffer_.add(i + 1 < length ? ' ' : '\n');
      }
      if (length > 0) continue;
      if (buffer_.full()) flush_dataset(dataset);
      buffer_.add('\n');
    }
    if (dataset != 0 || datasets().size() > 1) flush_dataset(dataset);
  }

  void flush_dataset(std::size_t dataset) {
    if (dataset == 0) return flush();
    scratches_[dataset].append(buffer_.bytes());
    buffer_.clear();
  }

  void write_heading(std::size_t dataset) {
    if (datasets().size() < 2 || (dataset == 0 && std::exchange(heading_written_, true))) return;
    write("# " + datasets()[dataset].name + "\n");
  }

  void write_remaining() override {
    flush();
    for (std::size_t i = 0; i < datasets().size(); ++i) {
      write_heading(i);
      scratches_[i].drain(kBufferBytes, [&](std::span<const std::byte> piece) { write(piece); });
    }
  }

  std::vector<Scratch> scratches_;
  bool heading_written_ = false;
};

/// Named datasets side by side; a row is written as soon as every column has it. Others are left out.
class TextColumns final : public TextResults {
 public:
  TextColumns(const std::string& path, bool force, const std::string& scratch, std::vector<std::string> names)
      : TextResults(path, force, scratch), names_(std::move(names)), columns_(names_.size()) {}

 private:
  struct TextColumn {
    std::optional<std::size_t> dataset;
    std::vector<std::byte> pending;
  };

  void on_declared() override {
    const auto found = std::find(names_.begin(), names_.end(), datasets().back().name);
    if (found != names_.end())
      columns_[static_cast<std::size_t>(found - names_.begin())].dataset = datasets().size() - 1;
  }

  void store_rows(std::size_t dataset, std::span<const std::byte> bytes) override {
    for (TextColumn& column : columns_) {
      if (column.dataset != dataset) continue;
      column.pending.insert(column.pending.end(), bytes.begin(), bytes.end());
      print_rows();
    }
  }

  const ResultDataset& rows_of(const TextColumn& column) const {
    if (!column.dataset)
      throw RunError("internal error: " + path() + ": a column of text was never declared");
    return datasets()[*column.dataset];
  }

  void write_heading() {
    if (std::exchange(heading_written_, true) || names_.size() < 2) return;
    write(fmt::format("# {}\n", fmt::join(names_, " ")));
  }

  void print_rows() {
    std::uint64_t ready = ~std::uint64_t{0};
    for (const TextColumn& column : columns_) {
      ready = std::min<std::uint64_t>(ready, column.pending.size() / rows_of(column).row_bytes());
    }
    if (ready == 0) return;
    write_heading();
    for (std::uint64_t row = 0; row < ready; ++row) {
      for (std::size_t i = 0; i < columns_.size(); ++i) print_row(columns_[i], row, i + 1 == columns_.size());
    }
    for (TextColumn& column : columns_) {
      const std::uint64_t printed = ready * rows_of(column).row_bytes();
      column.pending.erase(column.pending.begin(),
                           column.pending.begin() + static_cast<std::ptrdiff_t>(printed));
    }
  }

  void print_row(const TextColumn& column, std::uint64_t row, bool last) {
    const ResultDataset& rows = rows_of(column);
    const AddNumber add = formatter(rows.type);
    const std::uint64_t elements = rows.row_elements();
    const std::byte* at = column.pending.data() + row * rows.row_bytes();
    for (std::uint64_t i = 0; i < elements; ++i, at += element_bytes(rows.type)) {
      if (buffer_.full()) flush();
      (buffer_.*add)(at);
      buffer_.add(last && i + 1 == elements ? '\n' : ' ');
    }
  }

  void write_remaining() override {
    for (const TextColumn& column : columns_) {
      if (rows_of(column).rows != rows_of(columns_[0]).rows) {
        throw RunError("internal error: " + path() + ": columns of text differ in length");
      }
    }
    write_heading();
  }

  std::vector<std::string> names_;
  std::vector<TextColumn> columns_;
  bool heading_written_ = false;
};

}  // namespace

std::unique_ptr<ResultWriter> make_text_results(const std::string& path, bool force,
                                                const std::string& scratch,
                                                const std::vector<std::string>& columns) {
  if (columns.empty()) return std::make_unique<TextBlocks>(path, force, scratch);
  return std::make_unique<TextColumns>(path, force, scratch, columns);
}

}  // namespace sluice::io
