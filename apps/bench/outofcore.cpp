// sluice-bench outofcore: walks on a graph of which the device holds a quarter, beside what the link carries.
#include <algorithm>
#include <utility>

#include "apps/bench/bench.hpp"
#include "apps/bench/limits.hpp"
#include "apps/bench/workload.hpp"
#include "engine/memory/coded_graph.hpp"
#include "engine/sampling/run.hpp"

namespace sluice::bench {

namespace {

/// A quarter of the partitions is on the device at a time. Walks and their paths lie beside them.
constexpr PagingOptions kQuarter{.partitions = 64, .slots = 16, .transport = Transport::copied};

/// Coded lists in the same memory: a quarter of what the lists take as they are.
PagingOptions quarter_of_plain(const Graph& graph, unsigned threads) {
  const EdgeIndex words = CodedSizes(graph.out.view(), threads).words() + graph.vertices();
  PagingOptions paging = kQuarter;
  paging.slots = kQuarter.slots * graph.edges() / std::max<EdgeIndex>(words, 1);
  return paging;
}

class OutOfCoreSuite {
 public:
  OutOfCoreSuite(Device& device, const Options& options)
      : device_(device),
        options_(options),
        limits_(measure_limits(device, options.repetitions)),
        graph_(load_graph(device, options)) {}

  std::vector<Figure> run() {
    plain("vertices", static_cast<double>(graph_.vertices()), "");
    plain("stored edges", static_cast<double>(graph_.edges()), "");
    if (limits_.to_device > 0) plain("limit: host to device", limits_.to_device, "GB/s");
    walks::Options uniform;
    walks::Options weighted;
    weighted.kind = walks::Kind::biased;
    walks::Options coded = uniform;
    uniform.layout = Layout::csr, coded.layout = Layout::coded;
    const PagingOptions same_memory = quarter_of_plain(graph_, device_.threads());
    walk("uniform walk, two walkers a vertex, csr", uniform, 2, kQuarter);
    walk("uniform walk, two walkers a vertex, coded", coded, 2, same_memory);
    walk("uniform walk, copied", uniform, 1, kQuarter);
    walk("uniform walk, coded", coded, 1, same_memory);
    PagingOptions fifo = kQuarter;
    fifo.schedule = SchedulePolicy::fifo;
    walk("uniform walk, copied, fifo", uniform, 1, fifo);
    // What a user has who asks for nothing.
    walks::Options unasked;
    PagingOptions automatic = same_memory;
    automatic.transport = Transport::automatic;
    walk("uniform walk, auto", unasked, 1, automatic);
    walk("biased by weight, alias, copied", weighted, 1, kQuarter);
    for (const Instance instances : {Instance{4000}, Instance{64000}}) {
      const std::string count = text("%.0f uniform walks, ", static_cast<double>(instances));
      walk(count + "copied", uniform, 1, kQuarter, instances);
      walk(count + "coded", coded, 1, same_memory, instances);
      walk(count + "auto", unasked, 1, automatic, instances);
    }
    return std::move(figures_);
  }

 private:
  void plain(const char* name, double value, const char* unit) {
    figures_.push_back({name, value, unit, value, value, {}});
  }

  void walk(const std::string& name, walks::Options walk_options, std::uint64_t walks_per_vertex,
            const PagingOptions& paging, Instance instances = 0) {
    if (!options_.wants(name)) return;
    if (options_.progress) options_.progress(name);
    ResidentGraph graph(device_, graph_, paging);
    Starts starts;
    starts.rounds = walks_per_vertex;
    if (instances != 0) starts.mode = Starts::Mode::random, starts.count = instances;
    walk_options.seed = options_.seed;
    std::vector<double> rates;
    RunStats stats;
    for (unsigned r = 0; r <= options_.repetitions; ++r) {  // the first makes the tables
      stats = sampling::run_walks(graph, starts, walk_options, nullptr);
      if (r > 0) rates.push_back(static_cast<double>(stats.steps) / stats.compute_seconds * 1e-9);
    }
    std::sort(rates.begin(), rates.end());
    const double copied = static_cast<double>(stats.host_to_device_bytes) / stats.compute_seconds * 1e-9;
    std::string note = text("%.0f transfers, ", static_cast<double>(stats.partition_transfers)) +
                       text("%.0f rounds, ", static_cast<double>(stats.rounds)) +
                       text("%.0f batches, ", static_cast<double>(stats.batches)) +
                       text("%.1f GB/s copied", copied);
    figures_.push_back({name, rates[rates.size() / 2], "G steps/s", rates.front(), rates.back(), note});
    if (limits_.to_device > 0) set_share(figures_.back(), copied / limits_.to_device, "host to device");
  }

  Device& device_;
  const Options& options_;
  Limits limits_;
  Graph graph_;
  std::vector<Figure> figures_;
};

}  // namespace

std::vector<Figure> run_outofcore(Device& device, const Options& options) {
  return OutOfCoreSuite(device, options).run();
}

}  // namespace sluice::bench
