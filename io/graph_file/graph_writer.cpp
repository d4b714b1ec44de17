// Writes the graph file. HDF5 first lays out all datasets, early-allocated and contiguous, and closes the
// file. The data is then written to the byte offsets with pwrite and hashed on the way. So appending runs at
// the speed of the disk, a full disk is a plain system error, and the file may be of any size.
#include <fcntl.h>
#include <fmt/core.h>

#include <array>
#include <filesystem>
#include <optional>
#include <vector>

#include "engine/core/error.hpp"
#include "io/descriptor.hpp"
#include "io/graph_file/graph_file.hpp"
#include "io/graph_file/graph_layout.hpp"
#include "io/hdf5.hpp"
#include "io/output_file.hpp"

namespace sluice::io {
namespace {

constexpr std::size_t kPieceEntries = 1u << 16;  // ids widened at a time

/// One dataset being filled from its beginning to its end.
struct Part {
  std::uint64_t size = 0;  ///< elements; the part is absent from the file if !present
  std::uint64_t element_bytes = 0;
  std::uint64_t offset = 0;           ///< file offset of its first byte
  std::uint64_t checksum_offset = 0;  ///< file offset of its block checksums
  std::uint64_t written = 0;          ///< bytes so far
  std::vector<std::uint64_t> sums;
  Checksum open_block;
  bool present = false;

  std::uint64_t bytes() const { return size * element_bytes; }

  void hash(std::span<const std::byte> data) {
    while (!data.empty()) {
      const std::uint64_t block_left = kChecksumBlock - written % kChecksumBlock;
      const auto hashed = data.first(std::min<std::uint64_t>(block_left, data.size()));
      open_block.update(hashed);
      written += hashed.size();
      if (written % kChecksumBlock == 0 || written == bytes()) {
        sums.push_back(open_block.value());
        open_block = Checksum();
      }
      data = data.subspan(hashed.size());
    }
  }
};

/// Creates a contiguous, early-allocated dataset; returns its file offset in bytes (0 if it is empty).
std::uint64_t create_contiguous(hid_t file, const std::string& name, hid_t type, hsize_t size) {
  const h5::Handle properties = h5::dataset_properties();
  h5::checked(H5Pset_layout(properties.get(), H5D_CONTIGUOUS));
  h5::checked(H5Pset_alloc_time(properties.get(), H5D_ALLOC_TIME_EARLY));
  h5::checked(H5Pset_fill_time(properties.get(), H5D_FILL_TIME_NEVER));
  const h5::Handle dataset = h5::create_dataset(file, name, type, h5::space_of({size}), properties);
  if (size == 0) return 0;
  const haddr_t offset = H5Dget_offset(dataset.get());
  if (offset == HADDR_UNDEF) throw h5::Failure("no space was given to dataset /" + name);
  return offset;
}

/// Creates a dataset of ones without storage: weights of an unweighted graph, for tools that load a matrix.
void create_ones(hid_t file, const std::string& name, hsize_t size) {
  const float one = 1;
  const h5::Handle properties = h5::dataset_properties();
  h5::checked(H5Pset_layout(properties.get(), H5D_CONTIGUOUS));
  h5::checked(H5Pset_alloc_time(properties.get(), H5D_ALLOC_TIME_LATE));
  h5::checked(H5Pset_fill_value(properties.get(), H5T_IEEE_F32LE, &one));
  h5::create_dataset(file, name, H5T_IEEE_F32LE, h5::space_of({size}), properties);
}

}  // namespace

struct GraphWriter::Impl {
  Impl(const std::string& path, const GraphInfo& graph_info, bool force)
      : info(graph_info), wide(needs_wide_ids(graph_info.vertices)), output(path, force) {
    if (info.vertices > kMaxVertices) {
      throw UsageError(fmt::format("{}: {} vertices are more than the {} that a graph may have", path,
                                   info.vertices, kMaxVertices));
    }
    try {
      create_datasets();
    } catch (const h5::Failure& failure) {
      throw RunError(path + ": " + failure.what());
    }
    data = Descriptor(output.temporary(), O_WRONLY, output.path());
  }

  Part& part(GraphPart which) { return parts[static_cast<std::size_t>(which)]; }

  void create_datasets() {
    h5::change_file(h5::create_file(output.temporary()), [&](hid_t file) {
      write_header(file);
      create_rows(file, false);
      if (info.has_in) create_rows(file, true);
      if (info.compacted) {
        h5::create_group(file, "vertices");
        create_part(file, GraphPart::original_id, H5T_STD_I64LE, info.vertices);
      }
      create_checksums(file);
    });
  }

