#include "engine/exchange/router.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "engine/core/clock.hpp"
#include "engine/core/memory_budget.hpp"
#include "engine/exchange/agreement.hpp"
#include "engine/exec/backend.hpp"

namespace sluice {

namespace {

constexpr std::uint64_t kMinPieceBytes = 64;             // bytes: several values of any column
constexpr std::uint64_t kUnlimited = ~std::uint64_t{0};  // a piece that holds everything
// A rank that lacks memory sends it instead of a count.
constexpr std::uint64_t kOutOfMemory = ~std::uint64_t{0};

}  // namespace

Router::Router(Communicator& ranks, const Device& device, DeviceRanks* link, std::uint64_t piece_bytes,
               Ownership owners)
    : ranks_(ranks),
      owners_(std::move(owners)),
      device_(&device),
      link_(link),
      piece_bytes_(std::max(piece_bytes / size(), kMinPieceBytes)) {
  if (link_ || !on_gpu() || is_single_rank()) return;
  outgoing_ = Staging<std::byte>(device, piece_bytes_ * size(), "items for other ranks");
  incoming_ = Staging<std::byte>(device, piece_bytes_ * size(), "items from other ranks");
}

std::vector<std::uint64_t> Router::exchange_counts(std::span<const std::uint64_t> send,
                                                   const char* label) const {
  std::vector<std::uint64_t> counts(send.size());
  ranks_.all_to_all(std::as_bytes(send), std::as_writable_bytes(std::span(counts)), label);
  return counts;
}

std::vector<std::uint64_t> Router::exchange_counts_after(const std::function<void()>& body,
                                                         const std::vector<std::uint64_t>& send,
                                                         const char* label) const {
  const std::exception_ptr own_error = catch_budget_error(body);
  const auto received_counts =
      own_error ? exchange_counts(std::vector(size(), kOutOfMemory), label) : exchange_counts(send, label);
  throw_if_out_of_memory(own_error,
                         std::ranges::find(received_counts, kOutOfMemory) != received_counts.end());
  return received_counts;
}

namespace {

/// Splits a column into one block for each rank.
template <class Byte>
RankBlocks<Byte> blocks_of(Byte* column, std::span<const std::uint64_t> counts, std::size_t value_bytes) {
  RankBlocks<Byte> blocks;
  for (const std::uint64_t count : counts) {
    blocks.push_back({{column, count * value_bytes}});
    column += count * value_bytes;
  }
  return blocks;
}

}  // namespace

double Router::send(std::span<const RoutedColumn> columns, std::span<const std::uint64_t> send,
                    std::span<const std::uint64_t> receive, void* stream, const char* label) const {
  if (on_gpu()) cuda::wait_stream(stream, label);
  if (!link_) {
    send_through_hosts(columns, send, receive, label);
    return 0;
  }
  const double start = seconds_now();
  for (const RoutedColumn& column : columns) begin_send(column, send, receive, stream);
  wait(stream, label);
  return seconds_now() - start;
}

void Router::begin_send(const RoutedColumn& column, std::span<const std::uint64_t> send,
                        std::span<const std::uint64_t> receive, void* stream, std::uint64_t stride) const {
  const auto bytes_of = [&](std::span<const std::uint64_t> counts) {
    std::vector<std::uint64_t> bytes(counts.begin(), counts.end());
    for (std::uint64_t& each : bytes) each *= column.value_bytes;
    return bytes;
  };
  link_->all_to_all(column.from, stride * column.value_bytes, bytes_of(send), column.to, bytes_of(receive),
                    stream);
}

void Router::wait(void* stream, const char* label) const {
  if (!link_) {
    if (on_gpu()) cuda::wait_stream(stream, label);
    return;
  }
  try {
    link_->wait(stream, label);
  } catch (...) {
    link_->abort();  // then the memory that it would fill can be freed
    throw;
  }
}

/// Columns of host memory are sent at once, others in pieces of the same size on all ranks.
void Router::send_through_hosts(std::span<const RoutedColumn> columns, std::span<const std::uint64_t> send,
                                std::span<const std::uint64_t> receive, const char* label) const {
  std::uint64_t max_count = *std::ranges::max_element(send);
  if (device_) ranks_.all_reduce(std::span(&max_count, 1), Reduce::max, label);
  for (const RoutedColumn& column : columns) {
    const std::uint64_t bytes = column.value_bytes;
    exchange_blocks(blocks_of(static_cast<const std::byte*>(column.from), send, bytes),
                    blocks_of(static_cast<std::byte*>(column.to), receive, bytes),
                    device_ ? max_count * bytes : 1, device_ ? piece_bytes_ / bytes * bytes : kUnlimited,
                    label);
  }
}

void Router::exchange_blocks(const RankBlocks<const std::byte>& send, const RankBlocks<std::byte>& receive,
                             std::uint64_t longest, std::uint64_t piece, const char* label) const {
  exchange_in_pieces(ranks_, send, receive, longest, piece,
                     {outgoing_.data(), incoming_.data(), on_gpu() ? device_ : nullptr}, label);
}

void Router::share_bytes(void* memory, std::span<const ElementRange> ranges, std::size_t element_bytes,
                         const char* label, void* stream) const {
  if (is_single_rank() || host_budget().counts_only()) return;
  if (link_) {
    link_->all_gather_ranges(memory, ranges, element_bytes, stream);
    return wait(stream, label);
  }
  if (on_gpu()) cuda::wait_stream(stream, label);
  const auto bytes_of = [&](std::size_t rank) {
    const auto [begin, end] = ranges[rank];
    return std::span(static_cast<std::byte*>(memory) + begin * element_bytes, (end - begin) * element_bytes);
  };
  RankBlocks<const std::byte> send(size(), {bytes_of(own_rank())});
  RankBlocks<std::byte> receive(size());
  std::uint64_t longest = 0;
  for (std::size_t rank = 0; rank < size(); ++rank) {
    rank == own_rank() ? send[rank].clear() : receive[rank].push_back(bytes_of(rank));
    longest = std::max<std::uint64_t>(longest, bytes_of(rank).size());
  }
  exchange_blocks(send, receive, longest, on_gpu() ? piece_bytes_ : kUnlimited, label);
}

void Router::share_words(std::uint32_t* words, std::uint32_t* first_words, const char* label,
                         void* stream) const {
  if (is_single_rank() || owners_.vertices() == 0) return;
  constexpr std::uint64_t kBits = 32;
  constexpr std::size_t kBytes = sizeof(std::uint32_t);
  std::vector<ElementRange> ranges = ranges_of(owners_);
  for (ElementRange& range : ranges)
    range = {(range.begin + kBits - 1) / kBits, (range.end + kBits - 1) / kBits};
  const std::uint32_t* const first_word = words + std::min(first() / kBits, ranges.back().end - 1);
  if (link_) {
    link_->all_gather(first_word, first_words, kBytes, stream);
  } else {
    if (on_gpu()) cuda::wait_stream(stream, label);
    const std::vector<std::uint64_t> counts(size(), 1);
    const RankBlocks<const std::byte> send(size(), {std::as_bytes(std::span(first_word, 1))});
    exchange_blocks(send, blocks_of(reinterpret_cast<std::byte*>(first_words), counts, kBytes), kBytes,
                    kBytes, label);
  }
  share_ranges(words, ranges, label, stream);
}

void Router::send_to_all(std::span<const std::byte> part, std::byte* column, std::size_t row_bytes,
                         const char* label) {
  std::vector<std::uint64_t> sizes(size(), part.size());
  std::vector<std::span<const std::byte>> send(size(), part);
  sizes[own_rank()] = 0, send[own_rank()] = {};
  sizes = exchange_counts(sizes, label);
  std::vector<std::span<std::byte>> receive(size());
  for (std::size_t rank = 0; rank < size(); ++rank) {
    if (column == nullptr || sizes[rank] == 0 || sizes[rank] != owners_.count(rank) * row_bytes) continue;
    receive[rank] = {column + owners_.begin(rank) * row_bytes, std::exchange(sizes[rank], 0)};
  }
  std::byte* next_message = received_.resize(sizes, label);
  for (std::size_t rank = 0; rank < size(); ++rank)
    if (sizes[rank] > 0)
      receive[rank] = {std::exchange(next_message, next_message + sizes[rank]), sizes[rank]};
  ranks_.exchange(send, receive, label);
}

std::vector<Vertex> Router::gather_rows(std::vector<Vertex> rows, const char* label) {
  if (is_single_rank()) return rows;
  const auto bit_bytes = [&](std::size_t rank) { return (owners_.count(rank) + 7) / 8; };
  if (rows.size() * sizeof(Vertex) < bit_bytes(own_rank())) {
    send_to_all(std::as_bytes(std::span(rows)), nullptr, 0, label);
  } else {
    HostArray<std::byte> bits(bit_bytes(own_rank()), label);
    std::ranges::fill(bits, std::byte{0});
    for (const Vertex row : rows) bits[(row - first()) / 8] |= std::byte{1} << (row - first()) % 8;
    send_to_all(bits.span(), nullptr, 0, label);
  }
  received_.for_each([&](std::size_t rank, std::span<const std::byte> bytes) {
    if (bytes.size() == bit_bytes(rank)) {
      for (std::uint64_t i = 0; i < bytes.size(); ++i) {
        const std::uint64_t first_of_byte = owners_.begin(rank) + 8 * i;
        for (auto bits = std::to_integer<unsigned>(bytes[i]); bits != 0; bits &= bits - 1)
          rows.push_back(static_cast<Vertex>(first_of_byte + std::countr_zero(bits)));
      }
    } else {
      const std::size_t old_size = rows.size();
      rows.resize(old_size + bytes.size() / sizeof(Vertex));
      std::memcpy(rows.data() + old_size, bytes.data(), bytes.size());
    }
  });
  return rows;
}

std::uint64_t Router::sum(std::uint64_t count, const char* label) const {
  if (!is_single_rank()) ranks_.all_reduce(std::span(&count, 1), Reduce::sum, label);
  return count;
}

}  // namespace sluice
