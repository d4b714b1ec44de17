#include "engine/ppr/adjacency/cache.cuh"

#include <algorithm>
#include <span>
#include <utility>

#include "engine/core/error.hpp"
#include "engine/core/size.hpp"

namespace sluice::ppr {

ListCache::ListCache(const Device& device, const Graph& graph, const Options& options,
                     const PagingOptions& paging, std::shared_ptr<ListFeeder> shared)
    : device_(device),
      graph_(graph),
      options_(options),
      offsets_(device, graph.vertices() + 1, "the graph's offsets"),
      places_(device, graph.vertices(), "where lists are"),
      totals_(device, options.weighted ? graph.vertices() : 0, "sums of weights"),
      missing_(device, (graph.vertices() + 63) / 64, "which lists are missing"),
      wanted_(graph.vertices()),
      source_(device, graph, options, paging, std::move(shared)) {
  copy_to_device(device, offsets_.data(), graph.out.offsets.data(), offsets_.bytes());
  clear(missing_, 0);
  clear();
}

void ListCache::prepare(std::uint64_t bytes) {
  if (!targets_.empty()) return;
  capacity_ = std::min<std::uint64_t>(graph_.edges(), bytes / list_edge_bytes(options_));
  targets_ = Buffer<Vertex>(device_, capacity_, "lists that queries came to");
  if (options_.weighted) weights_ = Buffer<float>(device_, capacity_, "lists that queries came to");
}

void ListCache::describe(QueryRules& rules) const {
  rules.graph = graph_.out.view();
  rules.graph.offsets = offsets_.data();
  rules.graph.targets = targets_.data(), rules.graph.weights = weights_.data();
  rules.places = places_.data(), rules.totals = totals_.data();
  rules.wanted = missing_.data();
}

bool ListCache::bring() {
  const std::span<std::uint64_t> words = wanted_.words();
  copy_to_host(device_, words.data(), missing_.data(), missing_.bytes());
  const EdgeIndex* const offsets = graph_.out.offsets.data();
  std::uint64_t edges = 0;
  wanted_.take_from(0, graph_.vertices(), [&](Vertex v) {
    edges += offsets[v + std::uint64_t{1}] - offsets[v];
    return true;
  });
  const bool fits = edges <= capacity_ - used_;
  if (fits) {
    source_.bring(wanted_, columns());
    used_ += edges;
  }
  clear(missing_, 0);
  return fits;
}

void ListCache::clear() {
  used_ = 0;
  clear(places_, 0xff);
}

void ListCache::give_back() {
  clear();
  targets_ = Buffer<Vertex>(), weights_ = Buffer<float>();
  capacity_ = 0;
}

void ListCache::rest() {
  give_back();
  source_.rest();
}

void ListCache::throw_too_many_lists() const {
  throw BudgetError("device memory: a query comes to more lists than the " + format_size(bytes()) +
                    " that are left for them (raise --device-memory" +
                    (graph_.edges_elsewhere ? "" : ", or use --transport mapped") + ")");
}

ListTraffic ListCache::traffic() const {
  ListTraffic sum = source_.traffic();
  sum.host_to_device_bytes += offsets_.bytes();
  return sum;
}

template <class T>
void ListCache::clear(const Buffer<T>& column, int byte) {
  if (device_.plans()) return;
  cuda::check(cudaMemsetAsync(column.data(), byte, column.bytes(), stream_.get()), "clearing");
  stream_.wait("clearing");
}

CacheColumns ListCache::columns() const {
  return {places_.data(), totals_.data(), targets_.data(), weights_.data(), used_};
}

}  // namespace sluice::ppr
