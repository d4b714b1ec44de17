// The peak memory of a run, for comparison with its plan.
#pragma once

#include <cstdint>
#include <ostream>

#include "engine/exec/device.hpp"

namespace sluice::test {

/// Peaks beside the memory in use before.
struct Peak {
  std::uint64_t device = 0, host = 0;

  bool operator==(const Peak&) const = default;
};

inline std::ostream& operator<<(std::ostream& out, const Peak& peak) {
  return out << peak.device << " of the device, " << peak.host << " of the host";
}

/// The peak that a plan states.
template <class Plan>
Peak planned(const Plan& plan) {
  return {plan.device_bytes, plan.host_bytes};
}

/// The peak of run(device) on the host. The host budget's peak never falls, so memory up to the old peak is
/// charged first.
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
