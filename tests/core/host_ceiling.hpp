// Changes the host's memory ceiling during a test.
#pragma once

#include <cstdint>

#include "engine/core/memory_budget.hpp"

namespace sluice::test {

/// Allows `more` bytes than are used now, or leaves the ceiling until leave() is called. The destructor
/// restores the ceiling.
class HostCeiling {
 public:
  HostCeiling() : before_(host_budget().ceiling()) {}
  explicit HostCeiling(std::uint64_t more) : HostCeiling() { leave(more); }
  HostCeiling(const HostCeiling&) = delete;
  HostCeiling& operator=(const HostCeiling&) = delete;
  ~HostCeiling() { host_budget().set_ceiling(before_); }

  /// From now on allows `more` bytes than are used now.
  void leave(std::uint64_t more) { host_budget().set_ceiling(host_budget().used() + more); }

 private:
  std::uint64_t before_;
};

}  // namespace sluice::test
