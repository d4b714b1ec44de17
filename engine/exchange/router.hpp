// What ranks send each other by owner, and the answers that go back; and what all ranks are to know of each
// other's rows, which have an owner each: columns of values in the memory of the ranks' devices. Between GPUs
// that are connected it travels by NCCL, otherwise by MPI.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "engine/core/charged_vector.hpp"
#include "engine/core/ownership.hpp"
#include "engine/core/types.hpp"
#include "engine/exchange/communicator.hpp"
#include "engine/exchange/inbox.hpp"
#include "engine/exchange/nccl.hpp"
#include "engine/exchange/pieces.hpp"
#include "engine/exec/memory/buffer.hpp"

namespace sluice {

/// Values of one kind, in order of rank at both ends.
struct RoutedColumn {
  const void* from;
  void* to;
  std::size_t value_bytes;
};

class Router {
 public:
  static constexpr std::uint64_t kPieceBytes = 16u << 20;

  /// Columns of host memory, of rows, if `owners` says which rank has which.
  explicit Router(Communicator& ranks, Ownership owners = {}) : ranks_(ranks), owners_(std::move(owners)) {}
  /// Columns of the device's memory. `link` null, on all ranks: by MPI. Then `piece_bytes` travel at
  /// once, which for a GPU pass through as much page-locked memory of the host in each direction. Throws
  /// BudgetError.
  Router(Communicator& ranks, const Device& device, DeviceRanks* link,
         std::uint64_t piece_bytes = kPieceBytes, Ownership owners = {});
  Router(const Router&) = delete;
  Router& operator=(const Router&) = delete;
  ~Router() { abort_if_unwinding(); }

  Communicator& ranks() const { return ranks_; }
  std::size_t size() const { return static_cast<std::size_t>(ranks_.size()); }
  std::size_t own() const { return static_cast<std::size_t>(ranks_.rank()); }
  bool alone() const { return size() == 1; }
  /// From GPU to GPU; the communicator counts what goes through the hosts.
  std::uint64_t bytes_linked() const { return link_ ? link_->bytes_sent() : 0; }

  // ---- values by owner

  /// How many values come from each rank, where `send[r]` go to rank r; all ranks call it.
  std::vector<std::uint64_t> counts(std::span<const std::uint64_t> send, const char* label) const;
  /// The same after `body`, which says what `send` is and may find too little memory: then all ranks throw
  /// BudgetError, not this one alone (agreement.hpp: together).
  std::vector<std::uint64_t> counts_after(const std::function<void()>& body,
                                          const std::vector<std::uint64_t>& send, const char* label) const;
  /// `send[r]` values of every column go to rank r, and `receive[r]` come from it, as counts() said; all
  /// ranks call it. Answers go back with the two exchanged. What `stream` has begun is done before, and what
  /// came is there when it returns. Returns the seconds that GPUs took; the communicator counts its own.
  double send(std::span<const RoutedColumn> columns, std::span<const std::uint64_t> send,
              std::span<const std::uint64_t> receive, void* stream, const char* label) const;
  /// One column of host memory; `to` has what receive[] says.
  template <class T>
  void send(const T* from, T* to, std::span<const std::uint64_t> send, std::span<const std::uint64_t> receive,
            const char* label) const {
    const RoutedColumn column{from, to, sizeof(T)};
    this->send({&column, 1}, send, receive, nullptr, label);
  }

  // ---- between connected GPUs, in the order of a stream: all ranks call what follows, which is under way
  // when the call returns; wait() says when it is done

  bool linked() const { return link_ != nullptr; }
  /// As send(). Rank r's values begin `apart` * r values behind `from`, if that is not zero.
  void begin_send(const RoutedColumn& column, std::span<const std::uint64_t> send,
                  std::span<const std::uint64_t> receive, void* stream, std::uint64_t apart = 0) const;
  /// The `bytes` at `from` of every rank, by rank, at `to`.
  void begin_gather(const void* from, void* to, std::size_t bytes, void* stream) const {
    link_->all_gather(from, to, bytes, stream);
  }
  /// Elements ranges[r] of `elements` are known to rank r, and then to all.
  template <class T>
  void begin_gather_ranges(T* elements, std::span<const ElementRange> ranges, void* stream) const {
    link_->all_gather_ranges(elements, ranges, sizeof(T), stream);
  }
  /// Of `values`, `each` of every rank in order of rank, this rank's become the least of what any rank has
  /// there; the others are lost.
  void begin_least(std::uint32_t* values, std::uint64_t each, void* stream) const {
    link_->reduce_scatter_min(values, each, stream);
  }
  /// Blocks until what `stream` has begun is done, in memory of the host too; throws as DeviceRanks::wait().
  void wait(void* stream, const char* label) const;
  /// Throws so; for code that waits otherwise.
  void throw_if_failed(const char* label) const { link_->throw_if_failed(label); }
  /// Ends what is under way where this rank leaves in an exception, for others may not come any more.
  void abort_if_unwinding() const noexcept {
    if (link_ && std::uncaught_exceptions() > 0) link_->abort();
  }

