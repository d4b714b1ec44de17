// Streams, events and the time between them.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "engine/exec/backend.hpp"
#include "engine/exec/cuda_check.cuh"

namespace sluice::cuda {

class Stream {
 public:
  Stream() { check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreate"); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() { cudaStreamDestroy(stream_); }

  cudaStream_t get() const { return stream_; }
  /// Blocks until all work is done; an error of a kernel surfaces here, under `label`, and a deadline.
  void wait(const char* label, Timeout timeout = kDeviceTimeout) const {
    wait_stream(stream_, label, timeout);
  }

 protected:
  explicit Stream(cudaStream_t opened) : stream_(opened) {}

 private:
  cudaStream_t stream_ = nullptr;
};

class Event {
 public:
  Event() { check(cudaEventCreate(&event_), "cudaEventCreate"); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event() { cudaEventDestroy(event_); }

  cudaEvent_t get() const { return event_; }
  /// Whether the work before it is done; an error of it surfaces here, under `label`.
  bool passed(const char* label) const {
    const cudaError_t status = cudaEventQuery(event_);
    if (status != cudaErrorNotReady) {
      check(status, label);
      return true;
    }
    cudaGetLastError();  // it is none, but the next check of a launch would find it
    return false;
  }
  void record(const Stream& stream) { check(cudaEventRecord(event_, stream.get()), "cudaEventRecord"); }

 private:
  cudaEvent_t event_ = nullptr;
};

/// A stream beside another, which it leaves and joins.
class SideStream : public Stream {
 public:
  SideStream() = default;

  /// What is put here from now on begins after what is on `stream`.
  void follow(const Stream& stream) {
    other_.record(stream);
    check(cudaStreamWaitEvent(get(), other_.get(), 0), "cudaStreamWaitEvent");
  }
  /// What is put on `stream` from now on begins after what is here.
  void lead(const Stream& stream) {
    own_.record(*this);
    check(cudaStreamWaitEvent(stream.get(), own_.get(), 0), "cudaStreamWaitEvent");
  }

 protected:
  explicit SideStream(cudaStream_t opened) : Stream(opened) {}

 private:
  Event other_, own_;
};

/// One whose blocks go before those of others that have not begun, for work that waits more than it moves
/// beside work that moves much.
class UrgentStream : public SideStream {
 public:
  UrgentStream() : SideStream(open()) {}

 private:
  static cudaStream_t open() {
    int least = 0, greatest = 0;
    check(cudaDeviceGetStreamPriorityRange(&least, &greatest), "the priorities of streams");
    cudaStream_t stream = nullptr;
    check(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, greatest), "cudaStreamCreate");
    return stream;
  }
};

/// Device time between two points of a stream.
class Timer {
 public:
  void start(const Stream& stream) { begin_.record(stream); }
  void stop(const Stream& stream) { end_.record(stream); }
  /// Valid once the stream has passed the second point.
  double seconds() const {
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, begin_.get(), end_.get()), "cudaEventElapsedTime");
    return milliseconds * 1e-3;
  }

 private:
  Event begin_, end_;
};

/// Kernels side by side: a stream for each, and how long it took.
class SideStreams {
 public:
  /// Streams that many works share; a caller may take more.
  static constexpr std::size_t kMost = 32;

  SideStreams() = default;
  SideStreams(const SideStreams&) = delete;
  SideStreams& operator=(const SideStreams&) = delete;
  /// Where an error ends the work, kernels are still under way: declare it behind the memory that they use.
  ~SideStreams() {
    for (const auto& side : sides_) cudaStreamSynchronize(side->stream.get());
  }

  SideStream& operator[](std::size_t i) {
    while (sides_.size() <= i) sides_.push_back(std::make_unique<Side>());
    return sides_[i]->stream;
  }
  /// What comes to stream i from now on, until stop(), is timed.
  void start(std::size_t i) {
    const Stream& stream = (*this)[i];
    sides_[i]->timer.start(stream);
  }
  void stop(std::size_t i) { sides_[i]->timer.stop(sides_[i]->stream); }
  /// Until all is done.
  void wait(const char* label, Timeout timeout = kDeviceTimeout) const {
    for (const auto& side : sides_) side->stream.wait(label, timeout);
  }
  /// Of the first `count` streams, once they have been waited for.
  std::vector<double> seconds(std::size_t count) const {
    std::vector<double> all;
    for (std::size_t i = 0; i < count; ++i) all.push_back(sides_[i]->timer.seconds());
    return all;
  }

 private:
  struct Side {
    SideStream stream;
    Timer timer;
  };

  std::vector<std::unique_ptr<Side>> sides_;
};

}  // namespace sluice::cuda
