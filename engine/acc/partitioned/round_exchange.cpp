#include "engine/acc/partitioned/round_exchange.hpp"

#include <algorithm>

namespace sluice::acc {

RoundExchange::RoundExchange(Communicator& ranks)
    : ranks_(ranks), out_(static_cast<std::size_t>(ranks.size())), in_(out_.size()), long_ones_(out_.size()) {
  for (Letter& letter : out_) letter.block.fill(std::byte{0});
}

RoundWork RoundExchange::operator()(const RoundWork& mine, std::span<const Block> send) {
  received_.clear();
  if (ranks_.size() == 1) return mine;
  const auto own = static_cast<std::size_t>(ranks_.rank());
  bool goes_on = false;
  for (std::size_t r = 0; r < out_.size(); ++r) {
    Letter& letter = out_[r];
    const bool fits = send[r].size() <= letter.block.size();
    letter.work = mine;
    letter.bytes = fits ? send[r].size() : 0;
    if (fits) std::copy(send[r].begin(), send[r].end(), letter.block.begin());
    long_ones_[r] = fits ? Block{} : send[r];
    goes_on = goes_on || !fits;
  }
  for (Letter& letter : out_) letter.goes_on = goes_on;
  ranks_.swap(std::as_bytes(std::span(out_)), std::as_writable_bytes(std::span(in_)), "a round's end");
  RoundWork all;
  for (std::size_t r = 0; r < in_.size(); ++r) {
    const Letter& letter = in_[r];
    all.active += letter.work.active;
    all.edges += letter.work.edges;
    all.next = std::min(all.next, letter.work.next);
    all.found += letter.work.found;
    all.found_edges += letter.work.found_edges;
    all.sent += letter.work.sent;
    goes_on = goes_on || letter.goes_on != 0;
    if (r != own && letter.bytes > 0) received_.push_back(Block(letter.block).first(letter.bytes));
  }
  if (!goes_on) return all;
  ranks_.all_to_all(long_ones_, long_received_, "what active vertices send");
  long_received_.for_each([&](std::size_t, Block block) { received_.push_back(block); });
  return all;
}

}  // namespace sluice::acc
