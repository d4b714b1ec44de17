// An open graph file: its header, and its datasets read by position, whichever program wrote them and however
// they are laid out. Our own files are contiguous, so threads read them at byte offsets; others go through
// HDF5, one thread at a time.
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
  /// Faults of shape, type or place throw InputError.
  Column(const std::string& file, const FileBytes& bytes, hid_t parent, const std::string& name,
         NumberClass wanted);

  std::uint64_t size() const { return size_; }
  /// Whether the file holds T itself, so that reading converts nothing.
  template <class T>
  bool holds() const {
    return plain_ && sizeof(T) == element_bytes_ && std::is_floating_point_v<T> == real_ &&
           std::is_signed_v<T> == signed_;
  }
  /// Reads elements [first, first + out.size()).
  template <class T>
  void read(std::uint64_t first, std::span<T> out) const {
    read_as(h5::memory_type<T>(), holds<T>(), sizeof(T), first, out.size(), out.data());
  }
  /// Reads elements as the file holds them.
  void read_bytes(std::uint64_t first, std::span<std::byte> out) const {
    read_as(type_.get(), true, element_bytes(), first, out.size() / element_bytes(), out.data());
  }
  /// All elements where they lie in the file, so that they take no memory; null where it holds no T, or not
  /// in one piece.
  template <class T>
  std::shared_ptr<void> map() const {
    return holds<T>() && offset_ % alignof(T) == 0 ? map_bytes() : nullptr;
  }
  /// Calls use(begin, end) for blocks of all elements, by several threads, while the system reads blocks
  /// further on.
  template <class Use>
  void for_each_block(unsigned threads, Use&& use) const {
    read_ahead(0, kAhead);
    parallel_blocks(threads, size_, kGrain, [&](std::uint64_t begin, std::uint64_t end, unsigned) {
      read_ahead(begin * element_bytes_ + kAhead, (end - begin) * element_bytes_);
      use(begin, end);
    });
  }
  std::size_t element_bytes() const { return element_bytes_; }
  /// Elements a thread reads at a time: megabytes, as disks like them.
  static constexpr std::uint64_t kGrain = 1u << 20;
  /// Has the system read elements while the caller does something else.
  void read_ahead(std::uint64_t begin, std::uint64_t bytes) const;
  /// An error of this dataset: "FILE: dataset /out/indptr: WHAT; convert the graph again".
  InputError fault(const std::string& what) const;

 private:
  std::shared_ptr<void> map_bytes() const;
  /// `as_held`: `type` is the file's own. Asks nothing of the library then, which knows no threads.
  void read_as(hid_t type, bool as_held, std::size_t bytes, std::uint64_t first, std::uint64_t count,
               void* out) const;

  std::string file_, name_;
  const FileBytes* bytes_;
  h5::Handle dataset_, type_;
  std::uint64_t size_ = 0, offset_ = 0;
  std::size_t element_bytes_ = 0;
  bool contiguous_ = false;
  bool plain_ = false, real_ = false, signed_ = false;  ///< little-endian, of a width that C++ has
};

/// A graph file whose header and shapes are in order.
class GraphFile {
 public:
  /// Throws InputError with one line that names the file, what is wrong and the remedy.
  explicit GraphFile(const std::string& path, Caching caching = Caching::system);

  const GraphInfo& info() const { return info_; }
  const std::string& path() const { return path_; }
  bool has(GraphPart part) const;
  Column open(GraphPart part) const;
  /// The sums beside a part.
  Column open_sums(GraphPart part) const;
  bool has_sums() const;
  /// Whether the header names a checksum.
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

/// Keeps, of the faults that threads find, the one at the lowest position: the message is the same for any
/// threads.
class FirstFault {
 public:
  void add(std::uint64_t position, const InputError& error);
  /// Whether a fault before `position` is known, so that looking there is idle.
  bool before(std::uint64_t position) const;
  void rethrow() const;

 private:
  mutable std::mutex mutex_;
  std::uint64_t position_ = ~std::uint64_t{0};
  std::string message_;
};

/// Checks the offsets of /out or /in: they begin at 0, never decrease and end at the number of edges.
void check_offsets(const GraphFile& file, bool in, unsigned threads, std::span<const EdgeIndex> offsets);
/// Reads and checks them.
void read_offsets(const GraphFile& file, bool in, unsigned threads, std::span<EdgeIndex> offsets);
HostArray<EdgeIndex> read_offsets(const GraphFile& file, bool in, unsigned threads);
/// Reads targets [first, first + out.size()) and checks that they are vertices.
void read_targets(const Column& column, std::uint64_t vertices, std::uint64_t first, std::span<Vertex> out,
                  FirstFault& fault);
/// What reads the lists of /out, or /in, into a graph's arrays, and ends `ahead` then.
std::shared_ptr<EdgesToCome> edges_to_come(std::shared_ptr<const GraphFile> file, bool in,
                                           const GraphInfo& info, Csr& rows,
                                           std::unique_ptr<ReadAhead> ahead = nullptr);
/// Reads weights and checks that they are finite and not negative.
void read_weights(const Column& column, std::uint64_t first, std::span<float> out, FirstFault& fault);

}  // namespace sluice::io
