// Fetches lists from partitions, or from the ranks that own them, superstep by superstep. In each superstep
// every rank requests from every other some of the lists that its queries want, looks up the lists requested
// from it, and works on those received. Each rank divides its buffer among all ranks. What does not fit is
// requested in the next superstep. A buffer also has room for one longer list: in each superstep every rank
// requests longer lists from another owner, so that no two ranks ask the same one.
#include <algorithm>
#include <numeric>
#include <optional>
#include <vector>

#include "engine/exchange/router.hpp"
#include "engine/ppr/adjacency/feeder.hpp"

namespace sluice::ppr {

SweepRows rows_of(const Graph& graph, const Options& options, std::uint64_t first, std::uint64_t last) {
  return SweepRows::of(graph.out.view(), graph.edge_source.get(), options.weighted, first, last);
}

namespace {

// ---- from partitions

class PageFeeder final : public ListFeeder {
 public:
  PageFeeder(const Device& device, const Graph& graph, const Options& options, const PagingOptions& paging,
             std::uint64_t bytes)
      : pages_(device, rows_of(graph, options, 0, graph.vertices()), options.weighted, paging, bytes) {}

  void feed(const WantedLists& wanted, const Consumer& consume) override {
    pages_.for_each([&](std::uint32_t p) { return wanted.count(pages_.begin(p), pages_.end(p)); },
                    [&](std::span<const SweepPage> pages) {
                      ranges_.clear();
                      for (const SweepPage& page : pages)
                        ranges_.push_back({page.begin, page.end, {page.sources, page.weights}});
                      std::ranges::sort(ranges_, {}, &ListRange::begin);
                      consume(AvailableLists(ranges_));
                    });
  }

  ListTraffic traffic() const override { return {pages_.traffic()}; }

 private:
  SweepPages pages_;
  std::vector<ListRange> ranges_;
};

// ---- from ranks

constexpr const char* kLists = "lists that ranks request";

/// What a rank may request from each other rank at once, and room for one longer list.
struct PairLimits {
  std::uint64_t lists, edges, longest;

  /// Limits for `bytes` of buffers to and from all ranks, and for at most four times as many edges as a rank
  /// has: with half of them, four ranks took 26 supersteps instead of 16, and 17% longer.
  static PairLimits of(const Graph& graph, std::uint64_t longest, std::uint64_t bytes,
                       std::uint64_t edge_bytes, std::uint64_t ranks) {
    const std::uint64_t all = graph.edges(), max_edges = std::min(all, 4 * all / ranks),
                        edges =
                            std::max<std::uint64_t>(std::min(max_edges, bytes / (2 * edge_bytes)) / ranks, 1);
    return {std::max<std::uint64_t>(edges / 4, 16), edges, longest};
  }
  std::uint64_t total_edges(std::uint64_t ranks) const { return ranks * edges + longest; }
  /// Lists that may be requested from all ranks.
  std::uint64_t max_lists(const Ownership& owners) const {
    std::uint64_t sum = 0;
    for (std::uint64_t r = 0; r < owners.size(); ++r) sum += std::min(lists, owners.count(r));
    return sum;
  }
};

/// The buffers are in host memory, on any device.
PairLimits limits_of(const Device& device, const Graph& graph, const Options& options, Communicator& ranks) {
  constexpr std::uint64_t kFraction = 8, kMaxBytes = 64u << 20;
  std::uint64_t bytes[] = {std::min(host_budget().available() / kFraction, kMaxBytes)};
  ranks.all_reduce(bytes, Reduce::min, "the ranks' budgets");
  return PairLimits::of(graph, longest_list(graph.out.offsets.span(), device.threads()), bytes[0],
                        edge_bytes(1, options.weighted), static_cast<std::uint64_t>(ranks.size()));
}

class RankFeeder final : public ListFeeder {
 public:
  RankFeeder(const Device& device, const Graph& graph, const Options& options, const PagingOptions& paging)
      : ranks_(*paging.shard),
        router_(ranks_, OwnedRows(graph.out.offsets.span(), &ranks_).owners),
        offsets_(graph.out.offsets.data()),
        weighted_(options.weighted),
        limits_(limits_of(device, graph, options, ranks_)),
        requests_(size() * std::min(limits_.lists, router_.last() - router_.first()), kLists),
        received_targets_(limits_.total_edges(size()), kLists),
        received_weights_(weighted_ ? received_targets_.size() : 0, kLists),
        reply_targets_(received_targets_.size(), kLists),
        reply_weights_(received_weights_.size(), kLists),
        requested_(limits_.max_lists(router_.owners()), kLists),
        columns_(requested_.size(), kLists),
        reply_positions_(requests_.size(), kLists) {
    const SweepRows rows = rows_of(graph, options, router_.first(), router_.last());
    if (rows.csr.edges == 0) return;  // no query requests an empty list
    // The rest of the memory is for queries.
    pages_.emplace(device, rows, weighted_, paging, device.memory().available() / 2);
  }

