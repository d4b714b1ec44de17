#include "engine/exchange/router.hpp"

#include <algorithm>
#include <exception>

#include "engine/core/clock.hpp"
#include "engine/core/error.hpp"
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
  if (link_ || !on_gpu()) return;
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
  std::exception_ptr own;
  try {
    body();
  } catch (const BudgetError&) {
    own = std::current_exception();
  }
  const auto came = own ? counts(std::vector(size(), kFailed), label) : counts(send, label);
  if (own) std::rethrow_exception(own);
  if (std::ranges::find(came, kFailed) != came.end())
    throw BudgetError("another rank lacks the memory for its part of the work");
  return came;
}

double Router::send(std::span<const RoutedColumn> columns, std::span<const std::uint64_t> send,
                    std::span<const std::uint64_t> receive, void* stream, const char* label) {
  if (on_gpu()) cuda::wait_stream(stream, label);
  if (!link_) {
    std::uint64_t most = *std::ranges::max_element(send);
    if (device_) ranks_.all_reduce(std::span(&most, 1), Reduce::max, label);
    for (const RoutedColumn& column : columns) {
      if (!device_) send_some(column, send, receive, 0, ~std::uint64_t{0}, label);
      const std::uint64_t piece = piece_bytes_ / column.value_bytes;  // the same on all ranks
      for (std::uint64_t from = 0; device_ && from < most; from += piece)
        send_some(column, send, receive, from, piece, label);
    }
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

namespace {

/// Where up to `piece` values behind the first `from` of each rank's lie in a column, and in `staging`, which
/// has them one rank's behind the other's; null: they stay in the column.
template <class Byte>
struct Piece {
  std::vector<Byte*> in_column;
  std::vector<std::span<Byte>> parts;

  Piece(Byte* column, std::size_t value_bytes, std::span<const std::uint64_t> counts, std::uint64_t from,
        std::uint64_t piece, Byte* staging) {
    for (const std::uint64_t count : counts) {
      const std::uint64_t bytes = std::min(piece, count - std::min(count, from)) * value_bytes;
      in_column.push_back(column + from * value_bytes);
      parts.emplace_back(staging ? staging : in_column.back(), bytes);
      if (staging) staging += bytes;
      column += count * value_bytes;
    }
  }
};

}  // namespace

void Router::send_some(const RoutedColumn& column, std::span<const std::uint64_t> send,
                       std::span<const std::uint64_t> receive, std::uint64_t from, std::uint64_t piece,
                       const char* label) {
  const Piece<const std::byte> out(static_cast<const std::byte*>(column.from), column.value_bytes, send, from,
                                   piece, leaving_.data());
  const Piece<std::byte> in(static_cast<std::byte*>(column.to), column.value_bytes, receive, from, piece,
                            arriving_.data());
  const std::size_t staged = on_gpu() ? size() : 0;
  std::byte* to = leaving_.data();
  for (std::size_t rank = 0; rank < staged; to += out.parts[rank++].size())
    if (!out.parts[rank].empty()) copy_to_host(*device_, to, out.in_column[rank], out.parts[rank].size());
  ranks_.exchange(out.parts, in.parts, label);
  for (std::size_t rank = 0; rank < staged; ++rank)
    if (!in.parts[rank].empty())
      copy_to_device(*device_, in.in_column[rank], in.parts[rank].data(), in.parts[rank].size());
}

}  // namespace sluice
