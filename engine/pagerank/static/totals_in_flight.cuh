// The totals of iterations, copied from the device while the next iteration runs.
#pragma once

#include <cuda_runtime.h>

#include <array>
#include <cstdint>

#include "engine/exec/cuda_check.cuh"
#include "engine/exec/memory/buffer.hpp"
#include "engine/exec/stream.cuh"
#include "engine/pagerank/static/sweep_totals.hpp"

namespace sluice::pagerank {

/// Totals of the iterations in flight: written on the device, read on the host after the copy.
class TotalsInFlight {
 public:
  static constexpr unsigned kMost = 3;  ///< the last one read, and two in flight

  /// `blocks` write partial totals side by side.
  TotalsInFlight(const Device& device, std::size_t blocks)
      : device_(device, kMost, "totals"),
        host_(device, kMost, "totals in transit"),
        partial_(device, blocks, "totals by block") {}

  SweepTotals* partial() const { return partial_.data(); }
  SweepTotals* on_device(std::uint64_t iteration) const { return device_.data() + iteration % kMost; }
  const FixedRank* dangling(std::uint64_t iteration) const { return &on_device(iteration)->dangling; }

  void clear(std::uint64_t iteration, const cuda::Stream& stream) {
    cuda::check(cudaMemsetAsync(on_device(iteration), 0, sizeof(SweepTotals), stream.get()),
                "clearing totals");
  }
  void send(std::uint64_t iteration, const cuda::Stream& stream) {
    cuda::check(cudaMemcpyAsync(host_.data() + iteration % kMost, on_device(iteration), sizeof(SweepTotals),
                                cudaMemcpyDeviceToHost, stream.get()),
                "copying totals");
    sent_[iteration % kMost].record(stream);
  }
  /// Waits for the totals of an iteration; later work on the stream continues.
  const SweepTotals& receive(std::uint64_t iteration) {
    return receive(
        iteration, [] {}, cuda::kDeviceTimeout);
  }
  /// Calls throw_if_failed() while it waits, which may end the wait by an exception.
  template <class ThrowIfFailed>
  const SweepTotals& receive(std::uint64_t iteration, const ThrowIfFailed& throw_if_failed, Timeout timeout) {
    const auto come = [&] {
      throw_if_failed();
      return sent_[iteration % kMost].is_complete("an iteration");
    };
    wait_until(come, "an iteration", timeout);
    return host_.data()[iteration % kMost];
  }
  /// Replaces an iteration's totals, on host and device, by those of all ranks.
  void replace(std::uint64_t iteration, const SweepTotals& totals, const cuda::Stream& stream) {
    host_.data()[iteration % kMost] = totals;
    cuda::check(cudaMemcpyAsync(on_device(iteration), host_.data() + iteration % kMost, sizeof totals,
                                cudaMemcpyHostToDevice, stream.get()),
                "copying totals");
  }

 private:
  Buffer<SweepTotals> device_;
  Staging<SweepTotals> host_;
  Buffer<SweepTotals> partial_;
  std::array<cuda::Event, kMost> sent_;
};

}  // namespace sluice::pagerank
