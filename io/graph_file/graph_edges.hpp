// The edges of a graph file, read where and when they are wanted.
#pragma once

#include <optional>
#include <string>

#include "io/graph_file/graph_reader.hpp"
#include "partition/edge_times.hpp"

namespace sluice::io {

/// Reads ranges of /out, or /in, of an open file. Faults throw InputError naming file, dataset and position.
class FileEdges : public EdgeSource, public EdgeTimes {
 public:
  explicit FileEdges(const std::string& path, bool in = false, Caching caching = Caching::system);

  void read_targets(EdgeIndex first, std::span<Vertex> out) const override;
  void read_weights(EdgeIndex first, std::span<float> out) const override;
  bool timed() const override { return times_.has_value(); }
  void read_times(EdgeIndex first, std::span<std::int64_t> out) const override;

 private:
  GraphFile file_;
  Column targets_;
  std::optional<Column> weights_, times_;
};

}  // namespace sluice::io
