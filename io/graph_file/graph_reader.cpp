// Opens a graph file and reads it whole.
#include "io/graph_file/graph_reader.hpp"

#include <fmt/core.h>
#include <sys/stat.h>

#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "partition/even_offsets.hpp"

namespace sluice::io {
namespace {

constexpr const char *kOffsets = "offsets", *kInOffsets = "in-offsets", *kIds = "original ids";
constexpr const char* kRemedy = "make a graph file with 'sluice convert'";

template <class T>
void read_numbers(const Column& column, std::span<T> out, unsigned threads) {
  column.for_each_block(threads, [&](std::uint64_t begin, std::uint64_t end) {
    column.read(begin, out.subspan(begin, end - begin));
  });
}

}  // namespace

GraphFile::GraphFile(const std::string& path, Caching caching) : path_(path) {
  h5::silence_errors();
  open_file(caching);
  read_header();
  check_sizes(false);
  if (info_.has_in) check_sizes(true);
  if (info_.compacted && open(GraphPart::original_id).size() != info_.vertices) {
    throw open(GraphPart::original_id).fault(fmt::format("does not hold {} ids", info_.vertices));
  }
}

void GraphFile::open_file(Caching caching) {
  struct stat found {};
  if (::stat(path_.c_str(), &found) == 0 && S_ISDIR(found.st_mode)) {
    throw InputError(fmt::format("{} is a folder, not a graph file", path_));
  }
  try {
    bytes_ = FileBytes(path_, caching);
  } catch (const RunError& error) {
    throw InputError(error.what());
  }
  if (H5Fis_hdf5(path_.c_str()) <= 0) {
    throw InputError(fmt::format("{} is not an HDF5 file; {}", path_, kRemedy));
  }
  try {
    file_ = h5::open_file(path_);
  } catch (const h5::Failure& failure) {
    const std::string reason = failure.what();
    if (reason.starts_with("truncated file")) {
      throw InputError(
          fmt::format("{} is truncated ({} bytes); copy or convert it again", path_, found.st_size));
    }
    throw InputError(fmt::format("{}: {}", path_, reason));
  }
}

void GraphFile::read_header() {
  std::string format;
  if (!h5::read_attribute(file_.get(), "sluice_format", format)) {
    throw InputError(
        fmt::format("{} is not a graph file (root attribute sluice_format is missing); {}", path_, kRemedy));
  }
  if (format != "graph") {
    throw InputError(
        fmt::format("{} is not a graph file (its sluice_format is '{}'); {}", path_, format, kRemedy));
  }
  std::int64_t version = 0, number = 0;
  if (!h5::read_attribute(file_.get(), "sluice_version", version) || version != kGraphVersion) {
    throw InputError(
        fmt::format("{} has version {} of the graph file, and this program reads version {}; convert the "
                    "graph again",
                    path_, version, kGraphVersion));
  }
  if (!has(GraphPart::out_indptr) || !has(GraphPart::out_indices)) {
    throw InputError(fmt::format("{}: dataset /out/{} is missing; convert the graph again", path_,
                                 has(GraphPart::out_indptr) ? "indices" : "indptr"));
  }
  const Column indptr = open(GraphPart::out_indptr);
  if (indptr.size() == 0) throw indptr.fault("is empty");
  info_.vertices = indptr.size() - 1;
  info_.edges = open(GraphPart::out_indices).size();
  if (h5::read_attribute(file_.get(), "vertices", number))
    info_.vertices = static_cast<std::uint64_t>(number);
  if (h5::read_attribute(file_.get(), "edges", number)) info_.edges = static_cast<std::uint64_t>(number);
  if (info_.vertices > kMaxVertices) {
    throw InputError(fmt::format("{}: {} vertices are more than the {} that this program supports", path_,
                                 info_.vertices, kMaxVertices));
  }
  info_.has_in = has(GraphPart::in_indptr);
  info_.timed = has(GraphPart::out_times);
  info_.compacted = has(GraphPart::original_id);
  if (h5::read_attribute(file_.get(), "directed", number)) info_.directed = number != 0;
  info_.weighted = has(GraphPart::out_data);
  if (h5::read_attribute(file_.get(), "weighted", number)) info_.weighted = number != 0;
  has_checksum_ = h5::read_attribute(file_.get(), "checksum", info_.checksum);
  h5::read_attribute(file_.get(), "origin", info_.origin);
}

void GraphFile::check_sizes(bool in) const {
  const auto check = [&](GraphPart part, std::uint64_t size, const char* what) {
    const Column column = open(part_of(part, in));
    if (column.size() == size) return;
    throw column.fault(fmt::format("{} entries instead of {} ({})", column.size(), size, what));
  };
  check(GraphPart::out_indptr, info_.vertices + 1, "vertices + 1");
  check(GraphPart::out_indices, info_.edges, "edges");
  if (info_.weighted) check(GraphPart::out_data, info_.edges, "edges");
  if (info_.timed) check(GraphPart::out_times, info_.edges, "edges");
  check_shape_attribute(in ? "in" : "out");
}

void GraphFile::check_shape_attribute(const char* group) const {
  if (H5Aexists_by_name(file_.get(), group, "shape", H5P_DEFAULT) <= 0) return;
  std::array<std::int64_t, 2> shape{};
  try {
    const h5::Handle attribute(H5Aopen_by_name(file_.get(), group, "shape", H5P_DEFAULT, H5P_DEFAULT));
    const h5::Handle space(H5Aget_space(attribute.get()));
    if (H5Sget_simple_extent_npoints(space.get()) == 2) {
      h5::checked(H5Aread(attribute.get(), H5T_NATIVE_INT64, shape.data()));
    }
  } catch (const h5::Failure&) {
    shape = {-1, -1};
  }
  const auto vertices = static_cast<std::int64_t>(info_.vertices);
  if (shape[0] != vertices || shape[1] != vertices) {
    throw InputError(fmt::format("{}: attribute shape of /{} is not {} x {}; convert the graph again", path_,
                                 group, vertices, vertices));
  }
}

bool GraphFile::has(GraphPart part) const {
  const std::string name = part_name(part);
  return h5::has_link(file_.get(), name.substr(0, name.find('/'))) && h5::has_link(file_.get(), name);
}

Column GraphFile::open(GraphPart part) const {
  const bool real = part == GraphPart::out_data || part == GraphPart::in_data;
  return Column(path_, bytes_, file_.get(), part_name(part), real ? NumberClass::real : NumberClass::whole);
}

bool GraphFile::has_sums() const {
  return h5::has_link(file_.get(), "checksums");
}

Column GraphFile::open_sums(GraphPart part) const {
  return Column(path_, bytes_, file_.get(), std::string("checksums/") + part_name(part), NumberClass::whole);
}

namespace {

/// Reads ranges of /out, or /in, of an open file. Faults throw InputError naming file, dataset and position.
class FileEdges final : public EdgeSource {
 public:
  FileEdges(const std::string& path, bool in, const GraphColumns& columns, Caching caching)
      : file_(path, caching), targets_(file_.open(part_of(GraphPart::out_indices, in))) {
    const GraphInfo info = columns.select_from(file_.info());
    if (info.weighted) weights_ = file_.open(part_of(GraphPart::out_data, in));
    if (info.timed) times_ = file_.open(part_of(GraphPart::out_times, in));
  }

