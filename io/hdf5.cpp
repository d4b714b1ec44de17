#include "io/hdf5.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <system_error>

#include "io/results/json_text.hpp"

namespace sluice::io::h5 {
namespace {

constexpr hsize_t kAlignFrom = 64u << 10;  // smaller datasets are not aligned
constexpr hsize_t kAlignment = 4096;       // a page: for direct reads, and for mapping

/// Whether a file could not be closed; the library's cleanup at exit would then crash.
bool unclosable_file = false;

struct Reason {
  std::string innermost;
  std::string system;
  bool lock = false;
};

herr_t collect(unsigned level, const H5E_error2_t* error, void* data) {
  auto& reason = *static_cast<Reason*>(data);
  const std::string_view text = error->desc ? error->desc : "";
  if (level == 0) reason.innermost = text;
  if (text.find("unable to lock") != text.npos) reason.lock = true;
  static constexpr std::string_view kMark = "error message = '";
  if (const auto at = text.find(kMark); at != text.npos) {
    const auto message = text.substr(at + kMark.size());
    reason.system = message.substr(0, message.find('\''));
  }
  return 0;
}

/// Opens the attribute if it holds one value of this class; else returns an empty handle.
Handle open_scalar(hid_t object, const std::string& name, H5T_class_t wanted) {
  if (H5Aexists(object, name.c_str()) <= 0) return {};
  Handle attribute(H5Aopen(object, name.c_str(), H5P_DEFAULT));
  const Handle type(H5Aget_type(attribute.get()));
  const Handle space(H5Aget_space(attribute.get()));
  if (H5Tget_class(type.get()) != wanted || H5Sget_simple_extent_npoints(space.get()) != 1) return {};
  return attribute;
}

/// Reserves all space that the file will need. A flush that fails halfway leaves the library unable to close
/// the file, so it must not begin if the disk, a quota or a limit on file sizes would stop it. File systems
/// that cannot reserve space are assumed to have it.
void reserve(hid_t file) {
  haddr_t end = 0;
  checked(H5Fget_eoa(file, &end));
  if (::fallocate(descriptor_of(file), 0, 0, static_cast<off_t>(end)) == 0) return;
  if (errno == ENOSPC || errno == EDQUOT || errno == EFBIG || errno == EIO)
    throw Failure(std::generic_category().message(errno));
}

/// Releases a file. A file that the library cannot close stays in its tables, half dismantled.
bool release_file(Handle& file) noexcept {
  const bool closed = file.reset();
  unclosable_file = unclosable_file || !closed;
  return closed;
}

// HDF5 keeps variable-length text in a heap of the file and follows references to it unchecked: a damaged
// file crashes or hangs the library. So the heap is read here, by the HDF5 File Format Specification (III.E),
// with every step checked.

/// Longer text is treated as damage. The longest valid text is the list of a result's shards.
constexpr std::size_t kMaxTextBytes = 4u << 20;

/// Position of variable-length text, as stored in the file (HDF5 File Format Specification, global heap ID).
struct HeapReference {
  std::uint32_t length = 0, address_low = 0, address_high = 0, index = 0;
  std::uint64_t address() const { return address_low | std::uint64_t{address_high} << 32; }
};

/// A type conversion that leaves the reference unchanged.
herr_t copy_reference(hid_t source, hid_t, H5T_cdata_t* state, std::size_t, std::size_t, std::size_t, void*,
                      void*, hid_t) {
  if (state->command != H5T_CONV_INIT) return 0;
  state->need_bkg = H5T_BKG_NO;
  return H5Tis_variable_str(source) > 0 && H5Tget_size(source) == sizeof(HeapReference) ? 0 : -1;
}

/// Reads the reference instead of the text. The library has no call for this, but passes it to a conversion.
bool read_reference(hid_t attribute, HeapReference& reference) {
  const Handle text(H5Tcopy(H5T_C_S1)), bytes(H5Tcreate(H5T_OPAQUE, sizeof reference));
  checked(H5Tset_size(text.get(), H5T_VARIABLE));
  checked(H5Tregister(H5T_PERS_SOFT, "sluice_heap_reference", text.get(), bytes.get(), copy_reference));
  const bool read = H5Aread(attribute, bytes.get(), &reference) >= 0;
  H5Tunregister(H5T_PERS_SOFT, "sluice_heap_reference", text.get(), bytes.get(), copy_reference);
  return read;
}

/// A valid collection is little larger than its largest text.
constexpr std::uint64_t kMaxHeapBytes = 16u << 20;

/// HeapHeader begins a collection of the global heap; HeapObject begins each of its objects.
struct HeapHeader {
  char signature[4];
  std::uint32_t version;
  std::uint64_t bytes;
};
struct HeapObject {
  std::uint16_t index, references;
  std::uint32_t reserved;
  std::uint64_t bytes;
};

/// Finds the text of a reference by a scan of the collection; returns false if there is none.
bool read_from_heap(int file, const HeapReference& reference, std::string& text) {
  const auto read_at = [&](std::uint64_t at, void* to, std::size_t bytes) {
    return ::pread(file, to, bytes, static_cast<off_t>(at)) == static_cast<ssize_t>(bytes);
  };
  HeapHeader header;
  if (!read_at(reference.address(), &header, sizeof header)) return false;
  if (std::string_view(header.signature, 4) != "GCOL" || header.bytes > kMaxHeapBytes) return false;
  HeapObject object;
  for (std::uint64_t at = sizeof header; at < header.bytes;) {
    if (!read_at(reference.address() + at, &object, sizeof object) || object.index == 0) return false;
    at += sizeof object;
    if (at > header.bytes || object.bytes > header.bytes - at) return false;
    if (object.index == reference.index) {
      text.resize(std::min<std::uint64_t>(reference.length, object.bytes));
      return read_at(reference.address() + at, text.data(), text.size());
    }
    at += (object.bytes + 7) / 8 * 8;
  }
  return false;
}

/// Reads an attribute of one variable-length text; returns false if its reference is invalid.
bool read_heap_text(const Handle& attribute, std::string& text) {
  HeapReference reference;
  if (!read_reference(attribute.get(), reference) || reference.length > kMaxTextBytes) return false;
  const Handle file(H5Iget_file_id(attribute.get()));
  return read_from_heap(descriptor_of(file.get()), reference, text);
}

}  // namespace

void fail() {
  Reason reason;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, collect, &reason);
  H5Eclear2(H5E_DEFAULT);
  if (reason.lock) {
    throw Failure("cannot be locked (" + reason.system +
                  "): another program has it open, or the file system has no locks; for the latter set "
                  "HDF5_USE_FILE_LOCKING=FALSE");
  }
  if (!reason.system.empty()) throw Failure(reason.system);
  throw Failure(reason.innermost.empty() ? "HDF5 failed without a reason" : reason.innermost);
}

