// Tables of a fixed bias for a graph in partitions: made once in host memory if they fit, otherwise again
// with each partition that is brought. Both give the same integers.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/core/clock.hpp"
#include "engine/core/error.hpp"
#include "engine/memory/slots.hpp"
#include "engine/memory/sweep_pages.hpp"
#include "engine/memory/tables/ensure_tables.hpp"
#include "engine/select/bias.hpp"
#include "engine/select/build_tables.hpp"

namespace sluice {

#if defined(__CUDACC__)
/// Lists of some vertices, in a page whose columns are in a GPU's memory.
struct ListsOnDevice {
  ListsOnDevice(const ResidentGraph::Impl& graph, const PageView& page, ListRange lists)
      : range(lists), view(graph.view) {
    const std::span offsets(graph.host_view.csr.offsets + range.begin, range.end - range.begin + 1);
    longest = static_cast<std::uint32_t>(longest_list(offsets, graph.device.threads()));
    std::vector<Vertex> hub_ids = long_lists(offsets, GraphView::kHubDegree + 1, graph.device.threads());
    for (Vertex& v : hub_ids) v += static_cast<Vertex>(range.begin);
    hubs = Buffer<Vertex>(graph.device, hub_ids.size(), "the list of hubs");
    copy_to_device(graph.device, hubs.data(), hub_ids.data(), hubs.bytes());
    view.hubs = hubs.data(), view.hub_count = static_cast<std::uint32_t>(hub_ids.size());
    view.csr.targets = page.targets, view.csr.weights = page.weights;
  }