  void read_targets(EdgeIndex first, std::span<Vertex> out) const override {
    FirstFault fault;
    io::read_targets(targets_, file_.info().vertices, first, out, fault);
    fault.rethrow();
  }
  void read_weights(EdgeIndex first, std::span<float> out) const override {
    FirstFault fault;
    io::read_weights(*weights_, first, out, fault);
    fault.rethrow();
  }
  bool timed() const override { return times_.has_value(); }
  void read_times(EdgeIndex first, std::span<std::int64_t> out) const override { times_->read(first, out); }

 private:
  GraphFile file_;
  Column targets_;
  std::optional<Column> weights_, times_;
};

/// Stands for the edges of a graph that has no file. A plan does not read them; a read throws.
class NoEdges final : public EdgeSource {
 public:
  void read_targets(EdgeIndex, std::span<Vertex>) const override { refuse(); }
  void read_weights(EdgeIndex, std::span<float>) const override { refuse(); }

 private:
  [[noreturn]] static void refuse() {
    throw InputError("the plan of this job reads edges (name a graph file)");
  }
};

/// A graph whose offsets and original ids are read; its edge arrays, if any, are not filled.
Graph read_vertices(const GraphFile& file, const GraphColumns& columns, unsigned threads, HostMemory* memory,
                    bool edges) {
  Graph graph = make_graph(file.info(), columns, memory, edges);
  if (file.info().compacted)
    read_numbers(file.open(GraphPart::original_id), graph.original_ids.span(), threads);
  read_offsets(file, false, threads, graph.out.offsets.span());
  if (columns.in) read_offsets(file, true, threads, graph.in.offsets.span());
  return graph;
}

/// Allocates the arrays of an outline: the known ones by purpose, and others without memory.
class OutlineArrays final : public HostMemory {
 public:
  OutlineArrays(const GraphOutline::Arrays& known, const GraphOutline::Charged& charged)
      : known_(known), charged_(charged) {}

  Block allocate(std::uint64_t bytes, const char* purpose) override {
    const auto found = known_.find(std::string_view(purpose));
    const std::shared_ptr<void> array =
        found != known_.end() ? found->second
                              : std::shared_ptr<void>(std::shared_ptr<void>(), placeholder_address());
    return {array, array.get(), charged_(bytes)};
  }

