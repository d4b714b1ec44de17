// Compiled for both backends: host and CUDA.
#include "engine/ppr/queue/end_walks.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <vector>

#include "engine/batch/instance_run.hpp"
#include "engine/core/charged_vector.hpp"
#include "engine/memory/tables/ensure_tables.hpp"
#include "engine/walks/options.hpp"
#include "engine/walks/queue/queue_host.hpp"
#include "engine/walks/queue/queued_walks.hpp"
#if defined(__CUDACC__)
#include "engine/walks/queue/steps_cuda.cuh"
#endif

namespace sluice::ppr {

namespace {

/// Expected steps of a walk: their mean, unless the length ends walks earlier.
std::uint64_t expected_steps(const Options& options, const WalkRules& rules) {
  const double mean = std::ceil(options.alpha / (1 - options.alpha));
  return static_cast<std::uint64_t>(std::clamp<double>(mean, 1, rules.limit));
}

}  // namespace

AllSeeds::AllSeeds(const ResidentGraph::Impl& graph, const Starts& starts, std::uint64_t seed) {
  if (starts.offsets.empty()) {
    starts_.emplace(graph, starts, seed);
    return;
  }
  ChargedVector<Seed> all;
  Seeds query_seeds;
  for (Instance query = 0; query + 1 < starts.offsets.size(); ++query) {
    query_seeds.assign(starts, graph.view.vertices(), seed, query);
    all.insert(all.end(), query_seeds.all().begin(), query_seeds.all().end());
  }
  seeds_ = Buffer<Seed>(graph.device, all.size(), "seeds of queries");
  offsets_ = Buffer<std::uint64_t>(graph.device, starts.offsets.size(), "seeds of queries");
  copy_to_device(graph.device, seeds_.data(), all.data(), seeds_.bytes());
  copy_to_device(graph.device, offsets_.data(), starts.offsets.data(), offsets_.bytes());
}

AllSeedsView AllSeeds::view() const {
  if (starts_) return {starts_->view()};
  return {{}, seeds_.data(), offsets_.data()};
}

void run_end_walks(ResidentGraph::Impl& graph, const EndProgram& program, const Options& options,
                   InstanceRange range, WalkSink& sink, RunStats& stats) {
  walks::Options walk;
  walk.seed = options.seed, walk.length = program.rules.limit;
  InstanceRun<WalkSink, walks::Options> run(graph, {}, walk, &sink, stats);
  run.range = range;
  PageRequest pages(graph);
  pages.columns.weights = program.rules.weighted;
  const auto run_on = [&]<class Backend>(std::type_identity<Backend>) {
    walks::ProgramJob<EndProgram, walks::ProgramQueue<Backend, EndProgram>> job(program);
    walks::walk_in_queues({run, job, pages, {}, expected_steps(options, program.rules)},
                          walks::ShardResidency::allowed);
  };
  on_backend(
      graph.device, [&] { run_on(std::type_identity<walks::host::QueueBackend>{}); },
      [&] {
#if defined(__CUDACC__)
        run_on(std::type_identity<walks::cuda::QueueBackend>{});
#endif
      });
}

}  // namespace sluice::ppr
