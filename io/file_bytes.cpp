#include "io/file_bytes.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

#include "engine/core/accountant.hpp"
#include "engine/core/error.hpp"

namespace sluice::io {
namespace {

/// Reads past the cache begin, end and land at multiples of it: of a page, and of any disk's block.
constexpr std::uint64_t kAlignment = 4096;
/// Bytes of one read: two of them at a time fill a disk, and the copy out of it finds them in a core's cache.
constexpr std::uint64_t kBlock = 1u << 20;
/// Less is not worth a block.
constexpr std::uint64_t kSmallest = 64u << 10;

/// A thread's memory for reads past the cache; empty where the budget has no room for it.
class Block {
 public:
  Block() {
    try {
      host_accountant().charge(kBlock, "reads past the system's cache");
    } catch (const BudgetError&) {
      return;
    }
    memory_.reset(static_cast<std::byte*>(std::aligned_alloc(kAlignment, kBlock)));
    if (!memory_) host_accountant().release(kBlock);
  }
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  ~Block() {
    if (memory_) host_accountant().release(kBlock);
  }
  std::span<std::byte> bytes() const { return {memory_.get(), memory_ ? kBlock : 0}; }

 private:
  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  std::unique_ptr<std::byte, Free> memory_;
};

}  // namespace

FileBytes::FileBytes(const std::string& path, Caching caching) : cached_(path, O_RDONLY) {
  if (caching == Caching::system) return;
  const int direct = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_DIRECT);
  if (direct < 0) return;  // a file system in memory, for one
  direct_ = Descriptor(direct, path);
  struct stat found {};
  if (::fstat(direct, &found) != 0 || found.st_size <= 0) return;
  mapped_ = static_cast<std::uint64_t>(found.st_size);
  map_ = ::mmap(nullptr, mapped_, PROT_READ, MAP_SHARED, cached_.get(), 0);
  if (map_ == MAP_FAILED) map_ = nullptr;
}

FileBytes::FileBytes(FileBytes&& other) noexcept
    : cached_(std::move(other.cached_)),
      direct_(std::move(other.direct_)),
      map_(std::exchange(other.map_, nullptr)),
      mapped_(other.mapped_) {}

FileBytes& FileBytes::operator=(FileBytes&& other) noexcept {
  std::swap(cached_, other.cached_);
  std::swap(direct_, other.direct_);
  std::swap(map_, other.map_);
  std::swap(mapped_, other.mapped_);
  return *this;
}

FileBytes::~FileBytes() {
  if (map_) ::munmap(map_, mapped_);
}

std::size_t FileBytes::read_at(std::span<std::byte> bytes, std::uint64_t offset) const {
  if (!direct_ || bytes.size() < kSmallest) return cached_.read_at(bytes, offset);
  thread_local const Block memory;
  const std::span<std::byte> block = memory.bytes();
  if (block.empty()) return cached_.read_at(bytes, offset);
  std::size_t done = 0;
  while (done < bytes.size()) {
    const std::uint64_t at = offset + done, room = kBlock - at % kAlignment;
    const auto piece = bytes.subspan(done, std::min<std::uint64_t>(bytes.size() - done, room));
    const std::size_t came =
        in_cache(at, piece.size()) ? cached_.read_at(piece, at) : read_past(piece, at, block);
    done += came;
    if (came < piece.size()) break;
  }
  return done;
}

std::size_t FileBytes::read_past(std::span<std::byte> bytes, std::uint64_t offset,
                                 std::span<std::byte> block) const {
  const std::uint64_t skipped = offset % kAlignment, first = offset - skipped;
  const std::uint64_t wanted = (skipped + bytes.size() + kAlignment - 1) / kAlignment * kAlignment;
  std::uint64_t came = 0;
  while (came < wanted) {
    const ssize_t now =
        ::pread(direct_.get(), block.data() + came, wanted - came, static_cast<off_t>(first + came));
    if (now < 0 && errno == EINTR) continue;
    // Whatever it is that this file system does not take, or the disk does not give: the other way says it.
    if (now < 0) return cached_.read_at(bytes, offset);
    came += static_cast<std::uint64_t>(now);
    if (now == 0 || came % kAlignment != 0) break;  // the end of the file
  }
  const std::size_t here = std::min<std::uint64_t>(bytes.size(), came > skipped ? came - skipped : 0);
  std::memcpy(bytes.data(), block.data() + skipped, here);
  return here;
}

bool FileBytes::in_cache(std::uint64_t offset, std::uint64_t bytes) const {
  if (!map_ || bytes == 0 || offset + bytes > mapped_) return false;
  static const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  std::array<unsigned char, 64> held;
  for (std::uint64_t at = offset / page * page; at < offset + bytes;) {
    const std::uint64_t pages = std::min<std::uint64_t>(held.size(), (offset + bytes - at + page - 1) / page);
    if (::mincore(static_cast<std::byte*>(map_) + at, pages * page, held.data()) != 0) return false;
    if (!std::all_of(held.begin(), held.begin() + pages, [](unsigned char is) { return is & 1; }))
      return false;
    at += pages * page;
  }
  return true;
}

}  // namespace sluice::io
