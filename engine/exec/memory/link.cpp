#include "engine/exec/memory/link.hpp"

#include <limits>

#include "engine/core/error.hpp"

namespace sluice {

LinkRates measure_link(const Device& device, std::span<const std::uint32_t> in_place) {
  if (!device.is_cuda()) {
    // Host memory is the device's own memory: a copy gains nothing.
    return {1, std::numeric_limits<double>::infinity()};
  }
  if (in_place.empty()) return {};
  try {
    return cuda::measure_link(device, in_place);
  } catch (const BudgetError&) {
    return expected_link(in_place.size_bytes());
  }
}

}  // namespace sluice
