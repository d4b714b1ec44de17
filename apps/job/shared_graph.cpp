#include "apps/job/shared_graph.hpp"

#include <fmt/core.h>

#include <map>
#include <sstream>

#include "apps/job/ranks.hpp"
#include "engine/core/error.hpp"
#include "engine/core/host_memory.hpp"
#include "engine/exchange/node/shared_memory.hpp"

namespace sluice::apps {

namespace {

HostMemory::Block block_of(SharedMemory memory) {
  const auto shared = std::make_shared<SharedMemory>(std::move(memory));
  return {shared, shared->data(), share_of_node(shared->bytes())};
}

/// Allocates arrays that the other ranks of the machine can open, and lists their addresses.
class SharedArrays final : public HostMemory {
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

/// Opens the arrays of such a list by their purpose.
class OpenedArrays final : public HostMemory {
 public:
  explicit OpenedArrays(const std::string& list) {
    std::istringstream lines(list);
    for (std::string purpose; std::getline(lines, purpose);) std::getline(lines, addresses_[purpose]);
  }
  Block allocate(std::uint64_t bytes, const char* purpose) override {
    return block_of(SharedMemory(addresses_[purpose], bytes));
  }

 private:
  std::map<std::string, std::string> addresses_;
};

}  // namespace

std::uint64_t share_of_node(std::uint64_t bytes) {
  const auto ranks = static_cast<std::uint64_t>(world().node_size());
  return (bytes + ranks - 1) / ranks;
}

Graph read_graph_once_per_node(const std::string& path, const io::GraphInfo& info,
                               const io::GraphColumns& columns, unsigned threads) {
  const bool shared = world().node_size() > 1, reads = world().node_rank() == 0;
  Graph graph;
  SharedArrays made;
  if (reads) graph = io::read_graph(path, columns, threads, shared ? &made : nullptr);
  const auto lists = world().all_gather(made.list(), "the graph");
  bool opened = reads;
  if (!reads) {
    try {
      OpenedArrays arrays(lists[static_cast<std::size_t>(world().node_leader())]);
      graph = io::make_graph(info, columns, &arrays);
      opened = true;
    } catch (const RunError&) {
    }
  }
  // Wait until all ranks have opened the arrays: they disappear with the rank that made them, which may end
  // early (--plan).
  world().all_gather("", "the graph");
  return opened ? std::move(graph) : io::read_graph(path, columns, threads);
}

}  // namespace sluice::apps
