// sluice-bench pagerank, dynamic methods: random batches, compared with static PageRank from scratch.
#include <algorithm>
#include <random>
#include <utility>

#include "apps/bench/bench.hpp"
#include "apps/bench/random_batch.hpp"
#include "apps/bench/replay/recycled_memory.hpp"
#include "apps/bench/replay/replay.hpp"
#include "apps/bench/workload.hpp"
#include "apps/cli/names.hpp"
#include "engine/core/clock.hpp"

namespace sluice::bench {

namespace {

constexpr double kFractions[] = {1e-7, 1e-6, 1e-5, 1e-4};
/// A batch large enough to change most lists, for the cost of rewriting the graph.
constexpr double kLargeFraction = 1e-2;
/// The whole graph on the device; a graph that does not fit is reported, not partitioned.
const pagerank::RankPlace kWhole{.paging = {.partitions = 1}};
/// A quarter of the in-edges on the device.
const pagerank::RankPlace kQuarter{.paging = kQuarterInSlots};
constexpr double kQuarterFraction = 1e-6;
/// Batches before the measured ones, with a quarter on the device: memory for lists is page-locked only once.
constexpr unsigned kQuarterWarmUps = 2;

using Methods = std::vector<pagerank::DynamicRankOptions>;
const Methods kMethods{{pagerank::RankMethod::pruned_frontier}, {pagerank::RankMethod::residual_frontier}};

using Batches = std::vector<ReplayBatch>;

/// Returns of(batch) for each batch.
template <class ValueOf>
std::vector<double> values_of(const Batches& batches, const ValueOf& value_of) {
  std::vector<double> values;
  for (const ReplayBatch& batch : batches) values.push_back(value_of(batch));
  return values;
}

/// Seconds to update the graph on the device of the method.
double update_of(const ReplayBatch& batch, const ReplayRun& run) {
  return run.update_seconds > 0 ? run.update_seconds : batch.update_seconds;
}

class DynamicSuite : SuiteFigures {
 public:
  DynamicSuite(Device& device, const Options& options, std::string name, Graph graph)
      : SuiteFigures(device, options), name_(std::move(name)), graph_(std::move(graph)) {}

  std::vector<Figure> run() {
    for (const double fraction : kFractions) measure_batches(fraction, name_, kMethods);
    measure_batches(kQuarterFraction, name_ + ", a quarter on the device", kMethods, kQuarter);
    if (device_.is_cuda()) measure_batches(kLargeFraction, name_, {kMethods.back()});
    return std::move(figures_);
  }

 private:
  void measure_batches(double fraction, const std::string& name, const Methods& methods,
                       const pagerank::RankPlace& place = kWhole) {
    const std::string size = name + text(", batch %.0e", fraction);
    if (!begin(size)) return;
    const pagerank::Options rank;
    ReplayMethods replay_methods(device_, rank, methods, false, place, false);
    replay_methods.begin(graph_);
    RecycledMemory recycled(device_);
    HostMemory* const reused_memory = device_.is_cuda() ? &recycled : nullptr;
    const bool whole = place.paging.partitions == 1;
    const unsigned warm_ups = reused_memory && !whole ? kQuarterWarmUps : 0;
    Batches batches(warm_ups + options_.repetitions);
    double packed = 0;  // bytes per change
    for (ReplayBatch& report : batches) {
      const UpdateBatch batch = random_batch(graph_, fraction, random_);
      const double begin = seconds_now();
      UpdateResult update = update_graph(std::move(graph_), batch, host_threads(device_),
                                         whole ? nullptr : reused_memory, whole ? reused_memory : nullptr);
      report.update_seconds = seconds_now() - begin;
      replay_methods.follow(update, report);
      const PackedChanges& changes = update.changes.packed();
      if (changes.count > 0)
        packed = static_cast<double>(changes.bytes.size()) / static_cast<double>(changes.count);
      graph_ = std::move(update.graph);
    }
    batches.erase(batches.begin(), batches.begin() + warm_ups);
    add_figure(size + ", static",
               values_of(batches, [](const ReplayBatch& batch) { return batch.runs[0].seconds; }),
               text("%.0f iterations", batches.front().runs[0].iterations));
    for (std::size_t m = 1; m <= methods.size(); ++m) add_method(size, batches, m);
    if (reused_memory && whole) add_update(size, batches, packed);
  }

  void add_figure(const std::string& name, std::vector<double> seconds, std::string note) {
    for (double& value : seconds) value *= 1e3;
    SuiteFigures::add_figure(name, seconds, "ms", std::move(note));
  }

  /// Measures the GPU's update, with and without sent changes; it reads and writes both directions once.
  void add_update(const std::string& size, const Batches& batches, double packed) {
    const double lists = static_cast<double>(graph_.edges()) * sizeof(Vertex) +
                         static_cast<double>(graph_.vertices()) * sizeof(EdgeIndex);
    const double moved = 2 * lists * (graph_.directed ? 2 : 1);
    const auto rate = [&](const std::vector<double>& seconds) {
      return text("%.0f GB/s read and written", moved / median(seconds) * 1e-9);
    };
    const auto updates = values_of(batches, [](const ReplayBatch& b) { return update_of(b, b.runs[1]); });
    const auto rewrites = values_of(batches, [](const ReplayBatch& b) { return b.runs[1].rewrite_seconds; });
    add_figure(size + ", update on the GPU", updates, rate(updates) + text(", %.2f bytes a change", packed));
    add_figure(size + ", rewrite alone", rewrites, rate(rewrites));
    add_figure(size + ", update on the host",
               values_of(batches, [](const ReplayBatch& b) { return b.update_seconds; }),
               "finds the changes, and rewrites its lists");
  }

  void add_method(const std::string& size, const Batches& batches, std::size_t m) {
    const double runs = options_.repetitions;
    std::vector<double> seconds, updates, speedups, with_update;
    double iterations = 0, affected = 0, partitions = 0, error = 0;
    for (const ReplayBatch& batch : batches) {
      const ReplayRun& run = batch.runs[m];
      const double static_seconds = batch.runs[0].seconds, update = update_of(batch, run);
      seconds.push_back(run.seconds), updates.push_back(update);
      speedups.push_back(static_seconds / run.seconds),
          with_update.push_back(static_seconds / (run.seconds + update));
      iterations += run.iterations, partitions += static_cast<double>(run.partitions_read);
      affected += static_cast<double>(run.ever_affected) / static_cast<double>(graph_.vertices());
      error = std::max(error, run.linf);
    }
    add_figure(
        size + ", " + std::string(apps::name_of(apps::kRankMethods, batches[0].runs[m].method)), seconds,
        text("%.2f times static", median(speedups)) + text(", %.2f with the update", median(with_update)) +
            text(" of %.3g ms", median(updates) * 1e3) + text("; %.1f iterations", iterations / runs) +
            text(", %.3g of the vertices", affected / runs) +
            (partitions > runs ? text(", %.3g partitions read", partitions / runs) : "") +
            text(", %.1e from static", error));
  }

  std::string name_;
  Graph graph_;
  std::mt19937_64 random_{7};
};

}  // namespace

std::vector<Figure> run_dynamic_pagerank(Device& device, const Options& options, const std::string& name,
                                         Graph graph) {
  if (graph.edges() == 0 || (graph.directed && graph.in.offsets.empty())) return {};
  return DynamicSuite(device, options, name, std::move(graph)).run();
}

}  // namespace sluice::bench
