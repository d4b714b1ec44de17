// Reads and checks single datasets of a graph file.
#include <fmt/core.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "io/graph_file/graph_reader.hpp"

namespace sluice::io {
namespace {

/// The HDF5 library is not thread-safe; readers that need it lock this mutex.
std::mutex& library_mutex() {
  static std::mutex mutex;
  return mutex;
}

}  // namespace

Column::Column(const std::string& file, const FileBytes& bytes, hid_t parent, const std::string& name,
               NumberClass wanted)
    : file_(file), name_(name), bytes_(&bytes) {
  try {
    dataset_ = h5::Handle(H5Dopen2(parent, name.c_str(), H5P_DEFAULT));
    type_ = h5::Handle(H5Dget_type(dataset_.get()));
    const h5::Handle space(H5Dget_space(dataset_.get()));
    const int dimensions = H5Sget_simple_extent_ndims(space.get());
    if (dimensions != 1) throw fault(fmt::format("{} dimensions instead of one", dimensions));
    hsize_t size = 0;
    h5::checked(H5Sget_simple_extent_dims(space.get(), &size, nullptr));
    size_ = size;
  } catch (const h5::Failure& failure) {
    throw fault(fmt::format("is missing or damaged ({})", failure.what()));
  }
  const H5T_class_t stored_class = H5Tget_class(type_.get());
  if (stored_class != H5T_INTEGER && !(wanted == NumberClass::real && stored_class == H5T_FLOAT)) {
    throw fault(wanted == NumberClass::real ? "its type is not a number" : "its type is not a whole number");
  }
  element_bytes_ = H5Tget_size(type_.get());
  if (element_bytes_ == 0) throw fault("its numbers have no bytes");
  real_ = stored_class == H5T_FLOAT;
  signed_ = real_ || H5Tget_sign(type_.get()) == H5T_SGN_2;
  const auto is_type = [&]<class... T>(std::type_identity<T>...) {
    return ((H5Tequal(type_.get(), h5::file_type<T>()) > 0) || ...);
  };
  plain_ = is_type(std::type_identity<std::int32_t>{}, std::type_identity<std::int64_t>{},
                   std::type_identity<std::uint64_t>{}, std::type_identity<float>{});
  const h5::Handle properties(H5Dget_create_plist(dataset_.get()));
  const haddr_t offset = H5Dget_offset(dataset_.get());
  contiguous_ = H5Pget_layout(properties.get()) == H5D_CONTIGUOUS && offset != HADDR_UNDEF &&
                H5Pget_external_count(properties.get()) == 0;
  if (!contiguous_) return;
  offset_ = offset;
  struct stat found {};
  ::fstat(bytes.get(), &found);
  const auto end = static_cast<std::uint64_t>(found.st_size);
  if (offset_ > end || size_ > (end - offset_) / element_bytes_)
    throw fault("reaches beyond the end of the file");
}

InputError Column::fault(const std::string& what) const {
  return InputError(fmt::format("{}: dataset /{}: {}; convert the graph again", file_, name_, what));
}

void Column::read_as(hid_t type, bool as_stored, std::size_t bytes, std::uint64_t first, std::uint64_t count,
                     void* out) const {
  if (count == 0) return;
  if (contiguous_ && as_stored) {
    std::size_t done = 0;
    try {
      done = bytes_->read_at({static_cast<std::byte*>(out), count * bytes}, offset_ + first * bytes);
    } catch (const RunError& error) {
      throw fault(fmt::format("cannot be read ({})", error.what()));
    }
    if (done < count * bytes) throw fault("reaches beyond the end of the file");
    return;
  }
  const std::lock_guard lock(library_mutex());
  h5::silence_errors();  // once per thread: any thread may read lists
  try {
    const hsize_t start = first, length = count;
    const h5::Handle space(H5Dget_space(dataset_.get())), memory = h5::space_of({length});
    h5::checked(H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, &start, nullptr, &length, nullptr));
    h5::checked(H5Dread(dataset_.get(), type, memory.get(), space.get(), H5P_DEFAULT, out));
  } catch (const h5::Failure& failure) {
    throw fault(fmt::format("cannot be read ({})", failure.what()));
  }
}

std::shared_ptr<void> Column::map_bytes() const {
  if (!contiguous_ || size_ == 0) return nullptr;
  const std::uint64_t before = offset_ % static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)),
                      bytes = before + size_ * element_bytes_;
  void* const map =
      ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, bytes_->get(), static_cast<off_t>(offset_ - before));
  if (map == MAP_FAILED) return nullptr;
  ::madvise(map, bytes, MADV_WILLNEED);
  const std::shared_ptr<void> whole(map, [bytes](void* from) { ::munmap(from, bytes); });
  return {whole, static_cast<std::byte*>(map) + before};
}

