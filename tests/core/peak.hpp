// What a run takes at most, to be compared with its plan.
#pragma once

#include <cstdint>
#include <ostream>

#include "engine/exec/device.hpp"

namespace sluice::test {

/// Beside what is there before.
struct Peak {
  std::uint64_t device = 0, host = 0;

  bool operator==(const Peak&) const = default;
};

inline std::ostream& operator<<(std::ostream& out, const Peak& peak) {
  return out << peak.device << " of the device, " << peak.host << " of the host";
}

/// As it says.
template <class Plan>
Peak planned(const Plan& plan) {
  return {plan.device_bytes, plan.host_bytes};
}

/// Of run(device), on the host. Its peak never falls, so that memory is taken before, as much as it has ever
/// been.
template <class Run>
Peak peak_of(Run&& run) {
  const Device device({DeviceChoice::host, 2, 0});
  MemoryBudget& host = host_budget();
  const std::uint64_t used = host.used(), before = host.peak() - used;
  host.charge(before, "a test");
  run(device);
  host.release(before);
  return {device.memory().peak(), host.peak() - used - before};
}

}  // namespace sluice::test
