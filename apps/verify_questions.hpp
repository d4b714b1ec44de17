// Questions about edges, asked in any order and answered in that of the lists: so a graph that stays in its
// file is read in order, once for many questions.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "engine/core/host_array.hpp"
#include "partition/list_parts.hpp"

namespace sluice::apps {

struct EdgeQuestion {
  Vertex from = 0, to = 0;
  EdgeIndex position = 0;
};

class EdgeQuestions {
 public:
  /// Room for at least `least` questions, more where memory has it. Keeps a reference to the graph. Throws
  /// BudgetError.
  EdgeQuestions(const Graph& graph, bool weights, std::uint64_t least)
      : vertices_(graph.vertices()), lists_(graph, weights), questions_(room(least), "checked edges") {
    order_ = HostArray<std::uint32_t>(questions_.size(), "checked edges");
    begins_ = HostArray<std::uint32_t>(questions_.size(), "checked edges");
    askers_ = HostArray<Vertex>(questions_.size(), "checked edges");
    answers_ = HostArray<std::uint8_t>(questions_.size(), "checked edges");
  }

  std::uint64_t size() const { return size_; }
  std::uint64_t capacity() const { return questions_.size(); }
  std::uint64_t left() const { return capacity() - size_; }
  void clear() { size_ = 0; }
  void ask(const EdgeQuestion& question) { questions_[size_++] = question; }
  /// What answer() made of the i-th question.
  std::uint8_t operator[](std::uint64_t i) const { return answers_[i]; }

  /// Calls answer(question, part, byte) for every part of the list of question.from, to be noted in a byte
  /// that begins as 0 and stays so where `from` is no vertex.
  template <class Answer>
  void answer(Answer&& answer) {
    std::uint64_t count = 0, askers = 0;
    for (std::uint64_t i = 0; i < size_; ++i) {
      answers_[i] = 0;
      if (questions_[i].from < vertices_) order_[count++] = static_cast<std::uint32_t>(i);
    }
    std::sort(order_.begin(), order_.begin() + count, [&](std::uint32_t a, std::uint32_t b) {
      return std::pair(questions_[a].from, a) < std::pair(questions_[b].from, b);
    });
    for (std::uint64_t i = 0; i < count; ++i) {
      const Vertex from = questions_[order_[i]].from;
      if (askers > 0 && askers_[askers - 1] == from) continue;
      begins_[askers] = static_cast<std::uint32_t>(i), askers_[askers++] = from;
    }
    lists_.for_each(askers_.span().first(askers), [&](std::size_t asker, const ListParts::Part& part) {
      const std::uint64_t end = asker + 1 < askers ? begins_[asker + 1] : count;
      for (std::uint64_t i = begins_[asker]; i < end; ++i)
        answer(questions_[order_[i]], part, answers_[order_[i]]);
    });
  }

  ListParts& lists() { return lists_; }

 private:
  static constexpr std::uint64_t kUsual = 1u << 16, kFew = 1u << 10;

  /// A sixteenth of what host memory has left.
  static std::uint64_t room(std::uint64_t least) {
    const std::uint64_t bytes = sizeof(EdgeQuestion) + 2 * sizeof(std::uint32_t) + sizeof(Vertex) + 1;
    return std::max(least, std::clamp(host_accountant().available() / 16 / bytes, kFew, kUsual));
  }

  std::uint64_t vertices_;
  ListParts lists_;
  HostArray<EdgeQuestion> questions_;
  HostArray<std::uint32_t> order_, begins_;  ///< questions by list, and where each list's begin
  HostArray<Vertex> askers_;                 ///< the lists
  HostArray<std::uint8_t> answers_;
  std::uint64_t size_ = 0;
};

}  // namespace sluice::apps
