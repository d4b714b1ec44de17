#include "engine/batch/options.hpp"

#include <string>

#include "engine/core/error.hpp"

namespace sluice {

void require_plain_layout(Layout layout, const char* reader) {
  if (layout != Layout::wide && layout != Layout::coded) return;
  throw UsageError(std::string("--layout ") + (layout == Layout::wide ? "wide: " : "coded: ") + reader +
                   " lists as they are; use csr or auto");
}

}  // namespace sluice
