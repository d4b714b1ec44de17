// Sets of rows that ranks share as bits (router.hpp), in the executor's memory.
#pragma once

#include <algorithm>
#include <cstdint>

#include "engine/core/macros.hpp"
#include "engine/core/ownership.hpp"
#include "engine/exchange/router.hpp"
#include "engine/exec/executor.hpp"
#include "engine/exec/memory/buffer.hpp"
#include "engine/exec/memory/shared_words.hpp"

namespace sluice {

/// Joins words with rows of several ranks: parts[r] is rank r's part of the word of its first row begins[r].
struct JoinFirstWords {
  const std::uint64_t* begins;
  const std::uint32_t* parts;
  std::uint32_t* words;
  std::uint64_t last_word;

  template <class Lane>
  SLUICE_HD void operator()(std::uint64_t r, Lane&) const {
    const std::uint64_t word = begins[r] / 32;
    if (parts[r] != 0) fetch_or(words + (word < last_word ? word : last_word), parts[r]);
  }
};

template <Executor E>
class SharedBits {
 public:
  /// `owners`: the router's, in the executor's memory. Keeps references, and `label`. Throws BudgetError.
  SharedBits(const Device& device, const Router& router, E& executor, const OwnershipView& owners,
             const char* label)
      : router_(router),
        executor_(executor),
        owners_(owners),
        first_words_(device, router.is_single_rank() ? 0 : router.size(), label),
        label_(label) {}

  /// Gives `words`, which has bits of own rows only, the bits of all ranks' rows. All ranks call it.
  void share(std::uint32_t* words) {
    const std::uint64_t rows = router_.owners().vertices();
    if (router_.is_single_rank() || rows == 0) return;
    router_.share_words(words, first_words_.data(), label_, executor_.stream());
    executor_.for_each(router_.size(), {},
                       JoinFirstWords{owners_.begins, first_words_.data(), words, (rows - 1) / 32});
  }

 private:
  const Router& router_;
  E& executor_;
  OwnershipView owners_;
  Buffer<std::uint32_t> first_words_;  ///< [ranks]
  const char* label_;
};

}  // namespace sluice
