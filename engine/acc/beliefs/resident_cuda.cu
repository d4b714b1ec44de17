// Belief propagation in GPU memory: of a whole graph on one GPU, or over ranks whose GPUs access each other's
// memory, each with the messages to its own vertices. If rounds are short and the graph is whole, rounds
// share a launch; else a round takes three launches, after which the host reads two numbers. In parts
// (parts_cuda.cu), the host would order and store messages: for each edge 16 bytes a state, and 8 more.
//
// The owner of the receiving vertex computes a message. It needs the sender's products, which every rank has
// for all vertices, and the previous round's message along the reverse edge. If the sender is on another
// rank, so is that message; therefore each owner sends copies of such messages, while it computes others. (If
// senders write messages at the reverse edges instead, an H100 takes twice as long: 17.9 ms a round instead
// of 9.0 for 128 M edges.)
#include <algorithm>
#include <cstddef>
#include <exception>
#include <memory>
#include <vector>

#include "engine/acc/beliefs/peer_lists.cuh"
#include "engine/acc/beliefs/resident_kernels.cuh"
#include "engine/acc/beliefs/solver.hpp"
#include "engine/acc/resident_cuda/peer_solver.hpp"
#include "engine/acc/resident_cuda/rounds.cuh"
#include "engine/core/error.hpp"

namespace sluice::acc {

namespace {

/// Host copies of the messages along every edge, and of the reverse edges.
struct CopiedMessages {
  HostArray<std::int64_t> messages;
  HostArray<EdgeIndex> reverse;
};

template <class Edges>
class ResidentBeliefs final : public BeliefSolver {
 public:
  /// Keeps references. Throws BudgetError. All ranks construct it together.
  ResidentBeliefs(const Device& device, const AccGraph& graph, const BeliefModel& model, AccFusion fusion)
      : BeliefSolver(device, graph),
        graph_(graph),
        edges_(rank_part_.lists().edges),
        hubs_(device_, edges_ / kLongDegree, "hubs"),
        missing_flag_(device_, 1, "reverse edges"),
        fused_(Edges::kSingleRank && fuses(fusion, edges_ * model.states)),
        totals_(device_, Edges::kSingleRank ? kRoundsAtOnce : 1, "totals"),
        host_totals_(device_, totals_.size(), "totals in transit"),
        reverse_(device_, edges_, "positions of reverse edges") {
    allocate_vertices(model);
    if constexpr (Edges::kSingleRank) {
      allocate_memory(0);
    } else {
      peer_lists_ = std::make_unique<PeerLists>(device_, rank_part_);
      if (device_.is_planning())
        allocate_memory(edges_);  // copies are about half the edges, or more on more ranks
    }
  }

  ~ResidentBeliefs() override {
    cudaStreamSynchronize(stream_.get());  // pending work uses the buffers
    if (!peers_) return;
    peers_.reset();
    // Other ranks close their mappings of this memory before it is freed, unless the job has failed.
    if (std::uncaught_exceptions() > 0) return;
    try {
      ranks().barrier("messages");
    } catch (...) {  // a later call reports the error
    }
  }

  /// Returns false, on all ranks, if GPUs cannot access each other's memory, or lack memory. All ranks call
  /// it, and the functions below.
  bool connect() {
    if constexpr (Edges::kSingleRank) {
      lists_ = graph_.out();
      find_reverse({lists_});
    } else {
      if (!peer_lists_->connect()) return false;
      lists_ = peer_lists_->lists();
      // Temporary memory is allocated first.
      const bool fits = all_have_memory(ranks(), "memory for messages", [&] {
        peer_lists_->for_each_rank([&](const ReverseLists& others) { find_reverse(others); });
        allocate_memory(peer_lists_->edges_to_own());
      });
      peer_lists_->close();
      if (!fits) return false;
      peers_ = PeerMemory::open(ranks(), memory_.data());
      if (peers_ == nullptr) return false;
      edge_view_.own_rank = static_cast<unsigned>(ranks().rank());
      edge_view_.owners = peer_lists_->owners(), edge_view_.indices = peer_lists_->indices();
    }
    return true;
  }

