// Votes on a GPU: their rounds (host_vote.hpp) inside one persistent kernel, or in several as --fusion says;
// long long runs of rounds with little to do in one cluster.
#pragma once

#include "engine/acc/resident_cuda/small_frontier.cuh"

namespace sluice::acc {

// ---- launcher

template <class Program>
class CudaVote {
 public:
  CudaVote(const AccGraph& graph, const Program& program, const AccOptions& options)
      : device_(graph.device()),
        options_(options),
        start_blocks_(cuda::blocks_at_once(vote_start_kernel<Program>, cuda::kTeamBlock, 0)),
        blocks_(cuda::blocks_at_once(vote_rounds_kernel<Program>, cuda::kTeamBlock, 0)),
        states_(device_, graph.vertices(), "vertex states"),
        settled_(device_, (graph.vertices() + 31) / 32, "settled vertices"),
        state_(device_, 1, "the round"),
        worklists_(device_, graph.out(), 0, graph.vertices(), options.filter,
                   std::max(start_blocks_, blocks_), stream_) {
    view_ = {program,       graph.out(),       graph.in(),         states_.data(),   settled_.data(),
             state_.data(), worklists_.view(), worklists_.trace(), options.direction};
    if constexpr (EarliestVote<Program>) {
      // Of kernels for pushes alone one more is no other fusion.
      view_.clusters = options.fusion == AccFusion::push_pull &&
                       cluster_fits(small_frontier_kernel<Program>, sizeof(SmallFrontierMemory));
    }
  }

  void run(AccStats& stats) {
    cuda::launch_together(vote_start_kernel<Program>, start_blocks_, cuda::kTeamBlock, stream_.get(), view_);
    stats.kernel_launches = 1;
    stats.registers = registers_of(vote_rounds_kernel<Program>);
    for (VoteRound now = read_state(); now.active > 0; now = read_state()) {
      launch(now);
      ++stats.kernel_launches;
    }
    worklists_.read_trace(device_, stats);
  }

  const typename Program::State* states() const { return states_.data(); }

 private:
  void launch(const VoteRound& now) {
    if constexpr (EarliestVote<Program>) {
      if (now.blocks == kOneCluster)
        return launch_cluster(small_frontier_kernel<Program>, sizeof(SmallFrontierMemory), stream_, view_);
    }
    RoundLimit limit;
    limit.one = options_.fusion == AccFusion::none;
    if (options_.fusion == AccFusion::push_pull) limit.push = !now.pull, limit.pull = now.pull;
    cuda::launch_together(vote_rounds_kernel<Program>, blocks_, cuda::kTeamBlock, stream_.get(), view_,
                          limit);
  }

  VoteRound read_state() {
    stream_.wait("rounds of a vote");
    VoteRound state;
    copy_to_host(device_, &state, state_.data(), sizeof state);
    return state;
  }

  const Device& device_;
  AccOptions options_;
  cuda::Stream stream_;
  unsigned start_blocks_, blocks_;
  Buffer<typename Program::State> states_;
  Buffer<std::uint32_t> settled_;
  Buffer<VoteRound> state_;
  WorklistMemory worklists_;
  VoteView<Program> view_;
};

}  // namespace sluice::acc
