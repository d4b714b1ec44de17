// What the three forms of a result file share: element sizes, declared datasets, and bytes held back in
// scratch.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "io/descriptor.hpp"
#include "io/results/result_writer.hpp"

namespace sluice::io {

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

/// Keeps the declarations, and refuses what no form can do.
class DeclaredResults : public ResultWriter {
 public:
  int declare(const std::string& name, ElementType type, std::vector<std::uint64_t> row) final;
  int declare_padded(const std::string& name, ElementType type, std::vector<std::uint64_t> row) final;
  int declare_offsets(const std::string& name) final;
  void append(int dataset, const void* data, std::uint64_t rows) final;
  void append_counts(int dataset, std::span<const std::uint64_t> counts) override;
  void finish() final;
  void commit() final;
  std::vector<std::string> offset_names() const final;
  std::uint64_t bytes_written() const final { return bytes_written_; }

 protected:
  explicit DeclaredResults(std::string path) : path_(std::move(path)) {}
  /// A dataset was declared, as the last of datasets().
  virtual void declared() {}
  /// Takes rows; `rows` is already counted in the dataset.
  virtual void take(std::size_t dataset, std::span<const std::byte> bytes) = 0;
  /// Everything was taken: writes what is left.
  virtual void complete() = 0;
  /// Gives the file its name, if it has one.
  virtual void publish() {}

  const std::vector<ResultDataset>& datasets() const { return datasets_; }
  const std::string& path() const { return path_; }
  void count_written(std::uint64_t bytes) { bytes_written_ += bytes; }

 private:
  std::string path_;
  std::vector<ResultDataset> datasets_;
  std::vector<std::int64_t> ends_;  ///< reused from append to append
  std::uint64_t bytes_written_ = 0;
  bool appending_ = false, finished_ = false;
};

/// Bytes that must wait for those of an earlier dataset: in an unlinked file beside the output, so that no
/// result is limited by memory.
class Scratch {
 public:
  Scratch(std::string beside, std::string known_as)
      : beside_(std::move(beside)), known_as_(std::move(known_as)) {}
  void append(std::span<const std::byte> bytes);
  std::uint64_t size() const { return size_; }
  /// Hands all of it, in order, to use(piece) in pieces of `piece_bytes` (the last is shorter), and forgets
  /// it.
  template <class Use>
  void drain(std::size_t piece_bytes, Use&& use) {
    std::vector<std::byte> piece(piece_bytes);
    for (std::uint64_t at = 0; at < size_;) {
      const std::size_t got = file_.read_at(piece, at);
      use(std::span<const std::byte>(piece).first(got));
      at += got;
    }
    size_ = 0;
    file_ = Descriptor();
  }

 private:
  std::string beside_, known_as_;
  Descriptor file_;
  std::uint64_t size_ = 0;
};

std::unique_ptr<ResultWriter> make_h5_results(const std::string& path, bool force,
                                              const std::vector<Attribute>& attributes);
std::unique_ptr<ResultWriter> make_npy_results(const std::string& path, bool force,
                                               const std::vector<Attribute>& attributes);
std::unique_ptr<ResultWriter> make_text_results(const std::string& path, bool force,
                                                const std::string& scratch,
                                                const std::vector<std::string>& columns);

}  // namespace sluice::io
