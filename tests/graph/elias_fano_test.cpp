// Coded lists: every target is read back, and needs no more bits than the code promises.
#include "engine/graph/elias_fano.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "engine/exec/group.hpp"

namespace sluice {
namespace {

constexpr std::uint64_t kMostVertices = 0xfffffffe;

/// Codes a list between two words of noise, reads all of it, and searches for its targets and others.
void expect_read_back(std::uint64_t vertices, const std::vector<Vertex>& targets) {
  const auto degree = static_cast<std::uint32_t>(targets.size());
  const EliasFano code = EliasFano::of(vertices, degree);
  std::vector<std::uint32_t> words(code.words() + 2, 0);
  words.front() = words.back() = ~0u;

  ASSERT_TRUE(code.write(targets, words.data() + 1));

  EXPECT_EQ(words.front() & words.back(), ~0u) << "written beside the list";
  for (std::uint32_t i = 0; i < degree; ++i)
    ASSERT_EQ(code.read(words.data() + 1, i), targets[i])
        << "n " << vertices << ", d " << degree << ", " << i;
  for (const unsigned parts : {1u, 2u, 3u, 8u}) {
    std::vector<Vertex> all;
    for (unsigned part = 0; part < parts; ++part)
      code.for_each(SingleLane{}, words.data() + 1, part, parts, [&](Vertex v) { all.push_back(v); });
    ASSERT_EQ(all, targets) << "n " << vertices << ", d " << degree << ", in " << parts << " parts";
  }
  for (std::uint32_t i = 0; i < degree; ++i) {
    for (const std::uint64_t wanted : {std::uint64_t{targets[i]}, std::uint64_t{targets[i]} + 1,
                                       (std::uint64_t{targets[i]} + i) * 7919 % vertices}) {
      if (wanted >= vertices) continue;
      ASSERT_EQ(code.contains(words.data() + 1, static_cast<Vertex>(wanted)),
                std::ranges::binary_search(targets, static_cast<Vertex>(wanted)))
          << "n " << vertices << ", d " << degree << ", target " << wanted;
    }
  }
}

std::vector<Vertex> drawn(std::mt19937_64& random, std::uint64_t vertices, std::uint32_t degree) {
  std::vector<Vertex> targets(degree);
  for (Vertex& target : targets) target = static_cast<Vertex>(random() % vertices);
  std::ranges::sort(targets);
  return targets;
}

TEST(EliasFano, ReadsWhatWasWritten) {
  std::mt19937_64 random(7);
  for (const std::uint64_t vertices :
       {1ull, 2ull, 31ull, 32ull, 1000ull, 1048576ull, 4000037ull, 0xfffffffeull}) {
    for (const std::uint32_t degree : {1u, 2u, 3u, 31u, 63u, 64u, 65u, 128u, 129u, 1000u, 20000u})
      expect_read_back(vertices, drawn(random, vertices, degree));
  }
}

TEST(EliasFano, ReadsListsThatCrowdAtOneEnd) {
  const Vertex last = kMostVertices - 1;
  for (const std::uint32_t degree : {1u, 64u, 65u, 5000u}) {
    std::vector<Vertex> low(degree), high(degree, last), both(degree);
    for (std::uint32_t i = 0; i < degree; ++i) low[i] = i, both[i] = i < degree / 2 ? i : last - (degree - i);

    expect_read_back(kMostVertices, low);
    expect_read_back(kMostVertices, high);
    expect_read_back(kMostVertices, both);
    expect_read_back(kMostVertices, std::vector<Vertex>(degree, 0));
  }
}

TEST(EliasFano, TakesTwoBitsMoreThanTheGaps) {
  for (const std::uint64_t vertices : {1000ull, 2400000ull, 0xfffffffeull}) {
    for (std::uint32_t degree = 1; degree < 900; degree += 7) {
      const double gap = std::log2(static_cast<double>(vertices) / degree);
      const double bits = 32.0 * static_cast<double>(EliasFano::of(vertices, degree).words());

      // The samples need a quarter of a bit; samples and list each end with a whole word.
      EXPECT_LE(bits, degree * (std::max(gap, 0.0) + 2.25) + 2 * 32) << vertices << ' ' << degree;
    }
  }
}

TEST(EliasFano, RefusesWhatIsNotSorted) {
  const std::vector<Vertex> targets{5, 4};
  const EliasFano code = EliasFano::of(10, 2);
  std::vector<std::uint32_t> words(code.words(), 0);

  EXPECT_FALSE(code.write(targets, words.data()));
}

}  // namespace
}  // namespace sluice