  void feed(const WantedLists& wanted, const Consumer& consume) override {
    select_requests(wanted);
    serve(true);
    deliver(consume);
  }

  void finish() override {
    counts_.assign(size(), 0);
    requested_edges_.assign(size(), 0);
    while (serve(false)) continue;
  }

  ListTraffic traffic() const override {
    ListTraffic traffic;
    if (pages_) traffic = {pages_->traffic()};
    traffic.requests_sent = requests_sent_, traffic.requests_received = requests_received_;
    return traffic;
  }

 private:
  std::size_t size() const { return router_.size(); }
  std::uint64_t degree(Vertex v) const { return offsets_[v + std::uint64_t{1}] - offsets_[v]; }

  /// Requests as many lists of every rank as may travel, those of small ids first.
  void select_requests(const WantedLists& wanted) {
    counts_.assign(size(), 0);
    requested_edges_.assign(size(), 0);
    ranges_.clear();
    const Ownership& owners = router_.owners();
    std::uint64_t requested = 0;
    for (std::size_t r = 0; r < size(); ++r) {
      std::uint64_t& edges = requested_edges_[r];
      const std::uint64_t first = requested, longest = r == long_list_owner() ? limits_.longest : 0,
                          max_edges = limits_.edges + longest;
      const std::uint64_t end = wanted.for_each_while(owners.begin(r), owners.end(r), [&](Vertex v) {
        if (degree(v) > max_edges) return true;  // it waits for this owner's turn
        if (requested - first == limits_.lists || edges + degree(v) > max_edges) return false;
        edges += degree(v);
        requested_[requested++] = v;
        return true;
      });
      counts_[r] = requested - first;
      if (r != router_.own_rank()) requests_sent_ += counts_[r];
      if (counts_[r] == 0) continue;
      ListRange range{
          owners.begin(r), end, {}, {requested_.data() + first, counts_[r]}, columns_.data() + first};
      ranges_.push_back(range);
    }
  }

  /// The owner that may be asked for longer lists: another one for each rank in every superstep.
  std::size_t long_list_owner() const { return (router_.own_rank() + supersteps_) % size(); }

  /// How many lists each rank requests from this one; empty once no rank works any more. A rank that works
  /// sends one more than it requests, so that no other message is needed.
  std::vector<std::uint64_t> exchange_counts(bool active) const {
    std::vector<std::uint64_t> counts = counts_;
    for (std::uint64_t& count : counts) count += active;
    counts = router_.exchange_counts(counts, kLists);
    if (std::ranges::count(counts, 0u) == std::ssize(counts)) return {};
    for (std::uint64_t& count : counts) count -= std::min<std::uint64_t>(count, 1);
    return counts;
  }

  /// Looks up the lists that ranks have requested from this one, in the order of the requests, and sends
  /// them. False once no rank works any more.
  bool serve(bool active) {
    const std::vector<std::uint64_t> request_counts = exchange_counts(active);
    if (request_counts.empty()) return false;
    ++supersteps_;
    router_.send(requested_.data(), requests_.data(), counts_, request_counts, kLists);
    const std::span<const Vertex> requests(requests_.data(),
                                           std::reduce(request_counts.begin(), request_counts.end()));
    reply_edges_.assign(size(), 0);
    std::uint64_t at = 0, position = 0;
    for (std::size_t r = 0; r < size(); ++r) {
      if (r != router_.own_rank()) requests_received_ += request_counts[r];
      for (std::uint64_t end = at + request_counts[r]; at < end; ++at) {
        reply_positions_[at] = position;
        position += degree(requests[at]);
        reply_edges_[r] += degree(requests[at]);
      }
    }
    if (!requests.empty()) look_up_lists(requests, request_counts);
    router_.send(reply_targets_.data(), received_targets_.data(), reply_edges_, requested_edges_, kLists);
    if (weighted_)
      router_.send(reply_weights_.data(), received_weights_.data(), reply_edges_, requested_edges_, kLists);
    return true;
  }

