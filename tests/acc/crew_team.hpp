// The host's threads in the place of a GPU: they run the bodies of engine/acc/partitioned/round_output.hpp.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstring>

#include "engine/acc/partitioned/round_output.hpp"
#include "engine/exec/device.hpp"
#include "engine/exec/thread_pool.hpp"

namespace sluice::test {

class CrewLane {
 public:
  explicit CrewLane(const acc::Found& found) : found_(found) {}
  ~CrewLane() {
    for (unsigned i = 0; i < acc::Found::kSums; ++i) acc::fetch_add(found_.sums + i, sums_[i]);
    auto known = acc::load(found_.lowest);
    while (lowest_ < known && !acc::exchange(found_.lowest, known, lowest_)) {
    }
  }
  CrewLane(const CrewLane&) = delete;
  CrewLane& operator=(const CrewLane&) = delete;

  void append(unsigned list, Vertex v) {
    found_.lists[found_.begins[list] + acc::fetch_add(found_.sizes + list, 1)] = v;
  }
  void lowest(unsigned long long value) { lowest_ = std::min(lowest_, value); }
  void add(unsigned sum, unsigned long long value) { sums_[sum] += value; }

 private:
  acc::Found found_;
  unsigned long long sums_[acc::Found::kSums] = {};
  unsigned long long lowest_ = ~0ull;
};

class CrewTeam {
 public:
  CrewTeam(const Device& device, std::uint64_t) : crew_(device.threads()) {}

  template <class Body>
  void each(std::uint64_t count, const acc::Found& found, const Body& body) {
    over(count, found, [&](std::uint64_t i, CrewLane& lane) { body(i, lane); });
  }
  template <class Body>
  void over_lists(const acc::ListedVertices& lists, const acc::Found& found, const Body& body) {
    over(lists.count, found, [&](std::uint64_t i, CrewLane& lane) {
      const Vertex u = lists[i];
      if (!body.sends(u)) return;
      const EdgeIndex* const list = lists.offsets + (u - lists.first);
      lane.add(0, list[1] - list[0]);
      for (EdgeIndex e = list[0]; e < list[1]; ++e) body.edge(u, e, lane);
    });
  }
  template <class Body>
  void over_first(const acc::ListedRows& rows, const acc::Found& found, const Body& body) {
    over(rows.end - rows.begin, found, [&](std::uint64_t i, CrewLane& lane) {
      const std::uint64_t row = rows.begin + i;
      if (!body.wants(row)) return;
      const EdgeIndex begin = rows.offsets[row], end = rows.offsets[row + 1];
      EdgeIndex e = begin;
      while (e < end && !body.hits(e)) ++e;
      lane.add(0, std::min(e + 1, end) - begin);
      if (e < end) body.take(row, e, lane);
    });
  }
  void fill(void* at, int byte, std::uint64_t bytes) {
    if (bytes > 0) std::memset(at, byte, bytes);
  }
  void read(std::uint64_t* to, const unsigned long long* from, std::uint64_t count, const char*) {
    std::copy_n(from, count, to);
  }
  void wait(const char*) {}
  std::uint64_t launches() const { return 0; }

 private:
  template <class Work>
  void over(std::uint64_t count, const acc::Found& found, Work&& work) {
    crew_.blocks(count, 16, [&](std::uint64_t begin, std::uint64_t end, unsigned) {
      CrewLane lane(found);
      for (std::uint64_t i = begin; i < end; ++i) work(i, lane);
    });
  }

  Crew crew_;
};

}  // namespace sluice::test
