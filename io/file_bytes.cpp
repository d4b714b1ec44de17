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
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "engine/core/error.hpp"
#include "engine/core/memory_budget.hpp"

namespace sluice::io {
namespace {

/// Direct reads begin, end and are stored at multiples of this: of a page, and of any disk's block.
constexpr std::uint64_t kAlignment = 4096;
/// Bytes of one direct read: a few reads in flight saturate a disk, and the copy out of a block hits the
/// core's cache.
constexpr std::uint64_t kBlock = 1u << 20;
/// Shorter reads use the system's cache: they are not worth a block.
constexpr std::uint64_t kMinDirectRead = 64u << 10;
/// Blocks that a stream has in flight.
constexpr unsigned kStreamBlocks = 4;

}  // namespace

/// The buffers of a thread for direct reads: several blocks, so that a disk has its next read before it
/// finishes one, however long the thread waits for a core. Empty if they are more than a small part of the
/// budget, whose rest was planned without them, or if the system lacks asynchronous reads.
class FileBytes::Reader {
 public:
  explicit Reader(unsigned blocks)
      : bytes_(blocks * kBlock), requests_(blocks), in_flight_(blocks), results_(blocks) {
    if (bytes_ > host_budget().ceiling() / kPartOfBudget) return;
    try {
      host_budget().charge(bytes_, "reads past the system's cache");
    } catch (const BudgetError&) {
      return;
    }
    // In huge pages, if available: with single pages of 4 KiB a disk gave 1.03 GB/s instead of 1.88 GB/s.
    memory_.reset(static_cast<std::byte*>(std::aligned_alloc(kHugePage, bytes_)));
    if (memory_) ::madvise(memory_.get(), bytes_, MADV_HUGEPAGE);
    if (memory_ && ::syscall(SYS_io_setup, blocks, &queue_) != 0) memory_.reset();
    if (!memory_) host_budget().release(bytes_);
  }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  ~Reader() {
    if (!memory_) return;
    ::syscall(SYS_io_destroy, queue_);
    host_budget().release(bytes_);
  }

  explicit operator bool() const { return memory_ != nullptr; }
  unsigned blocks() const { return static_cast<unsigned>(requests_.size()); }
  const std::byte* block(unsigned index) const { return memory_.get() + index * kBlock; }
  /// Starts a read into a block; returns false if that is not possible.
  bool begin(unsigned index, int file, std::uint64_t offset, std::uint64_t bytes) {
    if (wait(index) < 0 && in_flight_[index])
      return false;  // the wait failed: the block still has a read in flight
    iocb& request = requests_[index] = {};
    request.aio_data = index;
    request.aio_lio_opcode = IOCB_CMD_PREAD;
    request.aio_fildes = static_cast<std::uint32_t>(file);
    request.aio_buf = reinterpret_cast<std::uintptr_t>(block(index));
    request.aio_nbytes = bytes;
    request.aio_offset = static_cast<std::int64_t>(offset);
    iocb* all[] = {&request};
    in_flight_[index] = ::syscall(SYS_io_submit, queue_, 1, all) == 1;
    return in_flight_[index];
  }
  /// Waits for the read of a block; returns its bytes, or a negative number on failure.
  std::int64_t wait(unsigned index) {
    while (in_flight_[index]) {
      io_event event;
      const long completed = ::syscall(SYS_io_getevents, queue_, 1, 1, &event, nullptr);
      if (completed < 0 && errno == EINTR) continue;
      if (completed != 1) return -1;
      in_flight_[event.data] = false, results_[event.data] = event.res;
    }
    return results_[index];
  }

 private:
  static constexpr std::uint64_t kHugePage = 2u << 20;
  static constexpr std::uint64_t kPartOfBudget = 64;

  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  std::uint64_t bytes_;
  std::unique_ptr<std::byte, Free> memory_;
  aio_context_t queue_ = 0;
  std::vector<iocb> requests_;
  std::vector<bool> in_flight_;
  std::vector<std::int64_t> results_;
};

/// Reads bytes [begin, end) of a file in order; all blocks of the reader are in flight.
class FileBytes::Sequence {
 public:
  Sequence(const FileBytes& file, Reader& reader, std::uint64_t begin, std::uint64_t end)
      : file_(file), reader_(reader), begin_(begin), end_(end), at_(begin), started_(reader.blocks()) {
    for (unsigned next = 0; next < reader.blocks(); ++next) start_read(begin / kBlock + next);
  }
  Sequence(const Sequence&) = delete;
  Sequence& operator=(const Sequence&) = delete;
  ~Sequence() {
    for (unsigned index = 0; index < started_.size(); ++index)
      if (started_[index]) reader_.wait(index);
  }

  /// Reads the next bytes; returns fewer only at the end of the file or the range.
  std::size_t read(std::span<std::byte> bytes) {
    std::size_t done = 0;
    while (done < bytes.size() && at_ < end_) {
      const std::uint64_t block = at_ / kBlock, block_end = std::min(end_, (block + 1) * kBlock);
      const auto to = bytes.subspan(done, std::min<std::uint64_t>(bytes.size() - done, block_end - at_));
      if (!copy_block(block, to)) {
        // The block is cached, or its direct read failed or was short: the cached read delivers the bytes,
        // the error or the end of the file.
        const std::size_t cached = file_.cached_.read_at(to, at_);
        if (cached < to.size()) end_ = at_ + cached;
        at_ += cached, done += cached;
      } else {
        at_ += to.size(), done += to.size();
      }
      if (at_ == block_end) start_read(block + reader_.blocks());
    }
    return done;
  }

