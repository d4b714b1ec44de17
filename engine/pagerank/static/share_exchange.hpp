// How every rank comes to know the contributions of all vertices, most of which may be as they were.
#pragma once

#include <cstdint>

#include "engine/core/charged_vector.hpp"
#include "engine/exchange/router.hpp"

namespace sluice::pagerank {

/// Makes `all` [vertices] what the ranks have in `own` [own vertices]. All ranks call it.
template <class Stored>
void share_contributions(Router& router, Stored* all, const Stored* own) {
  const std::uint64_t rows = router.last() - router.first();
  ChargedVector<Vertex> changed;
  for (std::uint64_t i = 0; i < rows; ++i) {
    Stored& known = all[router.first() + i];
    if (known == own[i]) continue;
    known = own[i];
    if (!router.sends_all<Stored>(changed.size())) changed.push_back(static_cast<Vertex>(router.first() + i));
  }
  router.share_changed(all, changed, "changed contributions");
}

}  // namespace sluice::pagerank
