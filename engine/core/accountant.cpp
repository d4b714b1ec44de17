#include "engine/core/accountant.hpp"

#include <fmt/core.h>

#include "engine/core/error.hpp"
#include "engine/core/size.hpp"

namespace sluice {

void Accountant::charge(std::uint64_t bytes, const char* purpose) {
  std::uint64_t before = used_.load();
  do {
    if (before > ceiling_ || bytes > ceiling_ - before) {
      throw BudgetError(
          fmt::format("{} memory: {} needs {}, but {} of the {} allowed are in use (raise --{}-memory)",
                      name_, purpose, format_size(bytes), format_size(before), format_size(ceiling_), name_));
    }
  } while (!used_.compare_exchange_weak(before, before + bytes));
  if (within_) {
    try {
      within_->charge(bytes, purpose);
    } catch (...) {
      used_.fetch_sub(bytes);
      throw;
    }
  }
  std::uint64_t peak = peak_.load();
  while (peak < before + bytes && !peak_.compare_exchange_weak(peak, before + bytes)) {
  }
}

void Accountant::release(std::uint64_t bytes) noexcept {
  used_.fetch_sub(bytes);
  if (within_) within_->release(bytes);
}

Accountant& host_accountant() {
  static Accountant accountant("host");
  return accountant;
}

}  // namespace sluice