  // ---- rows, of which each has one owner; all ranks call what follows

  const Ownership& owners() const { return owners_; }
  /// This rank's rows.
  std::uint64_t first() const { return owners_.begin(own()); }
  std::uint64_t last() const { return owners_.end(own()); }
  bool owns(Vertex row) const { return row - first() < last() - first(); }
  /// New rows go to the last rank.
  void grow(std::uint64_t rows) { owners_.grow(rows); }

  /// Makes `column` [rows][width] on every rank what the rows' owners have there. Here and below, what
  /// `stream` has begun is done before, and what came is there when the call returns; host memory has none.
  /// In a plan there is nothing.
  template <class T>
  void share(T* column, const char* label, std::uint64_t width = 1, void* stream = nullptr) const {
    share_bytes(column, ranges_of(owners_), sizeof(T) * width, label, stream);
  }
  /// The same of elements ranges[r] of rank r; ranges do not overlap, and may be empty.
  template <class T>
  void share_ranges(T* elements, std::span<const ElementRange> ranges, const char* label,
                    void* stream = nullptr) const {
    share_bytes(elements, ranges, sizeof(T), label, stream);
  }
  /// Bits of rows: words reach all ranks from the owner of their first row. `first_words` [ranks] become what
  /// each rank had in the word in which its rows begin, for that may begin with rows of others.
  void share_words(std::uint32_t* words, std::uint32_t* first_words, const char* label,
                   void* stream = nullptr) const;
  /// As share(), in host memory, where only those of `changed`, own rows, may be others than before: a few
  /// travel one by one, many as a whole. Each rank chooses what takes fewer bytes for its own, and the size
  /// of what comes shows which of the two it is.
  template <class T>
  void share_changed(T* column, std::span<const Vertex> changed, const char* label);
  /// Whether share_changed() sends all of this rank's rows where so many changed.
  template <class T>
  bool sends_all(std::uint64_t changed) const {
    return changed * kEntryBytes<T> >= owners_.count(own()) * sizeof(T);
  }
  /// Of a row that travels alone.
  template <class T>
  static constexpr std::uint64_t kEntryBytes = sizeof(Vertex) + sizeof(T);

  /// The rows that some rank brings; each brings own ones, none twice. They travel as ids, or, if there are
  /// many, as bits.
  std::vector<Vertex> gather(std::vector<Vertex> rows, const char* label);
  /// The sum of what all ranks bring.
  std::uint64_t sum(std::uint64_t count, const char* label) const;

 private:
  bool on_gpu() const { return device_ && device_->is_cuda(); }
  void send_by_hosts(std::span<const RoutedColumn> columns, std::span<const std::uint64_t> send,
                     std::span<const std::uint64_t> receive, const char* label) const;
  /// `longest` as in exchange_in_pieces().
  void exchange_blocks(const RankBlocks<const std::byte>& send, const RankBlocks<std::byte>& receive,
                       std::uint64_t longest, std::uint64_t piece, const char* label) const;
  void share_bytes(void* memory, std::span<const ElementRange> ranges, std::size_t element_bytes,
                   const char* label, void* stream) const;
  /// Sends `part` to all other ranks. Where as many bytes come as a rank's rows have in `column`, they come
  /// to their place there, all others to received_.
  void send_to_all(std::span<const std::byte> part, std::byte* column, std::size_t row_bytes,
                   const char* label);

  Communicator& ranks_;
  Ownership owners_;
  const Device* device_ = nullptr;
  DeviceRanks* link_ = nullptr;
  std::uint64_t piece_bytes_ = 0;  ///< to one rank
  Staging<std::byte> leaving_, arriving_;
  Inbox received_;  ///< rows one by one; its memory is used again
};

template <class T>
void Router::share_changed(T* column, std::span<const Vertex> changed, const char* label) {
  if (alone()) return;
  auto* const bytes = reinterpret_cast<std::byte*>(column);
  if (sends_all<T>(changed.size())) {
    send_to_all(std::as_bytes(std::span(column + first(), last() - first())), bytes, sizeof(T), label);
  } else {
    HostArray<std::byte> entries(changed.size() * kEntryBytes<T>, label);
    std::byte* to = entries.data();
    for (const Vertex row : changed) {
      std::memcpy(to, &row, sizeof row);
      std::memcpy(to + sizeof row, column + row, sizeof(T));
      to += kEntryBytes<T>;
    }
    send_to_all(entries.span(), bytes, sizeof(T), label);
  }
  const std::span<const std::byte> entries = received_.bytes();
  for (std::size_t at = 0; at < entries.size(); at += kEntryBytes<T>) {
    Vertex row;
    std::memcpy(&row, entries.data() + at, sizeof row);
    std::memcpy(column + row, entries.data() + at + sizeof row, sizeof(T));
  }
}

}  // namespace sluice
