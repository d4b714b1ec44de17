// Runs any walk sampler: picks technique and layout, makes the tables, hands the program to the
// backend. Include this to run a sampler of your own; compile the file as CUDA to run it on a GPU too.
#pragma once

#include <algorithm>
#include <string>

#include "engine/batch/sink.hpp"
#include "engine/batch/starts.hpp"
#include "engine/batch/starts_upload.hpp"
#include "engine/core/error.hpp"
#include "engine/graph/layout.hpp"
#include "engine/memory/resident_impl.hpp"
#include "engine/memory/run_stats.hpp"
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
inline namespace SLUICE_BUILD_NAMESPACE {  // the same template has other code in a file compiled as CUDA

/// A sampler without a fixed bias as one whose fixed bias is 1, for techniques that want a table.
template <class Sampler>
struct UnitBias : Sampler {
  SLUICE_HD std::uint64_t edge_bias(const GraphView&, const Edge&) const { return 1; }
};

/// Does it draw in a way that only comparisons want? Then there is no version for edges with their targets'
/// rows beside them: the same walks, read as the lists lie.
template <class Biased>
inline constexpr bool kToCompare = false;
template <class Sampler>
inline constexpr bool kToCompare<UnitBias<Sampler>> = true;

/// Does it draw over coded lists? These come in partitions alone, and do not stay under shard.
template <class Program>
inline constexpr bool kCoded = false;
template <class Sampler, std::derived_from<CodedTable> Table, Acceptance kAcceptance>
inline constexpr bool kCoded<WalkProgram<Sampler, Table, kAcceptance>> = true;

/// The technique that follows from the sampler alone (DESIGN section 2, idea 2).
template <WalkSampler Sampler>
constexpr Select default_select() {
  if (Sampler::kBias == BiasClass::uniform) return Select::automatic;  // an index
  if (Sampler::kBias == BiasClass::fixed) return Select::alias;
  return HasBound<Sampler> ? Select::rejection : Select::its;
}

/// One run of one sampler; `tables` holds the tables of its fixed bias.
template <WalkSampler Sampler>
class WalkRun {
 public:
  WalkRun(ResidentGraph& graph, BiasTables& tables, const Sampler& sampler, const Starts& starts,
          const Options& options, WalkSink* sink)
      : graph_(graph.impl()),
        tables_(tables),
        pages_(graph.impl()),
        sampler_(sampler),
        options_(options),
        sink_(sink),
        starts_(graph.impl(), starts, options.seed) {
    const InstanceRange range =
        starts.range(graph_.view.vertices(), options.first_instance, options.last_instance);
    begin_ = range.begin, end_ = range.end;
    if (!starts.offsets.empty()) throw UsageError("--starts: a walk starts from one vertex a line");
    stats_.host_to_device_bytes += starts_.bytes();
  }

  RunStats run() {
    refuse_hooks<never_called_by_walks<Sampler>()>();
    stats_.select = options_.select == Select::automatic ? default_select<Sampler>() : options_.select;
    const double tables_before = graph_.table_seconds;
    const std::uint64_t copied_before = graph_.host_to_device_bytes;
    choose();
    stats_.table_seconds = graph_.table_seconds - tables_before;
    stats_.host_to_device_bytes += graph_.host_to_device_bytes - copied_before;
    stats_.instances = end_ - begin_;
    stats_.sampled_edges = stats_.steps;
    return stats_;
  }

 private:
  /// Wide pays where it fits and is read often enough; either layout gives the same walks. A table is made
  /// with so much `scratch`.
  bool use_wide(std::uint64_t bytes_per_edge, bool made_already, std::uint64_t scratch = 0) {
    if (options_.layout == Layout::csr) return false;
    if (options_.layout == Layout::coded) {
      throw UsageError(
          graph_.paged ? "--layout coded: this walk reads lists as they are; use csr or auto"
                       : "--layout coded: the graph is not worked on in partitions; use csr, wide or auto");
    }
    if (graph_.paged) {
      if (options_.layout == Layout::wide)
        throw UsageError("--layout wide: the graph is worked on in partitions; use csr or auto");
      return false;
    }
    const bool possible = graph_.packable();
    if (options_.layout == Layout::wide) {
      if (!possible)
        throw UsageError("--layout wide: offsets need more than 40 bits or degrees more than 24; use csr");
      return true;
    }
    if (!possible || made_already) return possible;
    const std::uint64_t bytes = graph_.view.edges() * bytes_per_edge;
    const bool often = (end_ - begin_) * options_.length >= graph_.view.edges() / 2;
    const std::uint64_t beside = std::max(std::uint64_t{64} << 20, scratch);  // a batch, when that has gone
    return often && bytes + beside <= graph_.device.memory().available();
  }

  void choose() {
    if constexpr (Sampler::kBias == BiasClass::uniform) {
      if (stats_.select == Select::automatic)
        return with_index([&](const auto& table) { direct(sampler_, table); });
      tabled(UnitBias<Sampler>{sampler_});
    } else if constexpr (Sampler::kBias == BiasClass::fixed) {
      tabled(sampler_);
    } else {
      dynamic();
    }
  }

  /// What it draws from lists that a draw reads so often.
  ExpectedWork expected_work(std::uint64_t reads) const {
    constexpr bool kAsks = Sampler::kBias == BiasClass::dynamic;
    const std::uint64_t row = (std::uint64_t{options_.length} + 1) * sizeof(Vertex);
    return {.instances = end_ - begin_,
            .instance_bytes = queued_walk_bytes(kAsks) + row,
            .steps = options_.length,
            .reads = options_.length * reads,
            .row_bytes = row};
  }

  /// What the tables of a bias are made from.
  template <class Biased>
  static auto tables_of(const Biased& sampler) {
    if constexpr (kToCompare<Biased>) {
      return NamedBias{};
    } else {
      return table_bias(sampler);
    }
  }

  /// A fixed bias, by one of three techniques.
  template <class Biased>
  void tabled(const Biased& sampler) {
    switch (stats_.select) {
      case Select::its:
        // Before the layout is chosen, which takes what memory is left.
        if (graph_.paged) {
          want_ctps(graph_, tables_, tables_of(sampler), pages_);
        } else {
          ensure_ctps(graph_, tables_, tables_of(sampler));
        }
        return with_edges<Biased>([&](auto edges) {
          direct(sampler, CtpsTable<decltype(edges)>{edges, tables_.cumulative.data()});
        });
      case Select::alias:
        return with_alias(sampler, [&](auto table) { direct(sampler, table); });
      case Select::rejection:
        ensure_bounds(graph_, tables_, tables_of(sampler));
        return with_edges<Biased>([&](auto edges) {
          using Table = IndexTable<decltype(edges)>;
          run_program(WalkProgram<Biased, Table, Acceptance::fixed>{graph_.view, sampler, Table{edges},
                                                                    tables_.bounds.data(), options_.seed});
        });
      default:
        throw UsageError("--select: a walk selects by its, alias or rejection");
    }
  }

  void dynamic() {
    if constexpr (Sampler::kBias == BiasClass::dynamic) {
      if (stats_.select == Select::its) {
        using Table = IndexTable<CsrEdges>;
        stay_csr();
        return run_program(WalkProgram<Sampler, Table, Acceptance::transform>{graph_.view, sampler_, Table{},
                                                                              nullptr, options_.seed});
      }
      if constexpr (HasBound<Sampler>) {
        if (stats_.select == Select::rejection) return propose_dynamic();
        throw UsageError("--select: this walk's bias is dynamic; it selects by rejection or its");
      } else {
        throw UsageError("--select: this walk's bias is dynamic and has no bound; it selects by its");
      }
    }
  }

  bool edge_bias_is_uniform() const {
    if constexpr (HasUniformEdgeBias<Sampler>) return sampler_.edge_bias_is_uniform(graph_.view);
    return false;
  }

  void propose_dynamic() {
    const auto go = [&](auto table) {
      run_program(WalkProgram<Sampler, decltype(table), Acceptance::dynamic>{graph_.view, sampler_, table,
                                                                             nullptr, options_.seed});
    };
    if constexpr (HasEdgeBias<Sampler>) {
      if (!edge_bias_is_uniform()) return with_alias(sampler_, go);
    }
    with_index(go);
  }

  /// An index: over coded lists, if the walk can do with these and they pay.
  template <class Go>
  void with_index(const Go& go) {
    if constexpr (ReadsNoList<Sampler>) {
      if (pages_.take_codes(graph_, options_.layout, expected_work(1))) {
        stats_.layout = Layout::coded;
        return go(CodedIndexTable{});
      }
    }
    with_edges<Sampler>([&](auto edges) { go(IndexTable<decltype(edges)>{edges}); });
  }

  /// Reads lists as they lie; refuses a layout that cannot be.
  void stay_csr() {
    static_cast<void>(use_wide(0, true));
    stats_.layout = Layout::csr;
  }

  template <class Biased, class Go>
  void with_edges(Go&& go) {
    if constexpr (kToCompare<Biased>) {
      stay_csr();
      return go(CsrEdges{});
    } else {
      with_widest_edges(go);
    }
  }

  template <class Go>
  void with_widest_edges(const Go& go) {
    const bool small = graph_.packing.worthwhile();
    const bool wide = use_wide(small ? sizeof(std::uint64_t) : sizeof(WideEdge),
                               small ? !graph_.packed.empty() : !graph_.wide.empty());
    stats_.layout = wide ? Layout::wide : Layout::csr;
    if (!wide) return go(CsrEdges{});
    small ? go(PackedEdges{graph_.packed_edges(), graph_.packing}) : go(WideEdges{graph_.wide_edges()});
  }

  template <class Biased, class Go>
  void with_alias(const Biased& sampler, Go&& go) {
    if constexpr (!kToCompare<Biased>) {
      const std::uint64_t scratch =
          hub_scratch_bytes(graph_.device, graph_.view.hub_count, graph_.max_degree);
      if (!graph_.paged && use_wide(sizeof(WideAlias), !tables_.wide_alias.empty(), scratch)) {
        stats_.layout = Layout::wide;
        return go(WideAliasTable{ensure_wide_alias(graph_, tables_, tables_of(sampler))});
      }
    }
    if constexpr (ReadsNoList<Biased> && !kToCompare<Biased>) {
      constexpr std::uint64_t kReads = 3;  // threshold, other, target
      if (take_coded_alias(graph_, tables_, tables_of(sampler), pages_, options_.layout,
                           expected_work(kReads))) {
        stats_.layout = Layout::coded;
        return go(CodedAliasTable{{}, tables_.coded.graph->thresholds()});
      }
    }
    stay_csr();
    graph_.paged ? want_alias(graph_, tables_, tables_of(sampler), pages_)
                 : ensure_alias(graph_, tables_, tables_of(sampler));
    go(AliasTable{tables_.thresholds.data(), tables_.others.data()});
  }

  template <class Biased, class Table>
  void direct(const Biased& sampler, const Table& table) {
    run_program(
        WalkProgram<Biased, Table, Acceptance::always>{graph_.view, sampler, table, nullptr, options_.seed});
  }

  template <class Program>
  void run_program(const Program& program) {
    if (begin_ == end_ && !graph_.paging.shard) return;
    if (graph_.paged) return run_partitioned(program);
    if constexpr (!kCoded<Program>) {
      on_backend(
          graph_.device,
          [&] {
            host::run_whole_walks(graph_, program, starts_.view(), options_, begin_, end_, sink_, stats_);
          },
          [&] {
#if defined(__CUDACC__)
            cuda::run_whole_walks(graph_, program, starts_.view(), options_, begin_, end_, sink_, stats_);
#endif
          });
    }
  }

  template <class Program>
  void run_partitioned([[maybe_unused]] const Program& program) {
    if constexpr (PageableProgram<Program>) {
      // A scan, or a rejection by weight, reads the weights themselves: of coded lists, in host memory.
      if (graph_.graph.weighted && Program::kScans && !kCoded<Program>) pages_.columns.weights = true;
      // A run that asks for another way to work on queues gets it.
      const bool stays =
          !kCoded<Program> && graph_.paging.batching && graph_.paging.balance == Balance::automatic;
      const auto go = [&]<class Queue>(std::type_identity<Queue>) {
        ProgramJob<Program, Queue> job(program);
        walk_in_queues({graph_, job, pages_, starts_.view(), options_, stats_, {begin_, end_}}, stays, sink_);
      };
      on_backend(
          graph_.device, [&] { go(std::type_identity<ProgramQueue<host::QueueBackend, Program>>{}); },
          [&] {
#if defined(__CUDACC__)
            go(std::type_identity<ProgramQueue<cuda::QueueBackend, Program>>{});
#endif
          });
    }
  }

  ResidentGraph::Impl& graph_;
  BiasTables& tables_;
  PageRequest pages_;
  Sampler sampler_;
  Options options_;
  WalkSink* sink_;
  DeviceStarts starts_;
  Instance begin_ = 0, end_ = 0;
  RunStats stats_;
};

/// Walks by the tables that the graph keeps for a bias that has a name.
template <WalkSampler Sampler>
RunStats run_walk(ResidentGraph& graph, Bias bias, const Sampler& sampler, const Starts& starts,
                  const Options& options, WalkSink* sink) {
  BiasTables& tables = graph.impl().named[static_cast<int>(bias)];
  return WalkRun<Sampler>(graph, tables, sampler, starts, options, sink).run();
}

/// Walks with a sampler of your own. `options.kind` and the options of built-in kinds are ignored.
/// Errors as run_walks.
template <WalkSampler Sampler>
RunStats run_walk(ResidentGraph& graph, const Starts& starts, const Sampler& sampler, const Options& options,
                  WalkSink* sink) {
  BiasTables tables;
  return WalkRun<Sampler>(graph, tables, sampler, starts, options, sink).run();
}

}  // namespace SLUICE_BUILD_NAMESPACE
}  // namespace sluice::walks
