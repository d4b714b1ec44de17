// What the kinds have in common whose instance one group grows whole (layer, node, edge, multidimensional):
// which instances a run makes, and on which backend.
#pragma once

#include <type_traits>

#include "engine/batch/options.hpp"
#include "engine/batch/sink.hpp"
#include "engine/batch/starts.hpp"
#include "engine/core/build_namespace.hpp"
#include "engine/memory/resident_impl.hpp"
#include "engine/memory/run_stats.hpp"
#include "engine/memory/tables/ensure_tables.hpp"

namespace sluice {
inline namespace SLUICE_BUILD_NAMESPACE {  // the same template has other code in a file compiled as CUDA

/// A job adds its program, on_host(stats), and on_cuda(stats) where it is compiled as CUDA.
template <class Sink>
struct InstanceJob {
  InstanceJob(ResidentGraph::Impl& of, const Starts& starts, const RunOptions& how, Sink* to)
      : graph(of), options(how), sink(to) {
    const std::uint64_t n = graph.view.vertices();
    const InstanceRange range = std::is_same_v<Sink, SampleSink>
                                    ? starts.sample_range(n, options.first_instance, options.last_instance)
                                    : starts.range(n, options.first_instance, options.last_instance);
    begin = range.begin, end = range.end;
  }

  ResidentGraph::Impl& graph;
  const RunOptions& options;
  Sink* sink;
  Instance begin, end;
};

template <class Job>
void run_instances(const Job& job, RunStats& stats) {
  stats.instances = job.end - job.begin;
  if (job.begin == job.end && !job.graph.paging.shard) return;
  on_backend(
      job.graph.device, [&] { job.on_host(stats); },
      [&] {
#if defined(__CUDACC__)
        job.on_cuda(stats);
#endif
      });
}

}  // namespace SLUICE_BUILD_NAMESPACE
}  // namespace sluice
