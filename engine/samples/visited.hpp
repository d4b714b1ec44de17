// The host's set of vertices that an instance has visited: open addressing, cleared by a new epoch.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/core/types.hpp"

namespace sluice::samples::host {

class VisitedSet {
 public:
  VisitedSet() : slots_(64) {}

  void clear() {
    size_ = 0;
    if (++epoch_ == 0) {
      slots_.assign(slots_.size(), {});
      epoch_ = 1;
    }
  }
  /// Returns false if the set already contains `vertex`.
  bool insert(Vertex vertex) {
    if (2 * (size_ + 1) > slots_.size()) grow();
    Slot& slot = find(vertex);
    if (slot.epoch == epoch_) return false;
    slot = {vertex, epoch_};
    ++size_;
    return true;
  }
  bool contains(Vertex vertex) { return find(vertex).epoch == epoch_; }

 private:
  struct Slot {
    Vertex vertex = 0;
    std::uint32_t epoch = 0;
  };

  Slot& find(Vertex vertex) {
    std::size_t slot = (vertex * 0x9E3779B97F4A7C15ull >> 32) & (slots_.size() - 1);
    while (slots_[slot].epoch == epoch_ && slots_[slot].vertex != vertex)
      slot = (slot + 1) & (slots_.size() - 1);
    return slots_[slot];
  }
  void grow() {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.epoch == epoch_) find(slot.vertex) = slot;
    }
  }

  std::vector<Slot> slots_;
  std::uint32_t epoch_ = 1;
  std::size_t size_ = 0;
};

}  // namespace sluice::samples::host
