#include "engine/exchange/nccl.hpp"
#include "engine/exchange/peer_memory.hpp"
#include "engine/exec/backend.hpp"
#include "engine/exec/device.hpp"

namespace sluice {

std::vector<ElementRange> ranges_of(const Ownership& owners) {
  std::vector<ElementRange> ranges;
  for (std::uint64_t i = 0; i < owners.size(); ++i) ranges.push_back({owners.begin(i), owners.end(i)});
  return ranges;
}

std::unique_ptr<DeviceRanks> connect_gpus([[maybe_unused]] Communicator* ranks,
                                          [[maybe_unused]] const Device& device,
                                          [[maybe_unused]] unsigned max_blocks) {
#if defined(SLUICE_HAVE_CUDA)
  if (ranks != nullptr && device.is_cuda() && !device.is_planning())
    return make_device_ranks(*ranks, max_blocks);
#endif
  return nullptr;
}

#if !defined(SLUICE_HAVE_CUDA)
std::unique_ptr<PeerMemory> PeerMemory::open(Communicator&, void*) {
  return nullptr;
}
PeerMemory::~PeerMemory() = default;
#endif

void DeviceRanks::wait(void* stream, const char* label) {
  const auto done = [=, this] {
    throw_if_failed(label);
    return cuda::stream_done(stream, label);
  };
  wait_until(done, label, kNoTimeout);
}

}  // namespace sluice
