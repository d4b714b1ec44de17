#include "io/file_bytes.hpp"

#include <fcntl.h>
#include <linux/aio_abi.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>
#include <vector>

#include "engine/core/error.hpp"
#include "engine/core/memory_budget.hpp"

namespace sluice::io {
namespace {

/// Reads past the cache begin, end and land at multiples of it: of a page, and of any disk's block.
constexpr std::uint64_t kAlignment = 4096;
/// Bytes of one read: a few of them at a time fill a disk, and the copy out of it finds them in a core's
/// cache.
constexpr std::uint64_t kBlock = 1u << 20;
/// Less is not worth a block.
constexpr std::uint64_t kSmallest = 64u << 10;

/// What a thread reads past the cache with: two blocks, so that a disk has its next read before it is done
/// with one, however long the thread waits for a core. Empty where that is more than a small part of the
/// budget, whose rest was planned without it, or the system takes no reads that go on by themselves.
class Reader {
 public:
  Reader() {
    if (kBytes > host_budget().ceiling() / kPartOfBudget) return;
    try {
      host_budget().charge(kBytes, "reads past the system's cache");
    } catch (const BudgetError&) {
      return;
    }
    // In one piece of the machine's memory, if there is one: a disk that gets each page of 4 KiB by
    // itself gave 1.03 GB/s instead of 1.88.
    memory_.reset(static_cast<std::byte*>(std::aligned_alloc(kBytes, kBytes)));
    if (memory_) ::madvise(memory_.get(), kBytes, MADV_HUGEPAGE);
    if (memory_ && ::syscall(SYS_io_setup, kBlocks, &queue_) != 0) memory_.reset();
    if (!memory_) host_budget().release(kBytes);
  }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  ~Reader() {
    if (!memory_) return;
    ::syscall(SYS_io_destroy, queue_);
    host_budget().release(kBytes);
  }

  static constexpr unsigned kBlocks = 2;

  explicit operator bool() const { return memory_ != nullptr; }
  const std::byte* block(unsigned which) const { return memory_.get() + which * kBlock; }
  /// Starts to read into a block; false: not possible here.
  bool begin(unsigned which, int file, std::uint64_t offset, std::uint64_t bytes) {
    if (wait(which) < 0 && under_way_[which])
      return false;  // the thread that threw has left it, and it stays there
    iocb& request = requests_[which] = {};
    request.aio_data = which;
    request.aio_lio_opcode = IOCB_CMD_PREAD;
    request.aio_fildes = static_cast<std::uint32_t>(file);
    request.aio_buf = reinterpret_cast<std::uintptr_t>(block(which));
    request.aio_nbytes = bytes;
    request.aio_offset = static_cast<std::int64_t>(offset);
    iocb* all[] = {&request};
    under_way_[which] = ::syscall(SYS_io_submit, queue_, 1, all) == 1;
    return under_way_[which];
  }
  /// Waits for a block that was begun; returns how much came, or less than 0.
  std::int64_t wait(unsigned which) {
    while (under_way_[which]) {
      io_event event;
      const long came = ::syscall(SYS_io_getevents, queue_, 1, 1, &event, nullptr);
      if (came < 0 && errno == EINTR) continue;
      if (came != 1) return -1;
      under_way_[event.data] = false, came_[event.data] = event.res;
    }
    return came_[which];
  }

 private:
  static constexpr std::uint64_t kBytes = kBlocks * kBlock;  // a huge page
  static constexpr std::uint64_t kPartOfBudget = 64;

  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  std::unique_ptr<std::byte, Free> memory_;
  aio_context_t queue_ = 0;
  std::array<iocb, kBlocks> requests_;
  std::array<bool, kBlocks> under_way_{};
  std::array<std::int64_t, kBlocks> came_{};
};

}  // namespace

FileBytes::FileBytes(const std::string& path, Caching caching) : cached_(path, O_RDONLY) {
  if (caching == Caching::system) return;
  const int direct = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_DIRECT);
  if (direct < 0) return;  // a file system in memory, for one
  direct_ = Descriptor(direct, path);
  struct stat found {};
  if (::fstat(direct, &found) != 0 || found.st_size <= 0) return;
  // Of a file that is somebody else's and may not be written, Linux says that the cache holds all
  // (since 5.2).
  if (found.st_uid != ::geteuid() && ::faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) != 0) return;
  map_ = map_file(cached_.get(), static_cast<std::uint64_t>(found.st_size), PROT_READ);
}

