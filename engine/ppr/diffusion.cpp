#include "engine/ppr/diffusion.hpp"

#include <utility>

namespace sluice {

Diffusion::Diffusion(const Device& device, const CsrView& graph, const PprOptions& options)
    : graph_(graph),
      continuation_(Continuation::of(options.alpha)),
      weighted_(options.weighted),
      dangling_(options.dangling),
      reached_(device, graph.vertices) {}

void Diffusion::clear() {
  reached_.clear();
  under_way_ = returning_ = 0;
  edges_ = 0;
}

void Diffusion::begin(const Seeds& seeds) {
  begin_empty(seeds);
  seeds.split(kWholeMass, [this](Vertex vertex, Mass mass) { give(vertex, mass); });
  now_ ^= 1;
}

void Diffusion::begin_at(Vertex vertex, Mass mass) {
  clear();
  give(vertex, mass);
  now_ ^= 1;
}

void Diffusion::begin_empty(const Seeds& seeds) {
  clear();
  seeds_ = &seeds;
}

void Diffusion::step(Mass joining) {
  split_all();
  returning_ += joining;
  give_back();
  now_ ^= 1;
}

Mass Diffusion::step_without_return() {
  split_all();
  now_ ^= 1;
  return returning_;
}

void Diffusion::split_all() {
  under_way_ = returning_ = 0;
  const std::uint32_t before = reached_.size();
  for (std::uint32_t number = 0; number < before; ++number) {
    if (reached_[number].waiting[now_] != 0) split(reached_[number]);
  }
}

bool Diffusion::push(Mass least) {
  under_way_ = returning_ = 0;
  const std::uint32_t before = reached_.size();
  bool pushed = false;
  for (std::uint32_t number = 0; number < before; ++number) {
    Reached& entry = reached_[number];
    const Mass mass = entry.waiting[now_];
    if (mass == 0) continue;
    const EdgeIndex degree = graph_.offsets[entry.vertex + 1] - graph_.offsets[entry.vertex];
    if (reaches(mass, least, degree)) {
      split(entry);
      pushed = true;
    } else {
      entry.waiting[now_] = 0;
      entry.waiting[now_ ^ 1] += mass;
      under_way_ += mass;
    }
  }
  give_back();
  now_ ^= 1;
  return pushed;
}

void Diffusion::split(Reached& entry) {
  const Mass mass = std::exchange(entry.waiting[now_], 0);
  entry.score += continuation_.kept(mass);
  spread(entry.vertex, continuation_.followed(mass));
}

void Diffusion::spread(Vertex vertex, Mass mass) {
  const EdgeIndex begin = graph_.offsets[vertex], end = graph_.offsets[vertex + 1];
  if (begin == end || (weighted_ && !spread_by_weight(vertex, mass))) {
    returning_ += mass;
    return;
  }
  edges_ += end - begin;
  const Mass share = mass / (end - begin);
  if (weighted_ || share == 0) return;
  for (EdgeIndex edge = begin; edge < end; ++edge) give(graph_.targets[edge], share);
}

/// False where no edge has a weight above 0.
bool Diffusion::spread_by_weight(Vertex vertex, Mass mass) {
  const EdgeIndex begin = graph_.offsets[vertex], end = graph_.offsets[vertex + 1];
  double total = 0;
  for (EdgeIndex edge = begin; edge < end; ++edge) total += static_cast<double>(graph_.weights[edge]);
  if (total == 0) return false;
  const double per_weight = mass_per_weight(mass, total);
  for (EdgeIndex edge = begin; edge < end; ++edge) {
    const Mass share = weighted_share(per_weight, static_cast<double>(graph_.weights[edge]));
    if (share != 0) give(graph_.targets[edge], share);
  }
  return true;
}

void Diffusion::give_back() {
  if (returning_ == 0) return;
  if (dangling_ == PprDangling::seed) {
    seeds_->split(returning_, [this](Vertex vertex, Mass mass) { give(vertex, mass); });
    return;
  }
  const Mass share = returning_ / graph_.vertices;
  if (share == 0) return;
  for (std::uint64_t v = 0; v < graph_.vertices; ++v) give(static_cast<Vertex>(v), share);
}

void Diffusion::settle() {
  for (Reached& entry : reached_) entry.score += std::exchange(entry.waiting[now_], 0);
  under_way_ = 0;
}

void Diffusion::settle_share() {
  for (Reached& entry : reached_) {
    const Mass mass = std::exchange(entry.waiting[now_], 0);
    if (mass != 0) entry.score += continuation_.kept(mass);
  }
  under_way_ = 0;
}

}  // namespace sluice