void Column::read_ahead(std::uint64_t begin, std::uint64_t bytes) const {
  const std::uint64_t all = size_ * element_bytes_;
  if (contiguous_ && begin < all) bytes_->read_ahead(offset_ + begin, std::min(bytes, all - begin));
}

void FirstFault::add(std::uint64_t position, const InputError& error) {
  const std::lock_guard lock(mutex_);
  if (position >= position_) return;
  position_ = position;
  message_ = error.what();
}

bool FirstFault::found_before(std::uint64_t position) const {
  const std::lock_guard lock(mutex_);
  return position_ < position;
}

void FirstFault::rethrow() const {
  if (!message_.empty()) throw InputError(message_);
}

void read_offsets(const GraphFile& file, bool in, unsigned threads, std::span<EdgeIndex> offsets) {
  const Column column = file.open(part_of(GraphPart::out_indptr, in));
  column.for_each_block(threads, [&](std::uint64_t begin, std::uint64_t end) {
    column.read(begin, std::span(reinterpret_cast<std::int64_t*>(offsets.data()) + begin, end - begin));
  });
  check_offsets(file, in, threads, offsets);
}

void check_offsets(const GraphFile& file, bool in, unsigned threads, std::span<const EdgeIndex> offsets) {
  const Column column = file.open(part_of(GraphPart::out_indptr, in));
  FirstFault fault;
  const auto signed_at = [&](std::uint64_t i) { return static_cast<std::int64_t>(offsets[i]); };
  if (offsets[0] != 0) throw column.fault(fmt::format("offset 0 is {}, not 0", signed_at(0)));
  parallel_blocks(threads, offsets.size(), Column::kGrain,
                  [&](std::uint64_t begin, std::uint64_t end, unsigned) {
                    for (std::uint64_t i = std::max<std::uint64_t>(begin, 1); i < end; ++i) {
                      if (signed_at(i) >= signed_at(i - 1)) continue;
                      fault.add(i, column.fault(fmt::format("offset {} decreases ({} after {})", i,
                                                            signed_at(i), signed_at(i - 1))));
                      return;
                    }
                  });
  fault.rethrow();
  if (const EdgeIndex last = offsets[offsets.size() - 1]; last != file.info().edges) {
    throw column.fault(fmt::format("the last offset is {}, but there are {} edges", last, file.info().edges));
  }
}

HostArray<EdgeIndex> read_offsets(const GraphFile& file, bool in, unsigned threads) {
  HostArray<EdgeIndex> offsets(file.info().vertices + 1, in ? "in-offsets" : "offsets");
  read_offsets(file, in, threads, offsets.span());
  return offsets;
}

void read_targets(const Column& column, std::uint64_t vertices, std::uint64_t first, std::span<Vertex> out,
                  FirstFault& fault) {
  const auto refuse = [&](std::uint64_t i, std::int64_t target) {
    fault.add(first + i, column.fault(fmt::format("position {}: target {} is not a vertex (there are {})",
                                                  first + i, target, vertices)));
  };
  if (column.holds<std::int32_t>() && !needs_wide_ids(vertices)) {
    column.read(first, std::span(reinterpret_cast<std::int32_t*>(out.data()), out.size()));
    Vertex largest = 0;  // as unsigned numbers, negative ids are the largest
    for (const Vertex target : out) largest = std::max(largest, target);
    if (out.empty() || largest < vertices) return;
    const auto bad = std::find_if(out.begin(), out.end(), [&](Vertex target) { return target >= vertices; });
    refuse(static_cast<std::uint64_t>(bad - out.begin()), static_cast<std::int32_t>(*bad));
    return;
  }
  std::vector<std::int64_t> wide(out.size());
  column.read(first, std::span(wide));
  for (std::uint64_t i = 0; i < wide.size(); ++i) {
    if (wide[i] < 0 || static_cast<std::uint64_t>(wide[i]) >= vertices) return refuse(i, wide[i]);
    out[i] = static_cast<Vertex>(wide[i]);
  }
}

void read_weights(const Column& column, std::uint64_t first, std::span<float> out, FirstFault& fault) {
  column.read(first, out);
  for (std::uint64_t i = 0; i < out.size(); ++i) {
    if (out[i] >= 0 && std::isfinite(out[i])) continue;
    fault.add(first + i, column.fault(fmt::format("position {}: weight {} is {}", first + i, out[i],
                                                  out[i] < 0 ? "negative" : "not finite")));
    return;
  }
}

}  // namespace sluice::io
