// How long a job would take on many GPUs, from what it did on one and on a few: an estimate. Nothing
// overlaps, all ranks are equally busy, and rounds are as many as on a few.
#pragma once

#include <algorithm>

namespace sluice::bench {

/// Links between GPUs.
struct RankLinks {
  double node = 1;               ///< GPUs that share the faster links
  double node_bandwidth = 1;     ///< bytes a second that one of them receives
  double network_bandwidth = 1;  ///< the same, beyond a node
  double latency = 0;            ///< seconds until the first message of a round is there
  double message = 0;            ///< and for each message more: a rank sends one to every other
};

/// What two reports of a job say, one of a rank alone and one of several.
struct RankCounts {
  double seconds = 0;          ///< of one rank
  double ranks = 2;            ///< of the second report, more than one
  double several_seconds = 0;  ///< of it
  double bytes = 0;            ///< that they sent, all together
  double rounds = 1;           ///< in which all ranks exchange
  /// Does each rank come to know all that changes (solvers)? Else work travels to the owner of its vertex.
  bool gathers = false;
};

/// The parts of the time that so many ranks take.
struct RankSeconds {
  double work = 0, link = 0, messages = 0;
  double sum() const { return work + link + messages; }
};

/// Bytes that each of `ranks` receives. Of what changes, b bytes, all ranks but the owner receive a copy: b
/// (ranks - 1) bytes were sent, and each receives nearly b, however many ranks there are. Work of w bytes
/// leaves for another rank with probability (ranks - 1) / ranks, and the ranks share what comes.
inline double received_bytes(const RankCounts& job, double ranks) {
  if (job.gathers) return job.bytes / (job.ranks - 1) * (ranks - 1) / ranks;
  return job.bytes * job.ranks / (job.ranks - 1) * (ranks - 1) / (ranks * ranks);
}

/// What links and messages take.
inline RankSeconds exchange_on(const RankCounts& job, const RankLinks& links, double ranks) {
  const double bandwidth = ranks <= links.node ? links.node_bandwidth : links.network_bandwidth;
  return {0, received_bytes(job, ranks) / bandwidth,
          job.rounds * (links.latency + (ranks - 1) * links.message)};
}

/// How many times as long several ranks work, all together, as one does: the second report shows work that is
/// done twice, waiting, and slower ways to work. More ranks share that, too.
inline double growth_of(const RankCounts& job, const RankLinks& links) {
  const double worked = job.several_seconds - exchange_on(job, links, job.ranks).sum();
  return std::max(worked * job.ranks / job.seconds, 1.0);
}

inline RankSeconds seconds_on(const RankCounts& job, const RankLinks& links, double ranks) {
  if (ranks <= 1) return {job.seconds, 0, 0};
  RankSeconds parts = exchange_on(job, links, ranks);
  parts.work = job.seconds * growth_of(job, links) / ranks;
  return parts;
}

/// The first number of ranks, a power of two, where twice as many are no quarter faster; `most`: none before.
inline double scales_to(const RankCounts& job, const RankLinks& links, double most) {
  double ranks = 2;
  while (ranks < most &&
         seconds_on(job, links, ranks).sum() >= 1.25 * seconds_on(job, links, 2 * ranks).sum())
    ranks *= 2;
  return ranks;
}

}  // namespace sluice::bench
