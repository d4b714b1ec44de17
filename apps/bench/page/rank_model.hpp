// How long a job takes on many GPUs, from what it took on one and from what its ranks counted: rounds, bytes
// that they sent, and edges that they looked at. Limits of links and devices are parameters. All ranks are
// equally busy, and rounds are as many as on a few.
#pragma once

#include <algorithm>

namespace sluice::bench {

/// Links between GPUs, and what GPUs do beside that of the one that was measured.
struct RankLimits {
  double node = 1;               ///< GPUs that share the faster links
  double node_bandwidth = 1;     ///< bytes a second that one of them receives
  double network_bandwidth = 1;  ///< the same, beyond a node
  double latency = 0;            ///< seconds until the first message of a round is there
  double message = 0;            ///< and for each message more: a rank sends one to every other
  double peer_reads = 1;         ///< that a GPU makes at random in others' memory, a second
  double round = 0;              ///< seconds that a round takes of a GPU, however little work it has
  double speed = 1;              ///< GPUs work so many times as fast
  double work = 1;               ///< the job has so many times the work and bytes
};

/// What reports of a job say, one of a rank alone and one of several.
struct RankCounts {
  double seconds = 0;  ///< of one rank
  double ranks = 2;    ///< of the second report, more than one
  double bytes = 0;    ///< that they sent, all together
  double rounds = 1;   ///< in which all ranks exchange
  double work = 1;     ///< what they looked at, all together, beside what one looks at
  double alike = 0;    ///< of `seconds`, what each of several ranks does again
  double reads = 0;    ///< in each other's memory, all together, about
  /// Does each rank come to know all that changes (solvers)? Else work travels to the owner of its vertex.
  bool gathers = false;
  bool overlaps = false;  ///< is what is sent under way while ranks work (solvers)?
  /// Seconds that `ranks` took beyond what counts explain (rest_of), for more ranks than these.
  double rest = 0;
};

/// The parts of the time that so many ranks take.
struct RankSeconds {
  double rounds = 0;    ///< each rank has all of them
  double alike = 0;     ///< the same
  double shared = 0;    ///< of one rank's work, each of n ranks has one nth
  double reads = 0;     ///< in other ranks' memory
  double link = 0;      ///< bytes on their way
  double messages = 0;  ///< latency
  double rest = 0;      ///< what no count has
  bool overlaps = false;

  double sum() const {
    return rounds + alike + (overlaps ? std::max(shared, link) : shared + link) + reads + messages + rest;
  }
};

/// What each of `ranks` has of work that is another rank's with probability (ranks - 1) / ranks, and that
/// they share; all of job.ranks had so much.
inline double left_on(const RankCounts& job, double all, double ranks) {
  return all * job.ranks / (job.ranks - 1) * (ranks - 1) / (ranks * ranks);
}
/// Bytes that each of `ranks` receives. Of what changes, b bytes, all ranks but the owner receive a copy: b
/// (ranks - 1) bytes were sent, and each receives nearly b, however many ranks there are.
inline double received_bytes(const RankCounts& job, double ranks) {
  if (job.gathers) return job.bytes / (job.ranks - 1) * (ranks - 1) / ranks;
  return left_on(job, job.bytes, ranks);
}

/// Where work travels, what no count has is work that a rank alone does not have, shared by more ranks. Else
/// it is a part of one rank's work that each of n ranks does again, of which n - 1 nths come on top.
inline bool rest_travels(const RankCounts& job) {
  return !job.overlaps && job.bytes > 0;
}
inline double rest_on(const RankCounts& job, double ranks) {
  if (rest_travels(job)) return job.rest * job.ranks / ranks;
  return job.rest * (1 - 1 / ranks) / (1 - 1 / job.ranks);
}

/// Solvers have their rounds on one rank, too; work that does not travel there has none.
inline RankSeconds seconds_on(const RankCounts& job, const RankLimits& limits, double ranks) {
  const double all_rounds = job.rounds * limits.round;
  const double rounds = job.overlaps ? std::min(all_rounds, job.seconds) : 0;
  const double scale = limits.work / limits.speed;
  RankSeconds parts{.rounds = rounds,
                    .alike = job.alike * scale,
                    .shared = (job.seconds - rounds - job.alike) * scale / ranks};
  if (ranks <= 1) return parts;
  if (!job.overlaps) parts.rounds = all_rounds;
  parts.shared *= job.work;
  const double bandwidth = ranks <= limits.node ? limits.node_bandwidth : limits.network_bandwidth;
  parts.link = received_bytes(job, ranks) * limits.work / bandwidth;
  parts.reads = left_on(job, job.reads, ranks) * limits.work / limits.peer_reads;
  parts.messages = job.rounds * (limits.latency + (ranks - 1) * limits.message);
  parts.rest = rest_on(job, ranks) * scale;
  parts.overlaps = job.overlaps;
  return parts;
}

/// Seconds that several ranks took beyond what the model says of them; 0 where it says more.
inline double rest_of(const RankCounts& job, const RankLimits& limits, double several_seconds) {
  return std::max(several_seconds - seconds_on(job, limits, job.ranks).sum(), 0.0);
}

/// The first number of ranks, a power of two, where twice as many are no quarter faster; `most`: none before.
inline double scales_to(const RankCounts& job, const RankLimits& limits, double most) {
  double ranks = 2;
  while (ranks < most &&
         seconds_on(job, limits, ranks).sum() >= 1.25 * seconds_on(job, limits, 2 * ranks).sum())
    ranks *= 2;
  return ranks;
}

}  // namespace sluice::bench
