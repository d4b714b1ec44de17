#include "engine/exchange/router.hpp"

#include <algorithm>
#include <utility>

#include "engine/core/clock.hpp"
#include "engine/exchange/agreement.hpp"
#include "engine/exec/backend.hpp"

namespace sluice {

namespace {

constexpr std::uint64_t kLeastPiece = 64;             // several values of any column
constexpr std::uint64_t kFailed = ~std::uint64_t{0};  // a rank that lacks memory sends it instead of a count

}  // namespace

Router::Router(Communicator& ranks, const Device& device, DeviceRanks* link, std::uint64_t piece_bytes)
    : ranks_(ranks),
      device_(&device),
      link_(link),
      piece_bytes_(std::max(piece_bytes / size(), kLeastPiece)) {
  if (link_ || !on_gpu() || alone()) return;
  leaving_ = Staging<std::byte>(device, piece_bytes_ * size(), "what goes to other ranks");
  arriving_ = Staging<std::byte>(device, piece_bytes_ * size(), "what comes from other ranks");
}

Router::~Router() {
  if (link_ && std::uncaught_exceptions() > 0) link_->abort();  // others may not come any more
}

std::vector<std::uint64_t> Router::counts(std::span<const std::uint64_t> send, const char* label) const {
  std::vector<std::uint64_t> counts(send.size());
  ranks_.swap(std::as_bytes(send), std::as_writable_bytes(std::span(counts)), label);
  return counts;
}

std::vector<std::uint64_t> Router::counts_after(const std::function<void()>& body,
                                                const std::vector<std::uint64_t>& send,
                                                const char* label) const {
  const std::exception_ptr own = lack_of_memory(body);
  const auto came = own ? counts(std::vector(size(), kFailed), label) : counts(send, label);
  throw_if_lacking(own, std::ranges::find(came, kFailed) != came.end());
  return came;
}

namespace {

/// Columns have one block for each rank.
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
                    std::span<const std::uint64_t> receive, void* stream, const char* label) {
  if (on_gpu()) cuda::wait_stream(stream, label);
  if (!link_) {
    send_by_hosts(columns, send, receive, label);
    return 0;
  }
  const double start = seconds_now();
  std::vector<std::uint64_t> out(send.size()), in(receive.size());
  for (const RoutedColumn& column : columns) {
    const auto bytes = [&](std::uint64_t count) { return count * column.value_bytes; };
    std::ranges::transform(send, out.begin(), bytes);
    std::ranges::transform(receive, in.begin(), bytes);
    link_->all_to_all(column.from, out, column.to, in, stream);
  }
  link_->wait(stream, label);
  return seconds_now() - start;
}

/// All at once, or in pieces that are the same on all ranks.
void Router::send_by_hosts(std::span<const RoutedColumn> columns, std::span<const std::uint64_t> send,
                           std::span<const std::uint64_t> receive, const char* label) {
  std::uint64_t most = *std::ranges::max_element(send);
  if (device_) ranks_.all_reduce(std::span(&most, 1), Reduce::max, label);
  const PieceBuffers buffers{leaving_.data(), arriving_.data(), on_gpu() ? device_ : nullptr};
  for (const RoutedColumn& column : columns) {
    const std::uint64_t bytes = column.value_bytes;
    exchange_in_pieces(ranks_, blocks_of(static_cast<const std::byte*>(column.from), send, bytes),
                       blocks_of(static_cast<std::byte*>(column.to), receive, bytes),
                       device_ ? most * bytes : 1, device_ ? piece_bytes_ / bytes * bytes : ~std::uint64_t{0},
                       buffers, label);
  }
}

void Router::share_bytes(std::byte* column, std::size_t row_bytes, const char* label) const {
  const auto rows_of = [&](std::size_t rank) {
    return std::span(column + owners_.begin(rank) * row_bytes, owners_.count(rank) * row_bytes);
  };
  std::vector<std::span<const std::byte>> send(size(), rows_of(own()));
  std::vector<std::span<std::byte>> receive;
  for (std::size_t rank = 0; rank < size(); ++rank) receive.push_back(rows_of(rank));
  send[own()] = {}, receive[own()] = {};
  ranks_.exchange(send, receive, label);
}

ReceivedRows Router::all_of_others() const {
  ReceivedRows all;
  for (std::size_t rank = 0; rank < size(); ++rank)
    if (rank != own() && owners_.count(rank) > 0)
      all.ranges.emplace_back(owners_.begin(rank), owners_.end(rank));
  return all;
}

void Router::send_to_all(std::span<const std::byte> part, std::byte* column, std::size_t row_bytes,
                         ReceivedRows* received, const char* label) {
  std::vector<std::uint64_t> sizes(size(), part.size());
  std::vector<std::span<const std::byte>> send(size(), part);
  sizes[own()] = 0, send[own()] = {};
  sizes = counts(sizes, label);
  std::vector<std::span<std::byte>> receive(size());
  for (std::size_t rank = 0; rank < size(); ++rank) {
    if (column == nullptr || sizes[rank] == 0 || sizes[rank] != owners_.count(rank) * row_bytes) continue;
    receive[rank] = {column + owners_.begin(rank) * row_bytes, std::exchange(sizes[rank], 0)};
    if (received != nullptr) received->ranges.emplace_back(owners_.begin(rank), owners_.end(rank));
  }
  std::byte* at = received_.open(sizes, label);
  for (std::size_t rank = 0; rank < size(); ++rank)
    if (sizes[rank] > 0) receive[rank] = {std::exchange(at, at + sizes[rank]), sizes[rank]};
  ranks_.exchange(send, receive, label);
}

std::vector<Vertex> Router::gather(std::vector<Vertex> rows, const char* label) {
  if (alone()) return rows;
  const auto bit_bytes = [&](std::size_t rank) { return (owners_.count(rank) + 7) / 8; };
  if (rows.size() * sizeof(Vertex) < bit_bytes(own())) {
    send_to_all(std::as_bytes(std::span(rows)), nullptr, 0, nullptr, label);
  } else {
    HostArray<std::byte> bits(bit_bytes(own()), label);
    std::ranges::fill(bits, std::byte{0});
    for (const Vertex row : rows) bits[(row - first()) / 8] |= std::byte{1} << (row - first()) % 8;
    send_to_all(bits.span(), nullptr, 0, nullptr, label);
  }
  received_.for_each([&](std::size_t rank, std::span<const std::byte> bytes) {
    if (bytes.size() == bit_bytes(rank)) {
      for (std::uint64_t i = 0; i < bytes.size() * 8; ++i) {
        if ((bytes[i / 8] >> i % 8 & std::byte{1}) == std::byte{1})
          rows.push_back(static_cast<Vertex>(owners_.begin(rank) + i));
      }
    } else {
      const std::size_t known = rows.size();
      rows.resize(known + bytes.size() / sizeof(Vertex));
      std::memcpy(rows.data() + known, bytes.data(), bytes.size());
    }
  });
  return rows;
}

std::uint64_t Router::sum(std::uint64_t count, const char* label) const {
  if (!alone()) ranks_.all_reduce(std::span(&count, 1), Reduce::sum, label);
  return count;
}

}  // namespace sluice
