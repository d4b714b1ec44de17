// The HDF5 C library behind owned handles and checked calls. Its own messages never reach standard error.
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace sluice::io::h5 {

/// A call of the library failed; `what()` is the reason alone, for the caller to name the file and dataset.
struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Throws Failure with the most specific reason that the library's error stack holds.
[[noreturn]] void fail();

/// Passes on an id or status, or throws Failure where it is negative.
template <class T>
T checked(T status) {
  if (status < 0) fail();
  return status;
}

/// Owns one HDF5 id of any kind.
class Handle {
 public:
  Handle() = default;
  /// Takes over an id; throws Failure if it is invalid.
  explicit Handle(hid_t id) : id_(checked(id)) {}
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(id_, other.id_);
    return *this;
  }
  ~Handle() { reset(); }

  hid_t get() const { return id_; }
  explicit operator bool() const { return id_ >= 0; }
  /// Lets go of the id now; false if the library failed to.
  bool reset() noexcept { return id_ < 0 || H5Idec_ref(std::exchange(id_, -1)) >= 0; }

 private:
  hid_t id_ = -1;
};

/// Silences the library's own error messages in this thread, and its cleaning up at exit where that would
/// crash. To be called before anything else is asked of the library, by every thread that asks.
void quiet();

/// File creation and access as every file of ours has them: no times, large data aligned to pages.
Handle create_file(const std::string& path);
/// Opens for reading, or for changing in place.
Handle open_file(const std::string& path, bool writable = false);
/// Writes everything out and closes; a full disk is reported here.
void close_file(Handle& file);
/// Closes a file that is not wanted any more. HDF5 insists on writing its metadata first and cannot close the
/// file where the disk is full; so what it still writes goes to memory.
void abandon_file(Handle& file) noexcept;
/// Applies action(id) to a file and closes it; abandons it if that fails.
template <class Action>
void change_file(Handle file, Action&& action) {
  try {
    action(file.get());
    close_file(file);
  } catch (...) {
    abandon_file(file);
    throw;
  }
}

/// The file's descriptor, or -1.
int descriptor_of(hid_t file);

/// Creates a group, without times.
Handle create_group(hid_t parent, const std::string& name);
/// Dataset creation properties without times, so that the same data make the same bytes.
Handle dataset_properties();

/// The file type (little-endian) of a C++ number.
template <class T>
hid_t file_type() {
  if constexpr (std::is_same_v<T, float>)
    return H5T_IEEE_F32LE;
  else if constexpr (std::is_same_v<T, double>)
    return H5T_IEEE_F64LE;
  else if constexpr (std::is_same_v<T, std::uint8_t>)
    return H5T_STD_U8LE;
  else if constexpr (std::is_same_v<T, std::int32_t>)
    return H5T_STD_I32LE;
  else if constexpr (std::is_same_v<T, std::int64_t>)
    return H5T_STD_I64LE;
  else if constexpr (std::is_same_v<T, std::uint64_t>)
    return H5T_STD_U64LE;
  else
    static_assert(!sizeof(T), "no such number in our files");
}

/// The memory type: that of the file, since the machine is little-endian (io/checksum.hpp asserts it).
template <class T>
hid_t memory_type() {
  return file_type<T>();
}

/// Writes an attribute of one value, an array of values, or variable-length UTF-8 text, which Python reads
/// as str. Where such text lies, the library trusts the file; read_attribute() looks for itself.
void write_attribute(hid_t object, const std::string& name, const void* values, hid_t type,
                     hsize_t count = 0);
void write_attribute(hid_t object, const std::string& name, const std::string& text);
/// Text of fixed length, which lies in the object's header.
void write_fixed_text(hid_t object, const std::string& name, const std::string& text);
template <class T>
requires std::is_arithmetic_v<T>
void write_attribute(hid_t object, const std::string& name, T value) {
  write_attribute(object, name, &value, file_type<T>());
}

/// Reads a scalar attribute; false if there is none of this name, or none of a fitting class.
bool read_attribute(hid_t object, const std::string& name, std::int64_t& value);
bool read_attribute(hid_t object, const std::string& name, std::uint64_t& value);
bool read_attribute(hid_t object, const std::string& name, double& value);
bool read_attribute(hid_t object, const std::string& name, std::string& text);

/// Whether `parent` has a member of this name.
bool has_link(hid_t parent, const std::string& name);

}  // namespace sluice::io::h5
