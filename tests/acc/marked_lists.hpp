// Marks of vertices, and the list that an executor makes of them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "engine/acc/programs/bfs.hpp"
#include "engine/acc/rounds/marked_list.hpp"
#include "engine/acc/rounds/push_bodies.hpp"

namespace sluice::test {

/// A rank owns vertices [first, last), and `marks` are set. Vertex v has v % 5 edges.
struct MarkedCase {
  std::string name;
  Vertex vertices, first, last;
  std::vector<std::uint32_t> marks;

  std::vector<Vertex> expected() const {
    std::vector<Vertex> some;
    for (Vertex v = first; v < last; ++v)
      if ((marks[v / 32] >> (v % 32) & 1) != 0) some.push_back(v);
    return some;
  }
};

inline std::vector<MarkedCase> marked_cases() {
  constexpr Vertex kVertices = 50'003;
  std::vector<MarkedCase> cases;
  const auto add = [&](const char* name, Vertex first, Vertex last, auto&& marked) {
    std::vector<std::uint32_t> marks((kVertices + 31) / 32, 0);
    for (Vertex v = 0; v < kVertices; ++v)
      if (marked(v)) marks[v / 32] |= 1u << (v % 32);
    cases.push_back({name, kVertices, first, last, std::move(marks)});
  };
  const auto all = [](Vertex) { return true; };
  const auto some = [](Vertex v) {
    return v / 1000 % 3 == 0 ? v * 2654435761u % 64 == 0 : v / 1000 % 3 == 1;
  };
  add("few, all and none of a range", 0, kVertices, some);
  add("all", 0, kVertices, all);
  add("none", 0, kVertices, [](Vertex) { return false; });
  add("own in the middle of words, others marked, too", 1'013, 40'001, all);
  add("some of a rank's own", 1'013, 40'001, some);
  add("own within a word", 1'001, 1'003, all);
  add("none is own", 77, 77, all);
  return cases;
}

struct FoundList {
  std::vector<Vertex> vertices;
  std::uint64_t edges;  ///< as lanes counted them
};

/// The executor's list of the marked vertices, for a search.
template <class E>
FoundList list_marked(const Device& device, E& executor, const MarkedCase& marked) {
  const auto uploaded = [&](const auto& values) {
    using T = typename std::remove_cvref_t<decltype(values)>::value_type;
    Buffer<T> buffer(device, values.size(), "a test");
    copy_to_device(device, buffer.data(), values.data(), values.size() * sizeof(T));
    return buffer;
  };
  std::vector<EdgeIndex> begins{0};  // of the lists of owned vertices
  for (Vertex v = marked.first; v < marked.last; ++v) begins.push_back(begins.back() + v % 5);
  const auto offsets = uploaded(begins);
  auto marks = uploaded(marked.marks);
  const auto lists = uploaded(std::vector<Vertex>(marked.vertices, kNoVertex));
  const auto counts = uploaded(std::vector<unsigned long long>(1 + LaneOutput::kSums + 1, 0));
  const auto starts = uploaded(std::vector<std::uint64_t>{marked.first});
  acc::FrontierView<acc::BreadthFirst, Partitioned> view;
  view.first = marked.first, view.last = marked.last;
  view.offsets = offsets.data(), view.marks = marks.data();
  const LaneOutput output{lists.data(),      starts.data(),     counts.data(),
                          counts.data() + 1, counts.data() + 3, 1};

  acc::MarkedList<E> list(device, executor, acc::words_of(marked.first, marked.last), true);
  list.list(view, output);

  unsigned long long found[3];
  executor.wait("a list");
  copy_to_host(device, found, counts.data(), sizeof found);
  const std::uint64_t size = found[0];
  std::vector<Vertex> all(marked.vertices);
  copy_to_host(device, all.data(), lists.data(), all.size() * sizeof(Vertex));
  const auto begin = all.begin() + marked.first;
  const auto kept = static_cast<std::uint64_t>(std::count(all.begin(), all.end(), kNoVertex));
  EXPECT_EQ(kept, marked.vertices - size) << "other places are left as they are";
  return {{begin, begin + static_cast<std::ptrdiff_t>(size)}, found[2]};
}

}  // namespace sluice::test
