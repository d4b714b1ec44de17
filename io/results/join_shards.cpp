#include "io/results/join_shards.hpp"

#include <algorithm>
#include <limits>

#include "engine/core/error.hpp"
#include "io/hdf5.hpp"

namespace sluice::io {
namespace {

/// One dataset in all shards. Only one shard is open at a time, since there may be more shards than a process
/// may have open files.
class ShardedDataset {
 public:
  ShardedDataset(const std::vector<ShardFile>& shards, const std::string& name)
      : shards_(shards), name_(name) {
    for (std::size_t shard = 0; shard < shards.size(); ++shard) {
      with_dataset(shard, [&](hid_t dataset) {
        const h5::Handle space(H5Dget_space(dataset));
        shape_.resize(static_cast<std::size_t>(h5::checked(H5Sget_simple_extent_ndims(space.get()))));
        h5::checked(H5Sget_simple_extent_dims(space.get(), shape_.data(), nullptr));
        rows_.push_back(shape_[0]);
        // Copied, since the dataset's own type keeps its file open.
        if (!type_) type_ = h5::Handle(H5Tcopy(h5::Handle(H5Dget_type(dataset)).get()));
      });
    }
  }

  const std::string& name() const { return name_; }
  hid_t type() const { return type_.get(); }
  std::size_t shards() const { return rows_.size(); }
  hsize_t rows(std::size_t shard) const { return rows_[shard]; }
  /// Calls use(id of the shard's dataset).
  template <class Use>
  void with_dataset(std::size_t shard, Use&& use) const {
    const h5::Handle file = h5::open_file(shards_[shard].path);
    use(h5::Handle(H5Dopen2(file.get(), name_.c_str(), H5P_DEFAULT)).get());
  }
  /// The shape of the dataset with `rows` rows.
  std::vector<hsize_t> shape(hsize_t rows) const {
    std::vector<hsize_t> made = shape_;
    made[0] = rows;
    return made;
  }

 private:
  const std::vector<ShardFile>& shards_;
  std::string name_;
  std::vector<hsize_t> rows_, shape_;
  h5::Handle type_;
};

/// Creates a virtual dataset: the rows of all shards, one shard after the other; no row is copied.
void join_rows(hid_t file, const ShardedDataset& sharded, const std::vector<ShardFile>& shards) {
  hsize_t total_rows = 0;
  for (std::size_t i = 0; i < sharded.shards(); ++i) total_rows += sharded.rows(i);
  const h5::Handle all_rows = h5::space_of(sharded.shape(total_rows));
  const h5::Handle properties = h5::dataset_properties();
  const std::int64_t missing = std::numeric_limits<std::int64_t>::min();
  h5::checked(H5Pset_fill_value(properties.get(), H5T_NATIVE_INT64, &missing));
  std::vector<hsize_t> first(sharded.shape(0).size(), 0);
  for (std::size_t i = 0; i < shards.size(); first[0] += sharded.rows(i++)) {
    const auto shape = sharded.shape(sharded.rows(i));
    if (std::find(shape.begin(), shape.end(), 0) != shape.end()) continue;
    h5::checked(
        H5Sselect_hyperslab(all_rows.get(), H5S_SELECT_SET, first.data(), nullptr, shape.data(), nullptr));
    h5::checked(H5Pset_virtual(properties.get(), all_rows.get(), shards[i].name.c_str(),
                               sharded.name().c_str(), h5::space_of(shape).get()));
  }
  h5::checked(H5Sselect_all(all_rows.get()));
  h5::create_dataset(file, sharded.name(), sharded.type(), all_rows, properties);
}

/// Joins offsets of lists. A shard's begin at 0; in the whole they continue at the previous shard's end.
std::uint64_t join_offsets(hid_t file, const ShardedDataset& sharded) {
  constexpr hsize_t kPiece = 1u << 20;
  hsize_t lists = 0;
  for (std::size_t i = 0; i < sharded.shards(); ++i) lists += sharded.rows(i) - 1;
  const h5::Handle all_rows = h5::space_of({lists + 1});
  const h5::Handle joined =
      h5::create_dataset(file, sharded.name(), sharded.type(), all_rows, h5::dataset_properties());
  std::vector<std::int64_t> ends;
  hsize_t row = 0;
  std::int64_t previous_end = 0;
  for (std::size_t i = 0; i < sharded.shards(); ++i) {
    const hsize_t rows = sharded.rows(i);
    std::int64_t last = 0;
    sharded.with_dataset(i, [&](hid_t dataset) {
      // A shard's first 0 becomes the previous shard's last end, so it is written again with the same value.
      for (hsize_t first = 0, count; first < rows; first += count) {
        count = std::min(kPiece, rows - first);
        ends.resize(count);
        const hsize_t target_row = row + first;
        const h5::Handle piece = h5::space_of({count}), from(H5Dget_space(dataset));
        h5::checked(H5Sselect_hyperslab(from.get(), H5S_SELECT_SET, &first, nullptr, &count, nullptr));
        h5::checked(
            H5Sselect_hyperslab(all_rows.get(), H5S_SELECT_SET, &target_row, nullptr, &count, nullptr));
        h5::checked(H5Dread(dataset, H5T_NATIVE_INT64, piece.get(), from.get(), H5P_DEFAULT, ends.data()));
        last = ends.back();
        for (std::int64_t& end : ends) end += previous_end;
        h5::checked(
            H5Dwrite(joined.get(), H5T_NATIVE_INT64, piece.get(), all_rows.get(), H5P_DEFAULT, ends.data()));
      }
    });
    row += rows - 1;
    previous_end += last;
  }
  return (lists + 1) * sizeof(std::int64_t);
}

std::vector<std::string> names_in(hid_t file) {
  H5G_info_t info;
  h5::checked(H5Gget_info(file, &info));
  std::vector<std::string> names;
  for (hsize_t i = 0; i < info.nlinks; ++i) {
    char name[256];
    h5::checked(H5Lget_name_by_idx(file, ".", H5_INDEX_NAME, H5_ITER_INC, i, name, sizeof name, H5P_DEFAULT));
    names.emplace_back(name);
  }
  return names;
}

}  // namespace

std::uint64_t join_shards(const std::string& path, const std::string& display_path,
                          const std::vector<ShardFile>& shards, const std::vector<Attribute>& attributes,
                          const std::vector<std::string>& offsets) {
  std::uint64_t written = 0;
  try {
    const std::vector<std::string> names = names_in(h5::open_file(shards.at(0).path).get());
    h5::change_file(h5::create_file(path), [&](hid_t joined) {
      for (const auto& [name, value] : attributes) {
        std::visit([&, &key = name](const auto& held) { h5::write_attribute(joined, key, held); }, value);
      }
      std::string lines;
      for (const ShardFile& shard : shards) lines += shard.name + "\n";
      h5::write_attribute(joined, kShardNames, lines);
      for (const std::string& name : names) {
        const ShardedDataset sharded(shards, name);
        if (std::find(offsets.begin(), offsets.end(), name) != offsets.end()) {
          written += join_offsets(joined, sharded);
        } else {
          join_rows(joined, sharded, shards);
        }
      }
    });
  } catch (const h5::Failure& failure) {
    throw RunError(display_path + ": " + failure.what());
  }
  return written;
}

}  // namespace sluice::io
