#include "apps/data/belief_files.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fstream>
#include <vector>

#include "apps/cli/values.hpp"
#include "engine/acc/beliefs/bp.hpp"
#include "engine/core/error.hpp"
#include "engine/core/host_charge.hpp"

namespace sluice::apps {

namespace {

/// Calls use(row, where) for every line of numbers; `where` is `FILE:LINE`.
template <class Use>
void for_each_row(const std::string& path, Use&& use) {
  std::ifstream file(path);
  if (!file) throw InputError(fmt::format("{}: {}", path, std::strerror(errno)));
  std::string text;
  HostCharge line("a line of numbers");
  for (std::uint64_t number = 1; std::getline(file, text); ++number) {
    const std::string_view content = std::string_view(text).substr(0, text.find_first_of("#%"));
    line.cover(text.capacity() + content.size() / 2 * sizeof(std::string_view));
    const auto words = split(content, " \t,\r");
    if (!words.empty()) use(words, fmt::format("{}:{}", path, number));
  }
  if (file.bad()) throw InputError(fmt::format("{}: cannot be read", path));
}

double number_of(std::string_view word, const std::string& where) {
  double value = 0;
  const auto [end, fault] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (fault != std::errc() || end != word.data() + word.size() || !(value >= 0) || !std::isfinite(value))
    throw InputError(fmt::format("{}: '{}' is no number from 0 up", where, word.substr(0, 40)));
  return value;
}

using Words = std::vector<std::string_view>;

void take_coupling(const std::string& path, acc::BeliefModel& model) {
  unsigned rows = 0;
  for_each_row(path, [&](const Words& words, const std::string& where) {
    if (rows++ == 0) model.states = static_cast<unsigned>(words.size());
    if (model.states > acc::kMostBeliefStates)
      throw UsageError(fmt::format("{}: {} states, of which there may be 1 to {}", where, model.states,
                                   acc::kMostBeliefStates));
    if (words.size() != model.states || rows > model.states)
      throw InputError(
          fmt::format("{}: a coupling has as many rows as columns, here {}", where, model.states));
    for (const auto word : words) model.coupling.push_back(number_of(word, where));
  });
  if (rows == 0 || rows != model.states)
    throw InputError(fmt::format("{}: {} rows of {} numbers; a coupling has as many rows as columns", path,
                                 rows, model.states));
  for (unsigned x = 0; x < rows; ++x) {
    for (unsigned y = 0; y < x; ++y) {
      if (model.coupling[x * rows + y] != model.coupling[y * rows + x])
        throw InputError(fmt::format("{}: not symmetric: rows {} and {}", path, y + 1, x + 1));
    }
  }
  if (*std::max_element(model.coupling.begin(), model.coupling.end()) <= 0)
    throw InputError(fmt::format("{}: every entry is zero", path));
}

void take_priors(const std::string& path, std::uint64_t vertices, const IdMap& ids, acc::BeliefModel& model) {
  const unsigned states = model.states;
  model.priors = HostArray<double>(vertices * states, "priors");
  HostCharge marks("marks of vertices");
  marks.add(vertices / 8);
  std::vector<bool> seen(vertices);
  std::uint64_t rows = 0;
  for_each_row(path, [&](const Words& words, const std::string& where) {
    const std::size_t ahead = ids.translates() ? 1 : 0;
    if (words.size() != states + ahead)
      throw InputError(fmt::format("{}: {} columns; there are {} states{}", where, words.size(), states,
                                   ahead ? ", behind the vertex" : ""));
    if (!ahead && rows >= vertices)
      throw InputError(fmt::format("{}: a row too many for {} vertices", where, vertices));
    std::uint64_t v = rows++;
    if (ahead) {
      const auto id = to_integer(words[0]);
      const auto vertex = id ? ids.to_internal(*id) : std::nullopt;
      if (!vertex)
        throw InputError(fmt::format("{}: the graph has no vertex {}", where, words[0].substr(0, 40)));
      v = *vertex;
    }
    if (seen[v]) throw InputError(fmt::format("{}: vertex {} has a prior already", where, words[0]));
    seen[v] = true;
    double* row = model.priors.data() + v * states;
    for (unsigned x = 0; x < states; ++x) row[x] = number_of(words[x + ahead], where);
    if (std::all_of(row, row + states, [](double value) { return value == 0; }))
      throw InputError(fmt::format("{}: a prior that is zero for every state", where));
  });
  if (rows < vertices) throw InputError(fmt::format("{}: {} rows for {} vertices", path, rows, vertices));
}

}  // namespace

acc::BeliefModel read_belief_model(const std::string& priors, const std::string& coupling, const Graph& graph,
                                   const IdMap& ids) {
  acc::BeliefModel model;
  take_coupling(coupling, model);
  take_priors(priors, graph.vertices(), ids, model);
  return model;
}

}  // namespace sluice::apps
