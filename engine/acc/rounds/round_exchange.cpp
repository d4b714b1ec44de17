#include "engine/acc/rounds/round_exchange.hpp"

#include <algorithm>

namespace sluice::acc {

RoundExchange::RoundExchange(Communicator& ranks)
    : ranks_(ranks), out_(static_cast<std::size_t>(ranks.size())), in_(out_.size()), long_ones_(out_.size()) {
  for (RoundMessage& message : out_) message.block.fill(std::byte{0});
}

RoundWork RoundExchange::operator()(const RoundWork& own_work, std::span<const Block> send) {
  received_.clear();
  if (ranks_.size() == 1) return own_work;
  const auto own = static_cast<std::size_t>(ranks_.rank());
  bool goes_on = false;
  for (std::size_t r = 0; r < out_.size(); ++r) {
    RoundMessage& message = out_[r];
    const bool fits = send[r].size() <= message.block.size();
    message.work = own_work;
    message.bytes = fits ? send[r].size() : 0;
    if (fits) std::copy(send[r].begin(), send[r].end(), message.block.begin());
    long_ones_[r] = fits ? Block{} : send[r];
    goes_on = goes_on || !fits;
  }
  for (RoundMessage& message : out_) message.goes_on = goes_on;
  ranks_.swap(std::as_bytes(std::span(out_)), std::as_writable_bytes(std::span(in_)), "a round's end");
  RoundWork all;
  for (std::size_t r = 0; r < in_.size(); ++r) {
    const RoundMessage& message = in_[r];
    all.active += message.work.active;
    all.edges += message.work.edges;
    all.next = std::min(all.next, message.work.next);
    all.found += message.work.found;
    all.found_edges += message.work.found_edges;
    all.sent += message.work.sent;
    goes_on = goes_on || message.goes_on != 0;
    if (r != own && message.bytes > 0) received_.push_back(Block(message.block).first(message.bytes));
  }
  if (!goes_on) return all;
  ranks_.all_to_all(long_ones_, long_received_, "what active vertices send");
  long_received_.for_each([&](std::size_t, Block block) { received_.push_back(block); });
  return all;
}

}  // namespace sluice::acc
