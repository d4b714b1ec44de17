#include "engine/ppr/methods/diffusion.hpp"

#include <algorithm>
#include <utility>

namespace sluice::ppr {

Diffusion::Diffusion(const Device& device, const CsrView& graph, const Options& options)
    : device_(device),
      graph_(graph),
      continuation_(Continuation::of(options.alpha)),
      weighted_(options.weighted),
      dangling_(options.dangling),
      reached_(device, graph.vertices) {}

void Diffusion::clear() {
  reached_.clear();
  under_way_ = returning_ = 0;
  edges_ = 0;
  stepping_ = false;
  missing_count_ = missing_left_ = most_missing_ = 0;
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

void Diffusion::begin_step(Mass least, Mass joining, bool returns) {
  under_way_ = 0;
  returning_ = joining;
  least_ = least;
  before_ = reached_.size();
  stepping_ = true;
  scanned_ = pushed_ = false;
  returns_ = returns;
}

bool Diffusion::spread(const ListsAtHand& lists) {
  if (!stepping_) return true;
  if (!scanned_) {
    spread_reached(lists);
  } else {
    for (const ListRange& range : lists.ranges()) spread_missing(range);
  }
  if (missing_left_ != 0) return false;
  missing_count_ = 0;
  if (returns_) give_back();
  now_ ^= 1;
  stepping_ = false;
  return true;
}

/// What is missing is put in order, so that a range finds its part of it.
void Diffusion::spread_reached(const ListsAtHand& lists) {
  for (std::uint32_t number = 0; number < before_; ++number) {
    if (reached_[number].waiting[now_] != 0 && !split(number, lists)) note_missing(number);
  }
  scanned_ = true;
  missing_left_ = missing_count_;
  most_missing_ = std::max(most_missing_, missing_count_);
  std::sort(missing_.data(), missing_.data() + missing_count_,
            [&](std::uint32_t a, std::uint32_t b) { return reached_[a].vertex < reached_[b].vertex; });
}

void Diffusion::note_missing(std::uint32_t number) {
  missing_.reserve(device_, before_, "vertices whose lists are missing");
  missing_.data()[missing_count_++] = number;
}

void Diffusion::spread_missing(const ListRange& range) {
  const std::uint32_t *const begin = missing_.data(), *const end = begin + missing_count_;
  const auto first = [&](std::uint64_t vertex) {
    return std::lower_bound(begin, end, vertex, [&](std::uint32_t number, std::uint64_t wanted) {
      return reached_[number].vertex < wanted;
    });
  };
  const ListsAtHand lists(std::span(&range, 1));
  const std::uint32_t* const last = first(range.end);
  for (const std::uint32_t* at = first(range.begin); at != last; ++at) {
    if (reached_[*at].waiting[now_] == 0) continue;
    if (split(*at, lists)) --missing_left_;
  }
}

/// False if its list is missing. A share of no mass wants no list.
bool Diffusion::split(std::uint32_t number, const ListsAtHand& lists) {
  Reached& entry = reached_[number];
  const EdgeIndex degree = graph_.offsets[entry.vertex + 1] - graph_.offsets[entry.vertex];
  const Mass mass = entry.waiting[now_];
  if (!reaches(mass, least_, degree)) {
    entry.waiting[now_] = 0;
    entry.waiting[now_ ^ 1] += mass;
    under_way_ += mass;
    return true;
  }
  pushed_ = true;
  const Mass followed = continuation_.followed(mass);
  ListColumns list;
  if (degree != 0 && (weighted_ || followed >= degree)) {
    list = lists.of(entry.vertex);
    if (list.targets == nullptr) return false;
  }
  split(entry, followed, degree, list);
  return true;
}

void Diffusion::split(Reached& entry, Mass followed, EdgeIndex degree, const ListColumns& list) {
  entry.score += continuation_.kept(std::exchange(entry.waiting[now_], 0));
  const EdgeIndex begin = graph_.offsets[entry.vertex], end = begin + degree;
  if (degree == 0 || (weighted_ && !spread_by_weight(begin, end, followed, list))) {
    returning_ += followed;
    return;
  }
  edges_ += degree;
  const Mass share = followed / degree;
  if (weighted_ || share == 0) return;
  for (EdgeIndex edge = begin; edge < end; ++edge) give(list.targets[edge], share);
}

/// False where no edge has a weight above 0.
bool Diffusion::spread_by_weight(EdgeIndex begin, EdgeIndex end, Mass mass, const ListColumns& list) {
  double total = 0;
  for (EdgeIndex edge = begin; edge < end; ++edge) total += static_cast<double>(list.weights[edge]);
  if (total == 0) return false;
  const double per_weight = mass_per_weight(mass, total);
  for (EdgeIndex edge = begin; edge < end; ++edge) {
    const Mass share = weighted_share(per_weight, static_cast<double>(list.weights[edge]));
    if (share != 0) give(list.targets[edge], share);
  }
  return true;
}

void Diffusion::give_back() {
  if (returning_ == 0) return;
  if (dangling_ == Dangling::seed) {
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

}  // namespace sluice::ppr