 private:
  const GraphOutline::Arrays& known_;
  const GraphOutline::Charged& charged_;
};

/// Maps a column of the file, or reads it if it cannot be mapped.
template <class Stored, class T>
std::shared_ptr<void> map_or_read(const Column& column, unsigned threads, const char* purpose) {
  static_assert(sizeof(Stored) == sizeof(T));
  if (auto mapped = column.map<Stored>()) return mapped;
  host_budget().charge_and_release(column.size() * sizeof(T), purpose);
  const auto read = std::make_shared<std::vector<Stored>>(column.size());
  read_numbers(column, std::span(*read), threads);
  return {read, read->data()};
}

}  // namespace

GraphInfo read_graph_info(const std::string& path) {
  return GraphFile(path).info();
}

Graph make_graph(const GraphInfo& file_info, const GraphColumns& columns, HostMemory* memory, bool edges) {
  const GraphInfo info = columns.select_from(file_info);
  const auto make_rows = [&](bool in) {
    Csr csr;
    csr.offsets = make_host_array<EdgeIndex>(memory, info.vertices + 1, in ? kInOffsets : kOffsets);
    if (!edges) return csr;
    csr.targets = make_host_array<Vertex>(memory, info.edges, in ? "sources" : "targets");
    if (info.weighted)
      csr.weights = make_host_array<float>(memory, info.edges, in ? "in-weights" : "weights");
    if (info.timed) csr.times = make_host_array<std::int64_t>(memory, info.edges, in ? "in-times" : "times");
    return csr;
  };
  Graph graph;
  graph.directed = info.directed;
  graph.weighted = info.weighted;
  graph.checksum = info.checksum;
  graph.origin = info.origin;
  if (info.compacted) graph.original_ids = make_host_array<std::int64_t>(memory, info.vertices, kIds);
  graph.out = make_rows(false);
  if (columns.in) graph.in = make_rows(true);
  return graph;
}

std::uint64_t graph_bytes(const GraphInfo& info, const GraphColumns& columns) {
  std::uint64_t all = 0;
  const GraphOutline::Arrays none;
  const GraphOutline::Charged sum = [&](std::uint64_t bytes) { return all += bytes, std::uint64_t{0}; };
  OutlineArrays arrays(none, sum);
  static_cast<void>(make_graph(info, columns, &arrays));
  return all;
}

GraphOutline::GraphOutline(const std::string& path, const GraphColumns& columns, unsigned threads) {
  const GraphFile file(path);
  info_ = file.info();
  const auto open_rows = [&](bool in) {
    auto& offsets = arrays_[in ? kInOffsets : kOffsets];
    offsets = map_or_read<std::int64_t, EdgeIndex>(file.open(part_of(GraphPart::out_indptr, in)), threads,
                                                   kOffsets);
    check_offsets(file, in, threads, {static_cast<const EdgeIndex*>(offsets.get()), info_.vertices + 1});
    return std::make_shared<FileEdges>(path, in, columns, Caching::system);
  };
  out_ = open_rows(false);
  if (columns.in) in_ = open_rows(true);
  if (info_.compacted)
    arrays_[kIds] = map_or_read<std::int64_t, std::int64_t>(file.open(GraphPart::original_id), threads, kIds);
}

GraphOutline::GraphOutline(const GraphInfo& info)
    : info_(info), out_(std::make_shared<NoEdges>()), in_(out_) {
  arrays_[kOffsets] = arrays_[kInOffsets] = even_offsets(info.vertices, info.edges);
}

Graph GraphOutline::graph(const GraphColumns& columns, bool edges, const Charged& charged) const {
  OutlineArrays arrays(arrays_, charged);
  Graph graph = make_graph(info_, columns, &arrays, edges);
  if (edges) return graph;
  graph.edge_source = out_;
  if (columns.in) graph.in_edge_source = in_;
  return graph;
}

Graph open_graph(const std::string& path, const GraphColumns& columns, Caching caching, unsigned threads) {
  Graph graph = read_vertices(GraphFile(path), columns, threads, nullptr, false);
  graph.edge_source = std::make_shared<FileEdges>(path, false, columns, caching);
  if (columns.in) graph.in_edge_source = std::make_shared<FileEdges>(path, true, columns, caching);
  return graph;
}

Graph begin_reading(const std::string& path, const GraphColumns& columns, unsigned threads,
                    HostMemory* memory) {
  const auto file = std::make_shared<const GraphFile>(path);
  const GraphInfo& info = file->info();
  if (columns.in && !info.has_in) {
    throw InputError(fmt::format("{} holds no in-edges (/in); convert its edges with --reverse", path));
  }
  Graph graph = read_vertices(*file, columns, threads, memory, true);
  graph.pending_edges = make_pending_edges(file, false, columns.select_from(info), graph.out);
  if (columns.in) make_pending_edges(file, true, columns.select_from(info), graph.in)->read(threads);
  return graph;
}

Graph read_graph(const std::string& path, const GraphColumns& columns, unsigned threads, HostMemory* memory) {
  Graph graph = begin_reading(path, columns, threads, memory);
  std::exchange(graph.pending_edges, nullptr)->read(threads);
  return graph;
}

}  // namespace sluice::io
