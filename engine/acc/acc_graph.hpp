// A graph as programs run on it: out-edges, in-edges where a pull may want them, in the device's memory.
#pragma once

#include "engine/exec/buffer.hpp"
#include "engine/exec/device.hpp"
#include "partition/graph.hpp"

namespace sluice {

struct AccNeeds {
  bool in_edges = false;  ///< where the graph has them; none are made
  bool weights = false;
  bool simple = false;  ///< direction ignored, each neighbour once, no self-loops
};

class AccGraph {
 public:
  /// Keeps references to both. Other forms of the graph are made in host memory. Throws BudgetError where
  /// memory does not suffice, or for a graph whose edges stay in a file.
  AccGraph(const Device& device, const Graph& graph, const AccNeeds& needs);

  const Device& device() const { return *device_; }
  std::uint64_t vertices() const { return out_.vertices; }
  const CsrView& out() const { return out_; }
  /// Offsets are null where there are no in-edges.
  const CsrView& in() const { return in_; }
  /// Is every edge there in both directions?
  bool symmetric() const { return symmetric_; }
  /// A width for the levels of shortest paths: wide enough for many vertices, so narrow that few are worked
  /// on twice.
  double usual_delta() const { return usual_delta_; }
  double setup_seconds() const { return setup_seconds_; }
  std::uint64_t uploaded_bytes() const { return uploaded_; }

 private:
  struct OnDevice {
    Buffer<EdgeIndex> offsets;
    Buffer<Vertex> targets;
    Buffer<float> weights;
  };

  CsrView upload(const CsrView& from, OnDevice& to);

  const Device* device_;
  Csr made_;
  OnDevice out_there_, in_there_;
  CsrView out_, in_;
  bool symmetric_ = false;
  double usual_delta_ = 1;
  double setup_seconds_ = 0;
  std::uint64_t uploaded_ = 0;
};

/// The simple undirected graph beneath: neighbours in either direction, each once, without self-loops.
Csr simple_undirected(const Graph& graph, unsigned threads);

/// Are the lists free of self-loops and of neighbours that come twice?
bool has_simple_lists(const CsrView& lists, unsigned threads);

}  // namespace sluice