  /// Sets initial priors and messages, and computes the vertices' first beliefs from them.
  void begin(const BeliefModel& model, const BeliefOptions& options) {
    const std::vector<Vertex> hubs = rank_part_.long_rows(kLongDegree);
    hub_count_ = static_cast<unsigned>(hubs.size());
    copy_to_device(device_, hubs_.data(), hubs.data(), hubs.size() * sizeof(Vertex));
    begin_program(coupling_logs(model), options.damping);
    program_.weights = lists_.weights;
    program_.reverse = reverse_.data();
    copy_to_device(device_, beliefs_.data(), model.priors.data() + rank_part_.first() * model.states,
                   beliefs_.bytes());
    if (any_left(Edges::kSingleRank ? nullptr : &ranks(), missing_ ? 1 : 0, "reverse edges"))
      throw InputError(kNoReverse);
    bind(0);
    BeliefStart start = lists_start();
    start.priors = priors_.data();
    clear_totals();
    begin_messages_kernel<<<belief_blocks(edges_ + copies_), kBeliefBlock, 0, stream_.get()>>>(
        reverse_.data(), edges_, copies_, program_.states, uniform_message(program_),
        memory_view().messages[0], memory_view().messages[1]);
    count_launch("begin_messages_kernel");
    begin_vertices_kernel<<<belief_blocks(own_rows_), kBeliefBlock, 0, stream_.get()>>>(start);
    count_launch("begin_vertices_kernel");
    combine();
  }

  void run_rounds(std::uint32_t max_rounds, double tolerance, std::vector<double>& changes) override {
    if constexpr (Edges::kSingleRank) {
      if (fused_) return run_fused(std::min(max_rounds, kRoundsAtOnce), tolerance, changes);
    }
    bind(++steps_);
    clear_totals();
    dispatch_states(program_.states, [&](auto states) {
      const auto kernel = messages_kernel<decltype(states)::value, Edges>;
      kernel<<<belief_blocks(edges_), kBeliefBlock, 0, stream_.get()>>>(program_, lists_.targets, edges_,
                                                                        edge_view_, totals_.data());
      if (registers_ == 0) registers_ = cuda::registers_of(kernel);
    });
    count_launch("messages_kernel");
    changes.push_back(combine());
  }

  void count(AccStats& stats) const override {
    stats.host_to_device_bytes += coupling_.bytes() + beliefs_.bytes() + hub_count_ * sizeof(Vertex);
    stats.kernel_launches += launches_;
    stats.pull_registers = registers_;
    if constexpr (!Edges::kSingleRank) {
      stats.host_to_device_bytes += peer_lists_->uploaded_bytes();
      stats.exchanged_bytes += steps_ * copies_ * program_.states * sizeof(std::int64_t) +
                               (steps_ + 1) * (rank_count() - 1) * priors_.bytes();
    }
  }

  std::shared_ptr<const KeptMessages> final_messages() override {
    const auto all = std::make_shared<CopiedMessages>();
    all->messages = HostArray<std::int64_t>((edges_ + copies_) * program_.states, "saved messages");
    all->reverse = HostArray<EdgeIndex>(edges_, "saved messages");
    if (!device_.is_planning()) {
      copy_to_host(device_, all->messages.data(), memory_view().messages[steps_ % 2], all->messages.bytes());
      copy_to_host(device_, all->reverse.data(), reverse_.data(), all->reverse.bytes());
    }
    const EdgeIndex first = own_rows_ > 0 ? rank_part_.lists().offsets[0] : 0;
    return make_kept_messages(program_, [all, first, states = program_.states](EdgeIndex e) {
      const std::int64_t* const messages = all->messages.data();
      return EdgeMessages{messages + (e - first) * states, messages + all->reverse[e - first] * states};
    });
  }