  void write_header(hid_t file) const {
    h5::write_attribute(file, "sluice_format", std::string("graph"));
    h5::write_attribute(file, "sluice_version", kGraphVersion);
    h5::write_attribute(file, "vertices", static_cast<std::int64_t>(info.vertices));
    h5::write_attribute(file, "edges", static_cast<std::int64_t>(info.edges));
    h5::write_attribute(file, "directed", static_cast<std::uint8_t>(info.directed));
    h5::write_attribute(file, "weighted", static_cast<std::uint8_t>(info.weighted));
    h5::write_fixed_text(file, "origin", info.origin);
    h5::write_attribute(file, "checksum", std::uint64_t{0});
  }

  /// Creates group /out or /in.
  void create_rows(hid_t file, bool in) {
    const h5::Handle group = h5::create_group(file, in ? "in" : "out");
    const std::array<std::int64_t, 2> shape = {static_cast<std::int64_t>(info.vertices),
                                               static_cast<std::int64_t>(info.vertices)};
    h5::write_attribute(group.get(), "encoding-type", std::string("csr_matrix"));
    h5::write_attribute(group.get(), "encoding-version", std::string("0.1.0"));
    h5::write_attribute(group.get(), "shape", shape.data(), H5T_STD_I64LE, shape.size());
    create_part(file, part_of(GraphPart::out_indptr, in), H5T_STD_I64LE, info.vertices + 1);
    create_part(file, part_of(GraphPart::out_indices, in), wide ? H5T_STD_I64LE : H5T_STD_I32LE, info.edges);
    if (info.weighted) {
      create_part(file, part_of(GraphPart::out_data, in), H5T_IEEE_F32LE, info.edges);
    } else {
      create_ones(group.get(), "data", info.edges);
    }
    if (info.timed) create_part(file, part_of(GraphPart::out_times, in), H5T_STD_I64LE, info.edges);
  }

  void create_part(hid_t file, GraphPart which, hid_t type, std::uint64_t size) {
    Part& made = part(which);
    made.present = true;
    made.size = size;
    made.element_bytes = H5Tget_size(type);
    made.sums.reserve(checksum_blocks(made.bytes()));
    made.offset = create_contiguous(file, part_name(which), type, size);
  }

  void create_checksums(hid_t file) {
    const h5::Handle group = h5::create_group(file, "checksums");
    h5::write_fixed_text(group.get(), "algorithm", kChecksumAlgorithm);
    h5::write_attribute(group.get(), "block_bytes", static_cast<std::int64_t>(kChecksumBlock));
    for (const char* name : {"out", "in", "vertices"}) {
      if (h5::has_link(file, name)) h5::create_group(group.get(), name);
    }
    for (int i = 0; i < kGraphParts; ++i) {
      Part& summed = parts[static_cast<std::size_t>(i)];
      if (!summed.present) continue;
      summed.checksum_offset = create_contiguous(group.get(), part_name(static_cast<GraphPart>(i)),
                                                 H5T_STD_U64LE, checksum_blocks(summed.bytes()));
    }
  }

  void append(GraphPart which, std::span<const std::byte> bytes) {
    Part& target = part(which);
    if (!target.present || bytes.size() > target.bytes() - target.written) {
      throw RunError(fmt::format(
          "internal error: {}: dataset /{} holds {} elements, not {}", output.path(), part_name(which),
          target.size, (target.written + bytes.size()) / std::max<std::uint64_t>(target.element_bytes, 1)));
    }
    data.write_all_at(bytes, target.offset + target.written);
    writeback.add_written(data.get(), bytes.size());
    target.hash(bytes);
  }

  std::uint64_t finish() {
    if (finished) return *finished;
    GraphChecksum sum(info);
    for (int i = 0; i < kGraphParts; ++i) {
      const Part& done = parts[static_cast<std::size_t>(i)];
      const auto which = static_cast<GraphPart>(i);
      if (done.written != done.bytes()) {
        throw RunError(fmt::format("internal error: {}: dataset /{} holds {} of its {} elements",
                                   output.path(), part_name(which), done.written / done.element_bytes,
                                   done.size));
      }
      if (done.present) data.write_all_at(std::as_bytes(std::span(done.sums)), done.checksum_offset);
      if (is_in_part(which)) continue;
      for (const std::uint64_t block : done.sums) sum.add(block);
    }
    data.close();
    try {
      write_checksum(sum.value());
    } catch (const h5::Failure& failure) {
      throw RunError(output.path() + ": " + failure.what());
    }
    output.finish();
    finished = sum.value();
    return *finished;
  }

  void write_checksum(std::uint64_t value) const {
    h5::change_file(h5::open_file(output.temporary(), true), [&](hid_t file) {
      const h5::Handle attribute(H5Aopen(file, "checksum", H5P_DEFAULT));
      h5::checked(H5Awrite(attribute.get(), H5T_STD_U64LE, &value));
    });
  }