std::size_t FileBytes::read_at(std::span<std::byte> bytes, std::uint64_t offset) const {
  if (!direct_ || bytes.size() < kSmallest) return cached_.read_at(bytes, offset);
  thread_local Reader reader;
  if (!reader) return cached_.read_at(bytes, offset);

  // Pieces end where blocks do; piece i is read into block i % kBlocks.
  const std::uint64_t first = offset / kBlock, last = (offset + bytes.size() - 1) / kBlock;
  const auto piece = [&](std::uint64_t i) {
    const std::uint64_t from = std::max(offset, i * kBlock);
    const std::uint64_t to = std::min(offset + bytes.size(), (i + 1) * kBlock);
    return bytes.subspan(from - offset, to - from);
  };
  std::array<bool, Reader::kBlocks> begun{};
  const auto begin = [&](std::uint64_t i) {
    const std::uint64_t at = std::max(offset, i * kBlock), size = piece(i).size();
    const std::uint64_t from = at / kAlignment * kAlignment;
    const std::uint64_t to = (at + size + kAlignment - 1) / kAlignment * kAlignment;
    const auto which = static_cast<unsigned>(i % Reader::kBlocks);
    begun[which] = !in_cache(at, size) && reader.begin(which, direct_.get(), from, to - from);
  };
  std::size_t done = 0;
  bool ended = false;
  begin(first);
  for (std::uint64_t i = first; i <= last; ++i) {
    if (i < last && !ended) begin(i + 1);
    const auto which = static_cast<unsigned>(i % Reader::kBlocks);
    const std::uint64_t at = std::max(offset, i * kBlock), skipped = at % kAlignment;
    const std::int64_t came = begun[which] ? reader.wait(which) : -1;
    begun[which] = false;
    if (ended) continue;  // the file, before
    const std::span<std::byte> to = piece(i);
    if (came >= static_cast<std::int64_t>(skipped + to.size())) {
      std::memcpy(to.data(), reader.block(which) + skipped, to.size());
      done += to.size();
    } else {
      // It is in the cache; or what this file system does not take, the disk does not give or the file does
      // not have, the other way says.
      const std::size_t cached = cached_.read_at(to, at);
      done += cached;
      ended = cached < to.size();
    }
  }
  return done;
}

void FileBytes::read_ahead(std::uint64_t offset, std::uint64_t bytes) const {
  if (!direct_)
    static_cast<void>(::posix_fadvise(cached_.get(), static_cast<off_t>(offset), static_cast<off_t>(bytes),
                                      POSIX_FADV_WILLNEED));
}

bool FileBytes::in_cache(std::uint64_t offset, std::uint64_t bytes) const {
  if (!map_ || bytes == 0 || offset + bytes > map_.get_deleter().bytes) return false;
  static const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  std::array<unsigned char, 64> held;
  for (std::uint64_t at = offset / page * page; at < offset + bytes;) {
    const std::uint64_t pages = std::min<std::uint64_t>(held.size(), (offset + bytes - at + page - 1) / page);
    if (::mincore(static_cast<std::byte*>(map_.get()) + at, pages * page, held.data()) != 0) return false;
    if (!std::all_of(held.begin(), held.begin() + pages, [](unsigned char is) { return is & 1; }))
      return false;
    at += pages * page;
  }
  return true;
}

ReadAhead::ReadAhead(std::string path) {
  // To open a pipe waits for one who writes to it.
  std::error_code none;
  if (!std::filesystem::is_regular_file(path, none)) return;
  reading_.begin([this, path = std::move(path)] {
    constexpr std::size_t kPiece = 256u << 10;
    const FileBytes file(path);
    std::vector<std::byte> piece(kPiece);
    file.read_ahead(0, kAhead);
    for (std::uint64_t at = 0; !ends_ && file.read_at(piece, at) == kPiece; at += kPiece)
      file.read_ahead(at + kAhead, kPiece);
  });
}

}  // namespace sluice::io
