#include <algorithm>
#include <atomic>
#include <numeric>
#include <vector>

#include "engine/acc/verify.hpp"
#include "engine/acc/verify_edges.hpp"
#include "partition/build.hpp"
#include "partition/list_reader.hpp"

namespace sluice::acc {

namespace {

/// Vertices whose lists are requested at a time when all vertices are checked.
constexpr std::uint64_t kVerticesAtOnce = 1u << 16;
/// Lists that a thread takes at a time.
constexpr std::uint64_t kListsAtOnce = 256;

/// The neighbours of vertices in both directions, from lists in memory or in the graph's file.
class Neighbors {
 public:
  Neighbors(const Graph& graph, unsigned threads)
      : threads_(threads), out_(out_lists(graph, false, threads)), in_(in_lists(graph)) {}

  /// Lists of the vertices from `first` to `last`, inclusive.
  class Adjacency {
   public:
    Adjacency(const CsrView& out, const CsrView& in, Vertex first, Vertex last)
        : out_(out), in_(in), first_(first), last_(last) {}

    bool has(Vertex v) const { return v >= first_ && v <= last_; }
    /// Calls use(u) for every neighbour of v once.
    template <class Use>
    void for_each_neighbor(Vertex v, Use&& use) const {
      const auto a = list(out_, v), b = list(in_, v);
      // v itself is skipped.
      for (std::size_t i = 0, j = 0; i < a.size() || j < b.size();) {
        const bool from_b = i == a.size() || (j < b.size() && b[j] < a[i]);
        const Vertex u = from_b ? b[j] : a[i];
        while (i < a.size() && a[i] == u) ++i;
        while (j < b.size() && b[j] == u) ++j;
        if (u != v) use(u);
      }
    }

   private:
    static std::span<const Vertex> list(const CsrView& csr, Vertex v) {
      if (csr.offsets == nullptr) return {};
      return {csr.targets + csr.offsets[v], csr.offsets[v + 1ull] - csr.offsets[v]};
    }

    CsrView out_, in_;
    Vertex first_, last_;
  };

  /// Calls use(v, adjacency) for every v of `vertices`, which must ascend, on several threads.
  template <class Use>
  void for_each(std::span<const Vertex> vertices, Use&& use) const {
    out_.for_each(vertices, [&](const CsrView& out, std::size_t begin, std::size_t end) {
      const auto chunk = vertices.subspan(begin, end - begin);
      if (!directed_) return process(chunk, out, {}, use);
      in_.for_each(chunk, [&](const CsrView& in, std::size_t first, std::size_t last) {
        process(chunk.subspan(first, last - first), out, in, use);
      });
    });
  }

 private:
  ListReader in_lists(const Graph& graph) {
    directed_ = graph.directed;
    if (!directed_) return {{}, nullptr, false, threads_};
    if (!graph.in.offsets.empty()) return {graph.in.view(), graph.in_edge_source.get(), false, threads_};
    if (graph.edge_source != nullptr) {
      throw UsageError(
          "--verify: the graph stays in its file, which does not store in-edges (convert its edges with "
          "--reverse or --undirected, or raise --host-memory)");
    }
    transposed_ = transpose(graph.out, threads_);
    return {host_budget().counts_only() ? CsrView{} : transposed_.view(), nullptr, false, threads_};
  }

  template <class Use>
  void process(std::span<const Vertex> vertices, const CsrView& out, const CsrView& in, Use&& use) const {
    if (vertices.empty()) return;
    const Adjacency adjacency(out, in, vertices.front(), vertices.back());
    parallel_blocks(threads_, vertices.size(), kListsAtOnce,
                    [&](std::uint64_t begin, std::uint64_t end, unsigned) {
                      for (std::uint64_t i = begin; i < end; ++i) use(vertices[i], adjacency);
                    });
  }

  unsigned threads_;
  Csr transposed_;
  bool directed_ = false;
  ListReader out_, in_;
};

/// Two proofs that need no global order of vertices. A core number is not too large: within its core every
/// vertex has that many neighbours. It is not too small: a vertex is removed when at most as many of its
/// neighbours as its core number are left in its own core. If a vertex were in the next core, it and its
/// neighbours there would never be removed. The order of removals does not matter.
class CoreCheck {
 public:
  CoreCheck(const Graph& graph, std::uint32_t k, std::span<const std::uint32_t> cores, unsigned threads)
      : neighbors_(graph, threads),
        k_(k),
        cores_(cores),
        remaining_(cores.size(), "checked cores"),
        removals_(cores.size(), "checked cores") {}