  void look_up_lists(std::span<const Vertex> requests, const std::vector<std::uint64_t>& request_counts) {
    /// Calls use(from, to) for each rank: its requests [from, to) are for rows [begin, end).
    const auto for_each_request_range = [&](std::uint64_t begin, std::uint64_t end, auto&& use) {
      std::uint64_t at = 0;
      for (const std::uint64_t count : request_counts) {
        const auto some = requests.subspan(at, count);
        const auto from = std::ranges::lower_bound(some, router_.first() + begin),
                   to = std::ranges::lower_bound(some, router_.first() + end);
        use(at + static_cast<std::uint64_t>(from - some.begin()),
            at + static_cast<std::uint64_t>(to - some.begin()));
        at += count;
      }
    };
    const auto requests_in = [&](std::uint32_t p) {
      std::uint64_t requested = 0;
      for_each_request_range(pages_->begin(p), pages_->end(p),
                             [&](std::uint64_t from, std::uint64_t to) { requested += to - from; });
      return requested;
    };
    pages_->for_each(requests_in, [&](std::span<const SweepPage> pages) {
      for (const SweepPage& page : pages) {
        for_each_request_range(page.begin, page.end, [&](std::uint64_t from, std::uint64_t to) {
          for (; from < to; ++from) copy(requests[from], page, reply_positions_[from]);
        });
      }
    });
  }

  void copy(Vertex v, const SweepPage& page, std::uint64_t position) {
    std::copy_n(page.sources + offsets_[v], degree(v), reply_targets_.data() + position);
    if (weighted_) std::copy_n(page.weights + offsets_[v], degree(v), reply_weights_.data() + position);
  }

  /// Received lists are in the order of the requests.
  void deliver(const Consumer& consume) {
    const Vertex* const targets = received_targets_.data();
    const float* const weights = weighted_ ? received_weights_.data() : nullptr;
    std::uint64_t position = 0, requested = 0;
    for (const ListRange& range : ranges_) {
      for (const Vertex v : range.vertices) {
        ListColumns& list = columns_[requested++];
        list.targets = rebase(targets + position, offsets_[v]);
        list.weights = weighted_ ? rebase(weights + position, offsets_[v]) : nullptr;
        position += degree(v);
      }
    }
    consume(AvailableLists(ranges_));
  }

  Communicator& ranks_;
  Router router_;  ///< of vertices; this rank's own are the rows of its pages
  const EdgeIndex* offsets_;
  bool weighted_;
  PairLimits limits_;
  std::optional<SweepPages> pages_;
  // requested_: requests of this rank by rank, each ascending; columns_: where the lists are, once received.
  HostArray<Vertex> requests_;  ///< received from the ranks
  HostArray<Vertex> received_targets_;
  HostArray<float> received_weights_;
  HostArray<Vertex> reply_targets_;
  HostArray<float> reply_weights_;
  HostArray<Vertex> requested_;
  HostArray<ListColumns> columns_;
  HostArray<std::uint64_t>
      reply_positions_;  ///< places of the lists requested from this rank, in reply_targets_
  std::vector<std::uint64_t> counts_, requested_edges_;  ///< requested by this rank, by rank
  std::vector<std::uint64_t> reply_edges_;               ///< requested by each rank
  std::vector<ListRange> ranges_;
  std::uint64_t supersteps_ = 0;  ///< the same on all ranks
  std::uint64_t requests_sent_ = 0, requests_received_ = 0;
};

}  // namespace

std::unique_ptr<ListFeeder> make_feeder(const Device& device, const Graph& graph, const Options& options,
                                        const PagingOptions& paging, std::uint64_t bytes) {
  if (paging.shard) return std::make_unique<RankFeeder>(device, graph, options, paging);
  return std::make_unique<PageFeeder>(device, graph, options, paging, bytes);
}

}  // namespace sluice::ppr
