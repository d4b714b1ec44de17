// Ranks as threads that share one GPU, which NCCL does not allow. They test the engine's code for ranks with
// a GPU each on a single GPU. Without CUDA, tests compile and are skipped.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "engine/exchange/nccl.hpp"
#include "engine/exec/device.hpp"
#include "engine/memory/resident_impl.hpp"
#include "exchange/thread_ranks.hpp"
#include "gpu/gpu.hpp"
#include "sampling/jobs.hpp"
#if defined(SLUICE_HAVE_CUDA)
#include <cuda_runtime.h>

#include "engine/exec/cuda_check.cuh"
#include "engine/exec/stream.cuh"
#endif

namespace sluice::test {

#if defined(SLUICE_HAVE_CUDA)
/// Copies between ranks are copies within the GPU's memory.
class ThreadDeviceRanks final : public DeviceRanks {
 public:
  ThreadDeviceRanks(int rank, Meeting& meeting) : rank_(rank), meeting_(meeting) {}

  /// As with NCCL, the exchange is ordered behind the ranks' streams, and no host waits.
  void all_gather_ranges(void* memory, std::span<const ElementRange> ranges, std::size_t element_bytes,
                         void* stream) override {
    const auto on = static_cast<cudaStream_t>(stream);
    auto* const own_memory = static_cast<std::byte*>(memory);
    const auto own = static_cast<std::size_t>(rank_);
    if (ranges.size() != static_cast<std::size_t>(meeting_.size())) throw std::logic_error("a range a rank");
    bytes_sent_ += (ranges[own].end - ranges[own].begin) * element_bytes * (ranges.size() - 1);
    cuda::Event written, read;
    cuda::check(cudaEventRecord(written.get(), on), "a range that is there");
    meeting_.exchange<Ranges>(
        rank_, {own_memory, ranges, &written}, [&](std::size_t r, const Ranges& theirs) {
          const ElementRange range = theirs.ranges[r];
          if (range.begin != ranges[r].begin || range.end != ranges[r].end)
            throw std::logic_error("ranks disagree on what one of them gives");
          if (r == own || range.begin == range.end) return;
          const std::size_t at = range.begin * element_bytes,
                            bytes = (range.end - range.begin) * element_bytes;
          cuda::check(cudaStreamWaitEvent(on, theirs.written->get(), 0), "a range that is there");
          cuda::check(
              cudaMemcpyAsync(own_memory + at, theirs.memory + at, bytes, cudaMemcpyDeviceToDevice, on),
              "a copy between ranks");
        });
    cuda::check(cudaEventRecord(read.get(), on), "ranges that were read");
    meeting_.exchange<const cuda::Event*>(rank_, &read, [&](std::size_t, const cuda::Event* const& theirs) {
      cuda::check(cudaStreamWaitEvent(on, theirs->get(), 0), "ranges that were read");
    });
  }
  void all_gather(const void* from, void* to, std::size_t bytes, void* stream) override {
    wait(stream, "a test");
    meeting_.exchange<const void*>(rank_, from, [&](std::size_t r, const void* const& theirs) {
      copy(static_cast<std::byte*>(to) + r * bytes, theirs, bytes);
    });
  }
  void all_to_all(const void* from, std::uint64_t apart, std::span<const std::uint64_t> send, void* to,
                  std::span<const std::uint64_t> receive, void* stream) override {
    wait(stream, "a test");
    for (std::size_t r = 0; r < send.size(); ++r)
      if (static_cast<int>(r) != rank_) bytes_sent_ += send[r];
    const Parcel parcel{static_cast<const std::byte*>(from), send};
    auto* at = static_cast<std::byte*>(to);
    meeting_.exchange<Parcel>(rank_, parcel, [&](std::size_t r, const Parcel& theirs) {
      const auto own = static_cast<std::ptrdiff_t>(rank_);
      if (theirs.sizes[static_cast<std::size_t>(rank_)] != receive[r])
        throw std::logic_error("ranks disagree on what goes from one to the other");
      const auto before =
          apart > 0 ? apart * static_cast<std::uint64_t>(rank_)
                    : std::accumulate(theirs.sizes.begin(), theirs.sizes.begin() + own, std::uint64_t{0});
      copy(at, theirs.from + before, receive[r]);
      at += receive[r];
    });
  }
  void reduce_scatter_min(std::uint32_t* values, std::uint64_t each, void* stream) override {
    wait(stream, "a test");
    const std::uint64_t first = static_cast<std::uint64_t>(rank_) * each;
    std::vector<std::uint32_t> least(each, ~0u), part(each);
    meeting_.exchange<std::uint32_t*>(rank_, values, [&](std::size_t, std::uint32_t* const& theirs) {
      copy(part.data(), theirs + first, each * sizeof(std::uint32_t));
      for (std::uint64_t i = 0; i < each; ++i) least[i] = std::min(least[i], part[i]);
    });
    copy(values + first, least.data(), each * sizeof(std::uint32_t));
  }
  void throw_if_failed(const char*) override {}
  void abort() noexcept override {}

 private:
  struct Ranges {
    const std::byte* memory;
    std::span<const ElementRange> ranges;
    const cuda::Event* written;
  };
  struct Parcel {
    const std::byte* from;
    std::span<const std::uint64_t> sizes;
  };

  static void copy(void* to, const void* from, std::size_t bytes) {
    if (bytes == 0) return;
    cuda::check(cudaMemcpy(to, from, bytes, cudaMemcpyDefault), "a copy between ranks");
    cuda::check(cudaDeviceSynchronize(), "a copy between ranks");
  }

  int rank_;
  Meeting& meeting_;
};
#endif

/// The link that stands for NCCL.
inline std::unique_ptr<DeviceRanks> make_thread_link([[maybe_unused]] int rank,
                                                     [[maybe_unused]] Meeting& meeting) {
#if defined(SLUICE_HAVE_CUDA)
  return std::make_unique<ThreadDeviceRanks>(rank, meeting);
#else
  throw std::logic_error("a link of GPUs, built without CUDA");
#endif
}

/// Calls body(host, gpu, ranks, link) on each of 2 ranks, then of 3 (under a sanitizer 2 only). Each rank has
/// its own devices: one host thread and the GPU. The link stands for NCCL.
inline void on_ranks_of_gpu(const std::function<void(const Device& host, const Device& gpu,
                                                     Communicator& ranks, DeviceRanks& link)>& body) {
  for (const int size : {2, 3}) {
    if (brief() && size == 3) continue;
    Meeting::run(size, [&](int rank, Meeting& meeting) {
      const Device host({DeviceChoice::host, 1, 0});
      const auto gpu = open_gpu();
      ThreadCommunicator ranks(rank, meeting);
      const auto link = make_thread_link(rank, meeting);
      body(host, *gpu, ranks, *link);
    });
  }
}

/// The work of one of several ranks that own parts of a graph. Each rank has its own copy of the graph, since
/// memory cannot be page-locked twice, and `memory` bytes of the GPU.
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
