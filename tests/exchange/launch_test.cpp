// The launcher of this process, as made-up environments describe it.
#include "engine/exchange/launch.hpp"

#include <gtest/gtest.h>

#include <map>

namespace sluice {
namespace {

Launch launch_in(const std::map<std::string, std::string>& variables) {
  return detect_launch([&](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

TEST(Launch, APlainProcessIsAlone) {
  const Launch launch = launch_in({{"HOME", "/root"}});

  EXPECT_FALSE(launch.can_connect);
  EXPECT_EQ(launch.size, 1u);
  EXPECT_EQ(connect(launch)->size(), 1);
}

TEST(Launch, KnowsMpirunAndItsRank) {
  const Launch launch =
      launch_in({{"OMPI_COMM_WORLD_SIZE", "4"}, {"OMPI_COMM_WORLD_RANK", "3"}, {"PMIX_RANK", "3"}});

  EXPECT_TRUE(launch.can_connect);
  EXPECT_EQ(launch.size, 4u);
  EXPECT_EQ(launch.rank, 3u);
}

TEST(Launch, KnowsSrunWithAnMpiPlugin) {
  const Launch pmix = launch_in({{"PMIX_RANK", "1"}, {"SLURM_PROCID", "1"}, {"SLURM_STEP_NUM_TASKS", "8"}});
  const Launch pmi2 =
      launch_in({{"PMI_RANK", "2"}, {"PMI_SIZE", "6"}, {"SLURM_PROCID", "2"}, {"SLURM_STEP_NUM_TASKS", "6"}});

  EXPECT_TRUE(pmix.can_connect && pmi2.can_connect);
  EXPECT_EQ(pmix.size, 8u);
  EXPECT_EQ(pmi2.size, 6u);
}

TEST(Launch, ABatchScriptIsAlone) {
  const Launch launch = launch_in({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "8"}});

  EXPECT_EQ(launch.size, 1u);
  EXPECT_FALSE(launch.can_connect);
}

TEST(Launch, ProcessesThatCannotMeetAreRefused) {
  const Launch launch = launch_in({{"SLURM_PROCID", "1"}, {"SLURM_STEP_NUM_TASKS", "4"}});

  EXPECT_EQ(launch.rank, 1u);
  EXPECT_THROW(connect(launch), UsageError);
}

TEST(Launch, ProcessesMayBeJobsOfTheirOwn) {
  const Launch launch =
      launch_in({{"OMPI_COMM_WORLD_SIZE", "4"}, {"OMPI_COMM_WORLD_RANK", "3"}, {"SLUICE_ALONE", "1"}});

  EXPECT_EQ(launch.size, 1u);
  EXPECT_FALSE(launch.can_connect);
}

TEST(Launch, TimeoutIsTheUsers) {
  EXPECT_EQ(launch_in({}).timeout, Timeout(300));
  EXPECT_EQ(launch_in({{"SLUICE_PATIENCE", "7"}}).timeout, Timeout(7));
  EXPECT_EQ(launch_in({{"SLUICE_PATIENCE", "0"}}).timeout, Timeout(1));
  EXPECT_EQ(launch_in({{"SLUICE_PATIENCE", "soon"}}).timeout, Timeout(300));
}

/// On planned ranks, the other ranks contribute what this one does, and send it nothing.
TEST(Launch, APlannedRankHearsItself) {
  const auto ranks = make_planned(1, 3);
  const std::vector<std::byte> words[] = {std::vector(1, std::byte{5}), std::vector(2, std::byte{7}),
                                          std::vector(3, std::byte{9})};
  const std::span<const std::byte> send[] = {words[0], words[1], words[2]};
  std::vector<std::byte> own(2);
  const std::span<std::byte> receive[] = {{}, own, {}};
  std::uint64_t most[] = {4};

  ranks->all_reduce(most, Reduce::max, "a plan");
  ranks->exchange(send, receive, "a plan");

  EXPECT_EQ(ranks->rank(), 1);
  EXPECT_EQ(most[0], 4u);
  EXPECT_EQ(ranks->all_gather("a", "a plan"), (std::vector<std::string>{"a", "a", "a"}));
  EXPECT_EQ(own, words[1]);
}

}  // namespace
}  // namespace sluice
