// HDF5 keeps variable-length text in a heap of the file, and follows references to it without looking: a
// damaged file crashes or hangs the library. So the heap is read here, by the HDF5 File Format Specification
// (III.E), with every step checked.
#include "io/heap_text.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace sluice::io::h5 {
namespace {

/// Where variable-length text lies, as the file has it (HDF5 File Format Specification, global heap ID).
struct HeapReference {
  std::uint32_t length = 0, address_low = 0, address_high = 0, index = 0;
  std::uint64_t address() const { return address_low | std::uint64_t{address_high} << 32; }
};

/// A conversion of types that leaves the reference as it is.
herr_t keep(hid_t source, hid_t, H5T_cdata_t* state, std::size_t, std::size_t, std::size_t, void*, void*,
            hid_t) {
  if (state->command != H5T_CONV_INIT) return 0;
  state->need_bkg = H5T_BKG_NO;
  return H5Tis_variable_str(source) > 0 && H5Tget_size(source) == sizeof(HeapReference) ? 0 : -1;
}

/// Reads the reference in place of the text. The library has no call for it, but lets a conversion see it.
bool read_reference(hid_t attribute, HeapReference& reference) {
  const Handle text(H5Tcopy(H5T_C_S1)), bytes(H5Tcreate(H5T_OPAQUE, sizeof reference));
  checked(H5Tset_size(text.get(), H5T_VARIABLE));
  checked(H5Tregister(H5T_PERS_SOFT, "sluice_heap_reference", text.get(), bytes.get(), keep));
  const bool read = H5Aread(attribute, bytes.get(), &reference) >= 0;
  H5Tunregister(H5T_PERS_SOFT, "sluice_heap_reference", text.get(), bytes.get(), keep);
  return read;
}

/// Collections are little larger than their largest text, if not damaged.
constexpr std::uint64_t kLargestHeap = 16u << 20;

/// A collection of the global heap begins with the first, each of its objects with the second.
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

/// Finds the text of a reference by walking along the collection; false where there is none.
bool read_from_heap(int file, const HeapReference& reference, std::string& text) {
  const auto read_at = [&](std::uint64_t at, void* to, std::size_t bytes) {
    return ::pread(file, to, bytes, static_cast<off_t>(at)) == static_cast<ssize_t>(bytes);
  };
  HeapHeader header;
  if (!read_at(reference.address(), &header, sizeof header)) return false;
  if (std::string_view(header.signature, 4) != "GCOL" || header.bytes > kLargestHeap) return false;
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

}  // namespace

bool read_heap_text(const Handle& attribute, std::string& text) {
  HeapReference reference;
  if (!read_reference(attribute.get(), reference) || reference.length > kLongestText) return false;
  const Handle file(H5Iget_file_id(attribute.get()));
  return read_from_heap(descriptor_of(file.get()), reference, text);
}

}  // namespace sluice::io::h5
