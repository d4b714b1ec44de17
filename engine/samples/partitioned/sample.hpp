// What samples on a graph in partitions have in common on both backends.
#pragma once

#include <algorithm>
#include <cstdint>

#include "engine/graph/partition_map.hpp"
#include "engine/graph/read_bytes.hpp"
#include "engine/samples/options.hpp"
#include "engine/samples/step.hpp"
#include "engine/select/options.hpp"
#include "partition/graph.hpp"

namespace sluice::samples {

/// The program for vertices of one partition: it reads the partition's own edges and tables.
template <class Sampler>
SampleProgram<Sampler> on_page(SampleProgram<Sampler> program, const PageView& page) {
  program.graph.csr.targets = page.targets;
  program.graph.csr.weights = page.weights;
  program.coded = page.coded;
  program.tables.cumulative = page.cumulative;
  program.tables.thresholds = page.thresholds;
  program.tables.others = page.others;
  return program;
}

/// What an entry looks at of its list to select `edges` of it.
template <class Sampler>
SLUICE_HD std::uint64_t read_bytes(const SampleProgram<Sampler>& program, Vertex v, std::uint64_t edges) {
  using Program = SampleProgram<Sampler>;
  const Row row = program.graph.row(v);
  const std::uint32_t weight = program.graph.csr.weights ? kWeightBytes : 0;
  const std::uint64_t targets = edges * (program.coded.words ? kCodedBytes : kTargetBytes);
  if (program.select == Select::rejection) return edges * weight + targets;
  if (Program::kDynamic) return row.degree * std::uint64_t{kTargetBytes + weight} + targets;
  const bool all = !program.sampler.replacement() && edges == program.candidates(v, row);
  if (all) return (program.tables.positive ? std::uint64_t{row.degree} * weight : 0) + targets;
  if (program.uniform) return targets;
  return edges * (program.select == Select::alias ? kAliasBytes : ctps_bytes(row.degree)) + targets;
}

/// What an instance grows to, about: a guess.
struct ExpectedSample {
  double entries = 0, edges = 0;

  /// Bytes that it takes under way: what is wrong with that is found out by the first batch. `available` is
  /// what the device has for slots and instances.
  std::uint64_t bytes(std::uint64_t available) const {
    constexpr double kEntryBytes = 64, kEdgeBytes = 24;  // a frontier's entry and edge, with scratch
    const auto sum = static_cast<std::uint64_t>(64 + entries * kEntryBytes + edges * kEdgeBytes);
    // A guess alone shall not say that nothing fits.
    return std::min(sum, available / 8 + 1);
  }
};

inline ExpectedSample expected_sample(const Graph& graph, const Options& options, std::uint64_t seeds,
                                      std::uint32_t depths) {
  constexpr double kMost = 1e15;  // more than any memory
  const bool neighbor = options.kind == Kind::neighbor;
  const auto vertices = static_cast<double>(std::max<std::uint64_t>(graph.vertices(), 1));
  const double degree = static_cast<double>(graph.edges()) / vertices;
  double entries = static_cast<double>(std::max<std::uint64_t>(seeds, 1));
  ExpectedSample sum;
  for (std::uint32_t depth = 0; depth < depths && sum.edges < kMost; ++depth) {
    double each = degree;
    if (neighbor && depth < options.fanout.size() && options.fanout[depth] >= 0) {
      const auto fanout = static_cast<double>(options.fanout[depth]);
      each = options.replace ? fanout : std::min(degree, fanout);
    }
    const double edges = entries * each;
    sum.entries += entries, sum.edges += edges;
    entries = options.revisit ? edges : std::min(edges, vertices);
  }
  return {std::min(sum.entries, kMost), std::min(sum.edges, kMost)};
}

}  // namespace sluice::samples
