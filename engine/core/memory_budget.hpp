// Budgets are accounted, not hoped for: every large allocation of a rank is charged here first. The budget
// lies in core, not in exec, because partition and io charge host memory to it too.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

namespace sluice {

/// Budget of one kind of memory (host or device) of one rank: ceiling, use and peak, in bytes. Thread-safe.
class MemoryBudget {
 public:
  explicit MemoryBudget(std::string name, std::uint64_t ceiling = std::numeric_limits<std::uint64_t>::max())
      : name_(std::move(name)), ceiling_(ceiling) {}

  /// Charges `bytes` for `purpose`; throws BudgetError, charging nothing, if a ceiling would be passed.
  void charge(std::uint64_t bytes, const char* purpose);
  /// Takes back an earlier charge.
  void release(std::uint64_t bytes) noexcept;
  /// Of memory that is needed for a while.
  void charge_and_release(std::uint64_t bytes, const char* purpose) {
    charge(bytes, purpose);
    release(bytes);
  }

  void set_ceiling(std::uint64_t bytes) { ceiling_ = bytes; }
  /// From now on what is charged here is charged to `other` too, which must outlive this budget. Within one
  /// that counts alone, this one does.
  void lie_within(MemoryBudget& other) { within_ = &other, counts_only_ = other.counts_only_; }
  std::uint64_t ceiling() const { return ceiling_; }
  std::uint64_t used() const { return used_.load(); }
  std::uint64_t peak() const { return peak_.load(); }
  /// Are charges counted alone, past the ceiling too (MemoryPlan)? Then there is no memory behind them.
  bool counts_only() const { return counts_only_; }
  /// What may still be charged.
  std::uint64_t available() const {
    const auto u = used();
    const std::uint64_t own = u < ceiling_ ? ceiling_ - u : 0;
    return within_ ? std::min(own, within_->available()) : own;
  }

 private:
  friend class MemoryPlan;
  /// Adds to what is in use, here and where this lies within, whatever the ceiling.
  void count(std::uint64_t bytes) noexcept;
  void raise_peak(std::uint64_t used) noexcept;

  std::string name_;
  std::uint64_t ceiling_;
  MemoryBudget* within_ = nullptr;
  bool counts_only_ = false;
  std::atomic<std::uint64_t> used_{0};
  std::atomic<std::uint64_t> peak_{0};
};

/// The budget of this process's host memory (`--host-memory`).
MemoryBudget& host_budget();

/// The budget of a run that is only planned: it counts what the run would be charged, past the ceiling too,
/// so that a plan states the whole need. Where `planned` lies within the host's budget, so does this, and
/// what is left of either is what the run would find. The host's peak stays as it was before.
class MemoryPlan final : public MemoryBudget {
 public:
  /// Host memory that is charged meanwhile: is it taken, or counted alone as well (HostArray)?
  enum class Host { taken, counted };

  /// Begins with what `planned` is charged already.
  explicit MemoryPlan(const MemoryBudget& planned, Host host = Host::taken);
  MemoryPlan(const MemoryPlan&) = delete;
  MemoryPlan& operator=(const MemoryPlan&) = delete;
  ~MemoryPlan();

  /// The most that the run would take at once.
  std::uint64_t needed() const { return peak() - begin_; }
  /// The same of host memory that is counted alone, with what of the device's lies there.
  std::uint64_t host_needed() const { return host_budget().peak() - host_begin_; }

 private:
  std::uint64_t begin_, host_begin_, host_peak_;
  bool host_counted_;  ///< before: plans may lie within each other
};

}  // namespace sluice
