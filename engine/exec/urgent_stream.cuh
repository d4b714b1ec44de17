// A stream for work beside that of another.
#pragma once

#include "engine/exec/stream.cuh"

namespace sluice::cuda {

/// Device time between two events that have passed.
inline double seconds_between(const Event& begin, const Event& end) {
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, begin.get(), end.get()), "cudaEventElapsedTime");
  return milliseconds * 1e-3;
}

/// A stream whose blocks go before those of others that have not begun, for work that waits more than it
/// moves beside work that moves much.
class UrgentStream {
 public:
  UrgentStream() {
    int least = 0, greatest = 0;
    check(cudaDeviceGetStreamPriorityRange(&least, &greatest), "the priorities of streams");
    check(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking, greatest), "cudaStreamCreate");
  }
  UrgentStream(const UrgentStream&) = delete;
  UrgentStream& operator=(const UrgentStream&) = delete;
  ~UrgentStream() { cudaStreamDestroy(stream_); }

  cudaStream_t get() const { return stream_; }
  /// As Stream::wait.
  void wait(const char* label, Timeout timeout = kDeviceTimeout) const {
    wait_stream(stream_, label, timeout);
  }
  void record(Event& event) const { check(cudaEventRecord(event.get(), stream_), "cudaEventRecord"); }
  /// What is put here from now on begins after what is on `stream`.
  void follow(const Stream& stream) {
    other_.record(stream);
    check(cudaStreamWaitEvent(stream_, other_.get(), 0), "cudaStreamWaitEvent");
  }
  /// What is put on `stream` from now on begins after what is here.
  void lead(const Stream& stream) {
    check(cudaEventRecord(own_.get(), stream_), "cudaEventRecord");
    check(cudaStreamWaitEvent(stream.get(), own_.get(), 0), "cudaStreamWaitEvent");
  }

 private:
  cudaStream_t stream_ = nullptr;
  Event other_, own_;
};

}  // namespace sluice::cuda
