// Beliefs on a GPU: three launches a round, of which the host reads two numbers.
#include "engine/acc/beliefs/backend.hpp"
#include "engine/acc/beliefs/whole_kernels.cuh"
#include "engine/acc/resident_cuda/rounds.cuh"
#include "engine/exec/memory/buffer.hpp"
#include "engine/exec/stream.cuh"

namespace sluice::acc {

namespace {

std::uint64_t most_hubs(std::uint64_t edges) {
  return edges / kHubDegree;
}

class CudaBeliefs final : public BeliefBackend {
 public:
  explicit CudaBeliefs(const AccGraph& graph)
      : device_(graph.device()),
        lists_(graph.out()),
        hubs_(device_, most_hubs(lists_.edges), "hubs"),
        found_(device_, 1, "hubs"),
        totals_(device_, 1, "totals"),
        totals_here_(device_, 1, "totals on their way") {}

  ~CudaBeliefs() override { cudaStreamSynchronize(stream_.get()); }  // what is under way uses the buffers

  std::uint64_t longest_list() override {
    cuda::check(cudaMemsetAsync(found_.data(), 0, found_.bytes(), stream_.get()), "clearing");
    belief_lists_kernel<<<belief_blocks(lists_.vertices), kBeliefBlock, 0, stream_.get()>>>(
        lists_, hubs_.data(), found_.data());
    launched("belief_lists_kernel");
    const BeliefLists found = read_lists();
    hub_count_ = found.hubs;
    return found.longest;
  }

  bool find_reverse(const BeliefStart& start) override {
    reverse_kernel<<<belief_blocks(lists_.edges), kBeliefBlock, 0, stream_.get()>>>(start, found_.data());
    launched("reverse_kernel");
    return read_lists().missing == 0;
  }

  double begin(const BeliefStart& start) override {
    clear_totals();
    begin_messages_kernel<<<belief_blocks(lists_.edges), kBeliefBlock, 0, stream_.get()>>>(start);
    launched("begin_messages_kernel");
    begin_vertices_kernel<<<belief_blocks(lists_.vertices), kBeliefBlock, 0, stream_.get()>>>(start);
    launched("begin_vertices_kernel");
    return combine(start.program);
  }

  double round(const BeliefPropagation& program) override {
    clear_totals();
    with_states(program.states, [&](auto states) {
      const auto kernel = messages_kernel<decltype(states)::value>;
      kernel<<<belief_blocks(lists_.edges), kBeliefBlock, 0, stream_.get()>>>(program, lists_.targets,
                                                                              lists_.edges, totals_.data());
      if (registers_ == 0) registers_ = registers_of(kernel);
    });
    launched("messages_kernel");
    return combine(program);
  }

  void count(AccStats& stats) const override {
    stats.kernel_launches += launches_;
    stats.registers = registers_;
  }

 private:
  void launched(const char* kernel) {
    cuda::check_launch(kernel);
    ++launches_;
  }

  void clear_totals() {
    cuda::check(cudaMemsetAsync(totals_.data(), 0, totals_.bytes(), stream_.get()), "clearing totals");
  }

  BeliefLists read_lists() {
    stream_.wait("lists of a graph");
    BeliefLists found;
    copy_to_host(device_, &found, found_.data(), sizeof found);
    return found;
  }

  double combine(const BeliefPropagation& program) {
    beliefs_kernel<<<belief_blocks(lists_.vertices), kBeliefBlock, 0, stream_.get()>>>(
        program, lists_.offsets, lists_.vertices, totals_.data());
    launched("beliefs_kernel");
    if (hub_count_ > 0) {
      hubs_kernel<<<hub_count_, kBeliefBlock, 0, stream_.get()>>>(program, lists_.offsets, hubs_.data(),
                                                                  totals_.data());
      launched("hubs_kernel");
    }
    cuda::check(cudaMemcpyAsync(totals_here_.data(), totals_.data(), totals_.bytes(), cudaMemcpyDeviceToHost,
                                stream_.get()),
                "copying totals");
    stream_.wait("a round of messages");
    const BeliefTotals& totals = *totals_here_.data();
    return totals.impossible != 0 ? -1 : exact::of_bits(totals.change);
  }

  const Device& device_;
  CsrView lists_;
  cuda::Stream stream_;
  Buffer<Vertex> hubs_;  ///< in any order
  unsigned hub_count_ = 0;
  Buffer<BeliefLists> found_;
  Buffer<BeliefTotals> totals_;
  Staging<BeliefTotals> totals_here_;
  std::uint64_t launches_ = 0;
  unsigned registers_ = 0;
};

}  // namespace

std::uint64_t cuda_belief_bytes(std::uint64_t edges) {
  return most_hubs(edges) * sizeof(Vertex) + sizeof(BeliefLists) + sizeof(BeliefTotals);
}

std::unique_ptr<BeliefBackend> make_cuda_beliefs(const AccGraph& graph) {
  return std::make_unique<CudaBeliefs>(graph);
}

}  // namespace sluice::acc
