#include "apps/bench/scaling/links.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "apps/bench/figures.hpp"
#include "apps/bench/limits.hpp"
#include "apps/job/ranks.hpp"
#include "engine/core/clock.hpp"
#include "engine/exchange/nccl.hpp"
#include "engine/exchange/peer_memory.hpp"
#include "engine/exec/memory/buffer.hpp"

namespace sluice::bench {

namespace {

using apps::world;

constexpr const char* kLabel = "measuring links";
constexpr std::size_t kOnGpu = std::size_t{256} << 20, kOnHost = std::size_t{16} << 20;  ///< bytes sent
constexpr std::size_t kPeerBytes = std::size_t{1} << 30;  ///< more than a GPU's caches
constexpr unsigned kMessages = 100;

std::size_t ranks() {
  return static_cast<std::size_t>(world().size());
}

/// Seconds of the slowest rank for one of `times` calls of send(), which run one after the other.
template <class Send>
double seconds_of(unsigned repetitions, unsigned times, const Send& send) {
  return median(repeated(repetitions, [&] {
    world().barrier(kLabel);
    const double begin = seconds_now();
    for (unsigned i = 0; i < times; ++i) send();
    double slowest[] = {seconds_now() - begin};
    world().all_reduce(slowest, Reduce::max, kLabel);
    return slowest[0] / times;
  }));
}

/// Sends `bytes` to every other rank, and receives as many from each; `memory` has space for both.
void send_by_gpus(DeviceRanks& link, std::byte* memory, std::size_t bytes) {
  std::vector<std::uint64_t> sizes(ranks(), bytes);
  sizes[static_cast<std::size_t>(world().rank())] = 0;  // no link
  link.all_to_all(memory, bytes, sizes, memory + ranks() * bytes, sizes, nullptr);
  link.wait(nullptr, kLabel);
}
void send_by_hosts(std::byte* memory, std::size_t bytes) {
  std::vector<std::span<const std::byte>> send(ranks());
  std::vector<std::span<std::byte>> receive(ranks());
  for (std::size_t r = 0; r < ranks(); ++r) {
    if (r == static_cast<std::size_t>(world().rank())) continue;
    send[r] = {memory + r * bytes, bytes}, receive[r] = {memory + (ranks() + r) * bytes, bytes};
  }
  world().exchange(send, receive, kLabel);
}

/// If GPUs can access each other's memory, each reads the next rank's.
void measure_peers([[maybe_unused]] const Device& device, [[maybe_unused]] unsigned repetitions,
                   [[maybe_unused]] std::vector<Figure>& figures) {
#if defined(SLUICE_HAVE_CUDA)
  const Buffer<unsigned char> own(device, kPeerBytes, "links to measure");
  auto peers = PeerMemory::open(world(), own.data());
  if (!peers) return;
  const auto next = static_cast<std::size_t>(world().rank() + 1) % ranks();
  const PeerLimits limits = cuda_peer_limits(
      device, {reinterpret_cast<const unsigned char*>(peers->by_rank()[next]), kPeerBytes}, repetitions);
  peers.reset();
  double lowest[] = {limits.copy, limits.random4};
  world().all_reduce(lowest, Reduce::min,
                     kLabel);  // also keeps every rank's memory alive until all have read
  figures.push_back(figure_of("limit: copy from a peer", {lowest[0]}, "GB/s"));
  figures.push_back(figure_of("limit: random 4-byte reads of a peer", {lowest[1]}, "G reads/s"));
#endif
}

}  // namespace

void measure_links(Device& device, const Options& options, std::vector<Figure>& figures) {
  {
    const auto link = connect_gpus(&world(), device);
    const std::size_t bytes = (link ? kOnGpu : kOnHost) / ranks();
    const Buffer<std::byte> on_gpu(device, link ? 2 * ranks() * bytes : 0, "links to measure");
    std::vector<std::byte> on_host(link ? 0 : 2 * ranks() * bytes);
    const auto send = [&](std::size_t each, unsigned times) {
      return seconds_of(options.repetitions, times, [&] {
        link ? send_by_gpus(*link, on_gpu.data(), each) : send_by_hosts(on_host.data(), each);
      });
    };
    const double received = static_cast<double>(bytes * (ranks() - 1));
    figures.push_back(figure_of("limit: rank to rank", {received / send(bytes, 1) * 1e-9}, "GB/s"));
    figures.push_back(figure_of("limit: a message", {1e6 * send(sizeof(std::uint64_t), kMessages)}, "us"));
  }
  if (device.is_cuda()) measure_peers(device, options.repetitions, figures);
}

}  // namespace sluice::bench
