// The HDF5 C library behind owned handles and checked calls. Its own messages never reach standard error.
#pragma once

#include <hdf5.h>

#include <cstdint>
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

/// Returns an id or status, or throws Failure if it is negative.
template <class T>
T checked(T status) {
  if (status < 0) fail();
  return status;
}

/// Owns one HDF5 id of any kind.
class Handle {
 public:
  Handle() = default;
  /// Takes ownership of an id; throws Failure if it is invalid.
  explicit Handle(hid_t id) : id_(checked(id)) {}
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(id_, other.id_);
    return *this;
  }
  ~Handle() { reset(); }

  hid_t get() const { return id_; }
  explicit operator bool() const { return id_ >= 0; }
  /// Releases the id now; returns false if the library failed to.
  bool reset() noexcept { return id_ < 0 || H5Idec_ref(std::exchange(id_, -1)) >= 0; }

 private:
  hid_t id_ = -1;
};

/// Silences the library's own error messages in this thread, and its cleanup at exit if that would crash.
/// Every thread calls this before its first other call of the library.
void silence_errors();

/// Creates a file with Sluice's settings: no time stamps, large datasets aligned to pages.
Handle create_file(const std::string& path);
/// Opens a file for reading, or for changes in place.
Handle open_file(const std::string& path, bool writable = false);
/// Writes all data out and closes the file; a full disk is reported here.
void close_file(Handle& file);
/// Closes a file that is no longer needed. HDF5 always writes its metadata first, and cannot close the file
/// if the disk is full; so these last writes go to memory.
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

/// Creates a group without time stamps.
Handle create_group(hid_t parent, const std::string& name);
/// Dataset creation properties without time stamps, so that the same data makes the same bytes.
Handle dataset_properties();
Handle create_dataset(hid_t parent, const std::string& name, hid_t type, const Handle& space,
                      const Handle& properties);
Handle space_of(const std::vector<hsize_t>& shape);

/// The type of a C++ number in a file, and in memory: both are little-endian (io/checksum.hpp asserts it).
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

/// Writes an attribute of one value, an array of values, or variable-length UTF-8 text, which Python reads as
/// str. The library does not check the position of such text in a file; read_attribute() does.
void write_attribute(hid_t object, const std::string& name, const void* values, hid_t type,
                     hsize_t count = 0);
void write_attribute(hid_t object, const std::string& name, const std::string& text);
/// Writes text of fixed length, which is stored in the object's header.
void write_fixed_text(hid_t object, const std::string& name, const std::string& text);
template <class T>
requires std::is_arithmetic_v<T>
void write_attribute(hid_t object, const std::string& name, T value) {
  write_attribute(object, name, &value, file_type<T>());
}

/// Reads a scalar attribute; returns false if there is none of this name and of a fitting class.
bool read_attribute(hid_t object, const std::string& name, std::string& text);
bool read_number(hid_t object, const std::string& name, H5T_class_t wanted, hid_t type, void* value);
template <class T>
requires std::is_arithmetic_v<T>
bool read_attribute(hid_t object, const std::string& name, T& value) {
  const H5T_class_t wanted = std::is_floating_point_v<T> ? H5T_FLOAT : H5T_INTEGER;
  return read_number(object, name, wanted, file_type<T>(), &value);
}

/// Whether `parent` has a member of this name.
bool has_link(hid_t parent, const std::string& name);

}  // namespace sluice::io::h5