  void run() {
    for_all([&](Vertex v, const Neighbors::Adjacency& adjacency) {
      std::uint32_t remaining = 0;
      adjacency.for_each_neighbor(v, [&](Vertex u) { remaining += level(u) >= level(v); });
      require(remaining >= level(v), "vertex {} has core number {}, but {} neighbours in that core", v,
              cores_[v], remaining);
      remaining_[v] = remaining;
      if (must_remove(v) && remaining <= removal_bound(v)) removals_[last_++] = v;
    });
    for (std::uint64_t first = 0, last; first < (last = last_); first = last) {
      const auto batch = removals_.span().subspan(first, last - first);
      std::sort(batch.begin(), batch.end());
      neighbors_.for_each(batch,
                          [&](Vertex v, const Neighbors::Adjacency& adjacency) { remove(v, adjacency); });
    }
    for (std::uint64_t v = 0; v < cores_.size() && removed_ < cores_.size(); ++v) {
      const bool is_left =
          must_remove(static_cast<Vertex>(v)) && remaining_[v] > removal_bound(static_cast<Vertex>(v));
      require(!is_left, "vertex {} is in a core above {}", v, removal_bound(static_cast<Vertex>(v)));
    }
  }

 private:
  /// With `k` there are two levels: members of the k-core, and other vertices.
  std::uint32_t level(Vertex v) const {
    if (k_ == 0) return cores_[v];
    return cores_[v] >= k_ ? k_ : 0;
  }
  /// Must the check show that v is in no higher core?
  bool must_remove(Vertex v) const { return k_ == 0 || cores_[v] < k_; }
  /// With at most this many neighbours left, v is in no higher core.
  std::uint32_t removal_bound(Vertex v) const { return k_ == 0 ? cores_[v] : k_ - 1; }

  template <class Use>
  void for_all(Use&& use) {
    std::vector<Vertex> chunk;
    for (std::uint64_t first = 0; first < cores_.size(); first += chunk.size()) {
      chunk.resize(std::min<std::uint64_t>(kVerticesAtOnce, cores_.size() - first));
      std::iota(chunk.begin(), chunk.end(), static_cast<Vertex>(first));
      neighbors_.for_each(chunk, use);
    }
  }

  /// Removes v, and then those removable vertices whose lists are loaded: a long chain is not read one vertex
  /// at a time.
  void remove(Vertex v, const Neighbors::Adjacency& adjacency) {
    Vertex stack[kStackSize];
    std::size_t stack_size = 0;
    std::uint64_t removed = 0;
    for (stack[stack_size++] = v; stack_size > 0; ++removed) {
      const Vertex next = stack[--stack_size];
      adjacency.for_each_neighbor(next, [&](Vertex u) {
        if (level(u) != level(next)) return;
        if (std::atomic_ref(remaining_[u]).fetch_sub(1, std::memory_order_relaxed) != removal_bound(u) + 1)
          return;
        if (adjacency.has(u) && stack_size < kStackSize) {
          stack[stack_size++] = u;
        } else {
          removals_[last_++] = u;
        }
      });
    }
    removed_ += removed;
  }

  static constexpr std::size_t kStackSize = 256;

  Neighbors neighbors_;
  std::uint32_t k_;
  std::span<const std::uint32_t> cores_;
  HostArray<std::uint32_t> remaining_;  ///< remaining neighbours of the same level or above
  HostArray<Vertex> removals_;          ///< vertices to remove, round by round; each at most once
  std::atomic<std::uint64_t> last_ = 0, removed_ = 0;
};

}  // namespace

void verify_cores(const Graph& graph, std::uint32_t k, std::span<const std::uint32_t> cores,
                  Communicator* ranks, unsigned threads) {
  // The next removals depend on all vertices, so every rank checks the whole graph.
  CoreCheck check(graph, k, cores, threads);
  if (host_budget().counts_only()) return;
  check.run();
  wait_for_checks(ranks);
}

}  // namespace sluice::acc
