// Runs any traversal sampler: picks the technique, builds the tables and passes the program to the backend.
// Include this header to run your own sampler; compile the including file as CUDA to run it on a GPU too.
#pragma once

#include "engine/batch/instance_run.hpp"
#include "engine/batch/starts_upload.hpp"
#include "engine/core/error.hpp"
#include "engine/memory/peer_partitions.hpp"
#include "engine/memory/tables/ensure_tables.hpp"
#include "engine/memory/tables/page_tables.hpp"
#include "engine/samples/levels_host.hpp"
#include "engine/samples/options.hpp"
#include "engine/samples/partitioned/expected_size.hpp"
#include "engine/samples/partitioned/level_grower.hpp"
#include "engine/samples/partitioned/levels_host.hpp"
#include "engine/samples/partitioned/partitioned_samples.hpp"
#include "engine/samples/step.hpp"
#include "engine/select/bias.hpp"
#if defined(__CUDACC__)
#include "engine/samples/partitioned/levels_cuda.cuh"
#include "engine/samples/sample_cuda.cuh"
#endif
#include "engine/core/build_namespace.hpp"

namespace sluice::samples {
inline namespace SLUICE_BUILD_NAMESPACE {  // templates have different code in files compiled as CUDA

/// One run of one traversal sampler. `tables` holds the tables of its fixed bias; `uniform`: all candidates
/// have the same bias. `Grower` grows samples on a graph in partitions (see PartitionedSamples).
template <TraversalSampler Sampler, template <class Levels> class Grower>
class SampleRun : InstanceRun<SampleSink, Options> {
 public:
  SampleRun(const InstanceRun<SampleSink, Options>& run, BiasTables& tables, bool uniform,
            const Sampler& sampler, const Starts& starts)
      : InstanceRun(run),
        tables_(tables),
        pages_(graph),
        starts_(graph, starts, options.seed, 1, Repeats::dropped),
        max_seeds_(starts.max_seeds()) {
    program_.graph = graph.view;
    program_.sampler = sampler;
    program_.uniform = uniform;
    program_.seed = options.seed;
    program_.collision = technique_of(options.collision);
  }

  void run() {
    refuse_hooks<never_called_by_samples<Sampler>()>();
    const double table_seconds_before = graph.table_seconds;
    if constexpr (Sampler::kBias == BiasClass::dynamic) {
      program_.sampler.replacement() ? prepare_dynamic_draws() : prepare_distinct();
      program_.all_are_candidates = all_are_candidates();
    } else if constexpr (Sampler::kBias == BiasClass::fixed) {
      program_.sampler.replacement() ? prepare_draws() : prepare_distinct();
    } else {
      program_.sampler.replacement() ? prepare_index() : prepare_distinct();
    }
    if (program_.sampler.replacement()) check_draws();
    stats.select = program_.select;
    choose_coded_layout();
    stats.table_seconds = graph.table_seconds - table_seconds_before;
    stats.host_to_device_bytes += starts_.bytes();
    stats.instances = instances();
    if (!idle()) run_program();
    stats.steps = stats.sampled_edges;
  }

 private:
  using Program = SampleProgram<Sampler>;

  const InstanceRun& as_run() const { return *this; }
  LevelSetup<Program> setup() const {
    return {{graph, program_, stats},
            starts_.view(),
            options.revisit,
            options.collision == Collision::linear,
            sink != nullptr};
  }

  void prepare_index() {
    if (options.select != Select::automatic)
      throw UsageError("--select: a uniform draw with replacement is an index");
    program_.select = Select::automatic;
  }

  /// With replacement: the technique that `--select` names; by default an index if uniform, else alias.
  void prepare_draws() {
    const auto& bias = program_.sampler;
    program_.select = options.select;
    if (options.select == Select::automatic && !program_.uniform) program_.select = Select::alias;
    switch (program_.select) {
      case Select::automatic:
        return;
      case Select::its:
        make_ctps();
        break;
      case Select::alias:
        make_alias();
        break;
      case Select::rejection:
        break;
      default:
        throw UsageError("--select: with replacement, a sample selects by its, alias or rejection");
    }
    ensure_bounds(graph, tables_, table_bias(bias));
    program_.tables.bounds = tables_.bounds.data();
    program_.tables.positive = tables_.positive.data();
  }

  /// On a graph in partitions, tables are transferred with the edges of their partition.
  void make_ctps() {
    program_.tables.cumulative = ctps_of(graph, tables_, table_bias(program_.sampler), pages_);
  }
  void make_alias() {
    if (graph.paged) return request_alias(graph, tables_, table_bias(program_.sampler), pages_);
    ensure_alias(graph, tables_, table_bias(program_.sampler));
    program_.tables.thresholds = tables_.thresholds.data();
    program_.tables.others = tables_.others.data();
  }

  /// Fanouts are known before any list is read; the numbers of a user's sampler are checked list by list.
  void check_draws() const {
    const std::string most = std::to_string(program_.max_draws());
    for (const std::int64_t fanout : options.fanout) {
      if (fanout <= std::int64_t{program_.max_draws()}) continue;
      throw UsageError(program_.select == Select::rejection
                           ? "--fanout: rejection makes at most " + most +
                                 " draws of one list; use alias or its"
                           : "--fanout: at most " + most + " with --replace");
    }
  }

  /// With replacement and a dynamic bias: rejection if the bias has a bound, else inverse transform.
  void prepare_dynamic_draws() {
    program_.select = options.select;
    if (options.select == Select::automatic)
      program_.select = HasBound<Sampler> ? Select::rejection : Select::its;
    if (program_.select == Select::its) return;
    if (program_.select != Select::rejection || !HasBound<Sampler>) {
      throw UsageError(HasBound<Sampler>
                           ? "--select: this sample's bias is dynamic; it selects by rejection or its"
                           : "--select: this sample's bias is dynamic and has no bound; it selects by its");
    }
    if constexpr (HasEdgeBias<Sampler>) {
      if constexpr (HasUniformEdgeBias<Sampler>) {
        if (program_.sampler.edge_bias_is_uniform(graph.view)) return;
      }
      make_alias();
    }
  }

  /// True if the sampler's bounds alone prove that all edges have positive bias and all lists sum below 2^64.
  bool all_are_candidates() const {
    if constexpr (HasFloor<Sampler> && HasBound<Sampler> && !HasEdgeBias<Sampler>) {
      return program_.sampler.bias_floor() > 0 &&
             multiply_high(program_.sampler.bias_bound(), graph.max_degree) == 0;
    }
    return false;
  }

  /// Without replacement: the technique that `--select` names, by default bipartite region search.
  void prepare_distinct() {
    program_.select = options.select == Select::automatic ? Select::bipartite : options.select;
    if (program_.select != Select::bipartite && program_.select != Select::updated &&
        program_.select != Select::repeated) {
      throw UsageError("--select: without replacement, a sample selects by repeated, updated or bipartite");
    }
    if constexpr (Sampler::kBias == BiasClass::fixed) {
      if (program_.uniform) return;
      make_ctps();
      ensure_bounds(graph, tables_, table_bias(program_.sampler));
      program_.tables.positive = tables_.positive.data();
    }
  }

  /// True if the sampler's hooks may read weights while a list is expanded.
  bool reads_weights() const {
    if (!graph.graph.weighted) return false;
    if (Sampler::kBias == BiasClass::dynamic || program_.kUpdates) return true;
    return Sampler::kBias == BiasClass::fixed && program_.tables.positive;
  }

  /// Chooses the coded layout if the sample can read it and it pays; throws UsageError if it cannot but must.
  void choose_coded_layout() {
    const bool required = options.layout == Layout::coded;
    if (!graph.paged || !program_.may_be_coded()) {
      if (!required) return;
      throw UsageError(graph.paged ? "--layout coded: this sample reads lists as they are; use csr or auto"
                                   : "--layout coded: the graph is not in partitions; use csr or auto");
    }
    const ExpectedWork work{.instances = instances(),
                            .instance_bytes = expected_bytes(),
                            .steps = program_.sampler.depth(),
                            .reads = static_cast<std::uint64_t>(expected().edges)};
    if (pages_.request_codes(graph, options.layout, work)) stats.layout = Layout::coded;
  }

  ExpectedSample expected() const {
    return expected_sample(graph.graph, options, max_seeds_, program_.sampler.depth());
  }
  std::uint64_t expected_bytes() const {
    // Twice with shards: remote requests take as much memory as this rank's own instances.
    return expected().bytes(graph.device.memory().available()) * (graph.paging.shard ? 2 : 1);
  }

  void run_partitioned() {
    if (reads_weights()) pages_.columns.weights = true;
    with_peer_partitions(graph, pages_, stats, [&] { grow_partitioned(); });
  }

  void grow_partitioned() {
    const auto grow = [&]<class Levels>(std::type_identity<Levels>) {
      run_partitioned_samples<Grower<Levels>>(as_run(), setup(), pages_, expected_bytes(),
                                              program_.sampler.depth());
    };
    on_backend(
        graph.device, [&] { grow(std::type_identity<host::Levels<Program, Partitioned>>{}); },
        [&] {
#if defined(__CUDACC__)
          grow(std::type_identity<cuda::Levels<Program, Partitioned>>{});
#endif
        });
  }

  /// Plans the smallest batch of a GPU run by its estimated size; host runs plan nothing here.
  void charge_smallest_batch() const {
    if (!graph.device.is_cuda()) return;
    const std::uint64_t bytes = smallest_batch_bytes(graph, options, max_seeds_);
    graph.device.memory().charge_and_release(bytes, "a batch of samples");
  }

  void run_program() {
    if (graph.paged) return run_partitioned();
    if (graph.device.is_planning()) return charge_smallest_batch();
    on_backend(
        graph.device, [&] { host::run_whole_samples(as_run(), setup()); },
        [&] {
#if defined(__CUDACC__)
          cuda::run_whole_samples(as_run(), setup());
#endif
        });
  }

  BiasTables& tables_;
  PageRequest pages_;
  DeviceStarts starts_;
  std::uint64_t max_seeds_;
  Program program_;
};

/// `uniform`: all candidates have the same bias, and `tables` stays empty. `Grower`: see SampleRun.
template <template <class Levels> class Grower = LevelGrower, TraversalSampler Sampler>
RunStats run_sample(ResidentGraph& graph, BiasTables& tables, bool uniform, const Sampler& sampler,
                    const Starts& starts, const Options& options, SampleSink* sink) {
  RunStats stats;
  SampleRun<Sampler, Grower>({graph.impl(), starts, options, sink, stats}, tables, uniform, sampler, starts)
      .run();
  return stats;
}

/// Samples by a named bias, with the tables that the graph keeps for it.
template <template <class Levels> class Grower = LevelGrower, TraversalSampler Sampler>
RunStats run_sample(ResidentGraph& graph, Bias bias, const Sampler& sampler, const Starts& starts,
                    const Options& options, SampleSink* sink) {
  BiasTables& tables = graph.impl().named[static_cast<int>(bias)];
  return run_sample<Grower>(graph, tables, bias == Bias::none, sampler, starts, options, sink);
}

/// Samples with your own sampler. `options.kind` and the options of built-in kinds are ignored.
/// Throws the same errors as run_samples.
template <template <class Levels> class Grower = LevelGrower, TraversalSampler Sampler>
RunStats run_sample(ResidentGraph& graph, const Starts& starts, const Sampler& sampler,
                    const Options& options, SampleSink* sink) {
  BiasTables tables;
  return run_sample<Grower>(graph, tables, Sampler::kBias == BiasClass::uniform, sampler, starts, options,
                            sink);
}

}  // namespace SLUICE_BUILD_NAMESPACE
}  // namespace sluice::samples
