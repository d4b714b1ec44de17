// Sends values to the ranks that own them, and brings answers back. Also copies rows, each of which has one
// owner, to all ranks. Values and rows are columns in the memory of the ranks' devices. They are sent by NCCL
// between connected GPUs, otherwise by MPI.
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

/// Values of one kind: at `from` in order of the rank to send to, at `to` in order of the sending rank.
struct RoutedColumn {
  const void* from;
  void* to;
  std::size_t value_bytes;
};

class Router {
 public:
  static constexpr std::uint64_t kPieceBytes = 16u << 20;

  /// For columns of host memory. `owners`, if given, says which rank owns which row.
  explicit Router(Communicator& ranks, Ownership owners = {}) : ranks_(ranks), owners_(std::move(owners)) {}
  /// For columns of the device's memory. If `link` is null, on all ranks, MPI sends `piece_bytes` at once;
  /// for a GPU they are copied through as much page-locked host memory in each direction. Throws BudgetError.
  Router(Communicator& ranks, const Device& device, DeviceRanks* link,
         std::uint64_t piece_bytes = kPieceBytes, Ownership owners = {});
  Router(const Router&) = delete;
  Router& operator=(const Router&) = delete;
  ~Router() { abort_if_unwinding(); }

  Communicator& ranks() const { return ranks_; }
  std::size_t size() const { return static_cast<std::size_t>(ranks_.size()); }
  std::size_t own_rank() const { return static_cast<std::size_t>(ranks_.rank()); }
  bool is_single_rank() const { return size() == 1; }
  /// Bytes sent from GPU to GPU; the communicator counts those sent through the hosts.
  std::uint64_t link_bytes_sent() const { return link_ ? link_->bytes_sent() : 0; }

  // ---- values by owner

  /// Returns how many values each rank sends to this one, which sends `send[r]` to rank r. All ranks call it.
  std::vector<std::uint64_t> exchange_counts(std::span<const std::uint64_t> send, const char* label) const;
  /// The same after a call of `body`, which sets `send`. If `body` throws BudgetError on one rank, all ranks
  /// throw it (agreement.hpp: agree_on_memory()).
  std::vector<std::uint64_t> exchange_counts_after(const std::function<void()>& body,
                                                   const std::vector<std::uint64_t>& send,
                                                   const char* label) const;
  /// Sends `send[r]` values of every column to rank r, and receives `receive[r]` from it, by
  /// exchange_counts(). All ranks call it. Answers are sent with the two exchanged. The work of `stream` is
  /// done before, and all values have arrived on return. Returns the seconds that GPUs took; the communicator
  /// counts its own.
  double send(std::span<const RoutedColumn> columns, std::span<const std::uint64_t> send,
              std::span<const std::uint64_t> receive, void* stream, const char* label) const;
  /// The same for one column of host memory; `to` has room for the sum of `receive`.
  template <class T>
  void send(const T* from, T* to, std::span<const std::uint64_t> send, std::span<const std::uint64_t> receive,
            const char* label) const {
    const RoutedColumn column{from, to, sizeof(T)};
    this->send({&column, 1}, send, receive, nullptr, label);
  }

  // ---- between connected GPUs, in the order of a stream: all ranks call these functions, which return
  // before the operation is done; wait() waits for it

  bool has_link() const { return link_ != nullptr; }
  /// As send(). If `stride` is not 0, the values for rank r begin at value `stride` * r of `from`.
  void begin_send(const RoutedColumn& column, std::span<const std::uint64_t> send,
                  std::span<const std::uint64_t> receive, void* stream, std::uint64_t stride = 0) const;
  /// Writes the `bytes` bytes at `from` of every rank to `to` on all ranks, in order of rank.
  void begin_all_gather(const void* from, void* to, std::size_t bytes, void* stream) const {
    link_->all_gather(from, to, bytes, stream);
  }
  /// Copies elements ranges[r] of `elements` from rank r to all ranks, for every r.
  template <class T>
  void begin_all_gather_ranges(T* elements, std::span<const ElementRange> ranges, void* stream) const {
    link_->all_gather_ranges(elements, ranges, sizeof(T), stream);
  }
  /// Reduces `values` [ranks][per_rank] over the ranks by minimum. This rank's `per_rank` values get their
  /// result; the others are lost.
  void begin_reduce_min(std::uint32_t* values, std::uint64_t per_rank, void* stream) const {
    link_->reduce_scatter_min(values, per_rank, stream);
  }
  /// Blocks until the work of `stream` is done; valid for host memory too. Throws as DeviceRanks::wait().
  void wait(void* stream, const char* label) const;
  /// Throws as wait(); for code that waits by other means.
  void throw_if_failed(const char* label) const { link_->throw_if_failed(label); }
  /// Ends pending operations if an exception is unwinding: other ranks may take no part in them any more.
  void abort_if_unwinding() const noexcept {
    if (link_ && std::uncaught_exceptions() > 0) link_->abort();
  }

