// Decides before a job begins whether it fits its memory, and states what it needs if it does not.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "apps/job/job.hpp"
#include "apps/job/ranks.hpp"
#include "apps/job/shared_graph.hpp"
#include "engine/core/error.hpp"
#include "engine/core/size.hpp"
#include "io/graph_file/graph_file.hpp"

namespace sluice::apps {

namespace {

constexpr std::uint64_t kUnbounded = ~std::uint64_t{0};

/// Sets a budget's ceiling, and restores the earlier one when destroyed.
class TrialCeiling {
 public:
  TrialCeiling(MemoryBudget& memory, std::uint64_t bytes)
      : memory_(memory), saved_ceiling_(memory.ceiling()) {
    memory_.set_ceiling(bytes);
  }
  TrialCeiling(const TrialCeiling&) = delete;
  TrialCeiling& operator=(const TrialCeiling&) = delete;
  ~TrialCeiling() { memory_.set_ceiling(saved_ceiling_); }

 private:
  MemoryBudget& memory_;
  std::uint64_t saved_ceiling_;
};

constexpr const char* kLabel = "memory for the job";

/// Returns true if another rank has a lower ceiling. Collective; it is false on the rank with the lowest one.
bool is_above_lowest_ceiling(const MemoryBudget& host, const MemoryBudget& device) {
  const std::uint64_t min_host = reduce_over_ranks(host.ceiling(), Reduce::min, kLabel),
                      max_host = reduce_over_ranks(host.ceiling(), Reduce::max, kLabel),
                      min_device = reduce_over_ranks(device.ceiling(), Reduce::min, kLabel);
  return min_host != max_host ? host.ceiling() > min_host : device.ceiling() > min_device;
}

/// Returns about the lowest ceiling, equal on every rank, of `memory` with which `fits()`. `kUnbounded` must
/// be enough, and the current ceiling not. All ranks call it.
template <class Fits>
std::uint64_t find_min_ceiling(MemoryBudget& memory, const Fits& fits) {
  constexpr std::uint64_t kPrecision = 1024;  // relative precision: 1 / kPrecision
  const auto fits_with_ceiling = [&](std::uint64_t bytes) {
    const TrialCeiling trial(memory, bytes);
    return fits();
  };
  std::uint64_t low = reduce_over_ranks(std::max<std::uint64_t>(memory.ceiling(), 1), Reduce::min, kLabel),
                high = low;
  do {
    high = high > kUnbounded / 2 ? kUnbounded : 2 * high;
  } while (high != kUnbounded && !fits_with_ceiling(high));
  while (high - low > std::max<std::uint64_t>(high / kPrecision, 1)) {
    const std::uint64_t middle = low + (high - low) / 2;
    (fits_with_ceiling(middle) ? high : low) = middle;
  }
  return high;
}

}  // namespace

std::string format_need(std::uint64_t bytes) {
  if (bytes < 1024) return format_size(bytes);
  std::uint64_t unit = 1;
  while (bytes / unit >= 1024) unit *= 1024;
  const double hundredths = std::ceil(static_cast<double>(bytes) / static_cast<double>(unit) * 100 + 1e-6);
  return format_size(static_cast<std::uint64_t>(std::ceil(hundredths / 100 * static_cast<double>(unit))));
}

std::uint64_t Job::input_bytes() const {
  return starts_bytes_ + graph_bytes() + ids_->bytes();
}

std::uint64_t Job::graph_bytes() const {
  std::uint64_t bytes = 0;
  for_each_array(graph_, [&](const auto& array) { bytes += array.charged(); });
  return bytes;
}

JobNeed Job::need_of(const sampling::RunPlan& plan) const {
  // On a GPU, the batch size may be an estimate; an allocation in the run reports a lack of memory.
  const std::uint64_t host = plan.check_bytes + (device_->is_cuda() ? 0 : plan.device_bytes_needed);
  return {.device_bytes = plan.device_bytes_needed - (device_->is_cuda() ? plan.batch_bytes : 0),
          .host_bytes = host,
          .max_part_bytes = plan.largest_sample_bytes,
          .part_name = "sample",
          .exact_on_ranks = true,
          .reloaded_bytes = plan.holds_lists() ? 0 : kUnbounded / 4};
}

JobNeed Job::need_of(const pagerank::Plan& plan) const {
  return {.device_bytes = plan.device_bytes,
          .host_bytes = plan.host_bytes,
          .exact_on_ranks = plan.exact_on_ranks,
          .reloaded_bytes = plan.transferred_bytes};
}

JobNeed Job::need_of(const ppr::Plan& plan) const {
  return {.device_bytes = plan.smallest_bytes,
          .host_bytes = plan.host_bytes + (device_->is_cuda() ? 0 : plan.smallest_bytes),
          .max_part_bytes = plan.largest_query_bytes,
          .part_name = "query",
          .reserved_bytes = device_->is_cuda() ? 0 : plan.largest_query_bytes,
          .exact_on_ranks = true};
}

JobNeed Job::need_of(const acc::AccPlan& plan) const {
  return {.device_bytes = plan.device_bytes,
          .host_bytes = plan.host_bytes,
          .remedies = plan.message_bytes > 0 ? ", name a folder by --scratch, or use more ranks" : "",
          .exact_on_ranks = true,
          .reloaded_bytes = plan.brought_bytes};
}

/// A GPU's allocations report a lack of memory before the work begins, so it is not judged here. With several
/// ranks, a plan bounds their messages from above, and some plans are estimates. Those refuse no job, but the
/// graph moves to its next storage if there is one.
bool Job::fits(const JobNeed& needed) const {
  const MemoryBudget &device = device_->memory(), &host = host_budget();
  const bool on_host = options_.plan || !device_->is_cuda(),
             single_rank = options_.plan || world().size() == 1, last = storage_ + 1 == storages_.size();
  const bool device_fits = needed.device_bytes <= device.available(),
             inputs_fit = host.used() <= host.ceiling(),
             host_fits = inputs_fit &&
                         needed.host_bytes + (last || can_discard_results() ? 0 : needed.reserved_bytes) <=
                             host.available();
  return (device_fits || !on_host || !(single_rank || needed.exact_on_ranks)) &&
         (host_fits || (inputs_fit && last && !(on_host && single_rank)));
}

Job::Trial Job::try_plan(const FindNeed& need, const PagingOptions& paging) {
  Trial trial;
  try {
    set_charged_outline();
    trial.need = need(paging);
    trial.fits = fits(*trial.need);
  } catch (const BudgetError& error) {
    trial.reason = error.what();
  }
  trial.all_fit = reduce_over_ranks(std::uint64_t{!trial.fits}, Reduce::max, kLabel) == 0;
  return trial;
}

void Job::fit(const FindNeed& need) {
  Trial trial;
  std::string reason;
  do {
    trial = try_plan(need, paging());
    if (trial.all_fit) return options_.plan ? void() : load();
    if (!trial.reason.empty()) reason = trial.reason;
  } while (use_next_storage());
  refusal_ = refusal(need);
  constexpr const char* kDoesNotFitElsewhere = "the job does not fit on another rank (see its plan)";
  if (refusal_.empty()) refusal_ = reason.empty() ? kDoesNotFitElsewhere : reason;  // no memory is enough
  const bool refused = !options_.plan || !trial.need;
  // Only a rank with too little memory reports it. Default ceilings differ slightly between ranks, as they
  // follow the free memory; so a rank that lacks memory may not have the lowest ceiling.
  const bool others = is_above_lowest_ceiling(host_budget(), device_->memory());
  const std::uint64_t report_order = trial.fits ? 2
                                     : others   ? 1
                                                : 0,
                      first_order = reduce_over_ranks(report_order, Reduce::min, kLabel);
  if (refused && report_order > first_order) throw PeerFailed(kDoesNotFitElsewhere);
  if (refused) throw_refusal();
  static_cast<void>(try_plan(need, paging()));  // makes the plan to be printed
}

void Job::throw_refusal() const {
  if (!refusal_.empty()) throw BudgetError(refusal_);
}

std::uint64_t Job::sufficient_device_bytes(const JobNeed& need) const {
  return device_->memory().used() + 2 * (need.device_bytes + need.max_part_bytes);
}

std::uint64_t Job::sufficient_host_bytes(const JobNeed& need) const {
  return host_budget().used() + 4 * (need.host_bytes + need.max_part_bytes);
}

void Job::throw_too_large(const BudgetError& error, const JobNeed& need) const {
  const MemoryBudget &device = device_->memory(), &host = host_budget();
  std::vector<std::string> needs, allowed, raise;
  const auto add = [&](const char* name, std::uint64_t bytes, const MemoryBudget& memory) {
    if (bytes <= memory.ceiling()) return;
    needs.push_back(fmt::format("{} of {} memory", format_need(bytes), name));
    allowed.push_back(format_size(memory.ceiling()));
    raise.push_back(fmt::format("--{}-memory", name));
  };
  add("host", sufficient_host_bytes(need), host);
  add("device", sufficient_device_bytes(need), device);
  if (need.max_part_bytes == 0 || needs.empty()) throw error;
  throw BudgetError(
      fmt::format("one {} can need up to {}; for any of them the job needs {}, but {} are allowed (raise {})",
                  need.part_name, format_size(need.max_part_bytes), fmt::join(needs, " and "),
                  fmt::join(allowed, " and "), fmt::join(raise, " and ")));
}

bool Job::can_discard_results() const {
  return world().size() == 1 && options_.output != "-";
}

bool Job::prepare_restart() {
  if (!can_discard_results() || !use_next_storage()) return false;
  output_.reset();
  set_uncharged_outline();
  return true;
}

bool Job::use_next_storage() {
  if (storage_ + 1 == storages_.size()) return false;
  ++storage_;
  return true;
}

std::string Job::refusal(const FindNeed& need) {
  MemoryBudget &device = device_->memory(), &host = host_budget();
  PagingOptions trial_paging = paging();
  const char* other_remedies = world().size() > 1 ? ", or use more ranks" : "";
  JobNeed found;  // with the lowest ceiling that fits
  const auto fits = [&] {
    const Trial trial = try_plan(need, trial_paging);
    if (trial.need && *trial.need->remedies != 0) other_remedies = trial.need->remedies;
    if (trial.fits) found = *trial.need;
    return trial.all_fit;
  };
  const auto fits_with = [&](std::uint64_t host_bytes, std::uint64_t device_bytes) {
    const TrialCeiling host_trial(host, host_bytes), device_trial(device, device_bytes);
    return fits();
  };
  // With several ranks, messages need memory too; a plan gives only their upper bound.
  const bool single_rank = world().size() == 1;
  const char *const at_least = single_rank ? "" : "at least ", *const per_rank =
                                                                   single_rank ? "" : " on each rank";
  std::string line, remedies;
  // `other_need`: what the largest part needs of the other memory, if that has less.
  const auto amount = [&](std::uint64_t bytes, std::uint64_t sufficient, const std::string& other_need) {
    return format_need(bytes) +
           (found.shows_sufficient(sufficient, bytes)
                ? fmt::format(" ({}{} for any {})", format_need(sufficient), other_need, found.part_name)
                : "");
  };
  const auto other_memory = [](const char* name, std::uint64_t sufficient, const MemoryBudget& memory) {
    return sufficient > memory.ceiling()
               ? fmt::format(", with {} of {} memory,", format_need(sufficient), name)
               : "";
  };
  const auto host_amount = [&](std::uint64_t bytes) {
    return amount(bytes, sufficient_host_bytes(found),
                  other_memory("device", sufficient_device_bytes(found), device));
  };
  const auto device_amount = [&](std::uint64_t bytes) {
    return amount(bytes, sufficient_device_bytes(found),
                  other_memory("host", sufficient_host_bytes(found), host));
  };
  const auto describe_need = [&](const char* name, const MemoryBudget& memory, const std::string& bytes) {
    line = fmt::format("the job needs {}{} of {} memory{}, but {} are allowed", at_least, bytes, name,
                       per_rank, format_size(reduce_over_ranks(memory.ceiling(), Reduce::min, kLabel)));
    remedies = fmt::format("raise --{}-memory", name);
  };
  const bool host_suffices = fits_with(kUnbounded, device.ceiling()),
             device_suffices = fits_with(host.ceiling(), kUnbounded);
  if (host_suffices) {
    describe_need("host", host, host_amount(find_min_ceiling(host, fits)));
    if (!in_file())
      remedies +=
          lacks_in_edges() ? ", or convert its edges with --reverse" : ", or use --transport file or auto";
    if (device_suffices)
      remedies += fmt::format(", or --device-memory to {}", format_need(find_min_ceiling(device, fits)));
  } else if (device_suffices) {
    describe_need("device", device, device_amount(find_min_ceiling(device, fits)));
    if (device_->is_cuda()) remedies += ", or use --device host";
  } else if (fits_with(kUnbounded, kUnbounded)) {
    std::uint64_t device_bytes = 0, host_bytes = 0;
    {
      const TrialCeiling trial(host, kUnbounded);
      device_bytes = find_min_ceiling(device, fits);
    }
    {
      const TrialCeiling trial(device, device_bytes);
      host_bytes = find_min_ceiling(host, fits);
    }
    line =
        fmt::format("the job needs {}{} of host memory and {} of device memory{}, but {} and {} are allowed",
                    at_least, amount(host_bytes, sufficient_host_bytes(found), ""),
                    amount(device_bytes, sufficient_device_bytes(found), ""), per_rank,
                    format_size(reduce_over_ranks(host.ceiling(), Reduce::min, kLabel)),
                    format_size(reduce_over_ranks(device.ceiling(), Reduce::min, kLabel)));
    remedies = "raise --host-memory and --device-memory";
  } else {
    return {};
  }
  if (trial_paging.partitions != 0) {
    trial_paging.partitions = 0;
    if (fits()) remedies += ", or omit --partitions";
  }
  return fmt::format("{} ({}{})", line, remedies, other_remedies);
}

}  // namespace sluice::apps
