// A state of every vertex in the executor's memory: how ranks' own begin, and how they become known to all.
#pragma once

#include <cstdint>

#include "engine/acc/rounds/rank_part.hpp"
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
      : rows_(rows), executor_(executor), states_(device, vertices, "vertex states") {}

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
    executor_.wait(label);
    rows_.router().share(states_.data(), label, 1, executor_.stream());
  }

 private:
  const RankPart& rows_;
  E& executor_;
  Buffer<State> states_;
};

}  // namespace sluice::acc
