#include <chrono>
#include <vector>

#include "engine/exec/threads.hpp"
#include "engine/ppr/backend.hpp"

namespace sluice {

namespace {

using Clock = std::chrono::steady_clock;

class HostPpr final : public PprBackend {
 public:
  HostPpr(const Device& device, const Graph& graph, const Starts& starts, const PprOptions& options,
          std::uint64_t queries)
      : device_(device),
        graph_(graph),
        starts_(starts),
        options_(options),
        rows_(ppr_wave_rows(device, options, queries)),
        results_(device, rows_, options.top) {
    workers_.resize(host_queries_at_once(device, graph, options, device.memory().available()));
    rest();
  }

  std::uint64_t rows() const override { return rows_; }

  PprBatch solve(Instance first, std::uint64_t count) override {
    parallel_blocks(static_cast<unsigned>(workers_.size()), count, 1,
                    [&](std::uint64_t from, std::uint64_t to, unsigned thread) {
                      for (std::uint64_t row = from; row < to; ++row) answer(*workers_[thread], first, row);
                    });
    return results_.batch(first, count);
  }

  void rest() override {
    for (auto& worker : workers_) {
      worker.reset();
      worker = std::make_unique<Worker>(device_, graph_, options_);
    }
  }

 private:
  struct Worker {
    Worker(const Device& device, const Graph& graph, const PprOptions& options)
        : solver(device, graph.out.view(), options) {}
    QuerySolver solver;
    Seeds seeds;
  };

  void answer(Worker& worker, Instance first, std::uint64_t row) {
    const auto begin = Clock::now();
    worker.seeds.assign(starts_, graph_.vertices(), options_.seed, first + row);
    results_.seeds.data()[row] = worker.seeds.all()[0].vertex;
    QueryFigures& figures = results_.figures.data()[row];
    figures = worker.solver.solve(worker.seeds, first + row);
    worker.solver.write_top({results_.vertices.data() + row * options_.top, options_.top},
                            {results_.scores.data() + row * options_.top, options_.top});
    figures.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  }

  const Device& device_;
  const Graph& graph_;
  const Starts& starts_;
  const PprOptions& options_;
  std::uint64_t rows_;
  PprRows<Buffer> results_;
  std::vector<std::unique_ptr<Worker>> workers_;
};

}  // namespace

std::uint64_t worst_host_query(const Graph& graph, const PprOptions& options) {
  const std::uint64_t n = graph.vertices(), reached = ReachedVertices::peak_bytes(n, n);
  return goes_one_by_one(options) ? 2 * reached + n * 20 : reached + n * 4;
}

unsigned host_queries_at_once(const Device& device, const Graph& graph, const PprOptions& options,
                              std::uint64_t left) {
  const std::uint64_t fit = left / std::max<std::uint64_t>(worst_host_query(graph, options), 1);
  return static_cast<unsigned>(std::clamp<std::uint64_t>(fit, 1, device.threads()));
}

std::unique_ptr<PprBackend> make_host_ppr(const Device& device, const Graph& graph, const Starts& starts,
                                          const PprOptions& options, std::uint64_t queries) {
  return std::make_unique<HostPpr>(device, graph, starts, options, queries);
}

}  // namespace sluice
