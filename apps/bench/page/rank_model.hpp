// Predicts the time of a job on many GPUs from its time on one and from counts on several ranks: rounds,
// bytes sent, and edges read. Limits of links and devices are parameters. It assumes equal load on all ranks,
// and as many rounds as on few ranks.
#pragma once

#include <algorithm>

namespace sluice::bench {

/// Links between GPUs, and the speed of GPUs relative to the measured one.
struct RankLimits {
  double node = 1;               ///< number of GPUs that share the faster links
  double node_bandwidth = 1;     ///< bytes a second that one of them receives
  double network_bandwidth = 1;  ///< bytes a second that a GPU receives from other nodes
  double latency = 0;            ///< seconds until a round's first message arrives
  double message = 0;            ///< seconds per further message; a rank sends one to each other rank
  double peer_reads = 1;         ///< random reads a second of a GPU in others' memory
  double round = 0;              ///< seconds of a GPU for a round, even without work
  double speed = 1;              ///< speed of the GPUs over the measured one
  double work = 1;               ///< work and bytes of the job over the measured ones
};

/// Counts of a job, from a report of one rank and one of several.
struct RankCounts {
  double seconds = 0;     ///< on one rank
  double ranks = 2;       ///< of the second report, at least 2
  double bytes = 0;       ///< sent by all ranks together
  double rounds = 1;      ///< with an exchange of all ranks
  double work = 1;        ///< edges read by all ranks over those of one rank
  double replicated = 0;  ///< part of `seconds` that each of several ranks repeats
  double reads = 0;       ///< of all ranks in each other's memory, about
  /// Does each rank receive all changes (solvers)? If not, work travels to the owner of its vertex.
  bool gathers = false;
  bool overlaps = false;  ///< do transfers overlap with work (solvers)?
  /// Seconds on `ranks` that the counts do not explain (unexplained_seconds), for predictions on more ranks.
  double unexplained = 0;
};

/// The parts of the time on a number of ranks.
struct RankSeconds {
  double rounds = 0;       ///< each rank has all of them
  double replicated = 0;   ///< repeated by each rank
  double shared = 0;       ///< one rank's work, divided by the number of ranks
  double reads = 0;        ///< in other ranks' memory
  double link = 0;         ///< transfer of bytes
  double messages = 0;     ///< latency
  double unexplained = 0;  ///< not explained by counts
  bool overlaps = false;

  double sum() const {
    return rounds + replicated + (overlaps ? std::max(shared, link) : shared + link) + reads + messages +
           unexplained;
  }
};

/// The remote work of each of `ranks` ranks. An item belongs to another rank with probability (ranks - 1) /
/// ranks, and ranks share all items equally; `all` is the total on job.ranks ranks.
inline double amount_per_rank(const RankCounts& job, double all, double ranks) {
  return all * job.ranks / (job.ranks - 1) * (ranks - 1) / (ranks * ranks);
}
/// The bytes that each of `ranks` receives. Of b changed bytes, all ranks but the owner receive a copy: b
/// (ranks - 1) bytes are sent, and each rank receives nearly b, for any number of ranks.
inline double received_bytes(const RankCounts& job, double ranks) {
  if (job.gathers) return job.bytes / (job.ranks - 1) * (ranks - 1) / ranks;
  return amount_per_rank(job, job.bytes, ranks);
}

/// If work travels, the unexplained rest is work that does not exist on one rank, and more ranks share it. If
/// not, it is a part of one rank's work that each of n ranks repeats; (n - 1) / n of it are additional.
inline bool divides_unexplained(const RankCounts& job) {
  return !job.overlaps && job.bytes > 0;
}
inline double unexplained_on(const RankCounts& job, double ranks) {
  if (divides_unexplained(job)) return job.unexplained * job.ranks / ranks;
  return job.unexplained * (1 - 1 / ranks) / (1 - 1 / job.ranks);
}

/// The time on `ranks` ranks. Solvers have rounds on one rank too; work that travels has none there.
inline RankSeconds seconds_on(const RankCounts& job, const RankLimits& limits, double ranks) {
  const double all_rounds = job.rounds * limits.round;
  const double rounds = job.overlaps ? std::min(all_rounds, job.seconds) : 0;
  const double scale = limits.work / limits.speed;
  RankSeconds parts{.rounds = rounds,
                    .replicated = job.replicated * scale,
                    .shared = (job.seconds - rounds - job.replicated) * scale / ranks};
  if (ranks <= 1) return parts;
  if (!job.overlaps) parts.rounds = all_rounds;
  parts.shared *= job.work;
  const double bandwidth = ranks <= limits.node ? limits.node_bandwidth : limits.network_bandwidth;
  parts.link = received_bytes(job, ranks) * limits.work / bandwidth;
  parts.reads = amount_per_rank(job, job.reads, ranks) * limits.work / limits.peer_reads;
  parts.messages = job.rounds * (limits.latency + (ranks - 1) * limits.message);
  parts.unexplained = unexplained_on(job, ranks) * scale;
  parts.overlaps = job.overlaps;
  return parts;
}

/// The seconds on several ranks beyond the model's prediction; 0 if it predicts more.
inline double unexplained_seconds(const RankCounts& job, const RankLimits& limits, double several_seconds) {
  return std::max(several_seconds - seconds_on(job, limits, job.ranks).sum(), 0.0);
}

/// The lowest power of two of ranks at which twice as many are less than 1.25 times as fast; at most `most`.
inline double scales_to(const RankCounts& job, const RankLimits& limits, double max_ranks) {
  double ranks = 2;
  while (ranks < max_ranks &&
         seconds_on(job, limits, ranks).sum() >= 1.25 * seconds_on(job, limits, 2 * ranks).sum())
    ranks *= 2;
  return ranks;
}

}  // namespace sluice::bench