void silence_errors() {
  static const bool once = [] {
    H5dont_atexit();
    return std::atexit([] {
             if (!unclosable_file) H5close();
           }) == 0;
  }();
  // A thread-safe build of the library has an error stack and a print setting for each thread.
  thread_local const bool silent = H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr) >= 0;
  static_cast<void>(once), static_cast<void>(silent);
}

Handle create_file(const std::string& path) {
  silence_errors();
  const Handle creation(H5Pcreate(H5P_FILE_CREATE));
  checked(H5Pset_obj_track_times(creation.get(), false));
  const Handle access(H5Pcreate(H5P_FILE_ACCESS));
  checked(H5Pset_alignment(access.get(), kAlignFrom, kAlignment));
  checked(H5Pset_fclose_degree(access.get(), H5F_CLOSE_STRONG));
  return Handle(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, creation.get(), access.get()));
}

Handle open_file(const std::string& path, bool writable) {
  silence_errors();
  return Handle(H5Fopen(path.c_str(), writable ? H5F_ACC_RDWR : H5F_ACC_RDONLY, H5P_DEFAULT));
}

void close_file(Handle& file) {
  silence_errors();
  reserve(file.get());
  checked(H5Fflush(file.get(), H5F_SCOPE_LOCAL));
  if (!release_file(file)) fail();
}