  ListRange range;
  GraphView view;
  std::uint32_t longest = 0;
  Buffer<Vertex> hubs;
};
#endif

/// Calls make() for a table of the whole graph, unless the edges are in a file or host memory is too small.
template <class Make>
void make_on_host(ResidentGraph::Impl& graph, const Make& make) {
  if (graph.graph.edge_source || graph.view.edges() == 0) return;
  const double begin = seconds_now();
  try {
    make();
  } catch (const BudgetError&) {
    // The table is then derived with each partition instead.
  }
  graph.table_seconds += seconds_now() - begin;
}

template <class BiasOf>
void request_ctps(ResidentGraph::Impl& graph, BiasTables& tables, const BiasOf& bias, PageRequest& pages) {
  if (tables.host_cumulative.size() == 0) {
    make_on_host(graph, [&] {
      Staging<std::uint64_t> sums(graph.device, graph.view.edges(), "the CTPS table");
      const MakeCtps<BiasOf> make{graph.host_view, bias, sums.data()};
      if (!graph.device.is_planning()) host::for_each_list(graph.device.threads(), graph.host_view, make);
      tables.host_cumulative = std::move(sums);
    });
  }
  pages.columns.cumulative = true;
  pages.sources.columns.cumulative = tables.host_cumulative.data();
  pages.sources.derive = [&graph, bias](const PageView& page, std::uint64_t begin, std::uint64_t end) {
    GraphView view = graph.host_view;
    view.csr.targets = page.targets, view.csr.weights = page.weights;
    host::for_each_list(graph.device.threads(), view, MakeCtps<BiasOf>{view, bias, page.cumulative},
                        {begin, end});
  };
#if defined(__CUDACC__)
  pages.sources.derive_on_gpu = [&graph, bias](const PageView& page, std::uint64_t begin, std::uint64_t end) {
    const ListsOnDevice lists(graph, page, {begin, end});
    cuda::for_each_list(lists.view, MakeCtps<BiasOf>{lists.view, bias, page.cumulative}, lists.range);
  };
#endif
}

/// The CTPS of a bias for a whole graph. In partitions it is brought with the edges, and null is returned.
template <class BiasOf>
const std::uint64_t* ctps_of(ResidentGraph::Impl& graph, BiasTables& tables, const BiasOf& bias,
                             PageRequest& pages) {
  if (!graph.paged) return ensure_ctps(graph, tables, bias);
  request_ctps(graph, tables, bias, pages);
  return nullptr;
}

/// As PageRequest::request_codes, with the alias slots of a bias.
template <class BiasOf>
bool request_coded_alias(ResidentGraph::Impl& graph, BiasTables& tables, const BiasOf& bias,
                         PageRequest& pages, Layout layout, const ExpectedWork& work) {
  const GraphView& view = graph.host_view;
  const auto slots = [&](Vertex v, const auto& emit) {
    list_alias<host::BufferedAliasEntries>(view, bias, v, view.row(v), emit);
  };
  const AliasSlotsOf slots_of(slots);
  pages.columns.alias = true;
  return pages.request_codes(graph, layout, work, tables.coded, &slots_of);
}

template <class BiasOf>
void request_alias(ResidentGraph::Impl& graph, BiasTables& tables, const BiasOf& bias, PageRequest& pages) {
  if (tables.host_thresholds.size() == 0) {
    make_on_host(graph, [&] {
      Staging<std::uint64_t> thresholds(graph.device, graph.view.edges(), "the alias table");
      Staging<std::uint32_t> others(graph.device, graph.view.edges(), "the alias table");
      const PutAliasSlots put{thresholds.data(), others.data()};
      if (!graph.device.is_planning())
        host::for_each_alias(graph.device.threads(), graph.host_view, bias, put);
      tables.host_thresholds = std::move(thresholds), tables.host_others = std::move(others);
    });
  }
  pages.columns.alias = true;
  pages.sources.columns.thresholds = tables.host_thresholds.data();
  pages.sources.columns.others = tables.host_others.data();
  pages.sources.derive = [&graph, bias](const PageView& page, std::uint64_t begin, std::uint64_t end) {
    GraphView view = graph.host_view;
    view.csr.targets = page.targets, view.csr.weights = page.weights;
    host::for_each_alias(graph.device.threads(), view, bias, PutAliasSlots{page.thresholds, page.others},
                         {begin, end});
  };
#if defined(__CUDACC__)
  pages.sources.derive_on_gpu = [&graph, bias](const PageView& page, std::uint64_t begin, std::uint64_t end) {
    const ListsOnDevice lists(graph, page, {begin, end});
    cuda::for_each_alias(graph.device, lists.view, lists.longest, bias,
                         PutAliasSlots{page.thresholds, page.others}, lists.range);
  };
#endif
}

/// For resident partitions: slots of 32 bytes an edge, made where the partition is.
template <class BiasOf>
void request_wide_alias(ResidentGraph::Impl& graph, const BiasOf& bias, PageRequest& pages) {
  pages.columns.wide_alias = true;
  pages.sources.derive = [&graph, bias](const PageView& page, std::uint64_t begin, std::uint64_t end) {
    GraphView view = graph.host_view;
    view.csr.targets = page.targets, view.csr.weights = page.weights;
    view.csr.edges = view.csr.offsets[end];  // later targets are not read
    host::build_wide_alias(graph.device.threads(), view, bias, page.wide_alias, {begin, end});
  };
#if defined(__CUDACC__)
  pages.sources.derive_on_gpu = [&graph, bias](const PageView& page, std::uint64_t begin, std::uint64_t end) {
    const ListsOnDevice lists(graph, page, {begin, end});
    const EdgeIndex* const offsets = graph.host_view.csr.offsets;
    cuda::build_wide_alias(graph.device, lists.view, lists.longest, bias, page.wide_alias,
                           {offsets[begin], offsets[end]}, lists.range);
  };
#endif
}

// For named biases these are compiled once (named_tables.cpp).
extern template void request_ctps(ResidentGraph::Impl&, BiasTables&, const NamedBias&, PageRequest&);
extern template void request_alias(ResidentGraph::Impl&, BiasTables&, const NamedBias&, PageRequest&);
extern template void request_wide_alias(ResidentGraph::Impl&, const NamedBias&, PageRequest&);
extern template bool request_coded_alias(ResidentGraph::Impl&, BiasTables&, const NamedBias&, PageRequest&,
                                         Layout, const ExpectedWork&);

}  // namespace sluice
