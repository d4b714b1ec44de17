#include "engine/ppr/diffusion.hpp"

#include <algorithm>
#include <utility>

namespace sluice {

Diffusion::Diffusion(const Device& device, const CsrView& graph, const PprOptions& options)
    : device_(device),
      graph_(graph),
      continuation_(Continuation::of(options.alpha)),
      weighted_(options.weighted),
      dangling_(options.dangling),
      unexpanded_(options.unexpanded),
      reached_(device, graph.vertices) {}

void Diffusion::clear() {
  reached_.clear();
  under_way_ = returning_ = held_ = 0;
  edges_ = peak_bytes_ = 0;
}

void Diffusion::begin(const Seeds& seeds) {
  clear();
  seeds_ = &seeds;
  seeds.split(kWholeMass, [this](Vertex vertex, Mass mass) { give(vertex, mass); });
  now_ ^= 1;
}

void Diffusion::step() {
  begin_step();
  const std::uint32_t before = reached_.size();
  for (std::uint32_t number = 0; number < before; ++number) {
    if (reached_[number].waiting[now_] != 0) split(reached_[number]);
  }
  end_step();
}

bool Diffusion::push(Mass least) {
  begin_step();
  const std::uint32_t before = reached_.size();
  bool pushed = false;
  for (std::uint32_t number = 0; number < before; ++number) {
    Reached& entry = reached_[number];
    const Mass mass = entry.waiting[now_];
    if (mass == 0) continue;
    const EdgeIndex degree = graph_.offsets[entry.vertex + 1] - graph_.offsets[entry.vertex];
    if (mass / std::max<EdgeIndex>(degree, 1) >= least) {
      split(entry);
      pushed = true;
    } else {
      entry.waiting[now_] = 0;
      entry.waiting[now_ ^ 1] += mass;
      under_way_ += mass;
    }
  }
  end_step();
  return pushed;
}

void Diffusion::split(Reached& entry) {
  const Mass mass = std::exchange(entry.waiting[now_], 0);
  entry.score += continuation_.kept(mass);
  spread(entry.vertex, continuation_.followed(mass));
}

void Diffusion::end_step() {
  give_back();
  now_ ^= 1;
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

std::uint64_t Diffusion::places() const {
  return static_cast<std::uint64_t>(std::count_if(reached_.begin(), reached_.end(),
                                                  [this](const Reached& e) { return e.waiting[now_] != 0; }));
}

void Diffusion::settle_early(Reached& entry) {
  const Mass mass = std::exchange(entry.waiting[now_], 0);
  if (mass == 0) return;
  under_way_ -= mass;
  if (unexpanded_ == PprUnexpanded::residual) {
    entry.score += mass;
    held_ += mass;
  } else {
    entry.score += continuation_.kept(mass);
  }
}

void Diffusion::settle_all_but(std::uint64_t count) {
  order_.reserve(device_, reached_.size(), "the order of next-stage vertices");
  std::uint32_t* const begin = order_.data();
  std::uint32_t* end = begin;
  for (std::uint32_t number = 0; number < reached_.size(); ++number) {
    if (reached_[number].waiting[now_] != 0) *end++ = number;
  }
  peak_bytes_ = std::max(peak_bytes_, ReachedVertices::peak_bytes(reached_.size(), graph_.vertices) +
                                          static_cast<std::uint64_t>(end - begin) * sizeof *begin);
  if (count >= static_cast<std::uint64_t>(end - begin)) return;
  const auto before = [this](std::uint32_t a, std::uint32_t b) {
    const Mass mass_a = reached_[a].waiting[now_], mass_b = reached_[b].waiting[now_];
    return mass_a != mass_b ? mass_a > mass_b : reached_[a].vertex < reached_[b].vertex;
  };
  std::nth_element(begin, begin + count, end, before);
  std::for_each(begin + count, end, [this](std::uint32_t number) { settle_early(reached_[number]); });
}

void Diffusion::settle_below(Mass least) {
  for (Reached& entry : reached_) {
    if (entry.waiting[now_] < least) settle_early(entry);
  }
}

}  // namespace sluice
