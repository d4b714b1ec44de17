// The sub-graphs of balls on the host, one after the other in the same memory, which grows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "engine/exec/memory/buffer.hpp"
#include "engine/ppr/methods/sub_graph_view.hpp"

namespace sluice::ppr {

template <class M>
class HostSubGraph {
 public:
  /// Keeps a reference to the device.
  explicit HostSubGraph(const Device& device) : device_(device) {}

  /// For the next query.
  void begin() { most_bytes_ = 0; }
  /// Of the largest sub-graph of this query.
  std::uint64_t most_bytes() const { return most_bytes_; }
  /// At most, of a graph of this size: while lists move to a larger place the old one is there too.
  static std::uint64_t peak_bytes(const SubGraphSize& size) {
    SubGraphSize moving = size;
    moving.vertices = 0, moving.inner *= 2, moving.edges *= 2;
    return SubGraphView<M>::bytes(size) + SubGraphView<M>::bytes(moving);
  }

  /// Takes memory for lists of this size; those that are there stay. Throws BudgetError.
  void expect_lists(const SubGraphSize& size) {
    grow(offsets_, size.inner + 1);
    grow(targets_, size.edges);
    if (!size.weighted) return;
    grow(totals_, size.inner);
    grow(weights_, size.edges);
  }
  /// The same for masses, which are lost.
  void place(const SubGraphSize& size) {
    waiting_.reserve(device_, size.vertices, kPurpose);
    for (Buffer<M>* const masses : {&score_, &moving_}) masses->reserve(device_, size.inner, kPurpose);
    received_.reserve(device_, size.inner, kPurpose);
    most_bytes_ = std::max(most_bytes_, SubGraphView<M>::bytes(size));
  }
  SubGraphView<M> view() const {
    return {totals_.data(),  waiting_.data(), score_.data(),   moving_.data(),
            offsets_.data(), targets_.data(), weights_.data(), received_.data()};
  }

 private:
  static constexpr const char* kPurpose = "the sub-graph of a ball";

  template <class T>
  void grow(Buffer<T>& buffer, std::uint64_t size) {
    if (size <= buffer.size()) return;
    Buffer<T> larger(device_, std::max<std::uint64_t>(size, 2 * buffer.size()), kPurpose);
    std::copy_n(buffer.data(), buffer.size(), larger.data());
    buffer = std::move(larger);
  }

  const Device& device_;
  Buffer<double> totals_;
  Buffer<M> waiting_, score_, moving_;
  Buffer<std::uint32_t> offsets_, targets_;
  Buffer<float> weights_;
  Buffer<std::uint8_t> received_;
  std::uint64_t most_bytes_ = 0;
};

}  // namespace sluice::ppr
