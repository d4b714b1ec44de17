#include "engine/exchange/nccl.hpp"
#include "engine/exec/backend.hpp"

namespace sluice {

void DeviceRanks::wait(void* stream, const char* label) {
  const auto done = [=, this] {
    throw_if_failed(label);
    return cuda::stream_done(stream, label);
  };
  wait_until(done, label, kNoTimeout);
}

}  // namespace sluice
