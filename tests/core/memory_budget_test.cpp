// The budget never exceeds its ceiling, whichever thread charges it, and releases everything.
#include "engine/core/memory_budget.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "engine/core/charged_vector.hpp"
#include "engine/core/error.hpp"
#include "engine/core/host_array.hpp"

namespace sluice {
namespace {

TEST(MemoryBudget, KeepsUseAndPeak) {
  MemoryBudget budget("device", 100);

  budget.charge(60, "a");
  budget.charge(40, "b");
  budget.release(60);
  budget.charge(10, "c");

  EXPECT_EQ(budget.used(), 50u);
  EXPECT_EQ(budget.peak(), 100u);
  EXPECT_EQ(budget.available(), 50u);
}

TEST(MemoryBudget, RefusesWhatPassesTheCeilingAndChargesNothing) {
  MemoryBudget budget("device", 100);
  budget.charge(99, "a");

  EXPECT_THROW(budget.charge(2, "b"), BudgetError);
  EXPECT_THROW(budget.charge(~std::uint64_t{0}, "b"), BudgetError);  // without overflow

  EXPECT_EQ(budget.used(), 99u);
  EXPECT_EQ(budget.peak(), 99u);
  EXPECT_NO_THROW(budget.charge(1, "c"));
  EXPECT_NO_THROW(budget.charge(0, "nothing"));
}

TEST(MemoryBudget, LiesWithinAnother) {
  MemoryBudget host("host", 100), device("device", 80);
  device.nest_in(host);
  host.charge(50, "a graph");
  device.charge(30, "slots");

  EXPECT_EQ(host.used(), 80u);
  EXPECT_EQ(device.available(), 20u);
  EXPECT_THROW(device.charge(21, "more slots"), BudgetError);
  EXPECT_EQ(device.used(), 30u);
  EXPECT_EQ(host.used(), 80u);

  device.release(30);

  EXPECT_EQ(host.used(), 50u);
  EXPECT_EQ(device.used(), 0u);
}

TEST(MemoryBudget, IsChargedByVectorsAsTheyGrow) {
  const std::uint64_t before = host_budget().used();
  {
    ChargedVector<std::uint64_t> numbers(100);
    EXPECT_EQ(host_budget().used(), before + 800);
    for (std::uint64_t i = 0; i < 1000; ++i) numbers.push_back(i);
    EXPECT_EQ(host_budget().used(), before + numbers.capacity() * 8);
    const ChargedVector<std::uint64_t> taken = std::move(numbers);
    EXPECT_EQ(host_budget().used(), before + taken.capacity() * 8);
  }
  EXPECT_EQ(host_budget().used(), before);
}

TEST(MemoryBudget, NamesPurposeSizeAndRemedy) {
  MemoryBudget budget("device", 3 << 20);
  try {
    budget.charge(5 << 20, "the alias table");
    FAIL() << "charged";
  } catch (const BudgetError& error) {
    const std::string text = error.what();
    for (const char* part : {"device memory", "the alias table", "5.00 MiB", "3.00 MiB", "--device-memory"}) {
      EXPECT_NE(text.find(part), std::string::npos) << text;
    }
    EXPECT_EQ(text.find('\n'), std::string::npos);
    EXPECT_EQ(error.status(), ExitStatus::over_budget);
  }
}

TEST(MemoryBudget, RefusesEverythingUnderACeilingLoweredBelowUse) {
  MemoryBudget budget("host", 100);
  budget.charge(80, "a");
  budget.set_ceiling(50);

  EXPECT_EQ(budget.available(), 0u);
  EXPECT_THROW(budget.charge(1, "b"), BudgetError);
}

TEST(MemoryPlan, CountsPastTheCeilingFromWhatWasInUse) {
  MemoryBudget device("device", 100);
  device.charge(30, "a graph");
  MemoryPlan plan(device);

  EXPECT_EQ(plan.available(), 70u);
  plan.charge(50, "tables");
  EXPECT_EQ(plan.available(), 20u);
  EXPECT_NO_THROW(plan.charge(40, "a batch"));
  EXPECT_EQ(plan.available(), 0u);
  plan.release(90);
  plan.charge_and_release(10, "scratch");

  EXPECT_EQ(plan.needed(), 90u);
  EXPECT_EQ(plan.used(), 30u);
  EXPECT_EQ(device.used(), 30u);
  EXPECT_EQ(device.peak(), 30u);
}

TEST(MemoryPlan, LeavesTheHostAsItWas) {
  const std::uint64_t used = host_budget().used(), peak = host_budget().peak(),
                      left = host_budget().available();
  MemoryBudget device("device");
  device.nest_in(host_budget());
  {
    MemoryPlan plan(device);
    plan.charge(peak + 1000, "slots");
    EXPECT_EQ(host_budget().available(), left - peak - 1000);
    plan.release(peak + 1000);
  }
  EXPECT_EQ(host_budget().used(), used);
  EXPECT_EQ(host_budget().peak(), peak);
}

TEST(MemoryPlan, CountsHostMemoryThatIsNotTaken) {
  constexpr std::uint64_t kMore = std::uint64_t{1} << 60;
  const std::uint64_t used = host_budget().used(), peak = host_budget().peak();
  MemoryBudget device("device");
  device.nest_in(host_budget());
  {
    MemoryPlan plan(device, MemoryPlan::Host::counted);
    const HostArray<std::byte> array(kMore, "more than there is");
    EXPECT_EQ(array.size(), kMore);
    EXPECT_EQ(array.data(), nullptr);
    plan.charge_and_release(1000, "slots");
    host_budget().charge_and_release(500, "a list");

    EXPECT_EQ(plan.host_needed(), kMore + 1000);
    EXPECT_EQ(host_budget().used(), used + kMore);
    EXPECT_EQ(plan.needed(), 1000u);
  }
  EXPECT_EQ(host_budget().used(), used);
  EXPECT_EQ(host_budget().peak(), peak);
  EXPECT_FALSE(host_budget().counts_only());
}

TEST(MemoryBudget, HoldsItsCeilingAgainstManyThreads) {
  constexpr std::uint64_t kCeiling = 1000;
  MemoryBudget budget("device", kCeiling);
  std::atomic<std::uint64_t> refused{0}, passed{0};
  {
    std::vector<std::jthread> threads;
    for (unsigned t = 0; t < 8; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < 20000; ++i) {
          const std::uint64_t bytes = 1 + (t * 37 + static_cast<unsigned>(i)) % 400;
          try {
            budget.charge(bytes, "a share");
          } catch (const BudgetError&) {
            ++refused;
            continue;
          }
          if (budget.used() > kCeiling) ++passed;
          budget.release(bytes);
        }
      });
    }
  }

  EXPECT_EQ(passed, 0u);
  EXPECT_EQ(budget.used(), 0u);
  EXPECT_LE(budget.peak(), kCeiling);
}

TEST(HostArray, IsChargedWhileItLivesAndMovesItsCharge) {
  const std::uint64_t before = host_budget().used();
  {
    HostArray<std::uint64_t> array(1000, "a test");
    EXPECT_EQ(host_budget().used(), before + 8000);

    HostArray<std::uint64_t> moved(std::move(array));
    EXPECT_EQ(host_budget().used(), before + 8000);

    moved = HostArray<std::uint64_t>(10, "a test");
    EXPECT_EQ(host_budget().used(), before + 80);
    EXPECT_EQ(moved.size(), 10u);
  }
  EXPECT_EQ(host_budget().used(), before);
}

}  // namespace
}  // namespace sluice
