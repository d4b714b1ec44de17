#include "apps/shared_graph.hpp"

#include <fmt/format.h>

#include <map>
#include <sstream>

#include "apps/ranks.hpp"
#include "engine/core/error.hpp"
#include "engine/core/host_memory.hpp"
#include "engine/exchange/shared_memory.hpp"

namespace sluice::apps {

namespace {

HostMemory::Block block_of(SharedMemory memory) {
  const auto kept = std::make_shared<SharedMemory>(std::move(memory));
  return {kept, kept->data(), share_of_node(kept->bytes())};
}

/// Makes arrays that the machine's other ranks can open, and lists them.
class MadeHere final : public HostMemory {
 public:
  Block allocate(std::uint64_t bytes, const char* purpose) override {
    SharedMemory memory(bytes);
    list_ += fmt::format("{}\n{}\n", purpose, memory.address());
    return block_of(std::move(memory));
  }
  const std::string& list() const { return list_; }

 private:
  std::string list_;
};

/// Opens them by their purpose.
class MadeThere final : public HostMemory {
 public:
  explicit MadeThere(const std::string& list) {
    std::istringstream lines(list);
    for (std::string purpose; std::getline(lines, purpose);) std::getline(lines, addresses_[purpose]);
  }
  Block allocate(std::uint64_t bytes, const char* purpose) override {
    return block_of(SharedMemory(addresses_[purpose], bytes));
  }

 private:
  std::map<std::string, std::string> addresses_;
};

/// The arrays that io::read_graph makes, with nothing read.
Graph open_arrays(const io::GraphInfo& info, HostMemory& memory) {
  Graph graph;
  graph.out.offsets = make_host_array<EdgeIndex>(&memory, info.vertices + 1, "offsets");
  graph.out.targets = make_host_array<Vertex>(&memory, info.edges, "targets");
  if (info.weighted) graph.out.weights = make_host_array<float>(&memory, info.edges, "weights");
  if (info.timed) graph.out.times = make_host_array<std::int64_t>(&memory, info.edges, "times");
  if (info.compacted)
    graph.original_ids = make_host_array<std::int64_t>(&memory, info.vertices, "original ids");
  graph.directed = info.directed;
  graph.weighted = info.weighted;
  graph.checksum = info.checksum;
  graph.origin = info.origin;
  return graph;
}

}  // namespace

std::uint64_t share_of_node(std::uint64_t bytes) {
  const auto ranks = static_cast<std::uint64_t>(world().node_size());
  return (bytes + ranks - 1) / ranks;
}

Graph read_graph_once_a_node(const std::string& path, const io::GraphInfo& info) {
  const bool shared = world().node_size() > 1, reads = world().node_rank() == 0;
  Graph graph;
  MadeHere made;
  if (reads) graph = io::read_graph(path, false, 0, shared ? &made : nullptr);
  // A large graph takes its time to read, and the machines need not be equally fast.
  const auto lists = world().all_gather(made.list(), "the graph", kUnlimited);
  if (reads) return graph;
  try {
    MadeThere there(lists[static_cast<std::size_t>(world().node_leader())]);
    return open_arrays(info, there);
  } catch (const RunError&) {
    return io::read_graph(path);
  }
}

}  // namespace sluice::apps
