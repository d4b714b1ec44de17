// Ranks that are threads of this process and share its GPU, for solvers that talk to each other by messages.
#pragma once

#include <functional>
#include <memory>
#include <stdexcept>

#include "engine/exchange/nccl.hpp"
#include "engine/exec/device.hpp"
#include "exchange/thread_ranks.hpp"
#include "gpu/gpu.hpp"
#if defined(SLUICE_HAVE_CUDA)
#include "gpu/thread_ranks.hpp"
#endif

namespace sluice::test {

/// Stands for NCCL. Tests are compiled without CUDA too, and skipped there.
inline std::unique_ptr<DeviceRanks> make_thread_link([[maybe_unused]] int rank,
                                                     [[maybe_unused]] Meeting& meeting) {
#if defined(SLUICE_HAVE_CUDA)
  return std::make_unique<ThreadDeviceRanks>(rank, meeting);
#else
  throw std::logic_error("a link of GPUs, built without CUDA");
#endif
}

/// Calls body(host, gpu, ranks, link) on each of 2 and of 3 ranks (2 where a sanitizer watches), which have
/// devices of their own: one thread of the host, and the GPU. The link stands for NCCL.
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

}  // namespace sluice::test
