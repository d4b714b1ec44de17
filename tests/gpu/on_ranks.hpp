// Ranks that are threads of this process and share a graph out, on its GPU.
#pragma once

#include <cstdint>
#include <functional>

#include "engine/exec/device.hpp"
#include "engine/memory/resident_impl.hpp"
#include "gpu/thread_ranks.hpp"
#include "sampling/jobs.hpp"

namespace sluice::test {

/// What ranks that share a graph out do, each with a graph of its own (memory cannot be page-locked twice)
/// and so much memory of the GPU.
using OnRank = std::function<void(int rank, Meeting&, ResidentGraph&)>;

inline void on_ranks(int size, const Graph& graph, const PagingOptions& paging, std::uint64_t memory,
                     const OnRank& body) {
  Meeting::run(size, [&](int rank, Meeting& meeting) {
    Device gpu({DeviceChoice::cuda, 1, memory});
    ThreadCommunicator ranks(rank, meeting);
    Graph own = scattered(graph.vertices());
    PagingOptions shared = paging;
    shared.shard = &ranks;
    ResidentGraph resident(gpu, own, shared);
    body(rank, meeting, resident);
  });
}

}  // namespace sluice::test
