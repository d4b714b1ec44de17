// sluice bp: beliefs of a pairwise Markov random field.
#include <fmt/core.h>

#include "apps/cli/errors.hpp"
#include "apps/cli/values.hpp"
#include "apps/commands/acc.hpp"
#include "apps/commands/commands.hpp"
#include "apps/data/belief_files.hpp"
#include "apps/job/ranks.hpp"
#include "engine/acc/beliefs/beliefs.hpp"
#include "engine/acc/solve.hpp"
#include "engine/acc/verify.hpp"
#include "engine/core/error.hpp"

namespace sluice::apps {

namespace {

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
  figures.end = result.converged ? "converged" : "--max-iterations came first";
  if (!result.converged && c.beliefs.damping == 0) figures.end += "; --message-damping 0.5 may help";
  return figures;
}

void run_bp(const Command& command, BpCommand& c) {
  for (const char* name : {"--priors", "--coupling"}) {
    if (!command.given(name)) throw UsageError(fmt::format("{} FILE is missing", name));
  }
  Job job(command, c.common, c.graph, {.vertex_bytes = acc::kAccVertexBytes});
  const acc::BeliefModel model = read_belief_model(c.priors, c.coupling, job.graph(), job.ids());
  const acc::AccPlace place = place_of(c);
  const auto plan_with = [&](const PagingOptions& paging) {
    return acc::plan_beliefs(job.device(), job.graph(), model.states, place_with(place, paging));
  };
  const auto is_too_large = [&] {
    try {
      return plan_with(place.paging).device_bytes > job.device().memory().ceiling();
    } catch (const BudgetError&) {
      return true;
    }
  };
  job.moves_to_host(job.device().is_cuda() && is_too_large());
  const acc::AccPlan plan = job.fitting(plan_with);
  if (c.common.plan) return job.print_plan(plan);
  job.require_device_memory(plan.device_bytes);

  auto& results = job.open_results({{"command", std::string("bp")},
                                    {"states", std::int64_t{model.states}},
                                    {"message_damping", c.beliefs.damping},
                                    {"tolerance", c.beliefs.tolerance},
                                    {"max_iterations", std::int64_t{c.beliefs.max_iterations}}},
                                   text_columns_of(c.common, {"belief"}));
  c.beliefs.keep_messages = c.common.verify;
  const acc::AccGraph graph = acc::belief_graph(job.device(), job.graph(), model.states, place);
  job.progress().start(command.name());
  acc::BeliefResult result = propagate_beliefs(graph, model, c.beliefs, [&](std::uint32_t round) {
    throw_if_stopped();
    job.progress().update(command.name(), round, c.beliefs.max_iterations, " iterations");
  });
  if (c.common.verify)
    acc::verify_beliefs(job.graph(), model, result, c.beliefs.tolerance, c.beliefs.damping, &world(),
                        threads_of(c.common));
  job.count({{"scratch_bytes", result.stats.scratch_bytes}});
  VertexColumns columns = columns_of(job, c, graph);
  columns.add("belief", io::ElementType::f32, result.beliefs.data(), model.states);
  columns.write(results);
  job.finish(figures_of(c, result));
}

}  // namespace

std::unique_ptr<Command> make_bp() {
  auto command =
      std::make_unique<Command>("bp", "belief propagation: sum-product beliefs of a Markov random field");
  const auto c = std::make_shared<BpCommand>();
  declare_acc_graph(*command, *c,
                    "an undirected graph file; an edge's factor is the coupling to the power of its weight");
  command->group("Model");
  command->input_file("--priors", c->priors,
                      "a row of S numbers for every vertex; with --original-ids headed by the vertex");
  command->input_file("--coupling", c->coupling, "S rows of S numbers, symmetric and not negative");
  command->real("--message-damping", "D", c->beliefs.damping, "so much of the old message stays, below 1");
  command->real("--tolerance", "T", c->beliefs.tolerance, "stop once no belief changes by more");
  command->whole("--max-iterations", c->beliefs.max_iterations, 1, "stop then in any case, and say so");
  declare_acc(*command, *c);
  command->set_example("sluice bp graph.h5 --priors priors.txt --coupling coupling.txt --output beliefs.h5");
  command->run = [c](const Command& self) { run_bp(self, *c); };
  return command;
}

}  // namespace sluice::apps
