// However a rank fails, all ranks end soon, with one line and its exit status, and leave no file.
#include <sys/mount.h>

#include <random>
#include <sstream>

#include "mpi/ranks.hpp"
#include "paths.hpp"
#include "sanitized.hpp"

namespace sluice::test {
namespace {

/// The program's own lines among those of mpirun.
std::vector<std::string> lines_of_sluice(const std::string& err) {
  std::vector<std::string> lines;
  std::istringstream text(err);
  for (std::string line; std::getline(text, line);) {
    if (line.starts_with("sluice: ")) lines.push_back(line);
  }
  return lines;
}

class RankFailure : public MpiTest {
 protected:
  /// The job must end with `status` and one line that contains `words`, and leave no new file in the folder.
  void refuse_on_ranks(int status, const std::string& words, std::vector<std::string> command) {
    const auto before = folder_.names().size();
    const auto finished = Process(std::move(command)).wait(std::chrono::seconds(30));
    const auto lines = lines_of_sluice(finished.err);
    EXPECT_EQ(finished.status, status) << finished.err;
    ASSERT_EQ(lines.size(), 1u) << finished.err;
    EXPECT_NE(lines[0].find(words), std::string::npos) << lines[0];
    EXPECT_EQ(finished.err.find("HDF5-DIAG"), std::string::npos) << finished.err;
    EXPECT_EQ(folder_.names().size(), before) << "something was left behind";
  }

  std::vector<std::string> walk_on(int ranks, const std::vector<std::string>& more) {
    std::vector<std::string> program{paths::kProgram, "walk", graph(), "--output", at("x.h5")};
    program.insert(program.end(), more.begin(), more.end());
    return on_ranks(ranks, program);
  }

