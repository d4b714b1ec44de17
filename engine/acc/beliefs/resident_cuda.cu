// Beliefs of a whole graph in a GPU's memory: three launches a round, of which the host reads two numbers. As
// one part (parts_cuda.cu) the host would lay messages out and hold them: 16 bytes a state and 8 more an
// edge.
#include <algorithm>
#include <memory>
#include <utility>

#include "engine/acc/beliefs/kernels.cuh"
#include "engine/acc/beliefs/solver.hpp"
#include "engine/acc/beliefs/start.hpp"
#include "engine/acc/resident_cuda/rounds.cuh"
#include "engine/core/error.hpp"
#include "engine/exec/memory/buffer.hpp"
#include "engine/exec/stream.cuh"

namespace sluice::acc {

/// What is found out about the lists once.
struct BeliefLists {
  unsigned long long longest = 0;
  unsigned hubs = 0;
  unsigned missing = 0;  ///< not 0: an edge has no reverse
};

__global__ void __launch_bounds__(kBeliefBlock)
    belief_lists_kernel(CsrView lists, Vertex* hubs, BeliefLists* found) {
  unsigned long long longest = 0;
  for (std::uint64_t v = lane_of_grid(); v < lists.vertices; v += lanes_of_grid()) {
    const std::uint64_t degree = lists.offsets[v + 1] - lists.offsets[v];
    longest = degree > longest ? degree : longest;
    if (degree >= kHubDegree) hubs[atomicAdd(&found->hubs, 1u)] = static_cast<Vertex>(v);
  }
  longest = Tile<cuda::kWarp>{}.maximum(longest);
  if (threadIdx.x % cuda::kWarp == 0 && longest > 0) atomicMax(&found->longest, longest);
}

__global__ void __launch_bounds__(kBeliefBlock) reverse_kernel(BeliefStart start, BeliefLists* found) {
  for (EdgeIndex e = lane_of_grid(); e < start.lists.edges; e += lanes_of_grid()) {
    start.reverse[e] = start.reverse_of(start.owner(e), e);
    if (start.reverse[e] == BeliefStart::kNoEdge) atomicOr(&found->missing, 1u);
  }
}

__global__ void __launch_bounds__(kBeliefBlock) begin_messages_kernel(BeliefStart start) {
  for (EdgeIndex e = lane_of_grid(); e < start.lists.edges; e += lanes_of_grid()) start.begin_messages(e);
}

__global__ void __launch_bounds__(kBeliefBlock) begin_vertices_kernel(BeliefStart start) {
  for (std::uint64_t v = lane_of_grid(); v < start.lists.vertices; v += lanes_of_grid())
    start.begin_vertex(static_cast<Vertex>(v));
}

template <unsigned kStates>
__global__ void __launch_bounds__(kBeliefBlock)
    messages_kernel(BeliefPropagation program, const Vertex* targets, EdgeIndex edges, BeliefTotals* totals) {
  for (EdgeIndex e = lane_of_grid(); e < edges; e += lanes_of_grid()) {
    if (program.reverse[e] != e && !program.compute<kStates>(targets[e], e)) totals->take(-1);
  }
}

namespace {

/// What every edge has brought, and which edge leads back.
class WholeMessages final : public KeptMessages {
 public:
  WholeMessages(const Device& device, const BeliefPropagation& program, const Buffer<std::int64_t>& messages,
                const Buffer<EdgeIndex>& reverse)
      : program_(program),
        messages_(messages.size(), "kept messages"),
        reverse_(reverse.size(), "kept messages") {
    copy_to_host(device, messages_.data(), messages.data(), messages.bytes());
    copy_to_host(device, reverse_.data(), reverse.data(), reverse.bytes());
  }

  void read(EdgeIndex first, std::span<double> received, std::span<double> sent) const override {
    const std::uint64_t states = program_.states;
    for (std::uint64_t i = 0; i < received.size(); ++i) {
      const EdgeIndex back = reverse_[first + i / states];
      received[i] = message_part(program_, messages_[first * states + i]);
      sent[i] = message_part(program_, messages_[back * states + i % states]);
    }
  }

 private:
  BeliefPropagation program_;  ///< only how numbers are kept
  HostArray<std::int64_t> messages_;
  HostArray<EdgeIndex> reverse_;
};

class WholeBeliefs final : public BeliefSolver {
 public:
  WholeBeliefs(const AccGraph& graph, const BeliefModel& model, const BeliefOptions& options)
      : device_(graph.device()),
        lists_(graph.out()),
        hubs_(device_, lists_.edges / kHubDegree, "hubs"),
        found_(device_, 1, "hubs"),
        totals_(device_, 1, "totals"),
        totals_here_(device_, 1, "totals on their way"),
        coupling_(device_, model.coupling.size(), "the coupling"),
        reverse_(device_, lists_.edges, "positions of reverse edges"),
        priors_(device_, lists_.vertices * model.states, "priors"),
        products_{{device_, priors_.size(), "vertex states"}, {device_, priors_.size(), "vertex states"}},
        messages_{{device_, lists_.edges * model.states, "messages"},
                  {device_, lists_.edges * model.states, "messages"}},
        beliefs_(device_, priors_.size(), "beliefs") {
    if (device_.plans()) return;
    program_.states = model.states;
    program_.shift = message_shift(longest_list());
    program_.damping = options.damping;
    program_.coupling = coupling_.data();
    program_.weights = lists_.weights;
    program_.reverse = reverse_.data();
    program_.priors = priors_.data();
    program_.beliefs = beliefs_.data();
    const std::vector<double> logs = coupling_logs(model);
    copy_to_device(device_, coupling_.data(), logs.data(), coupling_.bytes());
    copy_to_device(device_, beliefs_.data(), model.priors.data(), beliefs_.bytes());
    begin();
  }

