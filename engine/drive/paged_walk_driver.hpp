// The queue driver of walks on a graph in partitions: brings partitions where walks wait, works on what is
// here while the next ones come, until all walks of a wave have ended; wave by wave.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "engine/drive/page_loop.hpp"
#include "engine/drive/shard.hpp"
#include "engine/drive/walk_exchange.hpp"
#include "engine/drive/walk_queues.hpp"
#include "engine/residency/paged_plan.hpp"
#include "engine/residency/resident_graph.hpp"

namespace sluice {

class PagedWalkDriver {
 public:
  using MakeQueues = std::function<std::unique_ptr<WalkQueues>(std::uint64_t capacity, std::uint32_t keys)>;

  /// `bytes_per_walk`: of device memory, beside its path.
  PagedWalkDriver(ResidentGraph::Impl& graph, const PageRequest& pages, StartsView starts,
                  const WalkOptions& options, RunStats& stats, Instance begin, Instance end,
                  std::uint64_t bytes_per_walk, const MakeQueues& make);

  void run(WalkSink* sink);

 private:
  PagedPlan make_plan(const PageColumns& columns, std::uint64_t bytes_per_walk) const;
  std::uint64_t per_home() const { return loop_.plan().wave; }
  const WalkWave& wave() const { return queues_->wave(); }
  void walk_wave();
  void walk_here();
  /// Walks that wait for partitions of this rank.
  std::uint64_t waiting_here() const;
  void work(std::span<const std::uint32_t> keys);

  ResidentGraph::Impl& graph_;
  const WalkOptions& options_;
  RunStats& stats_;
  Communicator* ranks_;
  Instance instances_;
  PageLoop loop_;
  WaveHomes homes_;
  std::unique_ptr<WalkQueues> queues_;
  std::unique_ptr<WalkExchange> exchange_;  ///< null: this rank is alone
};

/// Walks so by the backend's PagedWave.
template <class Program, class Wave>
void walk_in_partitions(ResidentGraph::Impl& graph, const Program& program, const PageRequest& pages,
                        StartsView starts, const WalkOptions& options, RunStats& stats, Instance begin,
                        Instance end, WalkSink* sink) {
  PagedWalkDriver(graph, pages, starts, options, stats, begin, end, Wave::kBytesPerWalk,
                  [&](std::uint64_t capacity, std::uint32_t keys) {
                    return std::make_unique<WalkQueuesOf<Program, Wave>>(graph.device, graph.paging, program,
                                                                         capacity, options.length, keys);
                  })
      .run(sink);
}

}  // namespace sluice
