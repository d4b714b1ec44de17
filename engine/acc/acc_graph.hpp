// A graph as programs run on it: out-edges, and in-edges where a pull may want them. It is whole, in the
// device's memory, or a rank's part, which may be brought in partitions (rounds/rank_part.hpp).
#pragma once

#include <memory>

#include "engine/acc/options.hpp"
#include "engine/exec/device.hpp"
#include "engine/exec/memory/buffer.hpp"
#include "partition/graph.hpp"

namespace sluice::acc {

struct AccNeeds {
  bool in_edges = false;  ///< where the graph has them; none are made
  bool weights = false;
  bool simple = false;    ///< direction ignored, each neighbour once, no self-loops
  bool on_hosts = false;  ///< ranks exchange what lies in host memory alone
  bool made = false;      ///< of a run that is only planned: that form is another one than the graph's own
  /// What a device that has the graph whole must hold, where that is not what most programs take.
  std::uint64_t whole_bytes = 0;
};

class RankPart;

class AccGraph {
 public:
  /// Keeps references to all. The simple form of the graph is made in host memory; of a run that is only
  /// planned, what it takes at most is charged. Several ranks all make one. Throws BudgetError where memory
  /// does not suffice, and as throw_no_simple_form().
  AccGraph(const Device& device, const Graph& graph, const AccNeeds& needs, const AccPlace& place = {});

  const Device& device() const { return *device_; }
  std::uint64_t vertices() const { return out_.vertices; }
  std::uint64_t edges() const { return out_.edges; }
  /// What this rank owns, in host memory or its file: everything where the graph is complete.
  const RankPart& rank_part() const { return *rank_part_; }
  /// Does one process reach everything in place?
  bool complete() const;
  /// Vertices [first(), last()), those that this rank owns.
  std::uint64_t first() const;
  std::uint64_t last() const;
  /// In the device's memory, of a complete graph alone.
  const CsrView& out() const { return out_; }
  /// Offsets are null where there are no in-edges.
  const CsrView& in() const { return in_; }
  bool has_in_edges() const;
  /// Is every edge there in both directions?
  bool symmetric() const;
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
  std::shared_ptr<const RankPart> rank_part_;
  OnDevice out_there_, in_there_;
  CsrView out_, in_;
  double usual_delta_ = 1;
  double setup_seconds_ = 0;
  std::uint64_t uploaded_ = 0;
};

/// Of a directed graph on ranks or in partitions, or of one that stays in its file, no simple form is made.
/// Throws UsageError where the user asked for that place, else BudgetError.
[[noreturn]] void throw_no_simple_form(const AccPlace& place);

/// The simple undirected graph beneath: neighbours in either direction, each once, without self-loops.
Csr simple_undirected(const Graph& graph, unsigned threads);

/// The same of some rows, the first of them of vertex `first`, from their out- and in-lists; `in` may be
/// empty.
Csr simple_lists(const CsrView& out, const CsrView& in, std::uint64_t first, unsigned threads);

/// Are the lists free of self-loops and of neighbours that come twice? The first is of vertex `first`.
bool has_simple_lists(const CsrView& lists, unsigned threads, std::uint64_t first = 0);
/// Of a whole undirected graph, wherever its edges are; each of `ranks` (null: this one alone) looks at its
/// own.
bool has_simple_lists(const Graph& graph, Communicator* ranks, unsigned threads);

}  // namespace sluice::acc
