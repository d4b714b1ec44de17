// Bits of active vertices that ranks share before a round that pulls.
#pragma once

#include <algorithm>
#include <vector>

#include "engine/acc/rounds/bits.hpp"
#include "engine/acc/rounds/rank_part.hpp"
#include "engine/exec/executor.hpp"
#include "engine/exec/memory/buffer.hpp"
#include "engine/exec/memory/shared_words.hpp"

namespace sluice::acc {

/// Words of which ranks have a part each: that of rank r, whose first vertex is begins[r], is in words[r].
struct JoinFirstWords {
  const std::uint64_t* begins;
  const std::uint32_t* words;
  std::uint32_t* marks;
  std::uint64_t last_word;

  template <class Lane>
  SLUICE_HD void operator()(std::uint64_t r, Lane&) const {
    const std::uint64_t word = begins[r] / kBitsOfWord;
    if (words[r] != 0) fetch_or(marks + (word < last_word ? word : last_word), words[r]);
  }
};

template <Executor E>
class ActiveBits {
 public:
  /// Of `words` words. `owners` are the ranges of ranks in the executor's memory. Keeps references. Throws
  /// BudgetError.
  ActiveBits(const Device& device, const RankPart& rows, E& executor, const OwnershipView& owners,
             std::uint64_t words)
      : device_(device),
        rows_(rows),
        executor_(executor),
        owners_(owners),
        words_(words),
        first_words_(device, rows.link() != nullptr ? rows.owners().size() : 0, kPurpose),
        on_host_(device, device.is_cuda() && rows.link() == nullptr ? words : 0, kPurpose) {}

  /// `marks` [words] have bits of own vertices alone, and then those of all. All ranks call it.
  void share(std::uint32_t* marks) {
    if (rows_.link() != nullptr) {
      share_by(*rows_.link(), marks);
    } else if (device_.is_cuda()) {
      std::fill_n(on_host_.data(), words_, 0u);
      executor_.wait(kPurpose);
      const std::uint64_t first = first_word();
      const std::uint64_t last = std::min(rows_.last() / kBitsOfWord + 1, words_);
      copy_to_host(device_, on_host_.data() + first, marks + first, (last - first) * sizeof *marks);
      rows_.router().share_bits(on_host_.data(), kPurpose);
      copy_to_device(device_, marks, on_host_.data(), on_host_.bytes());
    } else {
      rows_.router().share_bits(marks, kPurpose);
    }
  }

 private:
  static constexpr const char* kPurpose = "active vertices";

  /// The word in which own vertices begin.
  std::uint64_t first_word() const { return std::min(rows_.first() / kBitsOfWord, words_ - 1); }

  /// Words reach all GPUs from the rank that has their first vertex; of the word in which its vertices begin,
  /// each rank hands its own bits to all before.
  void share_by(DeviceRanks& link, std::uint32_t* marks) {
    const auto word_from = [](std::uint64_t v) { return (v + kBitsOfWord - 1) / kBitsOfWord; };
    const Ownership& owners = rows_.owners();
    std::vector<ElementRange> ranges;
    for (std::uint64_t r = 0; r < owners.size(); ++r)
      ranges.push_back({word_from(owners.begin(r)), word_from(owners.end(r))});
    void* const stream = executor_.stream();
    link.all_gather(marks + first_word(), first_words_.data(), sizeof *marks, stream);
    link.all_gather_ranges(marks, ranges, sizeof *marks, stream);
    link.wait(stream, kPurpose);
    executor_.for_each(owners.size(), {},
                       JoinFirstWords{owners_.begins, first_words_.data(), marks, words_ - 1});
  }

  const Device& device_;
  const RankPart& rows_;
  E& executor_;
  OwnershipView owners_;
  std::uint64_t words_;
  Buffer<std::uint32_t> first_words_;  ///< [ranks] where GPUs are connected
  Staging<std::uint32_t> on_host_;     ///< [words] where they are not
};

}  // namespace sluice::acc
