#include "engine/acc/beliefs/message_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "engine/acc/beliefs/start.hpp"
#include "engine/core/error.hpp"
#include "engine/core/size.hpp"
#include "engine/exchange/agreement.hpp"
#include "engine/exchange/values_of_ranks.hpp"

namespace sluice::acc {

namespace {

constexpr std::uint64_t kEdgesAtOnce = 1u << 14;

template <class Byte, class T>
std::span<Byte> bytes_at(T* messages, std::uint64_t count) {
  return {reinterpret_cast<Byte*>(messages), count * sizeof(T)};
}

/// The folder of scratch files, or empty if messages fit in host memory.
std::string folder_for(const RankPart& rank_part, unsigned states) {
  const CsrView& lists = rank_part.lists();
  const std::uint64_t needed = MessageParts::bytes(lists.edges, states),
                      available = host_budget().available();
  if (MessageParts::fits(available, lists.vertices, lists.edges, states, rank_part.weighted())) return {};
  if (!rank_part.scratch().empty() || needed <= available || host_budget().counts_only())
    return rank_part.scratch();
  throw BudgetError(
      fmt::format("host memory: the messages of {} edges and their positions need {}, but {} are left (raise "
                  "--host-memory, name a folder by --scratch, or use more ranks)",
                  lists.edges, format_size(needed), format_size(available)));
}

}  // namespace

MessageParts::MessageParts(const Device& device, const RankPart& rank_part, unsigned states)
    : rank_part_(rank_part),
      lists_(rank_part.lists()),
      states_(states),
      folder_(folder_for(rank_part, states)),
      first_edge_(lists_.vertices > 0 ? lists_.offsets[0] : 0),
      pool_(device.threads()),
      sent_(device, folder_, lists_.edges * states, "the messages of edges"),
      received_(device, folder_, lists_.edges * states, "the messages of edges"),
      arrivals_(device, folder_, lists_.edges, "positions of messages"),
      departures_(device, folder_, lists_.edges, "positions of messages") {}

bool MessageParts::fits(std::uint64_t available, std::uint64_t rows, std::uint64_t edges, unsigned states,
                        bool weighted) {
  // Priors, also during their computation; products; beliefs, given and computed; and `next` of
  // compute_arrivals().
  const std::uint64_t vertex = states * (3 * sizeof(LogProduct) + 2 * sizeof(double)) + sizeof(EdgeIndex);
  // Slots for weights get half of the remaining memory, and tables part of that (memory/sweep_pages.cpp).
  constexpr std::uint64_t kTableBytes = 64u << 10;
  const std::uint64_t slots = weighted ? 2 * (edges * sizeof(float) + kTableBytes) : 0;
  return bytes(edges, states) + rows * vertex + slots <= available;
}

void MessageParts::build_routes(Ownership parts, std::int64_t uniform, const UseLists& use) {
  parts_ = std::move(parts);
  std::vector<EdgeIndex> begins;
  for (const std::uint64_t row : parts_.begins())
    begins.push_back(lists_.vertices > 0 ? lists_.offsets[row] - first_edge_ : 0);
  edges_ = Ownership(std::move(begins));
  share_parts();
  make_strips();
  tallies_ = HostArray<std::uint64_t>(strips_.size() * all_parts(), "counts of messages");
  blocks_ = HostArray<std::uint64_t>(size() * (all_parts() + 1), "counts of messages");
  const bool planned = host_budget().counts_only();
  if (!planned) compute_departures(), require_same_counts();
  make_exchange();
  HostArray<EdgeIndex> next(lists_.vertices, "positions of messages");
  if (!planned) {
    deliver();
    compute_arrivals(std::move(next));
    require_reverse(use);
    init_messages(uniform);
  }
  tallies_ = {};
}

void MessageParts::share_parts() {
  std::vector<std::uint64_t> begins;
  for (std::uint64_t part = 0; part < size(); ++part) {
    if (edges(part) >= BeliefPart::kMaxEdges)
      throw BudgetError("bp: a partition of 2^31 edges or more (use more --partitions)");
    begins.push_back(rank_part_.first() + begin(part));
  }
  constexpr const char* kLabel = "the parts of all ranks";
  const std::uint64_t parts = size();
  if (host_budget().counts_only()) {  // other ranks may not plan, so nothing is exchanged
    for (int rank = 0; rank <= rank_part_.ranks().size(); ++rank)
      first_parts_.push_back(static_cast<std::uint64_t>(rank) * parts);
    return;
  }
  first_parts_.assign(1, 0);
  for (const std::uint64_t rank_parts : values_of_ranks(&rank_part_.ranks(), std::span(&parts, 1), kLabel))
    first_parts_.push_back(first_parts_.back() + rank_parts);
  begins = values_of_ranks(&rank_part_.ranks(), std::span<const std::uint64_t>(begins), kLabel);
  begins.push_back(rank_part_.owners().vertices());
  all_parts_ = Ownership(std::move(begins));
}

/// Requires equal numbers of edges between two parts in both directions.
void MessageParts::require_same_counts() {
  const std::uint64_t all = all_parts();
  const auto count = [&](std::uint64_t part, std::uint64_t receiver) {
    return blocks_[part * (all + 1) + receiver + 1] - blocks_[part * (all + 1) + receiver];
  };
  const std::size_t ranks = first_parts_.size() - 1;
  std::vector<std::uint64_t> outgoing, expected, values;  // to a rank's parts, from them, and numbers
  for (std::size_t r = 0; r < ranks; ++r) {
    const std::uint64_t first = first_parts_[r], last = first_parts_[r + 1];
    for (std::uint64_t part = 0; part < size(); ++part)
      for (std::uint64_t receiver = first; receiver < last; ++receiver)
        outgoing.push_back(count(part, receiver));
    for (std::uint64_t sender = first; sender < last; ++sender)
      for (std::uint64_t part = 0; part < size(); ++part) expected.push_back(count(part, sender));
    values.push_back(size() * (last - first));
  }
  std::vector<std::uint64_t> incoming(expected.size());
  Router(rank_part_.ranks()).send(outgoing.data(), incoming.data(), values, values, "counts of messages");
  require_on_all_ranks(incoming == expected);
}

/// Calls use(sent, received) with the blocks to and from every other rank, in order of sender and receiver.
template <class Sent, class Received, class Use>
void MessageParts::visit_blocks(Use&& use) {
  const std::size_t ranks = first_parts_.size() - 1;
  RankBlocks<Sent> sent_blocks(ranks);
  RankBlocks<Received> received_blocks(ranks);
  for (std::size_t r = 0; r < ranks; ++r) {
    const std::uint64_t first = first_parts_[r], last = first_parts_[r + 1];
    for (std::uint64_t part = 0; part < size(); ++part) {
      const std::uint64_t* begins = blocks_.data() + part * (all_parts() + 1);
      sent_blocks[r].push_back(
          bytes_at<Sent>(sent(part) + begins[first] * states_, (begins[last] - begins[first]) * states_));
    }
    for (std::uint64_t sender = first; sender < last; ++sender) {
      for (std::uint64_t part = 0; part < size(); ++part) {
        const std::uint64_t* begins = blocks_.data() + part * (all_parts() + 1) + sender;
        received_blocks[r].push_back(
            bytes_at<Received>(received(part) + begins[0] * states_, (begins[1] - begins[0]) * states_));
      }
    }
  }
  use(std::move(sent_blocks), std::move(received_blocks));
}

void MessageParts::make_exchange() {
  if (host_budget().counts_only()) {  // at most all sent messages go to other ranks
    const auto ranks = static_cast<std::size_t>(rank_part_.ranks().size());
    const std::uint64_t each = sent_.size() / std::max<std::size_t>(ranks - 1, 1) + 1;
    exchange_ = std::make_unique<BlockExchange>(
        rank_part_.ranks(),
        RankBlocks<const std::byte>(ranks, {bytes_at<const std::byte>(sent_.data(), each)}),
        RankBlocks<std::byte>(ranks, {bytes_at<std::byte>(received_.data(), each)}));
    return;
  }
  visit_blocks<const std::byte, std::byte>([&](auto sent, auto received) {
    exchange_ = std::make_unique<BlockExchange>(rank_part_.ranks(), std::move(sent), std::move(received));
  });
}

/// Calls use(sent, received, size) for the messages between all own parts, in enough pieces for all threads.
template <class Use>
void MessageParts::visit_own_pairs(Use&& use) {
  const std::uint64_t first_own = first_parts_[static_cast<std::size_t>(rank_part_.ranks().rank())],
                      pieces = pool_.size() / std::max<std::uint64_t>(size(), 1) + 1;
  pool_.for_each_block(size() * size() * pieces, 1, [&](std::uint64_t first, std::uint64_t last, unsigned) {
    for (std::uint64_t i = first; i < last; ++i) {
      const std::uint64_t piece = i % pieces, receiver = i / pieces / size(), sender = i / pieces % size();
      const std::uint64_t* sent_blocks = blocks_.data() + sender * (all_parts() + 1) + first_own + receiver;
      const std::uint64_t received_begin = blocks_[receiver * (all_parts() + 1) + first_own + sender],
                          edges = sent_blocks[1] - sent_blocks[0], begin = edges * piece / pieces,
                          end = edges * (piece + 1) / pieces;
      use(sent(sender) + (sent_blocks[0] + begin) * states_,
          received(receiver) + (received_begin + begin) * states_, (end - begin) * states_);
    }
  });
}

void MessageParts::deliver() {
  visit_own_pairs([](const std::int64_t* sent, std::int64_t* received, std::uint64_t size) {
    std::copy_n(sent, size, received);
  });
  (*exchange_)("messages");
}

void MessageParts::restore_sent() {
  visit_own_pairs([](std::int64_t* sent, const std::int64_t* received, std::uint64_t size) {
    std::copy_n(received, size, sent);
  });
  exchange_.reset();  // frees its buffers
  visit_blocks<std::byte, const std::byte>([&](auto sent, auto received) {
    BlockExchange(rank_part_.ranks(), std::move(received), std::move(sent))("messages");
  });
}

void MessageParts::init_messages(std::int64_t uniform) {
  pool_.for_each_block(sent_.size(), kEdgesAtOnce, [&](std::uint64_t begin, std::uint64_t end, unsigned) {
    std::fill(sent_.data() + begin, sent_.data() + end, uniform);
    std::fill(received_.data() + begin, received_.data() + end, uniform);
  });
  // Self-loops send nothing: their factors are part of the prior.
  pool_.for_each_block(strips_.size(), 1, [&](std::uint64_t first, std::uint64_t last, unsigned) {
    for (std::uint64_t i = first; i < last; ++i) {
      const Strip& strip = strips_[i];
      for (EdgeIndex e = lists_.offsets[strip.begin] - first_edge_;
           e < lists_.offsets[strip.end] - first_edge_; ++e) {
        const std::uint32_t departure = departures_.data()[e];
        if ((departure & BeliefPart::kLoop) == 0) continue;
        std::fill_n(sent(strip.part) + std::uint64_t{departure - BeliefPart::kLoop} * states_, states_, 0);
        std::fill_n(received(strip.part) + std::uint64_t{arrivals_.data()[e]} * states_, states_, 0);
      }
    }
  });
}

/// Throws on all ranks unless `valid` on all.
void MessageParts::require_on_all_ranks(bool valid) const {
  if (any_left(&rank_part_.ranks(), valid ? 0 : 1, "the edges of all ranks")) throw InputError(kNoReverse);
}

}  // namespace sluice::acc
