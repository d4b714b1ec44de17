// --plan: prints the memory that a job would take.
#include <fmt/format.h>

#include <algorithm>

#include "apps/cli/console.hpp"
#include "apps/cli/names.hpp"
#include "apps/job/job.hpp"
#include "apps/job/ranks.hpp"
#include "engine/core/size.hpp"

namespace sluice::apps {

namespace {

std::string bytes_line(const char* label, std::uint64_t bytes) {
  return fmt::format("{:<22} {:>12}\n", label, format_size(bytes));
}

/// `sufficient` is enough for any part of the work (JobNeed::part_name) whose size the plan cannot give.
std::string fit_line(const char* label, std::uint64_t needed, const MemoryBudget& memory,
                     const JobNeed& need = {}, std::uint64_t sufficient = 0) {
  const std::uint64_t ceiling = memory.ceiling();
  if (ceiling == ~std::uint64_t{0}) return fmt::format("{:<22} {:>12}\n", label, format_need(needed));
  return fmt::format("{:<22} {:>12} of {} allowed{}{}\n", label, format_need(needed), format_size(ceiling),
                     needed > ceiling ? ": does not fit" : "",
                     need.shows_sufficient(sufficient, ceiling)
                         ? fmt::format(" ({} for any {})", format_need(sufficient), need.part_name)
                         : std::string());
}

/// The partitions of each rank, if ranks share out the graph.
std::string rank_lines(const sampling::RunPlan& plan) {
  constexpr std::size_t kShown = 64;
  if (plan.by_rank.empty()) return "";
  const PartitionPlan& parts = *plan.partitions;
  std::string text = fmt::format("{:<22} {:>12} ({})\n", "ranks that share them", plan.by_rank.size(),
                                 plan.all_resident ? "each keeps its own for the whole job"
                                                   : "each loads those of its own that have work");
  for (std::size_t rank = 0; rank < std::min(plan.by_rank.size(), kShown); ++rank) {
    const sampling::RankPlan& part = plan.by_rank[rank];
    const std::string cut =
        part.first == part.last
            ? "no partition"
            : fmt::format("partitions {} to {}, vertices {} to {}", part.first, part.last - 1,
                          parts.begin(part.first), parts.begin(part.last) - 1);
    text += fmt::format("  rank {:<15} {:>12} needed, {} loaded: {}\n", rank, format_need(part.device_bytes),
                        format_size(static_cast<std::uint64_t>(part.transferred_bytes)), cut);
  }
  if (plan.by_rank.size() > kShown) text += fmt::format("  and {} more\n", plan.by_rank.size() - kShown);
  return text;
}

/// The number of partitions, and the bytes that move in one `pass` over the graph.
std::string part_lines(std::uint64_t partitions, std::uint64_t brought_bytes, const char* pass) {
  if (partitions <= 1) return "";
  return fmt::format("{:<22} {:>12} (about)\n{:<22} {:>12} in {}, at most\n", "partitions", partitions,
                     "loaded", format_size(brought_bytes), pass);
}

}  // namespace

void Job::print_required_ranks() const {
  print(ranks_lines_);
}

void Job::print_plan(const std::string& text, std::uint64_t partitions) const {
  warn_idle_slots(command_, options_, partitions);
  print(text + ranks_lines_);
  throw_refusal();
}

void Job::print_plan(const sampling::RunPlan& plan) const {
  const JobNeed need = need_of(plan);
  std::string text = fit_line("device memory", plan.device_bytes_needed, device_->memory(), need,
                              sufficient_device_bytes(need));
  const bool in_parts = plan.partitions.has_value();
  text += bytes_line(in_parts ? "  graph, in slots" : "  graph", plan.graph_bytes);
  text += bytes_line("  tables", plan.table_bytes);
  text += bytes_line(in_parts ? "  a batch" : "  smallest batch", plan.batch_bytes);
  text += fit_line("host memory", input_bytes() + need.host_bytes, host_budget(), need,
                   sufficient_host_bytes(need));
  if (options_.verify) text += bytes_line("  for --verify", plan.check_bytes);
  if (in_parts) {
    text += fmt::format("{:<22} {:>12} ({} on the device at once)\n", "partitions", plan.partitions->size(),
                        plan.slots);
    text += rank_lines(plan);
    // Ranks that share out the graph keep the lists they have read, if these fit.
    const bool read_again =
        in_file() && (plan.by_rank.empty() || options_.paging.transport == Transport::file);
    text +=
        fmt::format("{:<22} {:>12} (about)\n", read_again ? "read from the file" : "loaded onto the device",
                    format_size(static_cast<std::uint64_t>(plan.transferred_bytes)));
  }
  const std::uint64_t result_bytes = reduce_over_ranks(plan.result_bytes, Reduce::sum, "the plan");
  if (result_bytes != 0) text += bytes_line("result", result_bytes);
  text += fmt::format("{:<22} {:>12}\n", "layout", name_of(kLayouts, plan.layout));
  // Draws without a bias use no technique.
  text += fmt::format("{:<22} {:>12}\n", "technique",
                      plan.select == Select::automatic ? "an index" : name_of(kSelects, plan.select));
  print_plan(text, in_parts ? plan.partitions->size() : 1);
}

void Job::print_plan(const pagerank::Plan& plan, std::uint64_t vertices) const {
  std::string text = fit_line("device memory", plan.device_bytes, device_->memory());
  text += bytes_line("  ranks", plan.state_bytes);
  text += fit_line("host memory", input_bytes() + need_of(plan).host_bytes, host_budget());
  text += bytes_line("  graph", graph_bytes());
  text += part_lines(plan.partitions, plan.transferred_bytes, "an iteration");
  print_plan(text + bytes_line("result", vertices * 8), plan.partitions);
}

void Job::print_plan(const ppr::Plan& plan) const {
  const JobNeed need = need_of(plan);
  std::string text =
      fit_line("device memory", plan.smallest_bytes, device_->memory(), need, sufficient_device_bytes(need));
  if (plan.graph_bytes != 0)
    text += bytes_line(plan.in_place || plan.streamed ? "  the graph's offsets" : "  the graph",
                       plan.graph_bytes);
  if (plan.streamed) text += bytes_line("  lists, at most", plan.cache_bytes);
  text += bytes_line("  a batch of results", plan.batch_bytes);
  text += bytes_line("  a query, at most", plan.largest_query_bytes);
  if (plan.rows_bytes != 0) text += bytes_line("  side by side", plan.rows_bytes);
  text += fit_line("host memory", input_bytes() + need.host_bytes, host_budget(), need,
                   sufficient_host_bytes(need));
  text += bytes_line("  graph", graph_bytes());
  const bool brought = plan.streamed || !device_->is_cuda();
  if (brought && plan.host_bytes > 0) text += bytes_line("  lists in transit", plan.host_bytes);
  text += fmt::format("{:<22} {:>12}\n", "queries at once", plan.threads);
  if (plan.partitions > 1) text += fmt::format("{:<22} {:>12} (about)\n", "partitions", plan.partitions);
  print_plan(text + bytes_line("result", plan.result_bytes), plan.partitions);
}

void Job::print_plan(const acc::AccPlan& plan) const {
  std::string text = fit_line("device memory", plan.device_bytes, device_->memory());
  text += bytes_line("  vertex states", plan.state_bytes);
  text += fit_line("host memory", input_bytes() + plan.model_bytes + need_of(plan).host_bytes, host_budget());
  text += bytes_line("  graph", graph_bytes());
  if (plan.message_bytes > 0) text += bytes_line("  messages of edges", plan.message_bytes);
  if (plan.scratch_bytes > 0) text += bytes_line("in --scratch, at most", plan.scratch_bytes);
  text += part_lines(plan.partitions, plan.brought_bytes, "a round");
  print_plan(text + bytes_line("result", plan.result_bytes), plan.partitions);
}

}  // namespace sluice::apps
