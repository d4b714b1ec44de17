// `node` samples over ranks that each own a range of partitions. Draws belong to the instance, so every rank
// draws the sets of all ranks' instances by itself and looks through the lists that it owns; only the edges
// that it finds go home. Ranks own ascending ranges of vertices: an instance's edges are in order when those
// of one rank stand behind those of the rank before.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/core/host_array.hpp"
#include "engine/drive/sample_homes.hpp"
#include "engine/drive/wire.hpp"
#include "engine/exchange/communicator.hpp"
#include "engine/sampling/run.hpp"
#include "engine/select/graph_view.hpp"

namespace sluice {

class NodeRanks {
 public:
  NodeRanks(Communicator& ranks, RunStats& stats) : ranks_(ranks), stats_(stats) {}

  /// A wave begins, here with `mine`; returns the instances of all ranks, in order of rank.
  const std::vector<HomeWave>& begin(const HomeWave& mine) {
    counts_ = {}, begins_ = {}, edges_ = {};  // the wave before has left
    return homes_ = gather_waves(ranks_, mine);
  }
  std::size_t own() const { return static_cast<std::size_t>(ranks_.rank()); }

  /// `counts` are the edges that this rank has found of every instance of the wave, and `edges` are these.
  /// All ranks call it.
  void send_home(std::span<const std::uint64_t> counts, std::span<const Edge> edges) {
    std::vector<std::uint64_t> instances, found;
    const std::uint64_t* count = counts.data();
    for (const HomeWave& home : homes_) {
      instances.push_back(home.count);
      found.push_back(0);
      for (std::uint64_t i = 0; i < home.count; ++i) found.back() += *count++;
    }
    counts_.exchange(ranks_, counts, instances, kPurpose);
    edges_.exchange(ranks_, edges, found, kPurpose);
    stats_.entries_sent += edges.size() - found[own()];
    stats_.entries_received += edges_.values().size() - edges_.counts()[own()];
  }

  /// What has come is this rank's to pay for from now on. Throws BudgetError.
  void accept() {
    counts_.charge(kPurpose), edges_.charge(kPurpose);
    begins_ = HostArray<std::uint64_t>(counts_.values().size(), kPurpose);
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < begins_.size(); ++i) {
      begins_[i] = sum;
      sum += counts_.values()[i];
    }
  }
  std::uint64_t edges() const { return edges_.values().size(); }

  /// Calls body(edge) for all edges of this rank's instance `i` of the wave, in order.
  template <class Body>
  void for_each_edge(std::uint64_t i, Body&& body) const {
    for (; i < begins_.size(); i += homes_[own()].count) {
      for (const Edge& edge : edges_.values().subspan(begins_[i], counts_.values()[i])) body(edge);
    }
  }

 private:
  static constexpr const char* kPurpose = "edges from other ranks";

  Communicator& ranks_;
  RunStats& stats_;
  std::vector<HomeWave> homes_;  ///< by rank
  // What came home, in order of the rank that found it.
  Wire<std::uint64_t> counts_;       ///< edges of each instance
  HostArray<std::uint64_t> begins_;  ///< where they begin
  Wire<Edge> edges_;
};

}  // namespace sluice
