// How long a job would take on many GPUs, from what it did on one and on a few: an estimate. All ranks are
// equally busy, and rounds are as many as on a few.
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
  bool overlaps = false;  ///< is what is sent under way while ranks work (solvers)?
};

/// The work of a job, in seconds of one rank.
struct RankWork {
  double shared = 0;  ///< of which each of n ranks has one nth
  double alike = 0;   ///< of which each has all: launches, barriers, and what is done on each
};

/// The parts of the time that so many ranks take.
struct RankSeconds {
  double alike = 0, shared = 0, link = 0, messages = 0;
  bool overlaps = false;

  double sum() const { return alike + (overlaps ? std::max(shared, link) : shared + link) + messages; }
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
  return {0, 0, received_bytes(job, ranks) / bandwidth,
          job.rounds * (links.latency + (ranks - 1) * links.message), job.overlaps};
}

/// The work that the two reports show. Where one rank does what several do, its time and theirs tell what is
/// shared from what is alike (Amdahl). Where work travels, or several would have nothing to share so, they
/// work otherwise than one does: all that they do is shared by more.
inline RankWork work_of(const RankCounts& job, const RankLinks& links) {
  const RankSeconds exchange = exchange_on(job, links, job.ranks);
  const double worked = job.several_seconds - exchange.messages;
  const RankWork otherwise{job.ranks * std::max(worked - exchange.link, 0.0), 0};
  if (!job.overlaps && job.bytes > 0) return otherwise;
  const double shared = (job.seconds - worked) * job.ranks / (job.ranks - 1);
  if (shared < 0) return otherwise;
  const RankWork work{std::min(shared, job.seconds), std::max(job.seconds - shared, 0.0)};
  if (work.shared / job.ranks >= exchange.link) return work;
  const double alike = std::clamp(worked - exchange.link, 0.0, job.seconds);
  return {job.seconds - alike, alike};
}

inline RankSeconds seconds_on(const RankCounts& job, const RankLinks& links, double ranks) {
  if (ranks <= 1) return {.alike = job.seconds};
  const RankWork work = work_of(job, links);
  RankSeconds parts = exchange_on(job, links, ranks);
  parts.alike = work.alike, parts.shared = work.shared / ranks;
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
