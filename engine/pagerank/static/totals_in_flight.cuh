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
  static constexpr unsigned kCapacity = 3;  ///< the last one read, and two in flight

  /// `blocks` write partial totals side by side.
  TotalsInFlight(const Device& device, std::size_t blocks)
      : device_(device, kCapacity, "totals"),
        host_(device, kCapacity, "totals in transit"),
        partial_(device, blocks, "totals by block") {}

  SweepTotals* partial() const { return partial_.data(); }
  SweepTotals* on_device(std::uint64_t iteration) const { return device_.data() + iteration % kCapacity; }
  const FixedRank* dangling(std::uint64_t iteration) const { return &on_device(iteration)->dangling; }

  void clear(std::uint64_t iteration, const cuda::Stream& stream) {
    cuda::check(cudaMemsetAsync(on_device(iteration), 0, sizeof(SweepTotals), stream.get()),
                "clearing totals");
  }
  void send(std::uint64_t iteration, const cuda::Stream& stream) {
    cuda::check(cudaMemcpyAsync(host_.data() + iteration % kCapacity, on_device(iteration),
                                sizeof(SweepTotals), cudaMemcpyDeviceToHost, stream.get()),
                "copying totals");
    sent_[iteration % kCapacity].record(stream);
  }
  /// Waits for the totals of an iteration; later work on the stream continues.
  const SweepTotals& receive(std::uint64_t iteration) {
    return receive(
        iteration, [] {}, cuda::kDeviceTimeout);
  }
  /// Calls throw_if_failed() while it waits, which may end the wait by an exception.
  template <class ThrowIfFailed>
  const SweepTotals& receive(std::uint64_t iteration, const ThrowIfFailed& throw_if_failed, Timeout timeout) {
    const auto arrived = [&] {
      throw_if_failed();
      return sent_[iteration % kCapacity].is_complete("an iteration");
    };
    wait_until(arrived, "an iteration", timeout);
    return host_.data()[iteration % kCapacity];
  }
  /// Replaces an iteration's totals, on host and device, by those of all ranks.
  void replace(std::uint64_t iteration, const SweepTotals& totals, const cuda::Stream& stream) {
    host_.data()[iteration % kCapacity] = totals;
    cuda::check(cudaMemcpyAsync(on_device(iteration), host_.data() + iteration % kCapacity, sizeof totals,
                                cudaMemcpyHostToDevice, stream.get()),
                "copying totals");
  }

 private:
  Buffer<SweepTotals> device_;
  Staging<SweepTotals> host_;
  Buffer<SweepTotals> partial_;
  std::array<cuda::Event, kCapacity> sent_;
};

}  // namespace sluice::pagerank
