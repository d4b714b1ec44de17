#include "engine/exchange/column_exchange.hpp"

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

ColumnExchange::ColumnExchange(Communicator& ranks, const Device& device, DeviceRanks* link,
                               std::uint64_t piece_bytes)
    : ranks_(ranks),
      device_(device),
      link_(link),
      piece_bytes_(std::max(piece_bytes / static_cast<std::uint64_t>(ranks.size()), kLeastPiece)) {
  if (link_) return;
  leaving_ = Staging<std::byte>(device, piece_bytes_ * static_cast<std::uint64_t>(ranks.size()),
                                "what goes to other ranks");
  came_.reserve(leaving_.size(), "what comes from other ranks");
}

ColumnExchange::~ColumnExchange() {
  if (link_ && std::uncaught_exceptions() > 0) link_->abort();  // others may not come any more
}

std::vector<std::uint64_t> ColumnExchange::counts(std::span<const std::uint64_t> send,
                                                  const char* label) const {
  std::vector<std::uint64_t> counts(send.size());
  ranks_.swap(std::as_bytes(send), std::as_writable_bytes(std::span(counts)), label);
  return counts;
}

std::vector<std::uint64_t> ColumnExchange::counts_after(const std::function<void()>& body,
                                                        const std::vector<std::uint64_t>& send,
                                                        const char* label) const {
  std::exception_ptr own;
  try {
    body();
  } catch (const BudgetError&) {
    own = std::current_exception();
  }
  const auto came = own ? counts(std::vector(static_cast<std::size_t>(ranks_.size()), kFailed), label)
                        : counts(send, label);
  if (own) std::rethrow_exception(own);
  if (std::ranges::find(came, kFailed) != came.end())
    throw BudgetError("another rank lacks the memory for its part of the work");
  return came;
}

double ColumnExchange::exchange(std::span<const ExchangedColumn> columns, std::span<const std::uint64_t> send,
                                std::span<const std::uint64_t> receive, void* stream, const char* label) {
  if (device_.is_cuda()) cuda::wait_stream(stream, label);
  if (!link_) {
    std::uint64_t most = *std::ranges::max_element(send);
    ranks_.all_reduce(std::span(&most, 1), Reduce::max, label);
    for (const ExchangedColumn& column : columns) through_hosts(column, send, receive, most, label);
    return 0;
  }
  const double start = seconds_now();
  std::vector<std::uint64_t> out(send.size()), in(receive.size());
  for (const ExchangedColumn& column : columns) {
    const auto bytes = [&](std::uint64_t count) { return count * column.value_bytes; };
    std::ranges::transform(send, out.begin(), bytes);
    std::ranges::transform(receive, in.begin(), bytes);
    link_->all_to_all(column.from, out, column.to, in, stream);
  }
  link_->wait(stream, label);
  return seconds_now() - start;
}

void ColumnExchange::through_hosts(const ExchangedColumn& column, std::span<const std::uint64_t> send,
                                   std::span<const std::uint64_t> receive, std::uint64_t most,
                                   const char* label) {
  const std::uint64_t piece = piece_bytes_ / column.value_bytes;
  std::vector<std::span<const std::byte>> parts(send.size());
  for (std::uint64_t from = 0; from < most; from += piece) {
    std::byte* staged = leaving_.data();
    std::uint64_t before = 0;
    for (std::size_t rank = 0; rank < send.size(); before += send[rank++]) {
      const std::uint64_t some = std::min(piece, send[rank] - std::min(send[rank], from));
      parts[rank] = {staged, some * column.value_bytes};
      if (some == 0) continue;
      copy_to_host(device_, staged,
                   static_cast<const std::byte*>(column.from) + (before + from) * column.value_bytes,
                   parts[rank].size());
      staged += parts[rank].size();
    }
    ranks_.all_to_all(parts, came_, label);
    const std::byte* arrived = came_.bytes().data();
    before = 0;
    for (std::size_t rank = 0; rank < receive.size(); before += receive[rank++]) {
      const std::uint64_t bytes = came_.sizes()[rank];
      if (bytes == 0) continue;
      copy_to_device(device_, static_cast<std::byte*>(column.to) + (before + from) * column.value_bytes,
                     arrived, bytes);
      arrived += bytes;
    }
  }
}

}  // namespace sluice
