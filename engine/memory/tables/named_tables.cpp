// Tables of named biases, compiled once: for the host, and for the GPU if CUDA is built.
#include "engine/memory/tables/ensure_tables.hpp"
#include "engine/memory/tables/page_tables.hpp"
#include "engine/select/bias.hpp"

namespace sluice {

const std::uint64_t* ensure_ctps(ResidentGraph::Impl& graph, BiasTables& tables, const NamedBias& bias) {
  return ensure_ctps<NamedBias>(graph, tables, bias);
}

void ensure_alias(ResidentGraph::Impl& graph, BiasTables& tables, const NamedBias& bias) {
  ensure_alias<NamedBias>(graph, tables, bias);
}

const WideAlias* ensure_wide_alias(ResidentGraph::Impl& graph, BiasTables& tables, const NamedBias& bias) {
  return ensure_wide_alias<NamedBias>(graph, tables, bias);
}

void ensure_bounds(ResidentGraph::Impl& graph, BiasTables& tables, const NamedBias& bias) {
  ensure_bounds<NamedBias>(graph, tables, bias);
}

void request_ctps(ResidentGraph::Impl& graph, BiasTables& tables, const NamedBias& bias, PageRequest& pages) {
  request_ctps<NamedBias>(graph, tables, bias, pages);
}

void request_alias(ResidentGraph::Impl& graph, BiasTables& tables, const NamedBias& bias,
                   PageRequest& pages) {
  request_alias<NamedBias>(graph, tables, bias, pages);
}

void request_wide_alias(ResidentGraph::Impl& graph, const NamedBias& bias, PageRequest& pages) {
  request_wide_alias<NamedBias>(graph, bias, pages);
}

bool request_coded_alias(ResidentGraph::Impl& graph, BiasTables& tables, const NamedBias& bias,
                         PageRequest& pages, Layout layout, const ExpectedWork& work) {
  return request_coded_alias<NamedBias>(graph, tables, bias, pages, layout, work);
}

}  // namespace sluice
