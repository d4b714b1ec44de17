// States of all vertices in the executor's memory: their initial values, and exchange between ranks.
#pragma once

#include <cstdint>

#include "engine/acc/rounds/rank_part.hpp"
#include "engine/exec/executor.hpp"
#include "engine/exec/memory/buffer.hpp"

namespace sluice::acc {

/// Sets the initial state of own vertices. Pointers are to the executor's memory.
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
  VertexStates(const Device& device, const RankPart& part, E& executor, std::uint64_t vertices)
      : part_(part), executor_(executor), states_(device, vertices, "vertex states") {}

  std::uint64_t size() const { return states_.size(); }
  State* data() const { return states_.data(); }

  /// Sets the initial states of own vertices, whose lists begin at `offsets`. Other ranks' states become
  /// those of their owners if `shared`, else 0. All ranks call it.
  template <class Program>
  void begin(const EdgeIndex* offsets, const Program& program, bool shared) {
    executor_.fill(states_.data(), 0, states_.bytes());
    executor_.for_each(part_.last() - part_.first(), {},
                       BeginState<Program>{program, part_.first(), offsets, states_.data()});
    if (shared) share("initial states");
  }

  /// Copies every state from the vertex's owner. All ranks call it.
  void share(const char* label) {
    executor_.wait(label);
    part_.router().share(states_.data(), label, 1, executor_.stream());
  }

 private:
  const RankPart& part_;
  E& executor_;
  Buffer<State> states_;
};

}  // namespace sluice::acc
