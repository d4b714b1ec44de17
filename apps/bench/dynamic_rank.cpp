// sluice-bench pagerank, the dynamic methods: random batches beside static ranks made anew.
#include "engine/pagerank/dynamic/dynamic.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>

#include "apps/bench/bench.hpp"
#include "apps/bench/random_batch.hpp"
#include "apps/bench/replay/recycled_memory.hpp"
#include "apps/bench/workload.hpp"
#include "apps/cli/names.hpp"
#include "engine/core/clock.hpp"

namespace sluice::bench {

namespace {

constexpr double kFractions[] = {1e-7, 1e-6, 1e-5, 1e-4};
/// A batch that changes as many lists as it likes: what it costs to rewrite the graph.
constexpr double kLargeFraction = 1e-2;
/// Where the work is done, with the graph whole: what does not fit is said, not worked on otherwise.
const pagerank::RankPlace kWhole{.paging = {.partitions = 1}};
/// And with a quarter of the in-edges there.
const pagerank::RankPlace kQuarter{.paging = kQuarterInSlots};
constexpr double kQuarterFraction = 1e-6;
/// Batches before those that count there: lists are written to memory that is page-locked once.
constexpr unsigned kQuarterWarm = 2;

/// How one method did with the batches of one size.
struct Followed {
  std::string name;
  pagerank::DynamicRankOptions method;
  std::vector<double> seconds, updates, rewrites, host_updates, speedups;
  std::vector<double> with_update;  ///< speedups with the update of the graph, where the work is done
  double iterations = 0, affected = 0, partitions = 0, error = 0;
  double packed = 0;  ///< bytes of a change
};

class DynamicSuite : SuiteFigures {
 public:
  DynamicSuite(Device& device, const Options& options, std::string name, Graph graph)
      : SuiteFigures(device, options), name_(std::move(name)), graph_(std::move(graph)) {}

  std::vector<Figure> run() {
    for (const double fraction : kFractions) {
      batches_of(fraction, name_,
                 {follower(pagerank::RankMethod::pruned_frontier),
                  follower(pagerank::RankMethod::residual_frontier)});
    }
    batches_of(
        kQuarterFraction, name_ + ", a quarter on the device",
        {follower(pagerank::RankMethod::pruned_frontier), follower(pagerank::RankMethod::residual_frontier)},
        kQuarter);
    if (device_.is_cuda())
      batches_of(kLargeFraction, name_, {follower(pagerank::RankMethod::residual_frontier)});
    return std::move(figures_);
  }

 private:
  UpdateBatch random_batch(double fraction) { return bench::random_batch(graph_, fraction, random_); }

  static Followed follower(pagerank::RankMethod method) {
    Followed followed;
    followed.name = apps::name_of(apps::kRankMethods, method);
    followed.method = {method};
    return followed;
  }

  void batches_of(double fraction, const std::string& name, std::vector<Followed> followed,
                  const pagerank::RankPlace& place = kWhole) {
    const std::string size = name + text(", batch %.0e", fraction);
    if (!options_.wants(size)) return;
    const pagerank::Options rank;
    const pagerank::Result first = pagerank::run_pagerank(device_, graph_, rank, {}, place);
    std::vector<pagerank::DynamicRanks> ranks;
    for (std::size_t m = 0; m < followed.size(); ++m)
      ranks.emplace_back(device_, graph_, first.ranks.span(), rank, place);
    std::vector<double> statics;
    RecycledMemory recycled(device_), travel(device_);
    const bool paged = device_.is_cuda() && place.paging.partitions != 1;
    for (unsigned r = 0; paged && r < kQuarterWarm; ++r) {
      const UpdateBatch batch = random_batch(fraction);
      UpdateResult update = update_graph(std::move(graph_), batch, host_threads(device_), &recycled);
      for (std::size_t m = 0; m < ranks.size(); ++m)
        ranks[m].follow(update.graph, update.changes, followed[m].method);
      graph_ = std::move(update.graph);
    }
    for (unsigned r = 0; r < options_.repetitions; ++r) {
      const UpdateBatch batch = random_batch(fraction);
      const double begin = seconds_now();
      UpdateResult update =
          update_graph(std::move(graph_), batch, host_threads(device_), paged ? &recycled : nullptr,
                       device_.is_cuda() && !paged ? &travel : nullptr);
      const double host_update = seconds_now() - begin;
      const pagerank::Result anew = pagerank::run_pagerank(device_, update.graph, rank, {}, place);
      statics.push_back(anew.compute_seconds);
      for (std::size_t m = 0; m < ranks.size(); ++m) follow(ranks[m], update, anew, host_update, followed[m]);
      graph_ = std::move(update.graph);
    }
    put(size + ", static", statics, text("%.0f iterations", first.iterations));
    for (const Followed& one : followed) put(size, one);
    if (device_.is_cuda() && place.paging.partitions == 1) put_update(size, followed.front());
  }

