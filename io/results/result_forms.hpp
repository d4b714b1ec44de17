// Shared by the forms of a result file: bytes held back in a scratch file.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "io/descriptor.hpp"
#include "io/results/result_writer.hpp"

namespace sluice::io {

/// Bytes that must wait for those of an earlier dataset. They lie in an unlinked file beside the output, so
/// that memory does not limit a result.
class Scratch {
 public:
  Scratch(std::string sibling, std::string display_path)
      : sibling_(std::move(sibling)), display_path_(std::move(display_path)) {}
  void append(std::span<const std::byte> bytes);
  std::uint64_t size() const { return size_; }
  /// Passes all bytes in order to use(piece), in pieces of `piece_bytes` (the last may be shorter), and
  /// discards them.
  template <class Use>
  void drain(std::size_t piece_bytes, Use&& use) {
    std::vector<std::byte> piece(piece_bytes);
    for (std::uint64_t at = 0; at < size_;) {
      const std::size_t size = file_.read_at(piece, at);
      use(std::span<const std::byte>(piece).first(size));
      at += size;
    }
    size_ = 0;
    file_ = Descriptor();
  }

 private:
  std::string sibling_, display_path_;
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
