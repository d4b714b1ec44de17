#include "engine/batch/starts_upload.hpp"

#include <string>

#include "engine/batch/starts.hpp"
#include "engine/core/error.hpp"

namespace sluice {

DeviceStarts::DeviceStarts(const ResidentGraph::Impl& graph, const Starts& starts, std::uint64_t seed,
                           std::uint32_t seeds_per_instance, Repeats repeats) {
  const std::uint64_t n = graph.view.vertices();
  view_ = {starts.mode, n, seed, nullptr, nullptr, seeds_per_instance};
  if (starts.mode == Starts::Mode::random && n == 0)
    throw InputError("the graph has no vertex to start from");
  if (starts.mode != Starts::Mode::listed) return;
  for (std::size_t i = 0; i < starts.vertices.size(); ++i) {
    if (starts.vertices[i] < n) continue;
    throw InputError("start " + std::to_string(i) + " is vertex " + std::to_string(starts.vertices[i]) +
                     ", but the graph has " + std::to_string(n) + " vertices, numbered from 0");
  }
  repeats == Repeats::dropped ? upload(graph.device, starts.distinct()) : upload(graph.device, starts);
}

void DeviceStarts::upload(const Device& device, const Starts& listed) {
  vertices_ = Buffer<Vertex>(device, listed.vertices.size(), "the list of starts");
  copy_to_device(device, vertices_.data(), listed.vertices.data(), vertices_.bytes());
  view_.listed = vertices_.data();
  if (listed.offsets.empty()) return;
  offsets_ = Buffer<std::uint64_t>(device, listed.offsets.size(), "the list of starts");
  copy_to_device(device, offsets_.data(), listed.offsets.data(), offsets_.bytes());
  view_.offsets = offsets_.data();
}

}  // namespace sluice
