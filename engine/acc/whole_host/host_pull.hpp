// A pull of one vertex on the host: its in-list up to the first neighbour that is active.
#pragma once

#include <cstdint>

#include "engine/acc/program.hpp"
#include "engine/acc/whole_host/host_bits.hpp"

namespace sluice::acc {

/// The in-list of v.
struct InList {
  Vertex v = 0;
  EdgeIndex begin = 0, end = 0;
  const Vertex* sources = nullptr;
  const float* weights = nullptr;
};

/// Has v got a value, and is it active so? Of those that would send one the first in the list decides.
/// `edges` grows by what was looked at. In a pull a state is one thread's: an exchange that locks it would
/// wait for every read before it.
template <VoteProgram Program>
bool pull_first(const Program& program, const AccRound& at, const InList& list, const VertexBits& front,
                typename Program::State* states, std::uint64_t& edges) {
  for (EdgeIndex e = list.begin; e < list.end; ++e) {
    const Vertex u = list.sources[e];
    if (!front.test(u)) continue;
    edges += e + 1 - list.begin;
    const auto value = program.compute({u, list.v, e, at, states, list.weights});
    const auto before = states[list.v], now = program.combine(before, value, at);
    if (now == before) return false;
    states[list.v] = now;
    return program.active(now, before, at);
  }
  edges += list.end - list.begin;
  return false;
}

}  // namespace sluice::acc