 private:
  /// Rounds that share a launch; the host reads their results afterwards.
  static constexpr std::uint32_t kRoundsAtOnce = 64;
  /// From this many edges * states on, rounds take longer than launches.
  static constexpr std::uint64_t kLongRound = 1u << 22;

  static bool fuses(AccFusion fusion, std::uint64_t message_states) {
    if (fusion == AccFusion::automatic) return message_states < kLongRound;
    return fusion != AccFusion::none;
  }

  Communicator& ranks() const { return rank_part_.ranks(); }
  std::uint64_t rank_count() const { return static_cast<std::uint64_t>(ranks().size()); }

  /// Allocates memory for messages, and for `copies` copies of other ranks' messages.
  void allocate_memory(EdgeIndex copies) {
    copies_ = copies;
    const std::uint64_t bytes = BeliefMemory::bytes(graph_.vertices(), edges_ + copies_, program_.states);
    memory_ = Buffer<std::byte>(
        device_, Edges::kSingleRank ? bytes : std::max<std::uint64_t>(bytes, PeerMemory::kMinBytes),
        "messages");
  }
  BeliefMemory memory_view() const {
    return {memory_.data(), graph_.vertices(), edges_ + copies_, program_.states};
  }

  BeliefStart lists_start() const {
    BeliefStart start;
    start.program = program_;
    start.lists = lists_, start.first = rank_part_.first();
    return start;
  }

  /// Finds the reverse edges of own edges to the vertices of `others`.
  void find_reverse(const ReverseLists& others) {
    cuda::check(cudaMemsetAsync(missing_flag_.data(), 0, missing_flag_.bytes(), stream_.get()), "clearing");
    reverse_kernel<<<belief_blocks((edges_ + kEdgesOfWarp - 1) / kEdgesOfWarp * cuda::kWarp), kBeliefBlock, 0,
                     stream_.get()>>>(lists_start(), others, reverse_.data(), missing_flag_.data());
    count_launch("reverse_kernel");
    stream_.wait("reverse edges");
    unsigned missing = 0;
    copy_to_host(device_, &missing, missing_flag_.data(), sizeof missing);
    missing_ = missing_ || missing != 0;
  }

  void count_launch(const char* kernel) {
    cuda::check_launch(kernel);
    ++launches_;
  }

  void clear_totals() {
    cuda::check(cudaMemsetAsync(totals_.data(), 0, totals_.bytes(), stream_.get()), "clearing totals");
  }

  /// Selects the buffers of step `step`, which reads those of the step before.
  void bind(std::uint64_t step) {
    memory_view().bind(program_, step, rank_part_.first());
    if constexpr (!Edges::kSingleRank) {
      const std::uint64_t parity = step % 2;
      for (unsigned r = 0; r < rank_count(); ++r) {
        const PeerLists::Copies range = peer_lists_->copies_on(r);
        const BeliefMemory remote_memory(peers_->by_rank()[r], graph_.vertices(), range.edges,
                                         program_.states);
        edge_view_.copies[r] = remote_memory.messages[parity] + range.begin * program_.states;
        products_of_ranks_[r] = remote_memory.products[parity] + rank_part_.first() * program_.states;
      }
    }
  }

