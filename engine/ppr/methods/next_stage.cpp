#include "engine/ppr/methods/next_stage.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace sluice::ppr {

NextStage::NextStage(const Device& device, const Options& options)
    : device_(device), options_(options), continuation_(Continuation::of(options.alpha)) {}

void NextStage::choose(ReachedVertices& reached, unsigned now) {
  if (options_.residual_threshold == 0) return choose_share(reached, now);
  const Mass least = to_mass(options_.residual_threshold);
  for (Reached& entry : reached) {
    if (entry.waiting[now] < least) leave_out(entry, now);
  }
}

void NextStage::choose_share(ReachedVertices& reached, unsigned now) {
  order_.reserve(device_, reached.size(), "the order of next-stage vertices");
  std::uint32_t* const begin = order_.data();
  std::uint32_t* end = begin;
  for (std::uint32_t number = 0; number < reached.size(); ++number) {
    if (reached[number].waiting[now] != 0) *end++ = number;
  }
  const auto places = static_cast<std::uint64_t>(end - begin);
  peak_bytes_ = std::max(peak_bytes_, places * sizeof *begin);
  const auto chosen = static_cast<std::uint64_t>(std::ceil(options_.expand * static_cast<double>(places)));
  if (chosen >= places) return;
  const auto before = [&](std::uint32_t a, std::uint32_t b) {
    const Mass mass_a = reached[a].waiting[now], mass_b = reached[b].waiting[now];
    return mass_a != mass_b ? mass_a > mass_b : reached[a].vertex < reached[b].vertex;
  };
  std::nth_element(begin, begin + chosen, end, before);
  std::for_each(begin + chosen, end, [&](std::uint32_t number) { leave_out(reached[number], now); });
}

void NextStage::leave_out(Reached& entry, unsigned now) {
  const Mass mass = std::exchange(entry.waiting[now], 0);
  if (mass == 0) return;
  if (options_.unexpanded == Unexpanded::residual) {
    entry.score += mass;
    held_ += mass;
  } else {
    entry.score += continuation_.kept(mass);
  }
}

}  // namespace sluice::ppr
