#include <algorithm>
#include <numeric>
#include <vector>

#include "engine/acc/verify.hpp"
#include "engine/acc/verify_edges.hpp"
#include "engine/core/charged_vector.hpp"
#include "partition/build.hpp"
#include "partition/list_reader.hpp"

namespace sluice {

namespace {

/// Vertices whose lists are asked for at a time, where all are looked at.
constexpr std::uint64_t kVerticesAtOnce = 1u << 14;

/// The neighbours of vertices in either direction, wherever the graph has its lists.
class Neighbors {
 public:
  explicit Neighbors(const Graph& graph) : out_(out_lists(graph, false, 1)), in_(in_lists(graph)) {}

  /// Calls use(v, from, to) for every v of the vertices, which ascend: its neighbours are then at hand, for
  /// each() to hand over, and so are those of all vertices from `from` to `to`.
  template <class Use>
  void for_each(std::span<const Vertex> vertices, Use&& use) {
    out_.for_each(vertices, [&](const CsrView& out, std::size_t begin, std::size_t end) {
      out_here_ = out;
      if (!both_) return hand_over(vertices, begin, end, use);
      in_.for_each(vertices.subspan(begin, end - begin),
                   [&](const CsrView& in, std::size_t first, std::size_t last) {
                     in_here_ = in;
                     hand_over(vertices, begin + first, begin + last, use);
                   });
    });
  }

  /// Calls use(u) for every neighbour of v, which is at hand, once.
  template <class Use>
  void each(Vertex v, Use&& use) const {
    const auto list = [v](const CsrView& csr) {
      return std::span(csr.targets + csr.offsets[v], csr.offsets[v + 1ull] - csr.offsets[v]);
    };
    const auto a = list(out_here_);
    const auto b = both_ ? list(in_here_) : std::span<const Vertex>();
    // v itself is passed over as if it had been used.
    for (std::size_t i = 0, j = 0; i < a.size() || j < b.size();) {
      const bool of_b = i == a.size() || (j < b.size() && b[j] < a[i]);
      const Vertex u = of_b ? b[j] : a[i];
      while (i < a.size() && a[i] == u) ++i;
      while (j < b.size() && b[j] == u) ++j;
      if (u != v) use(u);
    }
  }

 private:
  ListReader in_lists(const Graph& graph) {
    both_ = graph.directed;
    if (!both_) return {{}, nullptr, false, 1};
    if (!graph.in.offsets.empty()) return {graph.in.view(), graph.in_elsewhere.get(), false, 1};
    if (graph.edges_elsewhere != nullptr)
      throw UsageError(
          "--verify: the graph stays in its file, which does not store in-edges (convert it with --reverse "
          "or --undirected, or raise --host-memory)");
    made_ = transpose(graph.out, 1);
    return {made_.view(), nullptr, false, 1};
  }

  template <class Use>
  static void hand_over(std::span<const Vertex> vertices, std::size_t begin, std::size_t end, Use&& use) {
    for (std::size_t i = begin; i < end; ++i) use(vertices[i], vertices[begin], vertices[end - 1]);
  }

  Csr made_;
  bool both_ = false;
  ListReader out_, in_;
  CsrView out_here_, in_here_;
};

/// Two proofs that need no order of all vertices. A core number is not too large: within its core every
/// vertex has that many neighbours. It is not too small: vertices go away one after the other, each when no
/// more neighbours than its core number are left of its own core; these would all stay if one of them were
/// in the next core.
class CoreCheck {
 public:
  CoreCheck(const Graph& graph, std::uint32_t k, std::span<const std::uint32_t> cores)
      : neighbors_(graph), k_(k), cores_(cores), left_(graph.vertices(), "checked cores") {}

  void run() {
    for_all([&](Vertex v) {
      left_[v] = 0;
      neighbors_.each(v, [&](Vertex u) { left_[v] += level(u) >= level(v); });
      require(left_[v] >= level(v), "vertex {} has core number {}, but {} neighbours in that core", v,
              cores_[v], left_[v]);
      if (goes(v) && left_[v] <= most(v)) front_.push_back(v);
    });
    std::uint64_t gone = 0;
    for (; !front_.empty(); front_.swap(next_), next_.clear()) {
      std::sort(front_.begin(), front_.end());
      neighbors_.for_each(front_, [&](Vertex v, Vertex from, Vertex to) {
        // What is at hand goes on at once: so a long chain is not read a link at a time.
        for (here_.push_back(v); !here_.empty(); ++gone) {
          const Vertex next = here_.back();
          here_.pop_back();
          take_away(next, from, to);
        }
      });
    }
    for (std::uint64_t v = 0; v < cores_.size() && gone < cores_.size(); ++v) {
      const bool stays = goes(static_cast<Vertex>(v)) && left_[v] > most(static_cast<Vertex>(v));
      require(!stays, "vertex {} is in a core above {}", v, most(static_cast<Vertex>(v)));
    }
  }

 private:
  /// With `k` there are two levels: its members, and the others.
  std::uint32_t level(Vertex v) const {
    if (k_ == 0) return cores_[v];
    return cores_[v] >= k_ ? k_ : 0;
  }
  /// Is it to be shown that v is in no higher core?
  bool goes(Vertex v) const { return k_ == 0 || cores_[v] < k_; }
  /// With so many neighbours left it is in none.
  std::uint32_t most(Vertex v) const { return k_ == 0 ? cores_[v] : k_ - 1; }

  template <class Use>
  void for_all(Use&& use) {
    std::vector<Vertex> some;
    for (std::uint64_t first = 0; first < cores_.size(); first += some.size()) {
      some.resize(std::min<std::uint64_t>(kVerticesAtOnce, cores_.size() - first));
      std::iota(some.begin(), some.end(), static_cast<Vertex>(first));
      neighbors_.for_each(some, [&](Vertex v, Vertex, Vertex) { use(v); });
    }
  }

  void take_away(Vertex v, Vertex from, Vertex to) {
    neighbors_.each(v, [&](Vertex u) {
      if (level(u) != level(v) || left_[u]-- != most(u) + 1) return;
      (u >= from && u <= to ? here_ : next_).push_back(u);
    });
  }

  Neighbors neighbors_;
  std::uint32_t k_;
  std::span<const std::uint32_t> cores_;
  HostArray<std::uint32_t> left_;  ///< neighbours of the same level or above that are still there
  ChargedVector<Vertex> front_, next_, here_;
};

}  // namespace

void verify_cores(const Graph& graph, std::uint32_t k, std::span<const std::uint32_t> cores,
                  Communicator* ranks) {
  // Who goes away next depends on all vertices: every rank looks at the whole graph.
  CoreCheck(graph, k, cores).run();
  wait_for_checks(ranks);
}

}  // namespace sluice
