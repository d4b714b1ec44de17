// An open graph file: its header, and its datasets, which are read by position whatever program wrote them
// and whatever their layout. Sluice's own files are contiguous, so threads read them at byte offsets; other
// files are read through HDF5, one thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <type_traits>

#include "engine/core/error.hpp"
#include "engine/exec/threads.hpp"
#include "io/file_bytes.hpp"
#include "io/graph_file/graph_file.hpp"
#include "io/graph_file/graph_layout.hpp"
#include "io/hdf5.hpp"

namespace sluice::io {

enum class NumberClass { whole, real };

/// One dataset with one dimension. Safe to read from several threads.
class Column {
 public:
  /// Throws InputError if the dataset is missing, or its shape, type or place in the file is wrong.
  Column(const std::string& file, const FileBytes& bytes, hid_t parent, const std::string& name,
         NumberClass wanted);

  std::uint64_t size() const { return size_; }
  /// Whether the file stores type T, so that reading needs no conversion.
  template <class T>
  bool holds() const {
    return plain_ && sizeof(T) == element_bytes_ && std::is_floating_point_v<T> == real_ &&
           std::is_signed_v<T> == signed_;
  }
  /// Reads elements [first, first + out.size()).
  template <class T>
  void read(std::uint64_t first, std::span<T> out) const {
    read_as(h5::file_type<T>(), holds<T>(), sizeof(T), first, out.size(), out.data());
  }
  /// Reads elements in the file's own type, without conversion.
  void read_bytes(std::uint64_t first, std::span<std::byte> out) const {
    read_as(type_.get(), true, element_bytes(), first, out.size() / element_bytes(), out.data());
  }
  /// Maps all elements into memory, at no cost to the budget. Returns null if the file does not store T, or
  /// not in one aligned piece, or cannot be mapped.
  template <class T>
  std::shared_ptr<void> map() const {
    return holds<T>() && offset_ % alignof(T) == 0 ? map_bytes() : nullptr;
  }
  /// Calls use(begin, end) for all blocks of elements, on several threads, with later blocks read ahead.
  template <class Use>
  void for_each_block(unsigned threads, Use&& use) const {
    read_ahead(0, kReadAheadBytes);
    parallel_blocks(threads, size_, kGrain, [&](std::uint64_t begin, std::uint64_t end, unsigned) {
      read_ahead(begin * element_bytes_ + kReadAheadBytes, (end - begin) * element_bytes_);
      use(begin, end);
    });
  }
  std::size_t element_bytes() const { return element_bytes_; }
  /// Elements that a thread reads at a time: some megabytes, since disks are fast with large reads.
  static constexpr std::uint64_t kGrain = 1u << 20;
  /// Asks the system to read bytes [begin, begin + bytes) of the dataset in the background.
  void read_ahead(std::uint64_t begin, std::uint64_t bytes) const;
  /// Returns an error that names this dataset: "FILE: dataset /out/indptr: WHAT; convert the graph again".
  InputError fault(const std::string& what) const;

 private:
  std::shared_ptr<void> map_bytes() const;
  /// `as_stored`: `type` is the file's own. Contiguous data is then read without the library, which is not
  /// thread-safe.
  void read_as(hid_t type, bool as_stored, std::size_t bytes, std::uint64_t first, std::uint64_t count,
               void* out) const;

  std::string file_, name_;
  const FileBytes* bytes_;
  h5::Handle dataset_, type_;
  std::uint64_t size_ = 0, offset_ = 0;
  std::size_t element_bytes_ = 0;
  bool contiguous_ = false;
  bool plain_ = false, real_ = false, signed_ = false;  ///< little-endian, of a width that C++ has
};

/// An open graph file whose header and dataset shapes have been checked.
class GraphFile {
 public:
  /// Throws InputError with one line that names the file, what is wrong and the remedy.
  explicit GraphFile(const std::string& path, Caching caching = Caching::system);

  const GraphInfo& info() const { return info_; }
  const std::string& path() const { return path_; }
  bool has(GraphPart part) const;
  Column open(GraphPart part) const;
  /// Opens the block checksums of a part.
  Column open_sums(GraphPart part) const;
  bool has_sums() const;
  /// Whether the header holds a checksum.
  bool has_checksum() const { return has_checksum_; }

 private:
  void open_file(Caching caching);
  void read_header();
  void check_sizes(bool in) const;
  void check_shape_attribute(const char* group) const;

  std::string path_;
  FileBytes bytes_;
  h5::Handle file_;
  GraphInfo info_;
  bool has_checksum_ = false;
};

/// Keeps the fault at the lowest position of all that threads find, so that the message does not depend on
/// the number of threads.
class FirstFault {
 public:
  void add(std::uint64_t position, const InputError& error);
  /// Whether a fault before `position` is known, so that checks at `position` are unnecessary.
  bool found_before(std::uint64_t position) const;
  void rethrow() const;

 private:
  mutable std::mutex mutex_;
  std::uint64_t position_ = ~std::uint64_t{0};
  std::string message_;
};

/// Checks the offsets of /out or /in: they begin at 0, never decrease and end at the number of edges.
void check_offsets(const GraphFile& file, bool in, unsigned threads, std::span<const EdgeIndex> offsets);
/// Reads and checks the offsets of /out or /in.
void read_offsets(const GraphFile& file, bool in, unsigned threads, std::span<EdgeIndex> offsets);
HostArray<EdgeIndex> read_offsets(const GraphFile& file, bool in, unsigned threads);
/// Reads targets [first, first + out.size()) and checks that they are vertices.
void read_targets(const Column& column, std::uint64_t vertices, std::uint64_t first, std::span<Vertex> out,
                  FirstFault& fault);
/// Makes the reader that fills `rows` with the edges of /out or /in.
std::shared_ptr<PendingEdges> make_pending_edges(std::shared_ptr<const GraphFile> file, bool in,
                                                 const GraphInfo& info, Csr& rows);
/// Reads weights and checks that they are finite and not negative.
void read_weights(const Column& column, std::uint64_t first, std::span<float> out, FirstFault& fault);

}  // namespace sluice::io
