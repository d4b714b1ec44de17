// Entries of vertices on their way to a GPU: targets of edges whose sources are worked on. The host packs so
// many at a time while kernels work on the ones before. No router is meant: nothing here leaves the rank.
#pragma once

#include <algorithm>
#include <cstdint>

#include "engine/core/types.hpp"
#include "engine/exec/memory/buffer.hpp"
#include "engine/exec/memory/take_turns.cuh"
#include "engine/exec/stream.cuh"
#include "engine/pagerank/dynamic/changed_rows.hpp"

namespace sluice::pagerank {

/// Entries side by side. Of the last three columns there are `values` (device_shares.cuh), or the other two.
template <class Stored>
struct ParcelColumns {
  Vertex* vertices = nullptr;
  Stored* values = nullptr;   ///< what vertices offer
  Vertex* sources = nullptr;  ///< of edges to `vertices`
  float* weights = nullptr;   ///< of the same
  static_assert(sizeof(Stored) == sizeof(Vertex) + sizeof(float));

  ParcelColumns(std::byte* memory, std::uint64_t capacity)
      : vertices(reinterpret_cast<Vertex*>(memory + capacity * sizeof(Stored))),
        values(reinterpret_cast<Stored*>(memory)),
        sources(reinterpret_cast<Vertex*>(memory)),
        weights(reinterpret_cast<float*>(memory + capacity * sizeof(Vertex))) {}
};

enum class ParcelUse {
  vertices,  ///< them alone
  sources,   ///< and the sources of the edges to them
  weights,   ///< and the weights of these
};

template <class Stored>
class RankParcels {
 public:
  using Columns = ParcelColumns<Stored>;

  RankParcels(const Device& device, std::uint64_t most)
      : capacity_(std::clamp<std::uint64_t>(most, 1, kParcelEntries)) {
    parcels_.make([&](Parcel& parcel) {
      parcel.host = Staging<std::byte>(device, capacity_ * kEntryBytes, "vertices on their way");
      parcel.device = Buffer<std::byte>(device, capacity_ * kEntryBytes, "vertices on their way");
    });
  }

  /// Sends `count` entries: pack(columns, begin, end) writes entries [begin, end), and work(columns, size)
  /// launches what is done with them on the device, on `stream`.
  template <class Pack, class Work>
  void send(std::uint64_t count, ParcelUse use, const cuda::Stream& stream, Pack&& pack, Work&& work) {
    for (std::uint64_t begin = 0; begin < count; begin += capacity_) {
      const std::uint64_t end = std::min(begin + capacity_, count), size = end - begin;
      const Parcel& parcel = parcels_.begin("vertices on their way");
      const Columns host(parcel.host.data(), capacity_), device(parcel.device.data(), capacity_);
      pack(host, begin, end);
      copy(device.vertices, host.vertices, size, stream);
      if (use == ParcelUse::sources || use == ParcelUse::weights)
        copy(device.sources, host.sources, size, stream);
      if (use == ParcelUse::weights) copy(device.weights, host.weights, size, stream);
      work(device, size);
      parcels_.end(stream);
    }
  }

  std::uint64_t bytes_sent() const { return sent_; }

 private:
  static constexpr std::uint64_t kEntryBytes = sizeof(Vertex) + sizeof(Stored);
  struct Parcel {
    Staging<std::byte> host;
    Buffer<std::byte> device;
  };

  template <class T>
  void copy(T* to, const T* from, std::uint64_t size, const cuda::Stream& stream) {
    cuda::check(cudaMemcpyAsync(to, from, size * sizeof(T), cudaMemcpyHostToDevice, stream.get()),
                "copying vertices");
    sent_ += size * sizeof(T);
  }

  std::uint64_t capacity_, sent_ = 0;
  cuda::TakeTurns<Parcel> parcels_;
};

}  // namespace sluice::pagerank
