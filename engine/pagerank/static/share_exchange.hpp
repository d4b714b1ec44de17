// How every rank comes to know the contributions of all vertices: as a whole where most have changed, else
// only those that did.
#pragma once

#include <algorithm>
#include <cstdint>

#include "engine/core/charged_vector.hpp"
#include "engine/exchange/router.hpp"

namespace sluice::pagerank {

/// Entries are picked, copied and scattered one by one; whole ranges are not.
inline constexpr std::uint64_t kSparseAdvantage = 2;

/// Makes `all` [vertices] what the ranks have in `own` [own vertices]. `changed` is how many contributions,
/// of all ranks, are not what `all` has. All ranks call it.
template <class Stored>
void share_contributions(Router& router, Stored* all, const Stored* own, std::uint64_t changed) {
  const std::uint64_t rows = router.last() - router.first();
  if (changed * Router::kEntryBytes<Stored> * kSparseAdvantage >
      router.owners().vertices() * sizeof(Stored)) {
    std::copy_n(own, rows, all + router.first());
    return router.share(all, "contributions");
  }
  ChargedVector<Vertex> some;
  for (std::uint64_t i = 0; i < rows; ++i) {
    Stored& known = all[router.first() + i];
    if (known == own[i]) continue;
    known = own[i];
    some.push_back(static_cast<Vertex>(router.first() + i));
  }
  router.share_changed(all, some, "changed contributions");
}

}  // namespace sluice::pagerank
