// The loop over batches, with jobs that only record their calls.
#include "engine/batch/run_batches.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <utility>
#include <vector>

namespace sluice {
namespace {

using Batch = std::pair<Instance, std::uint64_t>;
using Batches = std::vector<Batch>;

struct Figures {
  std::uint64_t batches = 0, made = 0;
  double write_seconds = 0;
};

const std::function<void(Instance, Instance)> kSilent;

TEST(RunBatches, CoverTheRangeInOrderAndEndWithARest) {
  Figures figures;
  Batches made;
  std::vector<Instance> written;
  const auto run = [&](Instance first, std::uint64_t count, BatchWriter& writer) {
    made.emplace_back(first, count);
    writer.submit([&, first] { written.push_back(first); });
  };
  run_batches(EqualBatches{4, run}, {10, 20}, kSilent, figures);

  EXPECT_EQ(made, (Batches{{10, 4}, {14, 4}, {18, 2}}));
  EXPECT_EQ(written, (std::vector<Instance>{10, 14, 18})) << "all writes ended, in order";
  EXPECT_EQ(figures.batches, 3u);
}

TEST(RunBatches, OfNoInstanceMakeNothing) {
  Figures figures;
  const auto run = [](Instance, std::uint64_t, BatchWriter&) { FAIL() << "there is nothing to make"; };
  run_batches(EqualBatches{4, run}, {7, 7}, kSilent, figures);
  EXPECT_EQ(figures.batches, 0u);
}

/// Memory holds `fits` instances at a time; batches that do not fit are halved.
struct Tight {
  std::uint64_t next_size(std::uint64_t) const { return size; }
  void run(Instance first, std::uint64_t count, BatchWriter&) {
    figures.made += count;
    if (count > fits) throw BudgetError("too many at once");
    made.emplace_back(first, count);
  }
  bool shrink(std::uint64_t count, const BatchWriter&) {
    size = count / 2;
    return size > 0;
  }

  Figures& figures;
  std::uint64_t fits, size = 8;
  Batches made{};
};

TEST(RunBatches, MakeSmallerOnesWhereTheMemoryAsksForIt) {
  Figures figures;
  Tight job{figures, 2};
  run_batches(job, {0, 5}, kSilent, figures);

  EXPECT_EQ(job.made, (Batches{{0, 2}, {2, 2}, {4, 1}}));
  EXPECT_EQ(figures.made, 5u) << "what an attempt that failed had counted is taken back";
  EXPECT_EQ(figures.batches, 3u);
}

TEST(RunBatches, PassAnErrorOnWhereNoBatchIsSmallEnough) {
  Figures figures;
  Tight job{figures, 0};
  EXPECT_THROW(run_batches(job, {0, 5}, kSilent, figures), BudgetError);
  EXPECT_TRUE(job.made.empty());
}

/// The first write finds too little memory, although its batches fit.
struct FailingWrite : Tight {
  void run(Instance first, std::uint64_t count, BatchWriter& writer) {
    writer.submit([first] {
      if (first == 0) throw BudgetError("the sink finds no memory");
    });
    made.emplace_back(first, count);
  }
};

TEST(RunBatches, DoNotGoOnAfterAWriteThatWasLost) {
  Figures figures;
  FailingWrite job{{figures, 8, 4}};
  EXPECT_THROW(run_batches(job, {0, 12}, kSilent, figures), BudgetError);
  EXPECT_EQ(job.made, (Batches{{0, 4}})) << "no batch is made again for a failure that was not its own";
}

TEST(RunBatches, ReportProgressAndStopWhereItThrows) {
  Figures figures;
  Batches made, seen;
  const auto run = [&](Instance first, std::uint64_t count, BatchWriter&) {
    made.emplace_back(first, count);
  };
  const auto stop = [&](Instance done, Instance total) {
    seen.emplace_back(done, total);
    if (done >= 6) throw std::runtime_error("asked to stop");
  };
  EXPECT_THROW(run_batches(EqualBatches{3, run}, {100, 110}, stop, figures), std::runtime_error);
  EXPECT_EQ(seen, (Batches{{3, 10}, {6, 10}}));
  EXPECT_EQ(made, (Batches{{100, 3}, {103, 3}}));
}

/// One of several ranks: the others have more work, so it makes empty batches with them.
struct Together {
  bool has_more(std::uint64_t left) { return left > 0 || --others > 0; }
  std::uint64_t next_size(std::uint64_t) const { return 4; }
  void run(Instance first, std::uint64_t count, BatchWriter&) { made.emplace_back(first, count); }
  void finished(std::uint64_t count) { ended.push_back(count); }

  int others;
  Batches made{};
  std::vector<std::uint64_t> ended{};
};

TEST(RunBatches, GoOnWithoutInstancesWhileOtherRanksHaveSome) {
  Figures figures;
  Together job{3};
  Batches seen;
  run_batches(
      job, {0, 4}, [&](Instance done, Instance total) { seen.emplace_back(done, total); }, figures);

  EXPECT_EQ(job.made, (Batches{{0, 4}, {4, 0}, {4, 0}}));
  EXPECT_EQ(job.ended, (std::vector<std::uint64_t>{4, 0, 0}));
  EXPECT_EQ(seen, (Batches{{4, 4}})) << "an empty batch is no progress";
}

}  // namespace
}  // namespace sluice
