// Entries of vertices that the host sends to its GPU: targets of edges from expanded sources. The host packs
// a parcel while kernels work on the one before. Nothing here leaves the rank: no router is involved.
#pragma once

#include <algorithm>
#include <cstdint>

#include "engine/core/types.hpp"
#include "engine/exec/memory/buffer.hpp"
#include "engine/exec/memory/take_turns.cuh"
#include "engine/exec/stream.cuh"
#include "engine/pagerank/dynamic/changed_rows.hpp"

namespace sluice::pagerank {

/// Columns of entries: `vertices`, and either `values` (device_shares.cuh) or `sources` and `weights`.
template <class Stored>
struct ParcelColumns {
  Vertex* vertices = nullptr;
  Stored* values = nullptr;   ///< contributions of vertices
  Vertex* sources = nullptr;  ///< of edges to `vertices`
  float* weights = nullptr;   ///< of the same edges
  static_assert(sizeof(Stored) == sizeof(Vertex) + sizeof(float));

  ParcelColumns(std::byte* memory, std::uint64_t capacity)
      : vertices(reinterpret_cast<Vertex*>(memory + capacity * sizeof(Stored))),
        values(reinterpret_cast<Stored*>(memory)),
        sources(reinterpret_cast<Vertex*>(memory)),
        weights(reinterpret_cast<float*>(memory + capacity * sizeof(Vertex))) {}
};

enum class ParcelUse {
  vertices,  ///< vertices alone
  sources,   ///< also the sources of the edges to them
  weights,   ///< also the weights of these edges
};

template <class Stored>
class RankParcels {
 public:
  using Columns = ParcelColumns<Stored>;

  RankParcels(const Device& device, std::uint64_t max_entries)
      : capacity_(std::clamp<std::uint64_t>(max_entries, 1, kParcelEntries)) {
    parcels_.for_each_buffer([&](Parcel& parcel) {
      parcel.host = Staging<std::byte>(device, capacity_ * kEntryBytes, "vertices in transit");
      parcel.device = Buffer<std::byte>(device, capacity_ * kEntryBytes, "vertices in transit");
    });
  }

  /// Sends `count` entries: pack(columns, begin, end) writes entries [begin, end), and work(columns, size)
  /// launches the kernels for them on `stream`.
  template <class Pack, class Work>
  void send(std::uint64_t count, ParcelUse use, const cuda::Stream& stream, Pack&& pack, Work&& work) {
    for (std::uint64_t begin = 0; begin < count; begin += capacity_) {
      const std::uint64_t end = std::min(begin + capacity_, count), size = end - begin;
      const Parcel& parcel = parcels_.acquire("vertices in transit");
      const Columns host(parcel.host.data(), capacity_), device(parcel.device.data(), capacity_);
      pack(host, begin, end);
      copy(device.vertices, host.vertices, size, stream);
      if (use == ParcelUse::sources || use == ParcelUse::weights)
        copy(device.sources, host.sources, size, stream);
      if (use == ParcelUse::weights) copy(device.weights, host.weights, size, stream);
      work(device, size);
      parcels_.release(stream);
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
  cuda::DoubleBuffer<Parcel> parcels_;
};

}  // namespace sluice::pagerank
