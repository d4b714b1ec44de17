// Walks of Monte-Carlo queries in the queue of engine/walks. The graph is in partitions, fetched where walks
// wait, or is shared out over ranks that hand walks to each other. Only the end of a walk is kept.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/batch/sink.hpp"
#include "engine/batch/starts_upload.hpp"
#include "engine/exec/memory/buffer.hpp"
#include "engine/memory/resident_impl.hpp"
#include "engine/memory/run_stats.hpp"
#include "engine/ppr/methods/walks.hpp"
#include "engine/ppr/seeds.hpp"
#include "engine/walks/partitioned.hpp"

namespace sluice::ppr {

/// The seeds of all queries; trivially copyable.
struct AllSeedsView {
  StartsView starts;
  const Seed* seeds = nullptr;             ///< of all queries; null: each query has the start of `starts`
  const std::uint64_t* offsets = nullptr;  ///< [queries + 1]

  SLUICE_HD Vertex pick(Instance query, std::uint64_t random) const {
    if (seeds == nullptr) return starts.start(query);
    const std::uint64_t first = offsets[query];
    return SeedsView{seeds + first, static_cast<std::uint32_t>(offsets[query + 1] - first)}.pick(random);
  }
};

/// The seeds of all queries, in memory that the device reads.
class AllSeeds {
 public:
  /// Throws BudgetError.
  AllSeeds(const ResidentGraph::Impl& graph, const Starts& starts, std::uint64_t seed);

  AllSeedsView view() const;

 private:
  std::optional<DeviceStarts> starts_;
  Buffer<Seed> seeds_;
  Buffer<std::uint64_t> offsets_;
};

/// A walk of a query; its instance is the query.
struct EndWalker : walks::Walker {
  std::uint32_t number = 0;  ///< of the walk in its query
};

/// WalkRules as a program of the walk queue: walk w of query q is instance q * walks + w.
struct EndProgram {
  using Walker = EndWalker;
  static constexpr bool kEndsOnly = true, kTrials = false, kScans = false, kRedirects = false,
                        kUpdates = false;

  GraphView graph;
  WalkRules rules;
  AllSeedsView seeds;
  std::uint32_t walks = 1;  ///< per query

  SLUICE_HD void identify(Instance walk, Walker& walker) const {
    walker.instance = walk / walks;
    walker.number = static_cast<std::uint32_t>(walk % walks);
  }
  SLUICE_HD Vertex start(const Walker& walker) const {
    return rules.start(seeds_of(walker), walker.instance, walker.number);
  }

  SLUICE_HD void propose(const Walker& walker, walks::Proposal& proposal) const {
    const PhiloxBlock random = rules.draws(walker.instance, walker.number, walker.step + 1);
    proposal.located = rules.continue_probability.happens(random.high());
    proposal.probe.random = random.low();
    if (!proposal.located || walker.row.degree == 0) return;
    rules.weighted ? prefetch(graph.csr.weights + walker.row.offset)
                   : prefetch(graph.csr.targets + walker.row.offset +
                              uniform_index(proposal.probe.random, walker.row.degree));
  }
  template <class Lists>
  SLUICE_HD walks::Round settle(Walker& walker, const walks::Proposal& proposal, const Lists&) const {
    if (!proposal.located) return walks::Round::ended;
    const CsrView& csr = graph.csr;
    const EdgeIndex begin = walker.row.offset;
    const WalkList list{csr.targets + begin, csr.weights == nullptr ? nullptr : csr.weights + begin,
                        walker.row.degree};
    walker.current = rules.next(list, seeds_of(walker), graph.vertices(), proposal.probe.random);
    walker.row = graph.row(walker.current);
    ++walker.step;
    return walks::Round::moved;
  }

  /// Bytes of a draw: the target. Weights that a weighted draw scans do not count.
  SLUICE_HD static std::uint32_t draw_bytes(const Row& row) {
    return row.degree == 0 ? 0 : static_cast<std::uint32_t>(sizeof(Vertex));
  }
  SLUICE_HD static Vertex second_list(const walks::Walker&) { return kNoVertex; }

 private:
  struct SeedsOfQuery {
    const AllSeedsView& all;
    Instance query;
    SLUICE_HD Vertex pick(std::uint64_t random) const { return all.pick(query, random); }
  };
  SLUICE_HD SeedsOfQuery seeds_of(const Walker& walker) const { return {seeds, walker.instance}; }
};

inline EndProgram on_page(EndProgram program, const PageView& page) {
  program.graph.csr.targets = page.targets;
  program.graph.csr.weights = page.weights;
  return program;
}

/// Passes the ends of this rank's walks [range.begin, range.end) to the sink, as rows of kEndWords. If ranks
/// share out the graph, all of them call it. A run that is only planned notes its pages. Throws BudgetError.
void run_end_walks(ResidentGraph::Impl& graph, const EndProgram& program, const Options& options,
                   InstanceRange range, WalkSink& sink, RunStats& stats);

}  // namespace sluice::ppr
