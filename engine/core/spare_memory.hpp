// Host memory that is charged but not in use, and goes back where it is wanted for something else.
#pragma once

namespace sluice {

class SpareMemory {
 public:
  virtual ~SpareMemory() = default;
  /// Gives it back, and says whether there was any. Any thread that charges host memory may call it.
  virtual bool give_back() noexcept = 0;
};

/// From here on `spare` is asked before the host budget refuses a charge, until it is left out again.
void ask_for_spare(SpareMemory& spare);
void leave_out(SpareMemory& spare) noexcept;

}  // namespace sluice