void abandon_file(Handle& file) noexcept {
  if (!file) return;
  silence_errors();
  if (const int sink = ::memfd_create("abandoned", MFD_CLOEXEC); sink >= 0) {
    if (const int written = descriptor_of(file.get()); written >= 0) ::dup3(sink, written, O_CLOEXEC);
    ::close(sink);
  }
  release_file(file);
  H5Eclear2(H5E_DEFAULT);
}

int descriptor_of(hid_t file) {
  void* driver_handle = nullptr;
  return H5Fget_vfd_handle(file, H5P_DEFAULT, &driver_handle) >= 0 ? *static_cast<int*>(driver_handle) : -1;
}

Handle create_group(hid_t parent, const std::string& name) {
  const Handle creation(H5Pcreate(H5P_GROUP_CREATE));
  checked(H5Pset_obj_track_times(creation.get(), false));
  return Handle(H5Gcreate2(parent, name.c_str(), H5P_DEFAULT, creation.get(), H5P_DEFAULT));
}

Handle dataset_properties() {
  Handle properties(H5Pcreate(H5P_DATASET_CREATE));
  checked(H5Pset_obj_track_times(properties.get(), false));
  return properties;
}

Handle create_dataset(hid_t parent, const std::string& name, hid_t type, const Handle& space,
                      const Handle& properties) {
  return Handle(
      H5Dcreate2(parent, name.c_str(), type, space.get(), H5P_DEFAULT, properties.get(), H5P_DEFAULT));
}

Handle space_of(const std::vector<hsize_t>& shape) {
  return Handle(H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr));
}

void write_attribute(hid_t object, const std::string& name, const void* values, hid_t type, hsize_t count) {
  const Handle space = count == 0 ? Handle(H5Screate(H5S_SCALAR)) : space_of({count});
  const Handle attribute(H5Acreate2(object, name.c_str(), type, space.get(), H5P_DEFAULT, H5P_DEFAULT));
  checked(H5Awrite(attribute.get(), type, values));
}

void write_attribute(hid_t object, const std::string& name, const std::string& text) {
  const Handle type(H5Tcopy(H5T_C_S1));
  checked(H5Tset_size(type.get(), H5T_VARIABLE));
  checked(H5Tset_cset(type.get(), H5T_CSET_UTF8));
  // The text may contain file names, which need not be UTF-8.
  const std::string utf8 = utf8_text(text);
  const char* const characters = utf8.c_str();
  write_attribute(object, name, &characters, type.get());
}

void write_fixed_text(hid_t object, const std::string& name, const std::string& text) {
  const std::string utf8 = utf8_text(text);
  const Handle type(H5Tcopy(H5T_C_S1));
  checked(H5Tset_size(type.get(), std::max<std::size_t>(utf8.size(), 1)));  // HDF5 has no text of 0 bytes
  checked(H5Tset_strpad(type.get(), H5T_STR_NULLPAD));
  checked(H5Tset_cset(type.get(), H5T_CSET_UTF8));
  write_attribute(object, name, utf8.c_str(), type.get());
}

bool read_number(hid_t object, const std::string& name, H5T_class_t wanted, hid_t type, void* value) {
  const Handle attribute = open_scalar(object, name, wanted);
  return attribute && H5Aread(attribute.get(), type, value) >= 0;
}

bool read_attribute(hid_t object, const std::string& name, std::string& text) {
  const Handle attribute = open_scalar(object, name, H5T_STRING);
  if (!attribute) return false;
  const Handle type(H5Aget_type(attribute.get()));
  if (H5Tis_variable_str(type.get()) > 0) return read_heap_text(attribute, text);
  const std::size_t size = H5Tget_size(type.get());
  if (size > kMaxTextBytes) return false;
  std::vector<char> characters(size + 1, '\0');
  if (H5Aread(attribute.get(), type.get(), characters.data()) < 0) return false;
  text = characters.data();
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return true;
}

bool has_link(hid_t parent, const std::string& name) {
  return H5Lexists(parent, name.c_str(), H5P_DEFAULT) > 0;
}

}  // namespace sluice::io::h5
