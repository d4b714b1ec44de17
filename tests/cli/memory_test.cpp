// Free memory of a process, computed from the system's files about it and its control groups.
#include "apps/job/memory.hpp"

#include "cli/cli.hpp"

namespace sluice::apps {
namespace {

constexpr std::uint64_t kMiB = 1u << 20;

class FreeMemory : public testing::Test {
 protected:
  FreeMemory() { put("proc/meminfo", "MemTotal: 99999 kB\nMemFree: 5 kB\nMemAvailable: 1048576 kB\n"); }

  void put(const std::string& name, const std::string& text) {
    const std::filesystem::path path = folder_ / name;
    std::filesystem::create_directories(path.parent_path());
    test::write_file(path, text);
  }
  void process(const std::string& groups, const std::string& mounts) {
    put("proc/self/cgroup", groups);
    put("proc/self/mountinfo", "22 1 0:21 / / rw - ext4 /dev/sda rw\n" + mounts);
  }
  /// A control group of version 2 with `limit`; `used` MiB include `cached` MiB.
  void group2(const std::string& folder, const std::string& limit, std::uint64_t used, std::uint64_t cached) {
    put(folder + "/memory.max", limit == "max" ? "max\n" : std::to_string(std::stoull(limit) * kMiB));
    put(folder + "/memory.current", std::to_string(used * kMiB));
    put(folder + "/memory.stat", "anon 7\nfile 7\ninactive_file " + std::to_string(cached * kMiB / 4) +
                                     "\nactive_file " + std::to_string(cached * kMiB / 4 * 3) + "\n");
  }
  void group1(const std::string& folder, std::uint64_t limit, std::uint64_t used, std::uint64_t cached) {
    put(folder + "/memory.limit_in_bytes",
        limit == 0 ? "9223372036854771712" : std::to_string(limit * kMiB) + "\n");
    put(folder + "/memory.usage_in_bytes", std::to_string(used * kMiB));
    put(folder + "/memory.stat", "inactive_file 1\nactive_file 1\ntotal_inactive_file " +
                                     std::to_string(cached * kMiB / 2) + "\ntotal_active_file " +
                                     std::to_string(cached * kMiB / 2) + "\n");
  }
  std::uint64_t free_mib() const { return free_host_memory(folder_.path().string()) / kMiB; }

  static constexpr const char* kUnified =
      "30 22 0:27 / /sys/fs/cgroup rw shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";
  static constexpr const char* kMemory = "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n";

  test::TemporaryFolder folder_;
};

TEST_F(FreeMemory, IsTheMachinesWithoutGroups) {
  EXPECT_EQ(free_mib(), 1024u);

  process("0::/\n", kUnified);

  EXPECT_EQ(free_mib(), 1024u) << "the root has no limit";
}

TEST_F(FreeMemory, IsWhatTheOwnGroupAllows) {
  process("0::/user.slice/user-7.slice/run-5.scope\n", kUnified);
  group2("sys/fs/cgroup/user.slice", "max", 900, 0);
  group2("sys/fs/cgroup/user.slice/user-7.slice", "max", 800, 0);
  group2("sys/fs/cgroup/user.slice/user-7.slice/run-5.scope", "300", 100, 0);

  EXPECT_EQ(free_mib(), 200u);
}

TEST_F(FreeMemory, IsTheLeastOfAllGroupsAround) {
  const std::string job = "sys/fs/cgroup/system.slice/slurmstepd.scope/job_42";
  process("0::/system.slice/slurmstepd.scope/job_42/step_0/user/task_0\n", kUnified);
  group2(job, "500", 350, 0);
  group2(job + "/step_0", "400", 100, 0);
  group2(job + "/step_0/user", "max", 100, 0);
  group2(job + "/step_0/user/task_0", "max", 100, 0);

  EXPECT_EQ(free_mib(), 150u);
}

TEST_F(FreeMemory, CountsCachedPagesAsFree) {
  process("0::/job\n", kUnified);
  group2("sys/fs/cgroup/job", "800", 796, 400);
  EXPECT_EQ(free_mib(), 404u);

  group2("sys/fs/cgroup/job", "800", 900, 0);
  EXPECT_EQ(free_mib(), 0u);
  group2("sys/fs/cgroup/job", "800", 10, 40);  // the two files are read at different moments
  EXPECT_EQ(free_mib(), 800u);
}

TEST_F(FreeMemory, KnowsGroupsOfVersion1) {
  process("9:name=systemd:/x\n4:cpu,memory:/slurm/uid_7/job_42/step_0\n0::/x\n", kMemory);
  group1("sys/fs/cgroup/memory", 0, 5000, 0);
  group1("sys/fs/cgroup/memory/slurm", 0, 4000, 0);
  group1("sys/fs/cgroup/memory/slurm/uid_7", 0, 3000, 0);
  group1("sys/fs/cgroup/memory/slurm/uid_7/job_42", 300, 280, 200);
  group1("sys/fs/cgroup/memory/slurm/uid_7/job_42/step_0", 0, 10, 0);

  EXPECT_EQ(free_mib(), 220u);
}

TEST_F(FreeMemory, TakesTheLesserOfBothVersions) {
  std::string both = kMemory;
  both += "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";
  process("4:memory:/old\n0::/new\n", both);
  group1("sys/fs/cgroup/memory/old", 300, 0, 0);
  group2("sys/fs/cgroup/unified/new", "200", 0, 0);
  EXPECT_EQ(free_mib(), 200u);

  group1("sys/fs/cgroup/memory/old", 100, 0, 0);
  EXPECT_EQ(free_mib(), 100u);
}

TEST_F(FreeMemory, FindsTheMountOfAContainer) {
  // The mount has paths of the container, paths of the machine, or neither.
  group2("sys/fs/cgroup", "256", 56, 0);
  process("0::/\n", kUnified);
  EXPECT_EQ(free_mib(), 200u);
  process("0::/docker/4f\n", "30 22 0:27 /docker/4f /sys/fs/cgroup ro - cgroup2 cgroup2 rw\n");
  EXPECT_EQ(free_mib(), 200u);
  process("0::/../other\n", kUnified);
  EXPECT_EQ(free_mib(), 200u);

  group1("sys/fs/cgroup/memory", 128, 28, 0);
  process("4:memory:/docker/4f\n",
          "35 31 0:32 /docker/4f /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n");
  EXPECT_EQ(free_mib(), 100u);
}

TEST_F(FreeMemory, ReadsNamesWithBlanks) {
  process("0::/my job\n", "30 22 0:27 / /my\\040groups rw - cgroup2 cgroup2 rw\n");
  group2("my groups/my job", "64", 0, 0);

  EXPECT_EQ(free_mib(), 64u);
}

}  // namespace
}  // namespace sluice::apps
