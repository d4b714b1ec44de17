// Makes tables when they are first needed, on the graph's backend.
#pragma once

#include <concepts>

#include "engine/core/error.hpp"
#include "engine/memory/resident_impl.hpp"
#include "engine/select/bias.hpp"
#include "engine/select/build_tables.hpp"
#if defined(__CUDACC__)
#include "engine/select/build_tables.cuh"
#endif

namespace sluice {

/// Calls host() or cuda(), by the device's backend. A file that a host compiler compiles has no CUDA code for
/// a user's own bias: a GPU is refused with UsageError.
template <class Host, class Cuda>
void on_backend(const Device& device, Host&& host, [[maybe_unused]] Cuda&& cuda) {
  if (!device.is_cuda()) return host();
#if defined(__CUDACC__)
  cuda();
#else
  throw UsageError(
      "this sampler was compiled without CUDA: compile its file with nvcc, or use --device host");
#endif
}

/// Fills a table by on_backend(); leaves it empty if the run is only planned.
template <class Host, class Cuda>
void fill_table(const Device& device, const Host& host, const Cuda& cuda) {
  if (!device.is_planning()) on_backend(device, host, cuda);
}

/// Makes a table list by list (build_tables.hpp); leaves it empty if the run is only planned.
template <class Make>
void fill_lists(const Device& device, const GraphView& graph, const Make& make) {
  fill_table(
      device, [&] { host::for_each_list(device.threads(), graph, make); },
      [&] {
#if defined(__CUDACC__)
        cuda::for_each_list(graph, make);
#endif
      });
}

/// Makes a table of a bias on the host by make(threads, begin, end), while edges are read. Only for named
/// biases: others may read any list, so all edges are read first.
template <class BiasOf, class Make>
void make_from_lists(ResidentGraph::Impl& graph, const Make& make) {
  if constexpr (!std::same_as<BiasOf, NamedBias>) graph.finish_reading();
  graph.process_lists(make);
}

/// As fill_lists(), for a bias; edges may still have to be read.
template <class BiasOf, class Make>
void fill_lists_of(ResidentGraph::Impl& graph, const Make& make) {
  if (graph.device.is_cuda()) return fill_lists(graph.device, graph.view, make);
  make_from_lists<BiasOf>(graph, [&](unsigned threads, std::uint64_t begin, std::uint64_t end) {
    host::for_each_list(threads, graph.view, make, {begin, end});
  });
}

/// If the run is only planned, charges the temporary memory that a GPU needs to make an alias table.
inline void charge_hub_scratch(const ResidentGraph::Impl& graph) {
  if (!graph.device.is_planning()) return;
  const std::uint64_t bytes = hub_scratch_bytes(graph.device, graph.view.hub_count, graph.max_degree);
  graph.device.memory().charge_and_release(bytes, "scratch of alias tables");
}

/// The bias that a sampler's tables are made from. A sampler whose edge_bias is NamedBias's gives a
/// NamedBias, whose code is compiled once (named_tables.cpp), not with every sampler.
template <class Sampler>
auto table_bias(const Sampler& sampler) {
  if constexpr (requires {
                  { &Sampler::edge_bias } -> std::same_as<decltype(&NamedBias::edge_bias)>;
                }) {
    return NamedBias(sampler);
  } else {
    return sampler;
  }
}

template <class BiasOf>
const std::uint64_t* ensure_ctps(ResidentGraph::Impl& graph, BiasTables& tables, const BiasOf& bias) {
  return graph.ensure(tables.cumulative, graph.view.edges(), "the CTPS table", [&](std::uint64_t* sums) {
    fill_lists_of<BiasOf>(graph, MakeCtps<BiasOf>{graph.view, bias, sums});
  });
}

template <class BiasOf>
void ensure_alias(ResidentGraph::Impl& graph, BiasTables& tables, const BiasOf& bias) {
  if (!tables.thresholds.empty() || graph.view.edges() == 0) return;
  const double begin = graph.seconds_without_loading();
  Buffer<std::uint64_t> thresholds(graph.device, graph.view.edges(), "the alias table");
  Buffer<std::uint32_t> others(graph.device, graph.view.edges(), "the alias table");
  charge_hub_scratch(graph);
  const PutAliasSlots put{thresholds.data(), others.data()};
  const auto on_host = [&](unsigned threads, std::uint64_t first, std::uint64_t last) {
    host::for_each_alias(threads, graph.view, bias, put, {first, last});
  };
  fill_table(
      graph.device, [&] { make_from_lists<BiasOf>(graph, on_host); },
      [&] {
#if defined(__CUDACC__)
        cuda::for_each_alias(graph.device, graph.view, graph.max_degree, bias, put);
#endif
      });
  tables.thresholds = std::move(thresholds);
  tables.others = std::move(others);
  graph.table_seconds += graph.seconds_without_loading() - begin;
}

template <class BiasOf>
const WideAlias* ensure_wide_alias(ResidentGraph::Impl& graph, BiasTables& tables, const BiasOf& bias) {
  const auto fill = [&](WideAlias* slots) {
    charge_hub_scratch(graph);
    const auto on_host = [&](unsigned threads, std::uint64_t first, std::uint64_t last) {
      host::build_wide_alias(threads, graph.view, bias, slots, {first, last});
    };
    fill_table(
        graph.device, [&] { make_from_lists<BiasOf>(graph, on_host); },
        [&] {
#if defined(__CUDACC__)
          cuda::build_wide_alias(graph.device, graph.view, graph.max_degree, bias, slots,
                                 {0, graph.view.edges()});
#endif
        });
  };
  return graph.ensure(tables.wide_alias, graph.view.edges(), "the wide alias table", fill);
}

/// Bounds of a graph in partitions: made on the host from memory or file, in parts by the ranks that own
/// parts of the graph.
template <class BiasOf>
void bounds_from_host(ResidentGraph::Impl& graph, const BiasOf& bias, const Buffer<std::uint64_t>& bounds,
                      const Buffer<std::uint32_t>& positive) {
  HostArray<std::uint64_t> largest(bounds.size(), "bounds of biases");
  HostArray<std::uint32_t> counts(positive.size(), "counts of candidates");
  graph.for_each_range([&](const GraphView& range, std::uint64_t begin, std::uint64_t end) {
    const MakeBounds<BiasOf> make{range, bias, largest.data(), counts.data()};
    host::for_each_list(graph.device.threads(), range, make, {begin, end});
  });
  graph.share(largest.span(), "bounds of biases");
  graph.share(counts.span(), "counts of candidates");
  copy_to_device(graph.device, bounds.data(), largest.data(), bounds.bytes());
  copy_to_device(graph.device, positive.data(), counts.data(), positive.bytes());
}

/// Bounds and numbers of positive biases.
template <class BiasOf>
void ensure_bounds(ResidentGraph::Impl& graph, BiasTables& tables, const BiasOf& bias) {
  if (!tables.bounds.empty() || graph.view.vertices() == 0) return;
  const double begin = graph.seconds_without_loading();
  Buffer<std::uint64_t> bounds(graph.device, graph.view.vertices(), "bounds of biases");
  Buffer<std::uint32_t> positive(graph.device, graph.view.vertices(), "counts of candidates");
  if (graph.paged) {
    if (!graph.device.is_planning()) bounds_from_host(graph, bias, bounds, positive);
  } else {
    fill_lists_of<BiasOf>(graph, MakeBounds<BiasOf>{graph.view, bias, bounds.data(), positive.data()});
  }
  tables.bounds = std::move(bounds);
  tables.positive = std::move(positive);
  graph.table_seconds += graph.seconds_without_loading() - begin;
}

// For named biases these are compiled once (named_tables.cpp).
extern template const std::uint64_t* ensure_ctps(ResidentGraph::Impl&, BiasTables&, const NamedBias&);
extern template void ensure_alias(ResidentGraph::Impl&, BiasTables&, const NamedBias&);
extern template const WideAlias* ensure_wide_alias(ResidentGraph::Impl&, BiasTables&, const NamedBias&);
extern template void ensure_bounds(ResidentGraph::Impl&, BiasTables&, const NamedBias&);

}  // namespace sluice
