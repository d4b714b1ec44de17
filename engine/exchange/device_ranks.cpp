#include "engine/exchange/nccl.hpp"
#include "engine/exec/backend.hpp"
#include "engine/exec/device.hpp"

namespace sluice {

std::unique_ptr<DeviceRanks> connect_gpus([[maybe_unused]] Communicator* ranks,
                                          [[maybe_unused]] const Device& device) {
#if defined(SLUICE_HAVE_CUDA)
  if (ranks != nullptr && device.is_cuda() && !device.plans()) return make_device_ranks(*ranks);
#endif
  return nullptr;
}

void DeviceRanks::wait(void* stream, const char* label) {
  const auto done = [=, this] {
    throw_if_failed(label);
    return cuda::stream_done(stream, label);
  };
  wait_until(done, label, kNoTimeout);
}

}  // namespace sluice