  void follow(pagerank::DynamicRanks& ranks, const UpdateResult& update, const pagerank::Result& anew,
              double host_update, Followed& followed) {
    if (options_.progress) options_.progress(name_ + ", " + followed.name);
    const pagerank::DynamicRankResult result = ranks.follow(update.graph, update.changes, followed.method);
    const double seconds = result.setup_seconds + result.compute_seconds;
    const bool copied = device_.is_cuda() && result.update_seconds > 0;
    const double updated = copied ? result.update_seconds : host_update;
    followed.partitions += static_cast<double>(result.partitions_read);
    followed.seconds.push_back(seconds), followed.updates.push_back(updated);
    followed.rewrites.push_back(result.rewrite_seconds), followed.host_updates.push_back(host_update);
    followed.speedups.push_back(anew.compute_seconds / seconds);
    followed.with_update.push_back(anew.compute_seconds / (seconds + updated));
    followed.iterations += result.iterations;
    const PackedChanges& packed = update.changes.packed();
    if (packed.count > 0)
      followed.packed = static_cast<double>(packed.bytes.size()) / static_cast<double>(packed.count);
    followed.affected +=
        static_cast<double>(result.ever_affected) / static_cast<double>(update.graph.vertices());
    std::vector<double> found(ranks.vertices());
    ranks.read_ranks(found);
    for (std::size_t v = 0; v < found.size(); ++v)
      followed.error = std::max(followed.error, std::fabs(found[v] - anew.ranks[v]));
  }

  void put(const std::string& name, std::vector<double> seconds, std::string note) {
    for (double& value : seconds) value *= 1e3;
    SuiteFigures::put(name, seconds, "ms", std::move(note));
  }

  /// The graph on the GPU: both directions are read and written once. With the changes sent, and without.
  void put_update(const std::string& size, const Followed& followed) {
    const double lists = static_cast<double>(graph_.edges()) * sizeof(Vertex) +
                         static_cast<double>(graph_.vertices()) * sizeof(EdgeIndex);
    const double moved = 2 * lists * (graph_.directed ? 2 : 1);
    const auto rate = [&](const std::vector<double>& seconds) {
      return text("%.0f GB/s read and written", moved / median(seconds) * 1e-9);
    };
    put(size + ", update on the GPU", followed.updates,
        rate(followed.updates) + text(", %.2f bytes a change", followed.packed));
    put(size + ", rewrite alone", followed.rewrites, rate(followed.rewrites));
    put(size + ", update on the host", followed.host_updates, "finds the changes, and rewrites its lists");
  }

  void put(const std::string& size, const Followed& followed) {
    const double runs = options_.repetitions;
    put(size + ", " + followed.name, followed.seconds,
        text("%.2f times static", median(followed.speedups)) +
            text(", %.2f with the update", median(followed.with_update)) +
            text(" of %.3g ms", median(followed.updates) * 1e3) +
            text("; %.1f iterations", followed.iterations / runs) +
            text(", %.3g of the vertices", followed.affected / runs) +
            (followed.partitions > runs ? text(", %.3g partitions read", followed.partitions / runs) : "") +
            text(", %.1e from static", followed.error));
  }

  std::string name_;
  Graph graph_;
  std::mt19937_64 random_{7};
};

}  // namespace

std::vector<Figure> run_dynamic_pagerank(Device& device, const Options& options, const std::string& name,
                                         Graph graph) {
  if (graph.edges() == 0 || (graph.directed && graph.in.offsets.empty())) return {};
  return DynamicSuite(device, options, name, std::move(graph)).run();
}

}  // namespace sluice::bench