  /// A job of two ranks, the second of which has these additional options.
  std::vector<std::string> walk_with_other_second(const std::vector<std::string>& more) {
    auto words = walk_on(1, {});
    words.insert(words.end(), {":", "-n", "1", paths::kProgram, "walk", graph(), "--output", at("x.h5")});
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
};

TEST_F(RankFailure, WhatIsWrongOnAllIsSaidOnce) {
  refuse_on_ranks(2, "sluice: --length", walk_on(3, {"--length", "0"}));
  refuse_on_ranks(3, "sluice: " + at("nothing"), walk_on(2, {"--starts", at("nothing")}));
  write_file(at("x.h5"), "a user's file");
  refuse_on_ranks(2, "x.h5 exists", walk_on(3, {}));
  EXPECT_EQ(read_file(at("x.h5")), "a user's file");
}

TEST_F(RankFailure, WhatIsWrongOnOneNamesIt) {
  refuse_on_ranks(4, "sluice: rank 1: ", walk_with_other_second({"--host-memory", "4KiB"}));
}

TEST_F(RankFailure, RanksMustAgree) {
  refuse_on_ranks(2, "rank 0 has --seed '1', rank 1 has --seed '2'", walk_with_other_second({"--seed", "2"}));
}

/// Ranks must compare their options and files before they communicate: whether a search reads in-edges
/// depends on both.
TEST_F(RankFailure, RanksMustAgreeBeforeTheyMeet) {
  const std::string both = graph("rmat", 8, {"--reverse"}), out_alone = at("out_alone.h5");
  run({"generate", "rmat", "--scale", "8", "--output", out_alone, "--quiet"});
  const auto search = [&](const std::string& file, const std::vector<std::string>& more) {
    std::vector<std::string> words{paths::kProgram, "bfs", file, "--source", "1", "--output", at("x.h5")};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  const auto unlike = [&](const std::vector<std::string>& first, const std::vector<std::string>& second) {
    auto words = on_ranks(1, first);
    words.insert(words.end(), {":", "-n", "1"});
    words.insert(words.end(), second.begin(), second.end());
    return words;
  };
  refuse_on_ranks(2, "rank 0 has --direction 'push', rank 1 has --direction 'auto'",
                  unlike(search(both, {"--direction", "push"}), search(both, {})));
  refuse_on_ranks(2, "the ranks have different options", unlike(search(both, {}), search(out_alone, {})));
  refuse_on_ranks(2, "the ranks have different options", unlike(search(out_alone, {}), search(both, {})));
  // Nodes may have disks of their own, with different files of one name.
  for (const auto& [rank, file] : {std::pair{"0", both}, std::pair{"1", out_alone}}) {
    std::filesystem::create_directory(at(rank));
    std::filesystem::copy_file(file, at(rank) + "/g.h5");
  }
  const std::string words = " bfs g.h5 --source 1 --output " + at("x.h5");
  refuse_on_ranks(
      2, "the ranks have different options",
      on_ranks(2, {"sh", "-c", "cd " + at("") + "$OMPI_COMM_WORLD_RANK && exec " + paths::kProgram + words}));
}

/// By default free memory differs between ranks, and so do the hosts' budgets. The rank that lacks device
/// memory is independent of that.
TEST_F(RankFailure, LackOfMemoryIsSaidByTheRankThatLacksIt) {
  const std::string file = graph("kronecker", 8, {"--undirected"});
  for (const bool last_has_more : {false, true}) {
    std::vector<std::string> words = on_ranks(1, {});
    for (int rank = 0; rank < 3; ++rank) {
      const int mebibytes = last_has_more ? 100 + rank : 102 - rank;
      if (rank > 0) words.insert(words.end(), {":", "-n", "1"});
      words.insert(words.end(), {paths::kProgram,
                                 "sample",
                                 file,
                                 "--kind",
                                 "node",
                                 "--count",
                                 "45",
                                 "--threads",
                                 "1",
                                 "--device",
                                 "host",
                                 "--partitions",
                                 "5",
                                 "--quiet",
                                 "--device-memory",
                                 "60000B",
                                 "--output",
                                 at("x.h5"),
                                 "--host-memory",
                                 std::to_string(mebibytes) + "MiB"});
    }
    refuse_on_ranks(4, "of device memory on each rank", words);
  }
}

TEST_F(RankFailure, FilesOfOneNameMustBeTheSame) {
  // Nodes may have disks of their own: each rank has a folder with equally many changes.
  for (const char* rank : {"0", "1"}) {
    std::filesystem::create_directory(at(rank));
    write_file(at(rank) + "/insert.txt", std::string(rank) + " 300\n");
  }
  const std::string words =
      " pagerank " + graph("rmat", 8, {"--undirected"}) + " --insert insert.txt --output " + at("x.h5");
  refuse_on_ranks(
      2, "checksum",
      on_ranks(2, {"sh", "-c", "cd " + at("") + "$OMPI_COMM_WORLD_RANK && exec " + paths::kProgram + words}));
}

TEST_F(RankFailure, OneProcessSuffices) {
  refuse_on_ranks(2, "generate runs in one process",
                  on_ranks(2, {paths::kProgram, "generate", "ring", "--output", at("x.h5")}));
}

TEST_F(RankFailure, ProcessesThatCannotMeetAreRefused) {
  setenv("SLURM_PROCID", "0", 1);
  setenv("SLURM_STEP_NUM_TASKS", "2", 1);
  refuse(2, "cannot find each other", {"walk", at("x"), "--output", at("x.h5")});
  unsetenv("SLURM_PROCID");
  unsetenv("SLURM_STEP_NUM_TASKS");
}

TEST_F(RankFailure, AFullDisk) {
  const std::string place = at("disk");
  std::filesystem::create_directory(place);
  if (mount("none", place.c_str(), "tmpfs", 0, "size=1m") != 0)
    GTEST_SKIP() << "no permission to mount a tmpfs";
  for (const char* layout : {"single", "sharded"}) {
    refuse_on_ranks(1, "No space left on device",
                    on_ranks(3, {paths::kProgram, "walk", graph(), "--walks-per-vertex", "30", "--output",
                                 place + "/x.h5", "--output-layout", layout}));
    EXPECT_TRUE(std::filesystem::is_empty(place)) << layout;
  }
  umount2(place.c_str(), MNT_DETACH);
}

constexpr int kTrials = unless_sanitized(20, 3);

/// A job of a second or two that draws much and writes little.
class LongJob : public RankFailure {
 protected:
  std::vector<std::string> words(const char* walks_per_vertex = "80") {
    return {"walk",
            graph("kronecker", 12, {"--undirected"}),
            "--kind",
            "node2vec",
            "--p",
            "50",
            "--q",
            "50",
            "--length",
            "20",
            "--walks-per-vertex",
            walks_per_vertex,
            "--threads",
            "1",
            "--quiet"};
  }
  std::vector<std::string> job(const std::string& output, const char* walks_per_vertex = "80") {
    auto all = words(walks_per_vertex);
    all.insert(all.begin(), paths::kProgram);
    all.insert(all.end(), {"--output", at(output), "--report", at(output + ".json")});
    return on_ranks(3, all);
  }

  /// Three ranks that wait one second for a rank that shows no sign of life.
  std::vector<std::string> impatient_job(const char* walks_per_vertex) {
    auto all = job("x.h5", walks_per_vertex);
    all.insert(all.begin() + 1, {"-x", "SLUICE_PATIENCE=1"});
    return all;
  }
  /// Waits until all ranks work: the graph, the report, the output and a folder for shares exist.
  std::vector<pid_t> at_work(const Process& process) {
    EXPECT_TRUE(process.reaches([&] { return folder_.names().size() == 4; }));
    return ranks_of(process.id());
  }

  /// The ranks that mpirun has started and connected to. If a process is killed while it connects, Open MPI
  /// 4.1.4 does not always name its rank, and may wait forever. Sluice itself has not begun by then.
  static std::vector<pid_t> ranks_of(pid_t mpirun) {
    std::vector<pid_t> ranks;
    std::istringstream children(
        read_file("/proc/" + std::to_string(mpirun) + "/task/" + std::to_string(mpirun) + "/children"));
    for (pid_t child = 0; children >> child;) {
      const std::string process = "/proc/" + std::to_string(child);
      if (read_file(process + "/comm") != "sluice\n") continue;
      // Open MPI loads its transport between ranks after it has connected to mpirun.
      if (read_file(process + "/maps").find("mca_pml") != std::string::npos) ranks.push_back(child);
    }
    return ranks;
  }
};

TEST_F(LongJob, ARequestToStopEndsAllRanks) {
  Process process(job("x.h5", "1000"));
  // The graph, and what the job has begun: its report, its output, and a folder for the ranks' shares.
  ASSERT_TRUE(process.reaches([&] { return folder_.names().size() == 4; }));
  kill(process.id(), SIGTERM);
  const auto finished = process.wait(std::chrono::seconds(30));

  EXPECT_NE(finished.status, 0);
  EXPECT_EQ(lines_of_sluice(finished.err).size(), 1u) << finished.err;
  EXPECT_EQ(folder_.names().size(), 1u) << "something was left behind: " << folder_.names().back();
}

TEST_F(LongJob, AKilledRankIsNamedAndEndsTheOthers) {
  auto alone = words();
  alone.insert(alone.end(), {"--output", at("alone.h5")});
  run(alone);
  const auto seed = std::random_device{}();
  std::mt19937 random(seed);
  int named = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    const auto victim = random() % 3;
    const auto moment = std::chrono::milliseconds(random() % 1200);
    SCOPED_TRACE("seed " + std::to_string(seed) + ", trial " + std::to_string(trial) + ": rank " +
                 std::to_string(victim) + " after " + std::to_string(moment.count()) + " ms");
    Process process(job("x.h5"));
    std::vector<pid_t> ranks;
    while (ranks.size() < 3) ranks = ranks_of(process.id());
    std::this_thread::sleep_for(moment);
    kill(ranks[victim], SIGKILL);
    const auto finished = process.wait(std::chrono::seconds(30));

    const auto lines = lines_of_sluice(finished.err);
    if (std::filesystem::exists(at("x.h5"))) {  // the kill came too late
      EXPECT_EQ(read_file(at("x.h5")), read_file(at("alone.h5")));
      EXPECT_EQ(finished.err.find("no output was written"), std::string::npos) << finished.err;
    } else {
      EXPECT_NE(finished.status, 0) << finished.err;
      EXPECT_LT(finished.status, 128 + 64) << "it hung";
      // mpirun names the rank if the ranks were not connected yet.
      EXPECT_NE(finished.err.find("rank " + std::to_string(victim)), std::string::npos) << finished.err;
      EXPECT_LE(lines.size(), 1u) << finished.err;
      named += lines.size() == 1 && lines[0].find("was killed") != std::string::npos;
    }
    for (const auto& name : folder_.names()) EXPECT_EQ(name.find("partial"), name.npos) << name;
    std::filesystem::remove(at("x.h5"));
    std::filesystem::remove(at("x.h5.json"));
  }
  EXPECT_GE(named, kTrials * 3 / 10) << "of " << kTrials;
}

TEST_F(LongJob, AStoppedRankIsNamedAndEndsTheOthers) {
  Process process(impatient_job("1000"));
  const auto ranks = at_work(process);
  ASSERT_EQ(ranks.size(), 3u);
  kill(ranks[1], SIGSTOP);
  const auto finished = process.wait(std::chrono::seconds(60));

  EXPECT_NE(finished.status, 0);
  const auto lines = lines_of_sluice(finished.err);
  ASSERT_EQ(lines.size(), 1u) << finished.err;
  EXPECT_NE(lines[0].find("rank 1 (process " + std::to_string(ranks[1]) + ") has not responded for 1 s"),
            std::string::npos)
      << lines[0];
  EXPECT_EQ(folder_.names().size(), 1u) << "something was left behind";
}

/// The rank is killed after the output has its name and before the ranks end: the output must stay.
TEST_F(LongJob, OutputThatIsThereIsNotDenied) {
  int killed_in_time = 0;
  for (int trial = 0; trial < 12 && killed_in_time < 2; ++trial) {
    Process process(job("x.h5", "4"));
    ASSERT_TRUE(process.reaches([&] { return std::filesystem::exists(at("x.h5")); }));
    const auto ranks = ranks_of(process.id());
    if (ranks.size() > 2) kill(ranks[2], SIGKILL);
    const auto finished = process.wait(std::chrono::seconds(30));

    for (const auto& line : lines_of_sluice(finished.err)) {
      const bool lost = line.find("was killed") != std::string::npos;
      EXPECT_TRUE(!lost || line.find("the output ") != std::string::npos) << line;
    }
    killed_in_time += finished.status != 0;
    EXPECT_TRUE(std::filesystem::exists(at("x.h5")));
    std::filesystem::remove(at("x.h5"));
    std::filesystem::remove(at("x.h5.json"));
  }
  if (killed_in_time == 0) GTEST_SKIP() << "every rank had ended before it was killed";
}

/// Only one rank is asked to stop, and is too busy to answer; the others must not report it as killed.
TEST_F(LongJob, ARankThatIsAskedToStopIsNotLost) {
  Process process(job("x.h5", "1000"));
  const auto ranks = at_work(process);
  ASSERT_EQ(ranks.size(), 3u);
  kill(ranks[2], SIGTERM);
  const auto finished = process.wait(std::chrono::seconds(30));

  EXPECT_NE(finished.status, 0);
  const auto lines = lines_of_sluice(finished.err);
  ASSERT_EQ(lines.size(), 1u) << finished.err;
  EXPECT_NE(lines[0].find("stopped on request; no output was written"), std::string::npos) << lines[0];
}

/// A batch system suspends a job if it needs the machine for something else.
TEST_F(LongJob, ASuspendedJobGoesOn) {
  Process process(impatient_job("20"));
  const auto ranks = at_work(process);
  ASSERT_EQ(ranks.size(), 3u);
  for (const pid_t rank : ranks) kill(rank, SIGSTOP);
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  for (const pid_t rank : ranks) kill(rank, SIGCONT);
  const auto finished = process.wait();

  EXPECT_EQ(finished.status, 0) << finished.err;
  EXPECT_TRUE(std::filesystem::exists(at("x.h5")));
}

/// All queries of rank 1 are short; those of rank 0 take longer than a rank may be silent.
TEST_F(RankFailure, AWorkingRankIsWaitedFor) {
  const std::string g = graph("rmat", 12, {"--reverse"});
  std::string queries;
  for (int i = 0; i < 30; ++i) queries += std::to_string(i) + "\n";
  for (int i = 0; i < 30; ++i) queries += "4095\n";
  write_file(at("starts.txt"), queries);
  auto words = on_ranks(2, {paths::kProgram, "ppr", g, "--starts", at("starts.txt"), "--tolerance", "1e-12",
                            "--top", "5", "--threads", "1", "--output", at("x.h5"), "--quiet"});
  words.insert(words.begin() + 1, {"-x", "SLUICE_PATIENCE=1"});
  const auto finished = Process(words).wait();

  EXPECT_EQ(finished.status, 0) << finished.err;
}

}  // namespace
}  // namespace sluice::test
