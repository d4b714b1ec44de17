#include "engine/batch/options.hpp"

#include <string>

#include "engine/core/error.hpp"

namespace sluice {

void require_plain(Layout layout, const char* who_reads) {
  if (layout != Layout::wide && layout != Layout::coded) return;
  throw UsageError(std::string("--layout ") + (layout == Layout::wide ? "wide: " : "coded: ") + who_reads +
                   " lists as they are; use csr or auto");
}

}  // namespace sluice
