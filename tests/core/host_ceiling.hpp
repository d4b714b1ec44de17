// The host's memory ceiling, for as long as a test wants another one.
#pragma once

#include <cstdint>

#include "engine/core/memory_budget.hpp"

namespace sluice::test {

/// So many bytes more than are used now, or at first as many as there were; afterwards the ceiling that there
/// was.
class HostCeiling {
 public:
  HostCeiling() : before_(host_budget().ceiling()) {}
  explicit HostCeiling(std::uint64_t more) : HostCeiling() { leave(more); }
  HostCeiling(const HostCeiling&) = delete;
  HostCeiling& operator=(const HostCeiling&) = delete;
  ~HostCeiling() { host_budget().set_ceiling(before_); }

  /// From now on so many more than are used now.
  void leave(std::uint64_t more) { host_budget().set_ceiling(host_budget().used() + more); }

 private:
  std::uint64_t before_;
};

}  // namespace sluice::test
