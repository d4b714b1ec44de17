#include "engine/core/memory_budget.hpp"

#include <fmt/core.h>

#include "engine/core/error.hpp"
#include "engine/core/size.hpp"

namespace sluice {

void MemoryBudget::charge(std::uint64_t bytes, const char* purpose) {
  if (counts_only_) return count(bytes);
  std::uint64_t before = used_.load();
  do {
    if (before > ceiling_ || bytes > ceiling_ - before) {
      throw BudgetError(
          fmt::format("{} memory: {} needs {}, but {} of the {} allowed are in use (raise --{}-memory)",
                      name_, purpose, format_size(bytes), format_size(before), format_size(ceiling_), name_));
    }
  } while (!used_.compare_exchange_weak(before, before + bytes));
  if (parent_) {
    try {
      parent_->charge(bytes, purpose);
    } catch (...) {
      used_.fetch_sub(bytes);
      throw;
    }
  }
  raise_peak(before + bytes);
}

void MemoryBudget::count(std::uint64_t bytes) noexcept {
  raise_peak(used_.fetch_add(bytes) + bytes);
  if (parent_) parent_->count(bytes);
}

void MemoryBudget::raise_peak(std::uint64_t used) noexcept {
  std::uint64_t peak = peak_.load();
  while (peak < used && !peak_.compare_exchange_weak(peak, used)) {
  }
}

void MemoryBudget::release(std::uint64_t bytes) noexcept {
  used_.fetch_sub(bytes);
  if (parent_) parent_->release(bytes);
}

MemoryBudget& host_budget() {
  static MemoryBudget budget("host");
  return budget;
}

MemoryPlan::MemoryPlan(const MemoryBudget& planned, Host host)
    : MemoryBudget(planned.name_, planned.ceiling_),
      begin_(planned.used()),
      host_begin_(host_budget().used()),
      host_peak_(host_budget().peak()),
      host_counted_before_(host_budget().counts_only_) {
  used_ = peak_ = begin_;
  parent_ = planned.parent_;
  counts_only_ = true;
  if (host == Host::allocated) return;
  host_budget().counts_only_ = true;
  host_budget().peak_ = host_begin_;
}

MemoryPlan::~MemoryPlan() {
  if (!host_counted_before_) host_budget().counts_only_ = false;
  host_budget().peak_ = host_peak_;
}

}  // namespace sluice
