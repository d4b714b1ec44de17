// The part of samples on a graph in partitions that both backends share.
#pragma once

#include <cstdint>

#include "engine/graph/partition_map.hpp"
#include "engine/graph/read_bytes.hpp"
#include "engine/samples/step.hpp"
#include "engine/select/options.hpp"

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

/// Bytes of a vertex's list that an entry reads to select `edges` edges.
template <class Sampler>
SLUICE_HD std::uint64_t read_bytes(const SampleProgram<Sampler>& program, Vertex v, std::uint64_t edges) {
  using Program = SampleProgram<Sampler>;
  const Row row = program.graph.row(v);
  const std::uint32_t weight = program.graph.csr.weights ? kWeightBytes : 0;
  const std::uint64_t targets = edges * (program.coded.words ? kCodedBytes : kTargetBytes);
  if (program.select == Select::rejection) return edges * weight + targets;
  if (Program::kDynamic) return row.degree * std::uint64_t{kTargetBytes + weight} + targets;
  const bool takes_all = !program.sampler.replacement() && edges == program.candidates(v, row);
  if (takes_all) return (program.tables.positive ? std::uint64_t{row.degree} * weight : 0) + targets;
  if (program.uniform) return targets;
  return edges * (program.select == Select::alias ? kAliasBytes : ctps_bytes(row.degree)) + targets;
}

}  // namespace sluice::samples
