// Tables of named biases, compiled once: for the host, and for the GPU if CUDA is built.
#include "engine/memory/tables/ensure_tables.hpp"
#include "engine/memory/tables/page_tables.hpp"
#include "engine/select/bias.hpp"

namespace sluice {

template const std::uint64_t* ensure_ctps(ResidentGraph::Impl&, BiasTables&, const NamedBias&);
template void ensure_alias(ResidentGraph::Impl&, BiasTables&, const NamedBias&);
template const WideAlias* ensure_wide_alias(ResidentGraph::Impl&, BiasTables&, const NamedBias&);
template void ensure_bounds(ResidentGraph::Impl&, BiasTables&, const NamedBias&);

template void request_ctps(ResidentGraph::Impl&, BiasTables&, const NamedBias&, PageRequest&);
template void request_alias(ResidentGraph::Impl&, BiasTables&, const NamedBias&, PageRequest&);
template void request_wide_alias(ResidentGraph::Impl&, const NamedBias&, PageRequest&);
template bool request_coded_alias(ResidentGraph::Impl&, BiasTables&, const NamedBias&, PageRequest&, Layout,
                                  const ExpectedWork&);

}  // namespace sluice
