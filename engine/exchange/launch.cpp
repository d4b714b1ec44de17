#include "engine/exchange/launch.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>

namespace sluice {
namespace {

/// A launcher's environment variables. Slurm's come last: they are set under every other launcher too.
struct Launcher {
  const char* rank;
  const char* size;
  bool can_connect;
};
constexpr Launcher kLaunchers[] = {
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", true},
    {"PMI_RANK", "PMI_SIZE", true},
    {"PMIX_RANK", "SLURM_STEP_NUM_TASKS", true},
    // srun without an MPI plugin. A batch script itself has SLURM_PROCID too, but no step of several tasks.
    {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", false},
};

std::uint64_t parse_number(const char* text, std::uint64_t fallback) {
  char* end = nullptr;
  const std::uint64_t number = text ? std::strtoull(text, &end, 10) : 0;
  return text && end != text ? number : fallback;
}

constexpr const char* kRemedy =
    "start it with the mpirun (or srun --mpi=pmix) of the MPI it was built with, or set SLUICE_ALONE=1 if "
    "each process is a job of its own";

}  // namespace

Launch detect_launch(const Environment& environment) {
  Launch launch;
  // At most what the clock can count in nanoseconds.
  constexpr std::uint64_t kMinSeconds = 1, kMaxSeconds = 1'000'000'000;
  const auto seconds = static_cast<std::uint64_t>(launch.timeout.count());
  launch.timeout =
      Timeout(std::clamp(parse_number(environment("SLUICE_PATIENCE"), seconds), kMinSeconds, kMaxSeconds));
  if (environment("SLUICE_ALONE")) return launch;
  for (const Launcher& launcher : kLaunchers) {
    const char* rank = environment(launcher.rank);
    if (!rank) continue;
    launch.size = parse_number(environment(launcher.size), 1);
    if (!launcher.can_connect && launch.size < 2) continue;
    launch.can_connect = launcher.can_connect;
    launch.rank = parse_number(rank, 0);
    launch.launcher = launcher.rank;
    break;
  }
  return launch;
}

std::unique_ptr<Communicator> connect(const Launch& launch) {
  const bool built = mpi_version() != "not built";
  if (!built && launch.size > 1) {
    throw UsageError(fmt::format(
        "{} processes were started ({} is set), but this build has no MPI: start one, install libopenmpi-dev "
        "and openmpi-bin and build again, or set SLUICE_ALONE=1 if each process is a job of its own",
        launch.size, launch.launcher));
  }
  auto ranks = built && launch.can_connect ? make_mpi() : make_single_rank();
  if (ranks->size() == 1 && launch.size > 1) {
    ranks->close();
    throw UsageError(fmt::format("{} processes were started ({} is set), but they cannot find each other: {}",
                                 launch.size, launch.launcher, kRemedy));
  }
  return ranks;
}

}  // namespace sluice
