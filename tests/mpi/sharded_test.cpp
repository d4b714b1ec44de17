// --output-layout sharded: one file a rank, and one file that shows them as one.
#include <map>

#include "mpi/ranks.hpp"

namespace sluice::test {
namespace {

/// All datasets of a file, each preceded by its shape.
std::map<std::string, std::vector<std::int64_t>> datasets_of(const std::string& path) {
  std::map<std::string, std::vector<std::int64_t>> all;
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  H5G_info_t info{};
  H5Gget_info(file, &info);
  for (hsize_t i = 0; i < info.nlinks; ++i) {
    char name[64];
    H5Lget_name_by_idx(file, ".", H5_INDEX_NAME, H5_ITER_INC, i, name, sizeof name, H5P_DEFAULT);
    const hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT);
    const hid_t space = H5Dget_space(dataset);
    hsize_t shape[3] = {0, 0, 0};
    H5Sget_simple_extent_dims(space, shape, nullptr);
    all[name] = read_numbers(path, name);
    all[name].insert(all[name].begin(), shape, shape + 3);
    H5Sclose(space);
    H5Dclose(dataset);
  }
  H5Fclose(file);
  return all;
}

class Sharded : public MpiTest {
 protected:
  /// Moves the result to another folder, as users do.
  std::string moved(const std::string& name) {
    const std::string to = at("moved-" + name);
    std::filesystem::create_directory(to);
    for (const char* part : {"", ".shards"}) std::filesystem::rename(at(name + part), to + "/" + name + part);
    return to + "/" + name;
  }
};

TEST_F(Sharded, ShowsWhatOneProcessWrites) {
  int ranks = 4;
  for (const Kind& kind : all_kinds()) {
    const std::string together = std::string("ranks-") + kind.name;
    run(arguments_of(kind, kind.name, {}));
    run_on(ranks, arguments_of(kind, together, {"--output-layout", "sharded"}));
    EXPECT_EQ(datasets_of(at(kind.name)), datasets_of(moved(together))) << kind.name << " on " << ranks;
    ranks = ranks % 4 + 1;
  }
  for (const auto& name : folder_.names()) EXPECT_EQ(name.find("partial"), name.npos) << name;
}

TEST_F(Sharded, AShardIsWhatItsInstanceRangeGives) {
  const Kind& kind = all_kinds()[7];
  run_on(2, arguments_of(kind, "ranks.h5", {"--output-layout", "sharded"}));
  run(arguments_of(kind, "range.h5", {"--instance-range", "128:256"}));

  EXPECT_EQ(read_file(at("range.h5")), read_file(at("ranks.h5.shards/00001.h5")));
}

TEST_F(Sharded, ForceReplacesShardsOfMoreRanks) {
  const Kind& kind = all_kinds()[0];
  run_on(3, arguments_of(kind, "ranks.h5", {"--output-layout", "sharded"}));
  EXPECT_EQ(sluice(arguments_of(kind, "ranks.h5", {"--output-layout", "sharded"})).status, 2);
  run(arguments_of(kind, "ranks.h5", {"--output-layout", "sharded", "--force"}));

  EXPECT_FALSE(std::filesystem::exists(at("ranks.h5.shards/00001.h5")));
  EXPECT_EQ(read_numbers(at("ranks.h5"), "walks").size(), 256u * 10);
}

}  // namespace
}  // namespace sluice::test
