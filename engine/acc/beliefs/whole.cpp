// Belief propagation on a whole graph in one process.
#include <algorithm>

#include "engine/acc/beliefs/backend.hpp"
#include "engine/acc/beliefs/solver.hpp"
#include "engine/core/error.hpp"

namespace sluice::acc {

namespace {

constexpr std::uint64_t kCopiedAtOnce = 1u << 20;

std::unique_ptr<BeliefBackend> make_backend(const AccGraph& graph) {
#if defined(SLUICE_HAVE_CUDA)
  if (graph.device().is_cuda()) return make_cuda_beliefs(graph);
#endif
  return make_host_beliefs(graph);
}

/// What propagation works on, where the device reaches it.
class WholeBeliefs final : public BeliefSolver {
 public:
  WholeBeliefs(const AccGraph& graph, const BeliefModel& model, const BeliefOptions& options)
      : device_(graph.device()),
        backend_(make_backend(graph)),
        coupling_(device_, model.coupling.size(), "the coupling"),
        reverse_(device_, graph.out().edges, "positions of reverse edges"),
        priors_(device_, graph.vertices() * model.states, "priors"),
        products_{{device_, priors_.size(), "vertex states"}, {device_, priors_.size(), "vertex states"}},
        messages_{{device_, graph.out().edges * model.states, "messages"},
                  {device_, graph.out().edges * model.states, "messages"}},
        beliefs_(device_, priors_.size(), "beliefs") {
    program_.states = model.states;
    program_.shift = message_shift(backend_->longest_list());
    program_.damping = options.damping;
    program_.coupling = coupling_.data();
    program_.weights = graph.out().weights;
    program_.reverse = reverse_.data();
    program_.priors = priors_.data();
    program_.beliefs = beliefs_.data();
    give_model(model);
    begin(graph.out());
  }

  double step(bool) override {
    bind(++steps_);
    return possible(backend_->round(program_));
  }

  void count(AccStats& stats) const override {
    if (device_.is_cuda()) stats.host_to_device_bytes += coupling_.bytes() + beliefs_.bytes();
    backend_->count(stats);
  }

  HostArray<float> beliefs() override {
    return brought<float>(beliefs_, [](double belief) { return static_cast<float>(belief); });
  }

  void keep_messages(BeliefResult& result) override {
    result.messages = brought<double>(messages_[steps_ % 2],
                                      [&](std::int64_t message) { return message_part(program_, message); });
  }

 private:
  void give_model(const BeliefModel& model) {
    const std::vector<double> logs = coupling_logs(model);
    copy_to_device(device_, coupling_.data(), logs.data(), coupling_.bytes());
    copy_to_device(device_, beliefs_.data(), model.priors.data(), beliefs_.bytes());
  }

  void begin(const CsrView& lists) {
    bind(0);
    BeliefStart start;
    start.program = program_;
    start.lists = lists;
    start.reverse = reverse_.data();
    start.priors = priors_.data();
    start.messages[0] = messages_[0].data(), start.messages[1] = messages_[1].data();
    start.uniform = uniform_message(program_);
    if (!backend_->find_reverse(start)) throw InputError(kNoReverse);
    possible(backend_->begin(start));
  }

  /// Step `step` reads what the one before has left, and leaves its own.
  void bind(std::uint64_t step) {
    program_.before = products_[(step + 1) % 2].data(), program_.after = products_[step % 2].data();
    program_.heard = messages_[(step + 1) % 2].data(), program_.hearing = messages_[step % 2].data();
  }

  /// What lies on the device, turned into something else on the way.
  template <class To, class From, class Convert>
  HostArray<To> brought(const Buffer<From>& there, Convert&& convert) const {
    HostArray<To> all(there.size(), "results");
    HostArray<From> some(std::min<std::uint64_t>(all.size(), kCopiedAtOnce), "results");
    for (std::uint64_t first = 0; first < all.size(); first += some.size()) {
      const std::uint64_t size = std::min<std::uint64_t>(some.size(), all.size() - first);
      copy_to_host(device_, some.data(), there.data() + first, size * sizeof(From));
      std::transform(some.data(), some.data() + size, all.data() + first, convert);
    }
    return all;
  }

  const Device& device_;
  std::unique_ptr<BeliefBackend> backend_;
  Buffer<double> coupling_;
  Buffer<EdgeIndex> reverse_;
  Buffer<LogProduct> priors_, products_[2];
  Buffer<std::int64_t> messages_[2];
  Buffer<double> beliefs_;
  BeliefPropagation program_;
  std::uint64_t steps_ = 0;
};

}  // namespace

std::unique_ptr<BeliefSolver> make_whole_beliefs(const AccGraph& graph, const BeliefModel& model,
                                                 const BeliefOptions& options) {
  return std::make_unique<WholeBeliefs>(graph, model, options);
}

}  // namespace sluice::acc
