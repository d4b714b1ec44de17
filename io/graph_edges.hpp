// The edges of a graph file, read where and when they are wanted.
#pragma once

#include <optional>
#include <string>

#include "io/graph_reader.hpp"
#include "partition/edge_source.hpp"

namespace sluice::io {

/// Reads ranges of /out, or /in, of an open file. Faults throw InputError naming file, dataset and position.
class FileEdges : public EdgeSource {
 public:
  explicit FileEdges(const std::string& path, bool in = false);

  void read_targets(EdgeIndex first, std::span<Vertex> out) const override;
  void read_weights(EdgeIndex first, std::span<float> out) const override;

 private:
  GraphFile file_;
  Column targets_;
  std::optional<Column> weights_;
};

}  // namespace sluice::io