  // ---- rows, each of which has one owner; all ranks call these functions

  const Ownership& owners() const { return owners_; }
  /// This rank's own rows are [first(), last()).
  std::uint64_t first() const { return owners_.begin(own_rank()); }
  std::uint64_t last() const { return owners_.end(own_rank()); }
  bool owns(Vertex row) const { return row - first() < last() - first(); }
  /// Raises the number of rows to `rows`; the last rank owns the new ones.
  void grow(std::uint64_t rows) { owners_.grow(rows); }

  /// Copies each row of `column` [rows][width] from its owner to all ranks; a plan copies nothing. Here and
  /// below, the work of `stream` is done before, and all values have arrived on return. Host memory has no
  /// stream.
  template <class T>
  void share(T* column, const char* label, std::uint64_t width = 1, void* stream = nullptr) const {
    share_bytes(column, ranges_of(owners_), sizeof(T) * width, label, stream);
  }
  /// The same for elements ranges[r] of rank r; ranges do not overlap, and may be empty.
  template <class T>
  void share_ranges(T* elements, std::span<const ElementRange> ranges, const char* label,
                    void* stream = nullptr) const {
    share_bytes(elements, ranges, sizeof(T), label, stream);
  }
  /// Shares bits of rows: all ranks receive each word from the owner of its first row. `first_words` [ranks]
  /// gets each rank's version of the word in which its rows begin, for it may begin with rows of others.
  void share_words(std::uint32_t* words, std::uint32_t* first_words, const char* label,
                   void* stream = nullptr) const;
  /// As share(), in host memory, if of this rank's rows only those in `changed` may have changed. Each rank
  /// sends its changed rows one by one, or all its rows, whichever takes fewer bytes; the size of a message
  /// shows which of the two it is.
  template <class T>
  void share_changed(T* column, std::span<const Vertex> changed, const char* label);
  /// Whether share_changed() sends all of this rank's rows if `changed` of them have changed.
  template <class T>
  bool sends_all(std::uint64_t changed) const {
    return changed * kEntryBytes<T> >= owners_.count(own_rank()) * sizeof(T);
  }
  /// Bytes of a row that is sent alone: its number and its value.
  template <class T>
  static constexpr std::uint64_t kEntryBytes = sizeof(Vertex) + sizeof(T);

  /// Returns the rows that all ranks give; each gives own ones, none twice. They are sent as ids, or, if
  /// there are many, as bits.
  std::vector<Vertex> gather_rows(std::vector<Vertex> rows, const char* label);
  /// The sum of the counts of all ranks.
  std::uint64_t sum(std::uint64_t count, const char* label) const;

 private:
  bool on_gpu() const { return device_ && device_->is_cuda(); }
  void send_through_hosts(std::span<const RoutedColumn> columns, std::span<const std::uint64_t> send,
                          std::span<const std::uint64_t> receive, const char* label) const;
  /// `longest` as in exchange_in_pieces().
  void exchange_blocks(const RankBlocks<const std::byte>& send, const RankBlocks<std::byte>& receive,
                       std::uint64_t longest, std::uint64_t piece, const char* label) const;
  void share_bytes(void* memory, std::span<const ElementRange> ranges, std::size_t element_bytes,
                   const char* label, void* stream) const;
  /// Sends `part` to all other ranks. A message as long as its sender's rows in `column` is received there,
  /// all others in received_.
  void send_to_all(std::span<const std::byte> part, std::byte* column, std::size_t row_bytes,
                   const char* label);

  Communicator& ranks_;
  Ownership owners_;
  const Device* device_ = nullptr;
  DeviceRanks* link_ = nullptr;
  std::uint64_t piece_bytes_ = 0;  ///< to one rank
  Staging<std::byte> outgoing_, incoming_;
  ReceiveBuffer received_;  ///< messages of single rows; its memory is reused
};

template <class T>
void Router::share_changed(T* column, std::span<const Vertex> changed, const char* label) {
  if (is_single_rank()) return;
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
  for (std::size_t offset = 0; offset < entries.size(); offset += kEntryBytes<T>) {
    Vertex row;
    std::memcpy(&row, entries.data() + offset, sizeof row);
    std::memcpy(column + row, entries.data() + offset + sizeof row, sizeof(T));
  }
}

}  // namespace sluice
