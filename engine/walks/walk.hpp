// Runs any walk sampler: chooses technique and layout, makes the tables, and passes the program to the
// backend. Include this to run a sampler of your own; compile the file as CUDA to run it on a GPU too.
#pragma once

#include <algorithm>

#include "engine/batch/instance_run.hpp"
#include "engine/batch/starts_upload.hpp"
#include "engine/core/error.hpp"
#include "engine/graph/layout.hpp"
#include "engine/memory/tables/edge_set.hpp"
#include "engine/memory/tables/ensure_tables.hpp"
#include "engine/memory/tables/page_tables.hpp"
#include "engine/select/bias.hpp"
#include "engine/select/tables.hpp"
#include "engine/walks/options.hpp"
#include "engine/walks/queue/queue_host.hpp"
#include "engine/walks/queue/queued_walks.hpp"
#include "engine/walks/step.hpp"
#include "engine/walks/walk_host.hpp"
#if defined(__CUDACC__)
#include "engine/walks/queue/steps_cuda.cuh"
#include "engine/walks/walk_cuda.cuh"
#endif
#include "engine/core/build_namespace.hpp"

namespace sluice::walks {
inline namespace SLUICE_BUILD_NAMESPACE {  // a file compiled as CUDA has other code for the same template

/// Gives a sampler without fixed bias a bias of 1 for every edge, for techniques that need a table.
template <class Sampler>
struct UnitBias : Sampler {
  SLUICE_HD std::uint64_t edge_bias(const GraphView&, const Edge&) const { return 1; }
};

/// True if the technique serves only to compare techniques. It has no version for wide edges, which carry
/// their targets' rows: walks read the CSR layout, with the same results.
template <class Biased>
inline constexpr bool kBaselineTechnique = false;
template <class Sampler>
inline constexpr bool kBaselineTechnique<UnitBias<Sampler>> = true;

/// The technique that follows from the sampler alone (DESIGN section 2, idea 2).
template <WalkSampler Sampler>
constexpr Select default_select() {
  if (Sampler::kBias == BiasClass::uniform) return Select::automatic;  // an index
  if (Sampler::kBias == BiasClass::fixed) return Select::alias;
  return HasBound<Sampler> ? Select::rejection : Select::its;
}

/// One run of one sampler; `tables` holds the tables of its fixed bias.
template <WalkSampler Sampler>
class WalkRun : InstanceRun<WalkSink, Options> {
 public:
  WalkRun(const InstanceRun<WalkSink, Options>& run, BiasTables& tables, const Sampler& sampler,
          const Starts& starts)
      : InstanceRun(run),
        tables_(tables),
        pages_(graph),
        sampler_(sampler),
        starts_(graph, starts, options.seed) {
    if (!starts.offsets.empty()) throw UsageError("--starts: a walk starts from one vertex per line");
    stats.host_to_device_bytes += starts_.bytes();
  }

  void run() {
    refuse_hooks<never_called_by_walks<Sampler>()>();
    stats.select = options.select == Select::automatic ? default_select<Sampler>() : options.select;
    const double table_seconds_before = graph.table_seconds;
    const std::uint64_t copied_before = graph.host_to_device_bytes;
    choose_technique();
    stats.table_seconds = graph.table_seconds - table_seconds_before;
    stats.host_to_device_bytes += graph.host_to_device_bytes - copied_before;
    stats.instances = instances();
    stats.sampled_edges = stats.steps;
  }

 private:
  const InstanceRun& as_run() const { return *this; }

  /// True if the wide layout is required, or fits and pays: walks make at least `tenths` / 10 steps an edge.
  /// Both layouts give the same walks. `scratch`: temporary bytes for making the table. Throws UsageError.
  bool use_wide(std::uint64_t bytes_per_edge, bool already_made, std::uint64_t scratch = 0,
                std::uint64_t tenths = 5) {
    if (options.layout == Layout::csr) return false;
    if (options.layout == Layout::coded) {
      throw UsageError(graph.paged ? "--layout coded: this walk reads lists as they are; use csr or auto"
                                   : "--layout coded: the graph is not in partitions; use csr, wide or auto");
    }
    if (graph.paged) {
      if (options.layout == Layout::wide)
        throw UsageError("--layout wide: the graph is in partitions; use csr or auto");
      return false;
    }
    const bool possible = graph.packable();
    if (options.layout == Layout::wide) {
      if (!possible)
        throw UsageError("--layout wide: offsets need more than 40 bits or degrees more than 24; use csr");
      return true;
    }
    if (!possible || already_made) return possible;
    const bool enough_steps = instances() * options.length * 10 >= graph.view.edges() * tenths;
    return enough_steps && fits(graph.view.edges() * bytes_per_edge, scratch);
  }

  /// True if a table of `bytes` fits that needs `scratch` temporary bytes while it is made.
  bool fits(std::uint64_t bytes, std::uint64_t scratch = 0) const {
    const std::uint64_t reserved =
        std::max(std::uint64_t{64} << 20, scratch);  // a batch, once scratch is free
    return bytes + reserved <= graph.device.memory().available();
  }

  void choose_technique() {
    if constexpr (Sampler::kBias == BiasClass::uniform) {
      if (stats.select == Select::automatic)
        return with_index([&](const auto& table) { run_by_table(sampler_, table); });
      run_fixed(UnitBias<Sampler>{sampler_});
    } else if constexpr (Sampler::kBias == BiasClass::fixed) {
      run_fixed(sampler_);
    } else {
      run_dynamic();
    }
  }

  /// The expected work of the run if each draw reads a list `reads` times.
  ExpectedWork expected_work(std::uint64_t reads) const {
    constexpr bool kNeedsOtherLists = Sampler::kBias == BiasClass::dynamic;
    const std::uint64_t row = (std::uint64_t{options.length} + 1) * sizeof(Vertex);
    return {.instances = instances(),
            .instance_bytes = queued_walk_bytes(kNeedsOtherLists) + row,
            .steps = options.length,
            .reads = options.length * reads,
            .row_bytes = row};
  }

  /// The bias from which tables are made.
  template <class Biased>
  static auto tables_of(const Biased& sampler) {
    if constexpr (kBaselineTechnique<Biased>) {
      return NamedBias{};
    } else {
      return table_bias(sampler);
    }
  }

  /// Walks by a fixed bias with one of three techniques.
  template <class Biased>
  void run_fixed(const Biased& sampler) {
    switch (stats.select) {
      case Select::its:
        // Made before the layout is chosen: a wide layout takes the memory that is left.
        return with_edges<Biased>(
            [&, cumulative = ctps_of(graph, tables_, tables_of(sampler), pages_)](auto edges) {
              run_by_table(sampler, CtpsTable<decltype(edges)>{{edges}, cumulative});
            });
      case Select::alias:
        return with_alias(sampler, [&](auto table) { run_by_table(sampler, table); });
      case Select::rejection:
        ensure_bounds(graph, tables_, tables_of(sampler));
        return with_edges<Biased>([&](auto edges) {
          using Table = IndexTable<decltype(edges)>;
          run_program(WalkProgram<Biased, Table, Acceptance::fixed>{graph.view, sampler, Table{edges},
                                                                    tables_.bounds.data(), options.seed});
        });
      default:
        throw UsageError("--select: a walk selects by its, alias or rejection");
    }
  }

  void run_dynamic() {
    if constexpr (Sampler::kBias == BiasClass::dynamic) {
      if (stats.select == Select::its) {
        using Table = IndexTable<CsrEdges>;
        use_csr();
        return run_program(WalkProgram<Sampler, Table, Acceptance::transform>{graph.view, sampler_, Table{},
                                                                              nullptr, options.seed});
      }
      if constexpr (HasBound<Sampler>) {
        if (stats.select == Select::rejection) return run_dynamic_rejection();
        throw UsageError("--select: this walk's bias is dynamic; it selects by rejection or its");
      } else {
        throw UsageError("--select: this walk's bias is dynamic and has no bound; it selects by its");
      }
    }
  }

  /// Makes a set of all edges to answer questions, if it pays; it must fit unless `--layout wide` asks for
  /// it.
  void make_edge_set() {
    if constexpr (HasQuestion<Sampler>) {
      const bool wanted =
          edge_set_pays(graph.device, options.layout, instances() * options.length, graph.view.edges());
      if (!wanted) return;
      const EdgeSet shape = EdgeSet::of(graph.host_view, 0, graph.view.vertices());
      if (options.layout != Layout::wide && !fits(shape.bytes())) return;
      edge_set_ = EdgeSetInMemory::of_whole(graph);
      stats.edge_set_bytes = edge_set_.bytes();
    }
  }

  bool edge_bias_is_uniform() const {
    if constexpr (HasUniformEdgeBias<Sampler>) return sampler_.edge_bias_is_uniform(graph.view);
    return false;
  }

  void run_dynamic_rejection() {
    const auto launch = [&](auto table) {
      run_program(WalkProgram<Sampler, decltype(table), Acceptance::dynamic>{graph.view, sampler_, table,
                                                                             nullptr, options.seed});
    };
    if constexpr (HasEdgeBias<Sampler>) {
      if (!edge_bias_is_uniform()) return with_alias(sampler_, launch);
    }
    with_index(launch);
  }

  /// Draws by index; from coded lists if the sampler allows them and they pay.
  template <class Launch>
  void with_index(const Launch& launch) {
    if constexpr (ReadsNoList<Sampler>) {
      if (pages_.request_codes(graph, options.layout, expected_work(1))) {
        stats.layout = Layout::coded;
        return launch(CodedIndexTable{});
      }
    }
    with_edges<Sampler>([&](auto edges) { launch(IndexTable<decltype(edges)>{edges}); });
  }

  /// Selects the CSR layout; throws UsageError if the options ask for a layout that is impossible here.
  void use_csr() {
    static_cast<void>(use_wide(0, true));
    stats.layout = Layout::csr;
  }

  template <class Biased, class Launch>
  void with_edges(Launch&& launch) {
    if constexpr (kBaselineTechnique<Biased>) {
      use_csr();
      return launch(CsrEdges{});
    } else {
      with_widest_edges(launch);
    }
  }

  template <class Launch>
  void with_widest_edges(const Launch& launch) {
    const bool packed = graph.packing.worthwhile();
    // More threads walk faster, but build the table no faster, which memory bandwidth limits. With 4, 8 and
    // 16 threads both layouts take equally long at about 0.6, 1.2 and 1.7 steps an edge (H200's host,
    // Kronecker 21, single runs).
    const std::uint64_t tenths = graph.device.is_cuda() ? 5 : std::max(5u, graph.device.threads());
    const bool wide = use_wide(packed ? sizeof(std::uint64_t) : sizeof(WideEdge),
                               packed ? !graph.packed.empty() : !graph.wide.empty(), 0, tenths);
    stats.layout = wide ? Layout::wide : Layout::csr;
    if (!wide) return launch(CsrEdges{});
    packed ? launch(PackedEdges{graph.packed_edges(), graph.packing}) : launch(WideEdges{graph.wide_edges()});
  }

  /// True if ranks that own parts of the graph use wide alias slots, with targets. GPUs build them faster
  /// than hosts build plain ones. Hosts use them if walks make half a step an edge. All ranks call it.
  bool ranks_prefer_wide() const {
    std::uint64_t sums[] = {instances(), graph.device.is_cuda() ? 0u : 1u};
    graph.paging.shard->all_reduce(sums, Reduce::sum, "the layout of edges");
    return sums[1] == 0 || sums[0] * options.length * 2 >= graph.view.edges();
  }

  template <class Biased, class Launch>
  void with_alias(const Biased& sampler, Launch&& launch) {
    // Wide alias slots carry targets, but not the edge's position in the list.
    if constexpr (!kReadsDrawnEdge<Biased> && !kBaselineTechnique<Biased>) {
      const std::uint64_t scratch = hub_scratch_bytes(graph.device, graph.view.hub_count, graph.max_degree);
      if (!graph.paged && use_wide(sizeof(WideAlias), !tables_.wide_alias.empty(), scratch)) {
        stats.layout = Layout::wide;
        return launch(WideAliasTable{ensure_wide_alias(graph, tables_, tables_of(sampler))});
      }
      const bool required = options.layout == Layout::wide;
      if (graph.paged && can_hold_shard(graph.paging) && graph.packable() &&
          (required || (options.layout == Layout::automatic && ranks_prefer_wide()))) {
        request_wide_alias(graph, tables_of(sampler), pages_);
        stats.layout = Layout::wide;
        launch(WideAliasTable{});
        if (has_run_) return;
        if (required)
          throw UsageError("--layout wide: a rank's part of the graph does not fit; use csr or auto");
        pages_ = PageRequest(graph);
      }
    }
    if constexpr (ReadsNoList<Biased> && !kBaselineTechnique<Biased>) {
      constexpr std::uint64_t kReads = 3;  // threshold, other, target
      if (request_coded_alias(graph, tables_, tables_of(sampler), pages_, options.layout,
                              expected_work(kReads))) {
        stats.layout = Layout::coded;
        return launch(CodedAliasTable{{}, tables_.coded.graph->thresholds()});
      }
    }
    use_csr();
    graph.paged ? request_alias(graph, tables_, tables_of(sampler), pages_)
                : ensure_alias(graph, tables_, tables_of(sampler));
    launch(AliasTable{tables_.thresholds.data(), tables_.others.data()});
  }

  template <class Biased, class Table>
  void run_by_table(const Biased& sampler, const Table& table) {
    run_program(
        WalkProgram<Biased, Table, Acceptance::always>{graph.view, sampler, table, nullptr, options.seed});
  }

  template <class Program>
  void run_program(const Program& program) {
    if (idle()) return;
    graph.finish_reading();
    if (graph.paged) return run_partitioned(program);
    make_edge_set();  // from the memory that tables left
    if constexpr (!kReadsCodes<Program>) {
      on_backend(
          graph.device, [&] { host::run_whole_walks(as_run(), program, starts_.view(), edge_set_.view()); },
          [&] {
#if defined(__CUDACC__)
            cuda::run_whole_walks(as_run(), program, starts_.view(), edge_set_.view());
#endif
          });
    }
  }

  template <class Program>
  void run_partitioned([[maybe_unused]] const Program& program) {
    if constexpr (PageableProgram<Program>) {
      // Scans and rejection by weight read the weights; walks over coded lists read them in host memory.
      if (graph.graph.weighted && Program::kScans && !kReadsCodes<Program>) pages_.columns.weights = true;
      const ShardResidency residency = kReadsCodes<Program>        ? ShardResidency::never
                                       : pages_.columns.wide_alias ? ShardResidency::required
                                                                   : ShardResidency::allowed;
      const auto launch = [&]<class Queue>(std::type_identity<Queue>) {
        ProgramJob<Program, Queue> job(program);
        has_run_ = walk_in_queues({as_run(), job, pages_, starts_.view()}, residency);
      };
      on_backend(
          graph.device, [&] { launch(std::type_identity<ProgramQueue<host::QueueBackend, Program>>{}); },
          [&] {
#if defined(__CUDACC__)
            launch(std::type_identity<ProgramQueue<cuda::QueueBackend, Program>>{});
#endif
          });
    }
  }

  BiasTables& tables_;
  PageRequest pages_;
  Sampler sampler_;
  DeviceStarts starts_;
  EdgeSetInMemory edge_set_;  ///< of the whole graph, or empty; freed for later runs' tables
  bool has_run_ = false;
};

template <WalkSampler Sampler>
RunStats run_walk(ResidentGraph& graph, BiasTables& tables, const Sampler& sampler, const Starts& starts,
                  const Options& options, WalkSink* sink) {
  RunStats stats;
  WalkRun<Sampler>({graph.impl_while_reading(), starts, options, sink, stats}, tables, sampler, starts).run();
  return stats;
}

/// Runs a walk with the tables that the graph keeps for a named bias.
template <WalkSampler Sampler>
RunStats run_walk(ResidentGraph& graph, Bias bias, const Sampler& sampler, const Starts& starts,
                  const Options& options, WalkSink* sink) {
  BiasTables& tables = graph.impl_while_reading().named[static_cast<int>(bias)];
  return run_walk(graph, tables, sampler, starts, options, sink);
}

/// Runs a walk with a sampler of your own. `options.kind` and the options of built-in kinds are ignored.
/// Throws as run_walks does.
template <WalkSampler Sampler>
RunStats run_walk(ResidentGraph& graph, const Starts& starts, const Sampler& sampler, const Options& options,
                  WalkSink* sink) {
  BiasTables tables;
  return run_walk(graph, tables, sampler, starts, options, sink);
}

}  // namespace SLUICE_BUILD_NAMESPACE
}  // namespace sluice::walks
