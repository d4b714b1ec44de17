// How the ranks of a job send each other what an iteration of a dynamic method changed: a few vertices one by
// one, many as a whole. Each rank chooses what takes fewer bytes for its own; the size of what comes shows
// which of the two it is.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "engine/core/charged_vector.hpp"
#include "engine/core/host_array.hpp"
#include "engine/core/ownership.hpp"
#include "engine/core/types.hpp"
#include "engine/exchange/communicator.hpp"

namespace sluice::pagerank {

/// What came of other ranks' vertices.
struct ReceivedChanges {
  ChargedVector<Vertex> vertices;                               ///< one by one
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges;  ///< [begin, end), as a whole
};

class ChangeExchange {
 public:
  /// Keeps a reference. Rank r owns vertices [boundaries[r], boundaries[r + 1]).
  ChangeExchange(Communicator& ranks, std::vector<std::uint64_t> boundaries)
      : ranks_(ranks), owners_(std::move(boundaries)) {}

  bool alone() const { return ranks_.size() == 1; }
  Communicator& ranks() const { return ranks_; }
  std::uint64_t vertices() const { return owners_.vertices(); }
  /// This rank's vertices.
  std::uint64_t first() const { return begin_of(own()); }
  std::uint64_t last() const { return end_of(own()); }
  bool owns(Vertex v) const { return v >= first() && v < last(); }
  /// New vertices go to the last rank.
  void grow(std::uint64_t vertices) { owners_.grow(vertices); }

  std::uint64_t sum(std::uint64_t count) const {
    if (!alone()) ranks_.all_reduce(std::span(&count, 1), Reduce::sum, "a count of vertices");
    return count;
  }

  /// All vertices that some rank brings; each brings vertices of its own, none twice. All ranks call it.
  std::vector<Vertex> everywhere(std::vector<Vertex> affected) {
    if (alone()) return affected;
    if (affected.size() * sizeof(Vertex) < bits_of(own())) {
      send(std::as_bytes(std::span(affected)), "affected vertices");
    } else {
      HostArray<std::byte> bits(bits_of(own()), "affected vertices");
      std::ranges::fill(bits, std::byte{0});
      for (const Vertex v : affected) bits[(v - first()) / 8] |= std::byte{1} << (v - first()) % 8;
      send(bits.span(), "affected vertices");
    }
    received_.for_each([&](std::size_t rank, std::span<const std::byte> bytes) {
      if (bytes.size() == bits_of(rank)) {
        for (std::uint64_t i = 0; i < bytes.size() * 8; ++i) {
          if ((bytes[i / 8] >> i % 8 & std::byte{1}) == std::byte{1})
            affected.push_back(static_cast<Vertex>(begin_of(rank) + i));
        }
      } else {
        const std::size_t known = affected.size();
        affected.resize(known + bytes.size() / sizeof(Vertex));
        std::memcpy(affected.data() + known, bytes.data(), bytes.size());
      }
    });
    return affected;
  }

  /// Makes `shares` [vertices] on every rank what their owners have there; only those of `changed`, own
  /// vertices, may be others than before. All ranks call it. `received`: where to note what came.
  template <class Stored>
  void send_changed(Stored* shares, std::span<const Vertex> changed, ReceivedChanges* received = nullptr) {
    if (alone()) return;
    constexpr std::size_t entry = sizeof(Vertex) + sizeof(Stored);
    if (sends_all<Stored>(changed.size())) return send_all(shares, received);
    HostArray<std::byte> entries(changed.size() * entry, "changed contributions");
    std::byte* at = entries.data();
    for (const Vertex v : changed) {
      std::memcpy(at, &v, sizeof v);
      std::memcpy(at + sizeof v, shares + v, sizeof(Stored));
      at += entry;
    }
    send(entries.span(), "changed contributions");
    take(shares, received);
  }

  /// Whether send_changed() sends all of this rank's contributions where so many changed.
  template <class Stored>
  bool sends_all(std::size_t changed) const {
    return changed * (sizeof(Vertex) + sizeof(Stored)) >= (last() - first()) * sizeof(Stored);
  }

  /// The same where all may be others.
  template <class Stored>
  void send_all(Stored* shares, ReceivedChanges* received = nullptr) {
    if (alone()) return;
    send(std::as_bytes(std::span(shares + first(), last() - first())), "contributions");
    take(shares, received);
  }

 private:
  std::size_t own() const { return static_cast<std::size_t>(ranks_.rank()); }
  std::uint64_t begin_of(std::size_t rank) const { return owners_.begin(rank); }
  std::uint64_t end_of(std::size_t rank) const { return owners_.end(rank); }
  std::size_t bits_of(std::size_t rank) const { return (end_of(rank) - begin_of(rank) + 7) / 8; }

  void send(std::span<const std::byte> part, const char* label) {
    std::vector<std::span<const std::byte>> parts(static_cast<std::size_t>(ranks_.size()), part);
    parts[own()] = {};
    ranks_.all_to_all(parts, received_, label);
  }

  template <class Stored>
  void take(Stored* shares, ReceivedChanges* received) const {
    received_.for_each([&](std::size_t rank, std::span<const std::byte> bytes) {
      if (bytes.size() == (end_of(rank) - begin_of(rank)) * sizeof(Stored)) {
        std::memcpy(shares + begin_of(rank), bytes.data(), bytes.size());
        if (received != nullptr) received->ranges.emplace_back(begin_of(rank), end_of(rank));
        return;
      }
      constexpr std::size_t entry = sizeof(Vertex) + sizeof(Stored);
      for (std::size_t at = 0; at < bytes.size(); at += entry) {
        Vertex v;
        std::memcpy(&v, bytes.data() + at, sizeof v);
        std::memcpy(shares + v, bytes.data() + at + sizeof v, sizeof(Stored));
        if (received != nullptr) received->vertices.push_back(v);
      }
    });
  }

  Communicator& ranks_;
  Ownership owners_;
  Inbox received_;  ///< reused from iteration to iteration
};

}  // namespace sluice::pagerank
