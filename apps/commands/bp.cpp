// sluice bp: beliefs of a pairwise Markov random field.

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <vector>

#include "apps/cli/errors.hpp"
#include "apps/cli/values.hpp"
#include "apps/commands/acc.hpp"
#include "apps/commands/commands.hpp"
#include "apps/data/ids.hpp"
#include "apps/job/ranks.hpp"
#include "engine/acc/beliefs/beliefs.hpp"
#include "engine/acc/beliefs/bp.hpp"
#include "engine/acc/verify.hpp"
#include "engine/core/error.hpp"
#include "engine/core/host_charge.hpp"
#include "io/readers/fault.hpp"

namespace sluice::apps {

namespace {

double number_of(std::string_view word, const std::string& location) {
  const auto value = to_real(word);
  if (!value || *value < 0)
    throw InputError(fmt::format("{}: {} is not a number from 0 up", location, io::readers::quote(word)));
  return *value;
}

void read_coupling(const std::string& path, acc::BeliefModel& model) {
  unsigned rows = 0;
  for_each_line(path, "a line of numbers", [&](const Words& words, const std::string& location) {
    if (rows++ == 0) model.states = static_cast<unsigned>(words.size());
    if (model.states > acc::kMaxBeliefStates)
      throw UsageError(fmt::format("{}: {} states; the number of states must be 1 to {}", location,
                                   model.states, acc::kMaxBeliefStates));
    if (words.size() != model.states || rows > model.states)
      throw InputError(
          fmt::format("{}: a coupling must have as many rows as columns, here {}", location, model.states));
    for (const auto word : words) model.coupling.push_back(number_of(word, location));
  });
  if (rows == 0 || rows != model.states)
    throw InputError(fmt::format("{}: {} rows of {} numbers; a coupling must have as many rows as columns",
                                 path, rows, model.states));
  for (unsigned x = 0; x < rows; ++x) {
    for (unsigned y = 0; y < x; ++y) {
      if (model.coupling[x * rows + y] != model.coupling[y * rows + x])
        throw InputError(fmt::format("{}: not symmetric: rows {} and {}", path, y + 1, x + 1));
    }
  }
  if (*std::max_element(model.coupling.begin(), model.coupling.end()) <= 0)
    throw InputError(fmt::format("{}: every entry is zero", path));
}

void read_priors(const std::string& path, std::uint64_t vertices, const IdMap& ids, acc::BeliefModel& model) {
  const unsigned states = model.states;
  model.priors = HostArray<double>(vertices * states, "priors");
  HostCharge marks("marks of vertices");
  marks.add(vertices / 8);
  std::vector<bool> seen(vertices);
  std::uint64_t rows = 0;
  for_each_line(path, "a line of numbers", [&](const Words& words, const std::string& location) {
    const std::size_t id_columns = ids.translates() ? 1 : 0;
    if (words.size() != states + id_columns)
      throw InputError(fmt::format("{}: {} columns; there are {} states{}", location, words.size(), states,
                                   id_columns ? ", after the vertex" : ""));
    if (!id_columns && rows >= vertices)
      throw InputError(fmt::format("{}: more rows than {} vertices", location, vertices));
    std::uint64_t v = rows++;
    if (id_columns) {
      const auto id = to_integer(words[0]);
      const auto vertex = id ? ids.to_internal(*id) : std::nullopt;
      if (!vertex)
        throw InputError(
            fmt::format("{}: the graph has no vertex {}", location, io::readers::quote(words[0])));
      v = *vertex;
    }
    if (seen[v]) throw InputError(fmt::format("{}: vertex {} has a prior already", location, words[0]));
    seen[v] = true;
    double* row = model.priors.data() + v * states;
    for (unsigned x = 0; x < states; ++x) row[x] = number_of(words[x + id_columns], location);
    if (std::all_of(row, row + states, [](double value) { return value == 0; }))
      throw InputError(fmt::format("{}: the prior is zero for every state", location));
  });
  if (rows < vertices) throw InputError(fmt::format("{}: {} rows for {} vertices", path, rows, vertices));
}

/// Reads S rows of S numbers (`coupling`) and one row of S numbers per vertex (`priors`), in the graph file's
/// order or, with original ids, each after its vertex. Throws InputError naming file and line.
acc::BeliefModel read_belief_model(const std::string& priors, const std::string& coupling, const Graph& graph,
                                   const IdMap& ids) {
  acc::BeliefModel model;
  read_coupling(coupling, model);
  read_priors(priors, graph.vertices(), ids, model);
  return model;
}

struct BpCommand : AccCommand {
  std::string priors, coupling;
  acc::BeliefOptions beliefs;
};

AccFigures figures_of(const BpCommand& c, acc::BeliefResult& result) {
  AccFigures figures;
  figures.stats = std::move(result.stats);
  figures.found = fmt::format("beliefs to a change of {:.3g}", result.residual);
  figures.converged = result.converged;
  figures.residual = result.residual;
  figures.residuals = std::move(result.residuals);
  figures.end = result.converged ? "converged" : "--max-iterations was reached";
  if (!result.converged && c.beliefs.damping == 0) figures.end += "; --message-damping 0.5 may help";
  return figures;
}

void run_bp(const Command& command, BpCommand& c) {
  for (const char* name : {"--priors", "--coupling"}) {
    if (!command.given(name)) throw UsageError(fmt::format("{} FILE is missing", name));
  }
  Job job(command, c.common, {.weights = true});
  const acc::BeliefModel model = read_belief_model(c.priors, c.coupling, job.graph(), job.ids());
  c.beliefs.keep_messages = c.common.verify;
  const auto plan_with = [&](const PagingOptions& paging) {
    return acc::plan_beliefs(job.device(), job.graph(), model.states, place_of(c, paging), c.beliefs);
  };
  const auto is_too_large = [&] {
    try {
      return plan_with(c.common.paging).device_bytes > job.device().memory().ceiling();
    } catch (const BudgetError&) {
      return true;
    }
  };
  job.fall_back_to_host(job.device().is_cuda() && is_too_large());
  const acc::AccPlan plan = job.plan_and_load(plan_with);
  if (c.common.plan) return job.print_plan(plan);
  job.require_device_memory(plan.device_bytes);

  job.open_results({{"states", std::int64_t{model.states}},
                    {"message_damping", c.beliefs.damping},
                    {"tolerance", c.beliefs.tolerance},
                    {"max_iterations", std::int64_t{c.beliefs.max_iterations}}},
                   nullptr, text_columns_of(c.common, {"belief"}));
  const acc::AccGraph graph =
      acc::belief_graph(job.device(), job.graph(), model.states, place_of(c, c.common.paging));
  job.progress().start(command.name());
  acc::BeliefResult result = propagate_beliefs(graph, model, c.beliefs, [&](std::uint32_t round) {
    throw_if_stopped();
    job.progress().update(command.name(), round, c.beliefs.max_iterations, " iterations");
  });
  if (c.common.verify)
    acc::verify_beliefs(job.graph(), model, result, c.beliefs.tolerance, c.beliefs.damping, &world(),
                        threads_of(c.common));
  job.set_counters({{"scratch_bytes", result.stats.scratch_bytes}});
  VertexColumns columns = columns_of(job, c, graph);
  columns.add("belief", io::ElementType::f32, result.beliefs.data(), model.states);
  job.write(columns);
  job.finish(figures_of(c, result));
}

}  // namespace

std::unique_ptr<Command> make_bp() {
  auto [command, c] = make_command<BpCommand>(
      "bp", "belief propagation: sum-product beliefs of a Markov random field", run_bp);
  declare_graph(*command, c->common,
                "an undirected graph file; an edge's factor is the coupling to the power of its weight");
  command->group("Model");
  command->input_file(
      "--priors", c->priors,
      "a row of S numbers for every vertex; with --original-ids preceded by the vertex (required)");
  command->input_file("--coupling", c->coupling,
                      "S rows of S numbers, symmetric and not negative (required)");
  command->real("--message-damping", "D", c->beliefs.damping,
                "weight of the old message in each update, from 0 to below 1");
  command->real("--tolerance", "T", c->beliefs.tolerance, "stop once no belief changes by more");
  command->integer("--max-iterations", c->beliefs.max_iterations, 1,
                   "stop after N iterations and print a warning");
  declare_fusion(*command, c->beliefs.fusion);
  declare_acc(*command, *c);
  command->set_example("sluice bp graph.h5 --priors priors.txt --coupling coupling.txt --output beliefs.h5");
  return std::move(command);
}

}  // namespace sluice::apps