 private:
  std::uint64_t first_of(std::uint64_t block) const { return std::max(begin_, block * kBlock); }

  void start_read(std::uint64_t block) {
    const std::uint64_t at = first_of(block), to = std::min(end_, (block + 1) * kBlock);
    const std::uint64_t from = at / kAlignment * kAlignment;
    const auto index = static_cast<unsigned>(block % reader_.blocks());
    started_[index] = at < to && !file_.in_cache(at, to - at) &&
                      reader_.begin(index, file_.direct_.get(), from,
                                    (to + kAlignment - 1) / kAlignment * kAlignment - from);
  }

  /// Copies the bytes at at_ of this block; returns false if the block's read did not deliver them.
  bool copy_block(std::uint64_t block, std::span<std::byte> to) {
    const auto index = static_cast<unsigned>(block % reader_.blocks());
    const std::uint64_t skipped = at_ - first_of(block) / kAlignment * kAlignment;
    if (!started_[index] || reader_.wait(index) < static_cast<std::int64_t>(skipped + to.size()))
      return false;
    std::memcpy(to.data(), reader_.block(index) + skipped, to.size());
    return true;
  }

  const FileBytes& file_;
  Reader& reader_;
  std::uint64_t begin_, end_, at_;
  std::vector<bool> started_;  ///< by block of the reader: a read was started
};

FileBytes::FileBytes(const std::string& path, Caching caching) : cached_(path, O_RDONLY) {
  if (caching == Caching::system) return;
  const int direct = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_DIRECT);
  if (direct < 0) return;  // for example on a file system in memory
  direct_ = Descriptor(direct, path);
  struct stat found {};
  if (::fstat(direct, &found) != 0 || found.st_size <= 0) return;
  // Since 5.2, Linux reports all pages of a file as cached to users who neither own it nor may write it.
  if (found.st_uid != ::geteuid() && ::faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) != 0) return;
  map_ = map_file(cached_.get(), static_cast<std::uint64_t>(found.st_size), PROT_READ);
}

std::size_t FileBytes::read_at(std::span<std::byte> bytes, std::uint64_t offset) const {
  if (!direct_ || bytes.size() < kMinDirectRead) return cached_.read_at(bytes, offset);
  thread_local Reader reader(2);
  if (!reader) return cached_.read_at(bytes, offset);
  return Sequence(*this, reader, offset, offset + bytes.size()).read(bytes);
}

void FileBytes::read_ahead(std::uint64_t offset, std::uint64_t bytes) const {
  if (!direct_)
    static_cast<void>(::posix_fadvise(cached_.get(), static_cast<off_t>(offset), static_cast<off_t>(bytes),
                                      POSIX_FADV_WILLNEED));
}

bool FileBytes::in_cache(std::uint64_t offset, std::uint64_t bytes) const {
  if (!map_ || bytes == 0 || offset + bytes > map_.get_deleter().bytes) return false;
  static const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  std::array<unsigned char, 64> page_states;
  for (std::uint64_t at = offset / page * page; at < offset + bytes;) {
    const std::uint64_t pages =
        std::min<std::uint64_t>(page_states.size(), (offset + bytes - at + page - 1) / page);
    if (::mincore(static_cast<std::byte*>(map_.get()) + at, pages * page, page_states.data()) != 0)
      return false;
    if (!std::all_of(page_states.begin(), page_states.begin() + pages,
                     [](unsigned char page_state) { return page_state & 1; }))
      return false;
    at += pages * page;
  }
  return true;
}

/// The stream has its own reader, since its thread may read other files meanwhile.
struct FileStream::Prefetch {
  explicit Prefetch(const std::string& path) : file(path, Caching::none), reader(kStreamBlocks) {}

  FileBytes file;
  FileBytes::Reader reader;
  std::optional<FileBytes::Sequence> sequence;
};

FileStream::FileStream(const std::string& path) : file_(path) {
  ::posix_fadvise(file_.get(), 0, 0, POSIX_FADV_SEQUENTIAL);
  struct stat found {};
  if (::fstat(file_.get(), &found) != 0) return;
  const auto size = static_cast<std::uint64_t>(found.st_size);
  if (size < kStreamBlocks * kBlock) return;
  prefetch_ = std::make_unique<Prefetch>(path);
  if (prefetch_->file.bypasses_cache() && prefetch_->reader) {
    prefetch_->sequence.emplace(prefetch_->file, prefetch_->reader, 0, size);
  } else {
    prefetch_.reset();
  }
}

FileStream::~FileStream() = default;

std::size_t FileStream::read(std::span<std::byte> bytes) {
  const std::size_t size = prefetch_ ? prefetch_->sequence->read(bytes) : file_.read_at(bytes, at_);
  at_ += size;
  // Linux takes 0.04 s to free a queue of asynchronous reads; this is done in the background.
  if (size < bytes.size() && prefetch_)
    closing_.begin([finished = std::make_shared<std::unique_ptr<Prefetch>>(std::move(prefetch_))] {
      finished->reset();
    });
  return size;
}

ReadAhead::ReadAhead(std::string path) {
  // Opening a pipe would block until a program writes to it.
  std::error_code none;
  if (!std::filesystem::is_regular_file(path, none)) return;
  reading_.begin([this, path = std::move(path)] {
    constexpr std::size_t kPiece = 256u << 10;
    const FileBytes file(path);
    std::vector<std::byte> piece(kPiece);
    file.read_ahead(0, kReadAheadBytes);
    for (std::uint64_t at = 0; !stopped_ && file.read_at(piece, at) == kPiece; at += kPiece)
      file.read_ahead(at + kReadAheadBytes, kPiece);
  });
}

}  // namespace sluice::io
