// Memory budgets: every large allocation of a rank is charged here before it is made. The budget is in core,
// not in exec, because partition and io charge host memory to it too.
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

  /// Charges `bytes` for `purpose`; throws BudgetError, charging nothing, if a ceiling would be exceeded.
  void charge(std::uint64_t bytes, const char* purpose);
  /// Undoes an earlier charge.
  void release(std::uint64_t bytes) noexcept;
  /// Charges and releases at once: it checks the ceiling and raises the peak, for memory needed for a while.
  void charge_and_release(std::uint64_t bytes, const char* purpose) {
    charge(bytes, purpose);
    release(bytes);
  }

  void set_ceiling(std::uint64_t bytes) { ceiling_ = bytes; }
  /// Nests this budget in `other`, which must outlive it: from now on each charge is made to `other` too. If
  /// `other` only counts, so does this budget.
  void nest_in(MemoryBudget& parent) { parent_ = &parent, counts_only_ = parent.counts_only_; }
  std::uint64_t ceiling() const { return ceiling_; }
  std::uint64_t used() const { return used_.load(); }
  std::uint64_t peak() const { return peak_.load(); }
  /// Whether charges are only counted, even beyond the ceiling (MemoryPlan), and no memory is allocated.
  bool counts_only() const { return counts_only_; }
  /// Bytes that may still be charged.
  std::uint64_t available() const {
    const auto used_bytes = used();
    const std::uint64_t remaining = used_bytes < ceiling_ ? ceiling_ - used_bytes : 0;
    return parent_ ? std::min(remaining, parent_->available()) : remaining;
  }

 private:
  friend class MemoryPlan;
  /// Adds to the use of this budget and of the one around it, whatever the ceiling.
  void count(std::uint64_t bytes) noexcept;
  void raise_peak(std::uint64_t used) noexcept;

  std::string name_;
  std::uint64_t ceiling_;
  MemoryBudget* parent_ = nullptr;
  bool counts_only_ = false;
  std::atomic<std::uint64_t> used_{0};
  std::atomic<std::uint64_t> peak_{0};
};

/// The budget of this process's host memory (`--host-memory`).
MemoryBudget& host_budget();

/// The budget of a run that is only planned. It counts the run's charges, even beyond the ceiling, so that a
/// plan states the whole need. If `planned` is nested in the host's budget, so is this one: available() of
/// both is what the run would find. The host's peak is restored at the end.
class MemoryPlan final : public MemoryBudget {
 public:
  /// Whether host memory charged during the plan is allocated, or only counted as well (HostArray).
  enum class Host { allocated, counted };

  /// Starts from the current use of `planned`.
  explicit MemoryPlan(const MemoryBudget& planned, Host host = Host::allocated);
  MemoryPlan(const MemoryPlan&) = delete;
  MemoryPlan& operator=(const MemoryPlan&) = delete;
  ~MemoryPlan();

  /// The most bytes that the run would have charged at once.
  std::uint64_t needed() const { return peak() - begin_; }
  /// The most host bytes charged at once, when host memory is only counted; includes a host device's memory.
  std::uint64_t host_needed() const { return host_budget().peak() - host_begin_; }

 private:
  std::uint64_t begin_, host_begin_, host_peak_;
  bool host_counted_before_;  ///< whether the host's budget only counted before: plans may nest
};

}  // namespace sluice
