// Sums of a job's plan (plan.cpp): what lies on the device, in the order in which the run takes it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "engine/core/error.hpp"
#include "engine/graph/wide.hpp"
#include "engine/memory/paged_plan.hpp"
#include "engine/sampling/run.hpp"
#include "engine/sampling/shard_plan.hpp"
#include "engine/select/build_tables.hpp"
#include "engine/walks/partitioned/walk.hpp"

namespace sluice {

/// Sums of one job. Bytes are those that are charged to the device's budget.
class Planner {
 public:
  Planner(const Device& device, const Graph& graph, const Starts& starts, const RunOptions& options)
      : device_(device), graph_(graph), starts_(starts), options_(options) {
    const InstanceRange range = starts.range(vertices(), options.first_instance, options.last_instance);
    instances_ = range.end - range.begin;
    const bool weights = graph.weighted;
    if (device.is_cuda()) {
      plan_.graph_bytes =
          (vertices() + 1) * sizeof(EdgeIndex) + edges() * (sizeof(Vertex) + (weights ? sizeof(float) : 0));
    }
    if (weights) plan_.graph_bytes += vertices() * sizeof(std::int16_t);  // exponents
    if (starts.mode == Starts::Mode::listed) {
      starts_bytes_ = starts.vertices.size() * sizeof(Vertex) + starts.offsets.size() * sizeof(std::uint64_t);
    }
  }

  std::uint64_t vertices() const { return graph_.vertices(); }
  std::uint64_t edges() const { return graph_.edges(); }
  Instance instances() const { return instances_; }
  bool on_gpu() const { return device_.is_cuda(); }
  const Device& device() const { return device_; }
  unsigned threads() const { return device_.threads(); }
  Bias effective(Bias bias) const { return bias == Bias::weight && !graph_.weighted ? Bias::none : bias; }
  std::uint64_t id_bytes() const { return vertices() > 0x7fffffffu ? 8 : 4; }

  std::uint64_t most_seeds(std::uint64_t drawn) const { return starts_.most_seeds(drawn); }
  std::uint64_t max_degree() const {
    look_at_degrees();
    return max_degree_;
  }

  void add_ctps() {
    plan_.table_bytes += edges() * sizeof(std::uint64_t);
    columns_.cumulative = true;
  }
  void add_alias() {
    plan_.table_bytes += edges() * (sizeof(std::uint64_t) + sizeof(std::uint32_t));
    columns_.alias = true;
    make_alias();
  }
  void add_bounds() {
    plan_.table_bytes += vertices() * (sizeof(std::uint64_t) + sizeof(std::uint32_t));
    bounds_ = true;
  }

  /// Edges as the walk reads them.
  void add_edges(std::uint64_t length) {
    const std::uint64_t each =
        EdgePacking::of(vertices(), edges()).worthwhile() ? sizeof(std::uint64_t) : sizeof(WideEdge);
    if (choose_wide(each, length)) plan_.table_bytes += edges() * each;
  }
  void add_alias_of_walk(std::uint64_t length) {
    make_alias();
    if (!choose_wide(sizeof(WideAlias), length)) return add_alias();
    plan_.table_bytes += edges() * sizeof(WideAlias);
  }

  /// As WalkRun::stay_csr.
  void stay_csr() const { static_cast<void>(wide_is_possible()); }

  /// Whether walks of rows of so many bytes have the lists coded, as WalkRun::take_codes finds.
  bool take_codes(const PagingOptions& paging, std::uint64_t row_bytes, std::uint64_t steps) {
    columns_.coded = true;
    if (options_.layout == Layout::automatic) {
      const std::uint64_t instances = std::max<Instance>(instances_, 1);
      const PagedPlan parts =
          plan_pages(device_, graph_, paging, columns_, paged_walk_bytes(on_gpu(), false) + row_bytes,
                     instances, steps, vertex_bytes(), row_bytes);
      columns_.coded = !reads_in_place(parts, paging, edges() * sizeof(Vertex), instances, steps);
    }
    if (columns_.coded) plan_.layout = Layout::coded;
    return columns_.coded;
  }
  /// Device memory beside the graph and the tables so far.
  std::uint64_t left() const {
    const std::uint64_t taken = plan_.graph_bytes + starts_bytes_ + plan_.table_bytes;
    const std::uint64_t free = device_.memory().available();
    return free > taken ? free - taken : 0;
  }
  void select(Select technique) { plan_.select = technique; }
  void without_starts() { starts_bytes_ = 0; }
  void batch(std::uint64_t bytes) { plan_.batch_bytes = bytes; }
  void result(std::uint64_t bytes) { plan_.result_bytes = bytes; }

