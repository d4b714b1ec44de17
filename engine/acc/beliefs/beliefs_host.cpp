// Beliefs on the host: threads take ranges of vertices, each of which hears along its whole list.
#include <algorithm>
#include <atomic>

#include "engine/acc/beliefs/backend.hpp"
#include "engine/acc/beliefs/vertex_rounds.hpp"
#include "engine/exec/group.hpp"
#include "engine/exec/threads.hpp"

namespace sluice::acc {

namespace {

constexpr std::uint64_t kVerticesAtOnce = 1u << 10;

class HostBeliefs final : public BeliefBackend {
 public:
  explicit HostBeliefs(const AccGraph& graph)
      : lists_(graph.out()), threads_(graph.device().threads()), rounds_(lists_, threads_) {}

  std::uint64_t longest_list() override {
    std::uint64_t most = 0;
    for (std::uint64_t v = 0; v < lists_.vertices; ++v) most = std::max(most, begin_of(v + 1) - begin_of(v));
    return most;
  }

  bool find_reverse(const BeliefStart& start) override {
    std::atomic<bool> missing{false};
    over_vertices([&](Vertex v) {
      for (EdgeIndex e = begin_of(v); e < begin_of(v + 1ull); ++e) {
        start.reverse[e] = start.reverse_of(v, e);
        if (start.reverse[e] == BeliefStart::kNoEdge) missing = true;
      }
    });
    return !missing;
  }

  double begin(const BeliefStart& start) override {
    over_vertices([&](Vertex v) {
      for (EdgeIndex e = begin_of(v); e < begin_of(v + 1ull); ++e) start.begin_messages(e);
      start.begin_vertex(v);
    });
    return rounds_.round([&](Vertex v) { return combine(start.program, v); });
  }

  double round(const BeliefPropagation& program) override {
    double change = 0;
    with_states(program.states, [&](auto states) {
      change = rounds_.round([&](Vertex v) {
        for (EdgeIndex e = begin_of(v); e < begin_of(v + 1ull); ++e)
          if (program.reverse[e] != e && !program.compute<decltype(states)::value>(lists_.targets[e], e))
            return -1.0;
        return combine(program, v);
      });
    });
    return change;
  }

  void count(AccStats&) const override {}

 private:
  EdgeIndex begin_of(std::uint64_t v) const { return lists_.offsets[v]; }

  double combine(const BeliefPropagation& program, Vertex v) const {
    return program.combine(SingleLane{}, v, begin_of(v), begin_of(v + 1ull));
  }

  template <class Body>
  void over_vertices(Body&& body) const {
    parallel_blocks(threads_, lists_.vertices, kVerticesAtOnce,
                    [&](std::uint64_t begin, std::uint64_t end, unsigned) {
                      for (std::uint64_t v = begin; v < end; ++v) body(static_cast<Vertex>(v));
                    });
  }

  CsrView lists_;
  unsigned threads_;
  VertexRounds rounds_;
};

}  // namespace

std::unique_ptr<BeliefBackend> make_host_beliefs(const AccGraph& graph) {
  return std::make_unique<HostBeliefs>(graph);
}

}  // namespace sluice::acc
