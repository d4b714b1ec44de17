// CUDA streams, events, and timers of the work between two events.
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
  /// Blocks until all work is done; throws RunError with `label` if a kernel failed or `timeout` has passed.
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
  /// Whether the work before the event is done; throws RunError with `label` if it failed.
  bool is_complete(const char* label) const { return is_done(cudaEventQuery(event_), label); }
  void record(const Stream& stream) { check(cudaEventRecord(event_, stream.get()), "cudaEventRecord"); }

 private:
  cudaEvent_t event_ = nullptr;
};

/// A stream that forks from another and joins it again.
class SideStream : public Stream {
 public:
  SideStream() = default;

  /// Work queued here from now on begins after all work queued on `stream` so far.
  void fork_from(const Stream& stream) {
    forked_.record(stream);
    check(cudaStreamWaitEvent(get(), forked_.get(), 0), "cudaStreamWaitEvent");
  }
  /// Work queued on `stream` from now on begins after all work queued here so far.
  void join_into(const Stream& stream) {
    joined_.record(*this);
    check(cudaStreamWaitEvent(stream.get(), joined_.get(), 0), "cudaStreamWaitEvent");
  }

 protected:
  explicit SideStream(cudaStream_t opened) : Stream(opened) {}

 private:
  Event forked_, joined_;
};

/// A stream of the highest priority: its blocks start before waiting blocks of other streams. For work bound
/// by latency that runs beside work bound by bandwidth.
class HighPriorityStream : public SideStream {
 public:
  HighPriorityStream() : SideStream(open()) {}

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

/// Streams for concurrent kernels, each with a timer.
class SideStreams {
 public:
  /// How many streams a large number of kernels shares; a caller may use more.
  static constexpr std::size_t kMaxStreams = 32;

  SideStreams() = default;
  SideStreams(const SideStreams&) = delete;
  SideStreams& operator=(const SideStreams&) = delete;
  /// After an error kernels may still run: declare this object after the memory that they use.
  ~SideStreams() {
    for (const auto& side : sides_) cudaStreamSynchronize(side->stream.get());
  }

  SideStream& operator[](std::size_t i) {
    while (sides_.size() <= i) sides_.push_back(std::make_unique<Side>());
    return sides_[i]->stream;
  }
  /// Times the work queued on stream i from now on, until stop().
  void start(std::size_t i) {
    const Stream& stream = (*this)[i];
    sides_[i]->timer.start(stream);
  }
  void stop(std::size_t i) { sides_[i]->timer.stop(sides_[i]->stream); }
  /// Blocks until all streams are done; throws as Stream::wait().
  void wait(const char* label, Timeout timeout = kDeviceTimeout) const {
    for (const auto& side : sides_) side->stream.wait(label, timeout);
  }
  /// The seconds of each of the first `count` streams; they must have been waited for.
  std::vector<double> seconds(std::size_t count) const {
    std::vector<double> seconds_of_streams;
    for (std::size_t i = 0; i < count; ++i) seconds_of_streams.push_back(sides_[i]->timer.seconds());
    return seconds_of_streams;
  }

 private:
  struct Side {
    SideStream stream;
    Timer timer;
  };

  std::vector<std::unique_ptr<Side>> sides_;
};

}  // namespace sluice::cuda