  /// What lies on the device however the graph is worked on, without its edges.
  std::uint64_t vertex_bytes() const {
    return (on_gpu() ? (vertices() + 1) * sizeof(EdgeIndex) : 0) + starts_bytes_ +
           (graph_.weighted ? vertices() * sizeof(std::int16_t) : 0) +
           (bounds_ ? vertices() * (sizeof(std::uint64_t) + sizeof(std::uint32_t)) : 0);
  }
  /// In partitions: weights come along with the targets.
  void bring_weights() { columns_.weights = graph_.weighted; }
  bool has_bounds() const { return bounds_; }

  /// As finish, where the graph is worked on in partitions: `each` bytes an instance under way, `steps`
  /// moves. `on_ranks` says more, for ranks that share out the graph.
  RunPlan finish_in_parts(const PagingOptions& paging, std::uint64_t each, std::uint64_t steps,
                          ShardedPlanInput on_ranks = {}) {
    const std::uint64_t taken = vertex_bytes(), instances = std::max<Instance>(instances_, 1);
    if (paging.shard) {
      on_ranks.columns = columns_, on_ranks.instances = instances, on_ranks.steps = steps;
      on_ranks.instance_bytes = each, on_ranks.taken = taken;
      plan_on_ranks(plan_, device_, graph_, paging, on_ranks);
      return plan_;
    }
    PagedPlan parts =
        plan_pages(device_, graph_, paging, columns_, each, instances, steps, taken, on_ranks.row_bytes);
    plan_.graph_bytes = taken + parts.slot_bytes;
    plan_.table_bytes = 0;
    plan_.batch_bytes = parts.batch * parts.instance_bytes;
    plan_.device_bytes_needed = plan_.graph_bytes + plan_.batch_bytes;
    plan_.slots = parts.slots;
    plan_.brought_bytes = parts.brought_bytes;
    plan_.partitions = std::move(parts.partitions);
    return plan_;
  }

  /// As finish, where the graph is worked on in partitions, and no edge is needed on the device.
  RunPlan finish_without_edges() {
    plan_.graph_bytes = vertex_bytes();
    edges_there_ = false;
    return finish();
  }

  RunPlan finish() {
    if (instances_ == 0) plan_.batch_bytes = 0;
    if (on_gpu() && edges_there_) {
      look_at_degrees();
      plan_.graph_bytes += hubs_ * sizeof(Vertex);
    }
    // What tables are made with has gone when the first batch comes.
    plan_.batch_bytes = std::max(plan_.batch_bytes, scratch_bytes_) + starts_bytes_;
    plan_.device_bytes_needed = plan_.graph_bytes + plan_.table_bytes + plan_.batch_bytes;
    return plan_;
  }

 private:
  void look_at_degrees() const {
    if (looked_) return;
    looked_ = true;
    for (std::uint64_t v = 0; v < vertices(); ++v) {
      const EdgeIndex degree = graph_.out.offsets[v + 1] - graph_.out.offsets[v];
      max_degree_ = std::max<std::uint64_t>(max_degree_, degree);
      if (degree > GraphView::kHubDegree) ++hubs_;
    }
  }
  void make_alias() {
    if (!on_gpu()) return;
    look_at_degrees();
    scratch_bytes_ = hub_scratch_bytes(device_, hubs_, max_degree_);
  }
  /// Can offsets and degrees be packed? If it is asked for, they must.
  bool wide_is_possible() const {
    const bool possible = edges() <= PackedRow::kMaxOffset && max_degree() <= PackedRow::kMaxDegree;
    if (options_.layout == Layout::wide && !possible) {
      throw UsageError("--layout wide: offsets need more than 40 bits or degrees more than 24; use csr");
    }
    return possible;
  }
  /// As WalkRun::use_wide, before any table of the wide layout exists.
  bool choose_wide(std::uint64_t bytes_per_edge, std::uint64_t length) {
    if (options_.layout == Layout::csr) return false;
    const bool possible = wide_is_possible();
    const bool often = instances_ * length >= edges() / 2;
    const std::uint64_t beside = std::max(std::uint64_t{64} << 20, scratch_bytes_);
    const bool pays = often && edges() * bytes_per_edge + beside <= left();
    const bool wide = possible && (options_.layout == Layout::wide || pays);
    plan_.layout = wide ? Layout::wide : Layout::csr;
    return wide;
  }

  const Device& device_;
  const Graph& graph_;
  const Starts& starts_;
  const RunOptions& options_;
  Instance instances_ = 0;
  std::uint64_t starts_bytes_ = 0;
  PageColumns columns_;
  bool bounds_ = false, edges_there_ = true;
  std::uint64_t scratch_bytes_ = 0;  ///< of tables, while they are made
  mutable bool looked_ = false;
  mutable std::uint64_t max_degree_ = 0, hubs_ = 0;
  RunPlan plan_;
};

}  // namespace sluice
