// What the vertices of all ranks offer, on a GPU and in host memory beside it, where ranks exchange it.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "engine/pagerank/dynamic/change_exchange.hpp"
#include "engine/pagerank/dynamic/rank_parcels.cuh"
#include "engine/pagerank/dynamic/rank_state_cuda.cuh"

namespace sluice::pagerank {

/// A job of one rank has nothing to send, and no copy.
template <class Share>
class ShareMirror {
 public:
  using Stored = typename Share::Stored;

  /// Keeps references.
  ShareMirror(const Device& device, ChangeExchange& peers, DeviceRankState<Share>& state,
              RankParcels<Stored>& parcels)
      : device_(device), peers_(peers), state_(state), parcels_(parcels) {}

  /// Sends the other ranks what own vertices offer, of which those of `changed` are others than before, and
  /// receives theirs. All ranks call it.
  void send(const std::vector<Vertex>& changed) {
    if (peers_.alone()) return;
    peers_.template sends_all<Stored>(changed.size()) ? read_own() : read(changed);
    ReceivedChanges received;
    peers_.send_changed(host_.data(), changed, &received);
    receive(received);
  }

  /// The same where all are others, or there are more vertices.
  void send_all() {
    if (peers_.alone()) return;
    host_.reserve(device_, peers_.vertices(), "contributions of all ranks");
    read_own();
    ReceivedChanges received;
    peers_.send_all(host_.data(), &received);
    receive(received);
  }

 private:
  using Columns = ParcelColumns<Stored>;

  void read_own() {
    state_.stream.wait("contributions");
    copy_to_host(device_, host_.data() + peers_.first(), state_.shares.data() + peers_.first(),
                 (peers_.last() - peers_.first()) * sizeof(Stored));
  }

  void read(const std::vector<Vertex>& changed) {
    parcels_.fetch(
        changed.size(), state_.stream,
        [&](const Columns& to, std::uint64_t begin, std::uint64_t end) {
          std::copy(changed.data() + begin, changed.data() + end, to.vertices);
        },
        [&](const Columns& device, std::uint64_t size) {
          state_.over(size, read_shares_kernel<Share>, state_.view(), device.vertices, device.values, size);
        },
        [&](const Columns& host, std::uint64_t begin, std::uint64_t end) {
          for (std::uint64_t i = begin; i < end; ++i) host_.data()[changed[i]] = host.values[i - begin];
        });
  }

  /// What came becomes what the device has; what it had is what its vertices received before.
  void receive(const ReceivedChanges& received) {
    const auto copy = [&](Stored* to, const Stored* from, std::uint64_t count, cudaMemcpyKind kind) {
      cuda::check(cudaMemcpyAsync(to, from, count * sizeof(Stored), kind, state_.stream.get()),
                  "copying contributions");
    };
    for (const auto& [begin, end] : received.ranges) {
      Stored* const shares = state_.shares.data() + begin;
      copy(state_.sent.data() + begin, shares, end - begin, cudaMemcpyDeviceToDevice);
      copy(shares, host_.data() + begin, end - begin, cudaMemcpyHostToDevice);
    }
    parcels_.send(
        received.vertices.size(), ParcelUse::values, state_.stream,
        [&](const Columns& to, std::uint64_t begin, std::uint64_t end) {
          for (std::uint64_t i = begin; i < end; ++i) {
            to.vertices[i - begin] = received.vertices[i];
            to.values[i - begin] = host_.data()[received.vertices[i]];
          }
        },
        [&](const Columns& device, std::uint64_t size) {
          state_.over(size, receive_kernel<Share>, state_.view(), device.vertices, device.values, size);
        });
    state_.stream.wait("contributions of other ranks");  // the copy may change again
  }

  const Device& device_;
  ChangeExchange& peers_;
  DeviceRankState<Share>& state_;
  RankParcels<Stored>& parcels_;
  Staging<Stored> host_;  ///< [vertices]
};

}  // namespace sluice::pagerank