  GraphInfo info;
  bool wide;
  OutputFile output;
  Descriptor data;
  Writeback writeback;
  std::array<Part, kGraphParts> parts;
  std::vector<std::int64_t> widened;
  std::optional<std::uint64_t> finished;  ///< the checksum, once the file is complete
};

GraphWriter::GraphWriter(const std::string& path, const GraphInfo& info, bool force)
    : impl_(std::make_unique<Impl>(path, info, force)) {}
GraphWriter::~GraphWriter() = default;
GraphWriter::GraphWriter(GraphWriter&&) noexcept = default;

void GraphWriter::append_offsets(std::span<const EdgeIndex> offsets, bool in) {
  impl_->append(part_of(GraphPart::out_indptr, in), std::as_bytes(offsets));
}

void GraphWriter::append_targets(std::span<const Vertex> targets, bool in) {
  const GraphPart which = part_of(GraphPart::out_indices, in);
  if (!impl_->wide) {
    impl_->append(which, std::as_bytes(targets));
    return;
  }
  for (; !targets.empty(); targets = targets.subspan(std::min(targets.size(), kPieceEntries))) {
    const auto piece = targets.first(std::min(targets.size(), kPieceEntries));
    impl_->widened.assign(piece.begin(), piece.end());
    impl_->append(which, std::as_bytes(std::span(impl_->widened)));
  }
}

void GraphWriter::append_weights(std::span<const float> weights, bool in) {
  impl_->append(part_of(GraphPart::out_data, in), std::as_bytes(weights));
}

void GraphWriter::append_times(std::span<const std::int64_t> times, bool in) {
  impl_->append(part_of(GraphPart::out_times, in), std::as_bytes(times));
}

void GraphWriter::append_original_ids(std::span<const std::int64_t> ids) {
  impl_->append(GraphPart::original_id, std::as_bytes(ids));
}

std::uint64_t GraphWriter::finish() {
  return impl_->finish();
}

std::uint64_t GraphWriter::commit() {
  const std::uint64_t checksum = finish();
  impl_->output.commit();
  return checksum;
}

std::uint64_t GraphWriter::bytes() const {
  return std::filesystem::file_size(impl_->output.temporary());
}

GraphInfo info_of(const Graph& graph) {
  GraphInfo info;
  info.vertices = graph.vertices();
  info.edges = graph.edges();
  info.directed = graph.directed;
  info.weighted = graph.weighted;
  info.timed = graph.timed();
  info.compacted = !graph.original_ids.empty();
  info.has_in = !graph.in.offsets.empty();
  info.origin = graph.origin;
  return info;
}

namespace {

/// Appends all entries of a column: at once from memory, or piece by piece as `read` gets them from a file.
template <class T, class Read, class Append>
void append_column(const HostArray<T>& column, std::uint64_t edges, bool in_file, Read&& read,
                   Append&& append) {
  if (!in_file) return append(column.span());
  HostArray<T> piece(std::min<std::uint64_t>(edges, kPieceEntries), "writing edges");
  for (EdgeIndex at = 0; at < edges; at += piece.size()) {
    const auto values = piece.span().first(std::min<std::uint64_t>(piece.size(), edges - at));
    read(at, values);
    append(std::span<const T>(values));
  }
}

}  // namespace

GraphWriter begin_graph(const std::string& path, const Graph& graph, bool force) {
  const GraphInfo info = info_of(graph);
  GraphWriter writer(path, info, force);
  for (const bool in : {false, true}) {
    const Csr& rows = in ? graph.in : graph.out;
    const EdgeSource* const file = (in ? graph.in_edge_source : graph.edge_source).get();
    if (rows.offsets.empty()) continue;
    const auto append = [&](const auto& column, auto read, auto write) {
      append_column(
          column, info.edges, file != nullptr, [&](EdgeIndex at, auto values) { (file->*read)(at, values); },
          [&](auto values) { (writer.*write)(values, in); });
    };
    writer.append_offsets(rows.offsets.span(), in);
    append(rows.targets, &EdgeSource::read_targets, &GraphWriter::append_targets);
    if (info.weighted) append(rows.weights, &EdgeSource::read_weights, &GraphWriter::append_weights);
    if (info.timed) append(rows.times, &EdgeSource::read_times, &GraphWriter::append_times);
  }
  if (info.compacted) writer.append_original_ids(graph.original_ids.span());
  return writer;
}

std::uint64_t write_graph(const std::string& path, const Graph& graph, bool force) {
  return begin_graph(path, graph, force).commit();
}

}  // namespace sluice::io