  ~WholeBeliefs() override { cudaStreamSynchronize(stream_.get()); }  // what is under way uses the buffers

  double step(bool) override {
    bind(++steps_);
    clear_totals();
    with_states(program_.states, [&](auto states) {
      const auto kernel = messages_kernel<decltype(states)::value>;
      kernel<<<belief_blocks(lists_.edges), kBeliefBlock, 0, stream_.get()>>>(program_, lists_.targets,
                                                                              lists_.edges, totals_.data());
      if (registers_ == 0) registers_ = registers_of(kernel);
    });
    launched("messages_kernel");
    return combine();
  }

  void count(AccStats& stats) const override {
    stats.host_to_device_bytes += coupling_.bytes() + beliefs_.bytes();
    stats.kernel_launches += launches_;
    stats.pull_registers = registers_;
  }

  HostArray<float> beliefs() override {
    HostArray<float> all(beliefs_.size(), "results");
    round_beliefs(device_, beliefs_, all.data());
    return all;
  }

  std::shared_ptr<const KeptMessages> keep_messages() override {
    return std::make_shared<WholeMessages>(device_, program_, messages_[steps_ % 2], reverse_);
  }

 private:
  void launched(const char* kernel) {
    cuda::check_launch(kernel);
    ++launches_;
  }

  void clear_totals() {
    cuda::check(cudaMemsetAsync(totals_.data(), 0, totals_.bytes(), stream_.get()), "clearing totals");
  }

  /// Notes hubs, too.
  std::uint64_t longest_list() {
    cuda::check(cudaMemsetAsync(found_.data(), 0, found_.bytes(), stream_.get()), "clearing");
    belief_lists_kernel<<<belief_blocks(lists_.vertices), kBeliefBlock, 0, stream_.get()>>>(
        lists_, hubs_.data(), found_.data());
    launched("belief_lists_kernel");
    const BeliefLists found = read_lists();
    hub_count_ = found.hubs;
    return found.longest;
  }

  BeliefLists read_lists() {
    stream_.wait("lists of a graph");
    BeliefLists found;
    copy_to_host(device_, &found, found_.data(), sizeof found);
    return found;
  }

  /// Reverse edges, priors and messages as they begin, and what vertices believe by these.
  void begin() {
    bind(0);
    BeliefStart start;
    start.program = program_;
    start.lists = lists_;
    start.reverse = reverse_.data();
    start.priors = priors_.data();
    start.messages[0] = messages_[0].data(), start.messages[1] = messages_[1].data();
    start.uniform = uniform_message(program_);
    reverse_kernel<<<belief_blocks(lists_.edges), kBeliefBlock, 0, stream_.get()>>>(start, found_.data());
    launched("reverse_kernel");
    if (read_lists().missing != 0) throw InputError(kNoReverse);
    clear_totals();
    begin_messages_kernel<<<belief_blocks(lists_.edges), kBeliefBlock, 0, stream_.get()>>>(start);
    launched("begin_messages_kernel");
    begin_vertices_kernel<<<belief_blocks(lists_.vertices), kBeliefBlock, 0, stream_.get()>>>(start);
    launched("begin_vertices_kernel");
    combine();
  }

  /// Step `step` reads what the one before has left, and leaves its own.
  void bind(std::uint64_t step) {
    program_.before = products_[(step + 1) % 2].data(), program_.after = products_[step % 2].data();
    program_.received = messages_[(step + 1) % 2].data(), program_.incoming = messages_[step % 2].data();
  }

  /// The largest change of a belief.
  double combine() {
    beliefs_kernel<<<belief_blocks(lists_.vertices), kBeliefBlock, 0, stream_.get()>>>(
        program_, lists_.offsets, lists_.vertices, totals_.data());
    launched("beliefs_kernel");
    if (hub_count_ > 0) {
      hubs_kernel<<<hub_count_, kBeliefBlock, 0, stream_.get()>>>(program_, lists_.offsets, hubs_.data(),
                                                                  totals_.data());
      launched("hubs_kernel");
    }
    cuda::check(cudaMemcpyAsync(totals_here_.data(), totals_.data(), totals_.bytes(), cudaMemcpyDeviceToHost,
                                stream_.get()),
                "copying totals");
    stream_.wait("a round of messages");
    const BeliefTotals& totals = *totals_here_.data();
    return possible(totals.impossible != 0 ? -1 : exact::of_bits(totals.change));
  }

  const Device& device_;
  CsrView lists_;
  cuda::Stream stream_;
  Buffer<Vertex> hubs_;  ///< in any order
  unsigned hub_count_ = 0;
  Buffer<BeliefLists> found_;
  Buffer<BeliefTotals> totals_;
  Staging<BeliefTotals> totals_here_;
  Buffer<double> coupling_;
  Buffer<EdgeIndex> reverse_;
  Buffer<LogProduct> priors_, products_[2];
  Buffer<std::int64_t> messages_[2];
  Buffer<double> beliefs_;
  BeliefPropagation program_;
  std::uint64_t steps_ = 0, launches_ = 0;
  unsigned registers_ = 0;
};

}  // namespace

std::unique_ptr<BeliefSolver> make_whole_cuda_beliefs(const AccGraph& graph, const BeliefModel& model,
                                                      const BeliefOptions& options) {
  return std::make_unique<WholeBeliefs>(graph, model, options);
}

}  // namespace sluice::acc
