#include "engine/pagerank/dynamic/in_lists.hpp"

#include "engine/memory/sweep_lists.hpp"
#include "engine/pagerank/rank_graph.hpp"

namespace sluice::pagerank {

InLists::InLists(const Device& device, const Graph& graph, bool weighted, std::uint64_t first,
                 std::uint64_t last, const PagingOptions& paging) {
  if (first == last) return;
  const SweepRows rows = in_rows_of(graph, weighted, first, last);
  const CsrView& in = rows.csr;
  const bool paged = in.edges > 0 && needs_sweep_pages(device, rows, weighted, paging);
  if (in.edges == 0 || (!device.is_cuda() && !paged)) return;
  if (device.is_planning() && !paged) {  // all lists stay, which take more than two slots
    device.memory().charge_and_release(edge_bytes(in.edges, weighted), "in-edges");
    return;
  }
  // Lists that are copied again and again, or read in place, are page-locked, which costs about one copy.
  const bool again = paged && in.edges * sizeof(Vertex) >= kMinLockedBytes;
  if (again || paging.transport == Transport::mapped) locks_ = lock_lists(device, rows);
  pages_ = std::make_unique<SweepPages>(device, rows, weighted, paging);
  pages_->owners();
  was_read_.resize(pages_->size()), waiting_.resize(pages_->size());
  keys_.weights.resize(pages_->size() * kListClasses);
  if (!device.is_cuda()) return;
  counters_ = Buffer<unsigned long long>(device, 3 * keys_.weights.size(), "affected vertices by partition");
  keys_.counters = counters_.data();
}

}  // namespace sluice::pagerank