  /// Runs up to `max_rounds` rounds in one launch.
  void run_fused(std::uint32_t max_rounds, double tolerance, std::vector<double>& changes) {
    clear_totals();
    dispatch_states(program_.states, [&](auto states) {
      const auto kernel = belief_rounds_kernel<decltype(states)::value>;
      const unsigned blocks = std::min(std::max(belief_blocks(edges_), vertex_blocks(own_rows_)),
                                       cuda::resident_blocks(kernel, kBeliefBlock, 0));
      cuda::launch_cooperative(kernel, blocks, kBeliefBlock, stream_.get(), program_, memory_view(), lists_,
                               hubs_.data(), hub_count_, steps_ + 1, max_rounds, tolerance, totals_.data());
      if (registers_ == 0) registers_ = cuda::registers_of(kernel);
    });
    count_launch("belief_rounds_kernel");
    read_totals();
    for (std::uint32_t round = 0; round < max_rounds; ++round) {
      ++steps_;
      const BeliefTotals& totals = host_totals_.data()[round];
      changes.push_back(checked_change(totals.impossible != 0 ? -1 : exact::from_bits(totals.change)));
      if (changes.back() <= tolerance) break;
    }
  }

  void read_totals() {
    cuda::check(cudaMemcpyAsync(host_totals_.data(), totals_.data(), totals_.bytes(), cudaMemcpyDeviceToHost,
                                stream_.get()),
                "copying totals");
    stream_.wait("a round of messages");
  }

  /// Copies the products of this rank's vertices to every other rank.
  void share_products() {
    for (unsigned r = 0; r < rank_count(); ++r) {
      if (r == static_cast<unsigned>(ranks().rank())) continue;
      cuda::check(cudaMemcpyAsync(products_of_ranks_[r], program_.products, priors_.bytes(),
                                  cudaMemcpyDeviceToDevice, stream_.get()),
                  "vertex states of ranks");
    }
  }

  /// Combines messages; returns the largest change of a belief on all ranks.
  double combine() {
    launches_ += launch_combine(stream_, program_, lists_.offsets, own_rows_,
                                std::span(hubs_.data(), hub_count_), 0, totals_.data());
    if constexpr (!Edges::kSingleRank) share_products();
    read_totals();
    const BeliefTotals& totals = *host_totals_.data();
    double maxima[] = {exact::from_bits(totals.change), totals.impossible != 0 ? 1.0 : 0.0};
    // After this reduction, all ranks have the others' products and copies.
    if constexpr (!Edges::kSingleRank) ranks().all_reduce(maxima, Reduce::max, "a round of messages");
    return checked_change(maxima[1] > 0 ? -1 : maxima[0]);
  }

  const AccGraph& graph_;
  EdgeIndex edges_, copies_ = 0;
  CsrView lists_;  ///< lists of own vertices
  cuda::Stream stream_;
  Buffer<Vertex> hubs_;  ///< rows of hubs
  unsigned hub_count_ = 0;
  Buffer<unsigned> missing_flag_;  ///< not 0: an edge has no reverse
  bool fused_;
  Buffer<BeliefTotals> totals_;  ///< [rounds of a launch]
  Staging<BeliefTotals> host_totals_;
  Buffer<EdgeIndex> reverse_;
  Buffer<std::byte> memory_;  ///< BeliefMemory
  std::unique_ptr<PeerLists> peer_lists_;
  std::unique_ptr<PeerMemory> peers_;
  LogProduct* products_of_ranks_[kMaxPeers] = {};  ///< own vertices' products on each rank
  Edges edge_view_;
  bool missing_ = false;  ///< an edge has no reverse
  std::uint64_t steps_ = 0, launches_ = 0;
  unsigned registers_ = 0;
};

}  // namespace

std::unique_ptr<BeliefSolver> make_resident_beliefs(const AccGraph& graph, const BeliefModel& model,
                                                    const BeliefOptions& options) {
  const Device& device = graph.device();
  if (graph.complete()) {
    auto solver = std::make_unique<ResidentBeliefs<OwnEdges>>(device, graph, model, options.fusion);
    if (!device.is_planning()) solver->connect(), solver->begin(model, options);
    return solver;
  }
  auto solver = make_on_peers(graph, "messages", [&](const Device& target) {
    return std::make_unique<ResidentBeliefs<PeerEdges>>(target, graph, model, options.fusion);
  });
  if (solver) solver->begin(model, options);
  return solver;
}

}  // namespace sluice::acc
