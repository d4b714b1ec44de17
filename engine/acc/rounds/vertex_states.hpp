// A state of every vertex: in the executor's memory while rounds go on, and in host memory before the first
// and after the last. On the host backend both are one array.
#pragma once

#include <algorithm>
#include <cstdint>

#include "engine/acc/rounds/rank_part.hpp"
#include "engine/core/host_array.hpp"
#include "engine/exec/memory/buffer.hpp"
#include "engine/exec/threads.hpp"

namespace sluice::acc {

template <class State>
class VertexStates {
 public:
  VertexStates(const Device& device, std::uint64_t vertices)
      : device_(device),
        states_(device, vertices, "vertex states"),
        copy_(device.is_cuda() ? vertices : 0, "results") {}

  std::uint64_t size() const { return states_.size(); }
  /// The executor's.
  State* data() const { return states_.data(); }
  /// In host memory.
  State* on_host() { return copies() ? copy_.data() : states_.data(); }
  const State* on_host() const { return copies() ? copy_.data() : states_.data(); }

  /// Own vertices begin as the program says. Other ranks' states are what those say where they are `shared`,
  /// else 0. All ranks call it.
  template <class Program>
  void begin(const RankPart& rows, const Program& program, bool shared) {
    State* const states = on_host();
    std::fill(states, states + rows.first(), State{0});
    std::fill(states + rows.last(), states + size(), State{0});
    parallel_blocks(device_.threads(), rows.last() - rows.first(), kStatesAtOnce,
                    [&](std::uint64_t begin, std::uint64_t end, unsigned) {
                      for (std::uint64_t i = rows.first() + begin; i < rows.first() + end; ++i) {
                        const auto v = static_cast<Vertex>(i);
                        states[v] = program.init(v, rows.degree(v));
                      }
                    });
    if (shared) rows.router().share(states, "the states to begin with");
    if (copies()) copy_to_device(device_, states_.data(), states, states_.bytes());
  }

  /// Copies those of [begin, end) to host memory.
  void read(std::uint64_t begin, std::uint64_t end) {
    if (copies())
      copy_to_host(device_, copy_.data() + begin, states_.data() + begin, (end - begin) * sizeof(State));
  }

 private:
  static constexpr std::uint64_t kStatesAtOnce = 1u << 16;

  bool copies() const { return device_.is_cuda(); }

  const Device& device_;
  Buffer<State> states_;
  HostArray<State> copy_;
};

}  // namespace sluice::acc
