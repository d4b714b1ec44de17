#include "io/graph_file/graph_edges.hpp"

namespace sluice::io {

FileEdges::FileEdges(const std::string& path, bool in, Caching caching)
    : file_(path, caching), targets_(file_.open(in ? GraphPart::in_indices : GraphPart::out_indices)) {
  if (file_.info().weighted) weights_ = file_.open(in ? GraphPart::in_data : GraphPart::out_data);
  if (file_.info().timed) times_ = file_.open(in ? GraphPart::in_times : GraphPart::out_times);
}

void FileEdges::read_targets(EdgeIndex first, std::span<Vertex> out) const {
  FirstFault fault;
  io::read_targets(targets_, file_.info().vertices, first, out, fault);
  fault.rethrow();
}

void FileEdges::read_weights(EdgeIndex first, std::span<float> out) const {
  FirstFault fault;
  io::read_weights(*weights_, first, out, fault);
  fault.rethrow();
}

void FileEdges::read_times(EdgeIndex first, std::span<std::int64_t> out) const {
  times_->read(first, out);
}

}  // namespace sluice::io
