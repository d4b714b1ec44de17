// sluice-bench ablation: the gain of each of C-SAW's techniques for graphs in partitions (SC'20, figures 13
// to 15). With four partitions, two on the device at a time, each technique is switched on in turn.
// Scheduling alone is measured on deeper samples in eight partitions.
#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "apps/bench/bench.hpp"
#include "apps/bench/papers/out_of_order.hpp"
#include "apps/bench/workload.hpp"
#include "engine/memory/resident_impl.hpp"
#include "engine/sampling/run.hpp"

namespace sluice::bench {

namespace {

struct Row {
  const char* name;
  bool batching;
  SchedulePolicy schedule;
  Balance balance;
  Transport transport;
  unsigned partitions = 4;
  decltype(sampling::run_samples)* run_samples = sampling::run_samples;

  PagingOptions paging() const {
    return {.partitions = partitions,
            .slots = 2,
            .transport = transport,
            .schedule = schedule,
            .batching = batching,
            .balance = balance};
  }
};

constexpr std::array kRows{
    Row{"none", false, SchedulePolicy::fifo, Balance::off, Transport::copied},
    Row{"batching", true, SchedulePolicy::fifo, Balance::off, Transport::copied},
    Row{"+ workload-aware", true, SchedulePolicy::workload, Balance::off, Transport::copied},
    Row{"+ balancing", true, SchedulePolicy::workload, Balance::on, Transport::copied},
    Row{"auto", true, SchedulePolicy::workload, Balance::automatic, Transport::automatic},
};

constexpr std::array kSchedules{
    Row{"fifo", true, SchedulePolicy::fifo, Balance::automatic, Transport::copied, 8},
    Row{"workload-aware", true, SchedulePolicy::workload, Balance::automatic, Transport::copied, 8},
    Row{"out of order", true, SchedulePolicy::workload, Balance::automatic, Transport::copied, 8,
        papers::run_out_of_order},
};

class AblationSuite : SuiteFigures {
 public:
  AblationSuite(Device& device, const Options& options)
      : SuiteFigures(device, options),
        graph_(load_graph(device, options)),
        partitioned_(device, graph_, kRows[0].paging()) {}

  std::vector<Figure> run() {
    add_graph_size(graph_);
    samples::Options neighbor;
    neighbor.fanout = {2, 2};
    for (const std::uint64_t instances : {kMaxInstances / 2, kMaxInstances}) {
      neighbor.bias = Bias::degree;
      sample("biased neighbor", neighbor, instances);
      neighbor.bias = Bias::none;
      sample("unbiased neighbor", neighbor, instances);
      samples::Options large;
      large.bias = Bias::degree, large.fanout = {2, 64};
      sample("biased neighbor of 64", large, instances);
      samples::Options fire;
      fire.kind = samples::Kind::forest_fire;
      sample("forest fire", fire, instances);
      samples::Options layer;
      layer.kind = samples::Kind::layer, layer.bias = Bias::degree, layer.layer_sizes = {2, 4};
      sample("layer", layer, instances);
      walk(instances);
    }
    schedules();
    return std::move(figures_);
  }

 private:
  static constexpr std::uint64_t kMaxInstances = 4000;  ///< instances

  void sample(const char* name, samples::Options o, std::uint64_t instances,
              std::span<const Row> techniques = kRows) {
    o.seed = options_.seed;
    measure_techniques(name, instances, techniques, [&](const Row& row) {
      return row.run_samples(partitioned_, random_starts(instances), o, nullptr);
    });
  }

  /// With --revisit: no visited rule then prevents samples from running out of order.
  void schedules() {
    samples::Options o;
    o.fanout = {2, 2, 2}, o.revisit = true;
    sample("unbiased neighbor, 8 partitions", o, kMaxInstances, kSchedules);
    o.bias = Bias::degree;
    sample("biased neighbor, 8 partitions", o, kMaxInstances, kSchedules);
    o.bias = Bias::none, o.fanout.assign(20, 1);
    sample("chains of neighbors, 8 partitions", o, kMaxInstances, kSchedules);
    samples::Options fire;
    fire.kind = samples::Kind::forest_fire, fire.depth = 3, fire.revisit = true;
    sample("forest fire, 8 partitions", fire, kMaxInstances, kSchedules);
  }

  /// Walks have 100 steps, not 2000 as published: without batching, millions of kernels would be launched.
  void walk(std::uint64_t instances) {
    walks::Options o;
    o.kind = walks::Kind::biased, o.bias = Bias::degree, o.length = 100, o.seed = options_.seed;
    measure_techniques("biased walk", instances, kRows, [&](const Row&) {
      return sampling::run_walks(partitioned_, random_starts(instances), o, nullptr);
    });
  }

  /// Measures one figure for each row.
  template <class Run>
  void measure_techniques(const char* name, std::uint64_t instances, std::span<const Row> techniques,
                          const Run& run) {
    for (const Row& row : techniques) {
      partitioned_.impl().paging = row.paging();
      measure(std::string(name) + ", " + std::to_string(instances) + ": " + row.name,
              [&] { return run(row); });
    }
    partitioned_.drop_tables();
  }

  template <class Run>
  void measure(const std::string& name, const Run& run) {
    if (!begin(name)) return;
    RunStats stats;
    const auto times = repeated(options_.repetitions, [&] {
      stats = run();
      return stats.compute_seconds * 1e3;
    });
    const auto link = static_cast<double>(stats.host_to_device_bytes + stats.mapped_bytes);
    add_figure(name, times, "ms", {},
               {{"transfers", static_cast<double>(stats.partition_transfers)},
                {"deviation %", 100 * stats.kernels.imbalance()},
                {"deviation ms", 1e3 * stats.kernels.deviation_seconds},
                {"link MiB", link / (1 << 20)}});
  }

  Graph graph_;
  ResidentGraph partitioned_;
};

}  // namespace

std::vector<Figure> run_ablation(Device& device, const Options& options) {
  return AblationSuite(device, options).run();
}

}  // namespace sluice::bench
