// Questions about edges, asked in any order and answered by several threads. If the graph is in its file,
// questions are sorted by list, so that the file is read in order, once for many questions.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "engine/core/host_array.hpp"
#include "engine/exec/threads.hpp"
#include "partition/list_parts.hpp"

namespace sluice::apps {

struct EdgeQuestion {
  Vertex from = 0, to = 0;
  EdgeIndex position = 0;
};

class EdgeQuestions {
 public:
  /// Holds at least `least` questions, more if memory allows. Keeps a reference to the graph. Throws
  /// BudgetError.
  EdgeQuestions(const Graph& graph, bool weights, std::uint64_t least, unsigned threads)
      : graph_(graph),
        weights_(weights && graph.weighted),
        threads_(threads),
        lists_(graph, weights),
        questions_(capacity(least), "checked edges") {
    const std::uint64_t ordered = in_file() ? questions_.size() : 0;
    order_ = HostArray<std::uint32_t>(ordered, "checked edges");
    begins_ = HostArray<std::uint32_t>(ordered, "checked edges");
    askers_ = HostArray<Vertex>(ordered, "checked edges");
    answers_ = HostArray<std::uint8_t>(questions_.size(), "checked edges");
  }

  bool in_file() const { return graph_.edge_source != nullptr; }

  std::uint64_t size() const { return size_; }
  std::uint64_t capacity() const { return questions_.size(); }
  std::uint64_t left() const { return capacity() - size_; }
  void clear() { size_ = 0; }
  void ask(const EdgeQuestion& question) { questions_[size_++] = question; }
  /// The byte that answer() set for the i-th question.
  std::uint8_t operator[](std::uint64_t i) const { return answers_[i]; }

  /// Calls answer(question, part, byte) for every part of the list of question.from. The byte starts at 0,
  /// and stays 0 if `from` is not a vertex. Several threads call it, but only one for each question.
  template <class Answer>
  void answer(Answer&& answer) {
    if (in_file()) return answer_in_order(answer);
    parallel_blocks(threads_, size_, kAnsweredAtOnce, [&](std::uint64_t begin, std::uint64_t end, unsigned) {
      for (std::uint64_t i = begin; i < end; ++i) answer_from_memory(i, answer);
    });
  }

  ListParts& lists() { return lists_; }

 private:
  static constexpr std::uint64_t kUsual = 1u << 16, kFew = 1u << 10, kAnsweredAtOnce = 1u << 9;

  template <class Answer>
  void answer_from_memory(std::uint64_t i, Answer&& answer) {
    answers_[i] = 0;
    const EdgeQuestion& question = questions_[i];
    if (question.from >= graph_.vertices()) return;
    const EdgeIndex begin = graph_.out.offsets[question.from], end = graph_.out.offsets[question.from + 1ull];
    if (begin < end)
      answer(question,
             ListParts::Part{begin, graph_.out.targets.span().subspan(begin, end - begin),
                             weights_ ? graph_.out.weights.data() + begin : nullptr},
             answers_[i]);
  }

  template <class Answer>
  void answer_in_order(Answer&& answer) {
    std::uint64_t count = 0, askers = 0;
    for (std::uint64_t i = 0; i < size_; ++i) {
      answers_[i] = 0;
      if (questions_[i].from < graph_.vertices()) order_[count++] = static_cast<std::uint32_t>(i);
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

  /// Takes a sixteenth of the remaining host memory.
  static std::uint64_t capacity(std::uint64_t least) {
    const std::uint64_t bytes = sizeof(EdgeQuestion) + 2 * sizeof(std::uint32_t) + sizeof(Vertex) + 1;
    return std::max(least, std::clamp(host_budget().available() / 16 / bytes, kFew, kUsual));
  }

  const Graph& graph_;
  bool weights_;
  unsigned threads_;
  ListParts lists_;
  HostArray<EdgeQuestion> questions_;
  HostArray<std::uint32_t> order_, begins_;  ///< questions sorted by list, and where each list's begin
  HostArray<Vertex> askers_;                 ///< the vertices of these lists
  HostArray<std::uint8_t> answers_;
  std::uint64_t size_ = 0;
};

}  // namespace sluice::apps
