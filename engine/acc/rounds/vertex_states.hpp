// A state of every vertex in the executor's memory: how ranks' own begin, and how they become known to all.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/acc/rounds/rank_part.hpp"
#include "engine/core/host_array.hpp"
#include "engine/exec/executor.hpp"
#include "engine/exec/memory/buffer.hpp"

namespace sluice::acc {

/// An own vertex takes the state to begin with. Pointers are to the executor's memory.
template <class Program>
struct BeginState {
  Program program;
  std::uint64_t first;
  const EdgeIndex* offsets;  ///< [own vertices + 1]
  typename Program::State* states;

  template <class Lane>
  SLUICE_HD void operator()(std::uint64_t i, Lane&) const {
    const auto v = static_cast<Vertex>(first + i);
    states[v] = program.init(v, offsets[i + 1] - offsets[i]);
  }
};

template <class State, Executor E>
class VertexStates {
 public:
  /// Keeps references.
  VertexStates(const Device& device, const RankPart& rows, E& executor, std::uint64_t vertices)
      : device_(device), rows_(rows), executor_(executor), states_(device, vertices, "vertex states") {}

  std::uint64_t size() const { return states_.size(); }
  State* data() const { return states_.data(); }

  /// Own vertices, whose lists begin at `offsets`, begin as the program says. Other ranks' states are what
  /// those say where they are `shared`, else 0. All ranks call it.
  template <class Program>
  void begin(const EdgeIndex* offsets, const Program& program, bool shared) {
    executor_.fill(states_.data(), 0, states_.bytes());
    executor_.for_each(rows_.last() - rows_.first(), {},
                       BeginState<Program>{program, rows_.first(), offsets, states_.data()});
    if (shared) share("the states to begin with");
  }

  /// Makes every state what the vertex's owner has. All ranks call it.
  void share(const char* label) {
    std::vector<ElementRange> ranges;
    for (std::uint64_t r = 0; r < rows_.owners().size(); ++r)
      ranges.push_back({rows_.owners().begin(r), rows_.owners().end(r)});
    send(ranges, label, [&](State* states) { rows_.router().share(states, label); });
  }
  /// Makes all what the first rank has. All ranks call it.
  void share_first(const char* label) {
    std::vector<ElementRange> ranges(rows_.owners().size(), {size(), size()});
    ranges[0] = {0, size()};
    send(ranges, label, [&](State* states) {
      rows_.ranks().broadcast(std::as_writable_bytes(std::span(states, size())), 0, label);
    });
  }

 private:
  /// From GPU to GPU, or by `by_hosts`, which sees all states in host memory.
  template <class ByHosts>
  void send(std::span<const ElementRange> ranges, const char* label, ByHosts&& by_hosts) {
    executor_.wait(label);
    if (ranges.size() == 1) return;
    if (DeviceRanks* const link = rows_.link()) {
      link->all_gather_ranges(states_.data(), ranges, sizeof(State), executor_.stream());
      link->wait(executor_.stream(), label);
    } else if (device_.is_cuda()) {
      HostArray<State> copy(size(), label);
      copy_to_host(device_, copy.data(), states_.data(), states_.bytes());
      by_hosts(copy.data());
      copy_to_device(device_, states_.data(), copy.data(), states_.bytes());
    } else {
      by_hosts(states_.data());
    }
  }

  const Device& device_;
  const RankPart& rows_;
  E& executor_;
  Buffer<State> states_;
};

}  // namespace sluice::acc
