#include "engine/ppr/methods/parallel_balls.hpp"

#include <algorithm>

namespace sluice::ppr {

namespace {

/// A run of balls has about so many entries: some 50 us of work, which threads that meet do not notice.
constexpr std::uint64_t kRunEntries = 4096;
constexpr std::uint64_t kMostBalls = 256;

}  // namespace

std::uint64_t ParallelBalls::ball_bytes(std::uint64_t vertices) {
  // A list that grows has its last size as well.
  return 2 * ReachedVertices::peak_bytes(vertices, vertices) + vertices * (4 + 3 * sizeof(BallEntry));
}

ParallelBalls::ParallelBalls(const Device& device, std::uint64_t vertices, unsigned at_once, unsigned threads)
    : vertices_(vertices), in_order_(threads, at_once) {
  while (runs_.size() < at_once) runs_.push_back(std::make_unique<Run>(device, vertices));
}

void ParallelBalls::begin() {
  for (const auto& run : runs_) {
    run->workspace.begin();
    run->sums.clear();
    run->most_sums = 0;
  }
}

std::uint64_t ParallelBalls::run(const StageBalls& stage, const Merge& merge) {
  next_ = 0;
  ball_size_ = kRunEntries;
  std::uint64_t edges = 0;
  InOrder::Job job;
  job.begin = [&](unsigned place) { return begin_run(stage, *runs_[place]); };
  job.make = [&](unsigned place) { diffuse(stage, *runs_[place]); };
  job.take = [&](unsigned place) {
    const Run& run = *runs_[place];
    merge_balls(run, merge);
    edges += run.edges;
    for (std::size_t step = 0; step < stage.returning.size(); ++step)
      stage.returning[step] += run.returning[step];
  };
  in_order_.run(job);
  for (const auto& run : runs_) merge_sums(*run, merge);
  return edges;
}

void ParallelBalls::merge_balls(const Run& run, const Merge& merge) {
  std::size_t begin = 0;
  for (const std::size_t end : run.ends) {
    merge(std::span(run.entries).subspan(begin, end - begin));
    begin = end;
  }
}

void ParallelBalls::merge_sums(Run& run, const Merge& merge) {
  if (run.sums.size() == 0) return;
  run.entries.clear();
  for (const Reached& entry : run.sums) run.entries.push_back({entry.score, entry.waiting, entry.vertex});
  merge(run.entries);
  run.most_sums = std::max(run.most_sums, run.sums.size());
  run.sums.clear();
}

bool ParallelBalls::begin_run(const StageBalls& stage, Run& run) {
  const std::size_t left = stage.from.size() - next_;
  if (left == 0) return false;
  const std::uint64_t wanted = std::clamp<std::uint64_t>(kRunEntries / ball_size_, 1, kMostBalls);
  // The last balls are left for all threads.
  const std::size_t fair = std::max<std::size_t>(left / (2 * runs_.size()), 1);
  run.from = stage.from.subspan(next_, std::min<std::size_t>(wanted, fair));
  next_ += run.from.size();
  return true;
}

void ParallelBalls::diffuse(const StageBalls& stage, Run& run) {
  run.workspace.lists = &stage.lists;
  run.entries.clear();
  run.ends.clear();
  run.returning.assign(stage.returning.size(), 0);
  std::uint64_t entries = 0;
  Ball ball({}, run.shared, run.workspace, stage.rules, stage.seeds);
  for (const RankedVertex& from : run.from) {
    ball.begin_at(from.vertex, from.key);
    for (std::size_t step = 0; step < run.returning.size() && ball.goes_on(); ++step)
      ball.round_without_return(run.returning[step]);
    entries += run.workspace.reached.size();
    keep(stage, run);
    run.workspace.empty();
  }
  run.edges = ball.edges();
  ball_size_ = std::max<std::uint64_t>(entries / run.from.size(), 1);
}

void ParallelBalls::keep(const StageBalls& stage, Run& run) {
  if (stage.rules.table == 0) {
    for (const Reached& entry : run.workspace.reached) {
      Reached& sum = run.sums[run.sums.number_of(entry.vertex)];
      sum.score += entry.score, sum.waiting += entry.waiting;
    }
    return;
  }
  for (const Reached& entry : run.workspace.reached)
    run.entries.push_back({entry.score, entry.waiting, entry.vertex});
  run.ends.push_back(run.entries.size());
}

std::uint64_t ParallelBalls::peak_bytes() const {
  std::uint64_t bytes = 0;
  for (const auto& run : runs_)
    bytes += run->workspace.peak_bytes() + run->entries.capacity() * sizeof(BallEntry) +
             ReachedVertices::peak_bytes(run->most_sums, vertices_);
  return bytes;
}

}  // namespace sluice::ppr
