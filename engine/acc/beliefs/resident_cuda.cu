// Beliefs in the memory of GPUs: a whole graph's on one, or of ranks whose GPUs reach each other's memory
// each the messages to its own vertices. Rounds share a launch where they are short, and the graph is whole;
// else a round takes three, of which the host reads two numbers. As parts (parts_cuda.cu) the host would lay
// messages out and hold them: 16 bytes a state and 8 more an edge.
//
// The owner of the vertex that receives works a message out: it needs the sender's products, of which every
// rank has all, and what went the other way in the round before. That is a message to another rank's vertex
// where the sender is one; so its owner sends copies of such messages, while it goes on working others out.
// (That senders write messages to where the edge leads back took an H100 twice as long: 17.9 ms a round
// instead of 9.0 for 128 M edges.)
#include <algorithm>
#include <cstddef>
#include <exception>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "engine/acc/beliefs/peer_lists.cuh"
#include "engine/acc/beliefs/resident_kernels.cuh"
#include "engine/acc/beliefs/solver.hpp"
#include "engine/acc/resident_cuda/peer_solver.hpp"
#include "engine/acc/resident_cuda/rounds.cuh"
#include "engine/core/error.hpp"

namespace sluice::acc {

namespace {

/// What every edge has brought, and which edge leads back.
struct CopiedMessages {
  HostArray<std::int64_t> messages;
  HostArray<EdgeIndex> reverse;
};

template <class Edges>
class ResidentBeliefs final : public VertexBeliefs {
 public:
  /// Keeps references. Throws BudgetError. Of several ranks all make one.
  ResidentBeliefs(const Device& device, const AccGraph& graph, const BeliefModel& model, AccFusion fusion)
      : VertexBeliefs(device, graph),
        graph_(graph),
        edges_(rows_.lists().edges),
        hubs_(device_, edges_ / kLongDegree, "hubs"),
        lacks_reverse_(device_, 1, "reverse edges"),
        fused_(Edges::kAlone && fuses(fusion, edges_ * model.states)),
        totals_(device_, Edges::kAlone ? kRoundsAtOnce : 1, "totals"),
        totals_here_(device_, totals_.size(), "totals on their way"),
        reverse_(device_, edges_, "positions of reverse edges") {
    take_vertices(model);
    if constexpr (Edges::kAlone) {
      take_memory(0);
    } else {
      peer_lists_ = std::make_unique<PeerLists>(device_, rows_);
      if (device_.plans()) take_memory(edges_);  // about half of them, or more on more ranks
    }
  }

  ~ResidentBeliefs() override {
    cudaStreamSynchronize(stream_.get());  // what is under way uses the buffers
    if (!peers_) return;
    peers_.reset();
    // Others close what they have of this memory before it is freed, unless they have failed.
    if (std::uncaught_exceptions() > 0) return;
    try {
      ranks().barrier("messages");
    } catch (...) {  // what follows will say so
    }
  }

  /// False, on all ranks: GPUs do not reach each other's memory, or have too little. All ranks call it, and
  /// what follows.
  bool connect() {
    if constexpr (Edges::kAlone) {
      lists_ = graph_.out();
      find_reverse({lists_});
    } else {
      if (!peer_lists_->connect()) return false;
      lists_ = peer_lists_->lists();
      // First what is there for a while alone.
      const bool fits = all_have_memory(ranks(), "memory for messages", [&] {
        peer_lists_->for_each_rank([&](const ReverseLists& others) { find_reverse(others); });
        take_memory(peer_lists_->edges_to_own());
      });
      peer_lists_->close();
      if (!fits) return false;
      peers_ = PeerMemory::open(ranks(), memory_.data());
      if (peers_ == nullptr) return false;
      all_.own = static_cast<unsigned>(ranks().rank());
      all_.owners = peer_lists_->owners(), all_.places = peer_lists_->places();
    }
    return true;
  }

  /// Reverse edges, priors and messages as they begin, and what vertices believe by these.
  void begin(const BeliefModel& model, const BeliefOptions& options) {
    const std::vector<Vertex> hubs = rows_.long_rows(kLongDegree);
    hub_count_ = static_cast<unsigned>(hubs.size());
    copy_to_device(device_, hubs_.data(), hubs.data(), hubs.size() * sizeof(Vertex));
    begin_program(coupling_logs(model), options.damping);
    program_.weights = lists_.weights;
    program_.reverse = reverse_.data();
    copy_to_device(device_, beliefs_.data(), model.priors.data() + rows_.first() * model.states,
                   beliefs_.bytes());
    if (any_left(Edges::kAlone ? nullptr : &ranks(), missing_ ? 1 : 0, "reverse edges"))
      throw InputError(kNoReverse);
    bind(0);
    BeliefStart start = lists_start();
    start.priors = priors_.data();
    clear_totals();
    begin_messages_kernel<<<belief_blocks(edges_ + copies_), kBeliefBlock, 0, stream_.get()>>>(
        reverse_.data(), edges_, copies_, program_.states, uniform_message(program_), own().messages[0],
        own().messages[1]);
    launched("begin_messages_kernel");
    begin_vertices_kernel<<<belief_blocks(own_rows_), kBeliefBlock, 0, stream_.get()>>>(start);
    launched("begin_vertices_kernel");
    combine();
  }

  void go_on(std::uint32_t most, double tolerance, std::vector<double>& changes) override {
    if constexpr (Edges::kAlone) {
      if (fused_) return make_rounds(std::min(most, kRoundsAtOnce), tolerance, changes);
    }
    bind(++steps_);
    clear_totals();
    with_states(program_.states, [&](auto states) {
      const auto kernel = messages_kernel<decltype(states)::value, Edges>;
      kernel<<<belief_blocks(edges_), kBeliefBlock, 0, stream_.get()>>>(program_, lists_.targets, edges_,
                                                                        all_, totals_.data());
      if (registers_ == 0) registers_ = cuda::registers_of(kernel);
    });
    launched("messages_kernel");
    changes.push_back(combine());
  }

  void count(AccStats& stats) const override {
    stats.host_to_device_bytes += coupling_.bytes() + beliefs_.bytes() + hub_count_ * sizeof(Vertex);
    stats.kernel_launches += launches_;
    stats.pull_registers = registers_;
    if constexpr (!Edges::kAlone) {
      stats.host_to_device_bytes += peer_lists_->bytes_brought();
      stats.exchanged_bytes += steps_ * copies_ * program_.states * sizeof(std::int64_t) +
                               (steps_ + 1) * (all_ranks() - 1) * priors_.bytes();
    }
  }

  std::shared_ptr<const KeptMessages> keep_messages() override {
    const auto all = std::make_shared<CopiedMessages>();
    all->messages = HostArray<std::int64_t>((edges_ + copies_) * program_.states, "kept messages");
    all->reverse = HostArray<EdgeIndex>(edges_, "kept messages");
    if (!device_.plans()) {
      copy_to_host(device_, all->messages.data(), own().messages[steps_ % 2], all->messages.bytes());
      copy_to_host(device_, all->reverse.data(), reverse_.data(), all->reverse.bytes());
    }
    const EdgeIndex first = own_rows_ > 0 ? rows_.lists().offsets[0] : 0;
    return kept_messages(program_, [all, first, states = program_.states](EdgeIndex e) {
      const std::int64_t* const messages = all->messages.data();
      return MessagePlaces{messages + (e - first) * states, messages + all->reverse[e - first] * states};
    });
  }

 private:
  /// So many share a launch: what it has come to is known after it.
  static constexpr std::uint32_t kRoundsAtOnce = 64;
  /// Of a graph with so many states of messages rounds take longer than launches.
  static constexpr std::uint64_t kLongRound = 1u << 22;

  static bool fuses(AccFusion fusion, std::uint64_t message_states) {
    if (fusion == AccFusion::automatic) return message_states < kLongRound;
    return fusion != AccFusion::none;
  }

  Communicator& ranks() const { return rows_.ranks(); }
  std::uint64_t all_ranks() const { return static_cast<std::uint64_t>(ranks().size()); }

  /// For messages, and so many copies of other ranks'.
  void take_memory(EdgeIndex copies) {
    copies_ = copies;
    const std::uint64_t bytes = BeliefMemory::bytes(graph_.vertices(), edges_ + copies_, program_.states);
    memory_ = Buffer<std::byte>(
        device_, Edges::kAlone ? bytes : std::max<std::uint64_t>(bytes, PeerMemory::kLeastBytes), "messages");
  }
  BeliefMemory own() const { return {memory_.data(), graph_.vertices(), edges_ + copies_, program_.states}; }

  BeliefStart lists_start() const {
    BeliefStart start;
    start.program = program_;
    start.lists = lists_, start.first = rows_.first();
    return start;
  }

  /// Of own edges to the vertices of these lists.
  void find_reverse(const ReverseLists& others) {
    cuda::check(cudaMemsetAsync(lacks_reverse_.data(), 0, lacks_reverse_.bytes(), stream_.get()), "clearing");
    reverse_kernel<<<belief_blocks((edges_ + kEdgesOfWarp - 1) / kEdgesOfWarp * cuda::kWarp), kBeliefBlock, 0,
                     stream_.get()>>>(lists_start(), others, reverse_.data(), lacks_reverse_.data());
    launched("reverse_kernel");
    stream_.wait("reverse edges");
    unsigned lacks = 0;
    copy_to_host(device_, &lacks, lacks_reverse_.data(), sizeof lacks);
    missing_ = missing_ || lacks != 0;
  }

  void launched(const char* kernel) {
    cuda::check_launch(kernel);
    ++launches_;
  }

  void clear_totals() {
    cuda::check(cudaMemsetAsync(totals_.data(), 0, totals_.bytes(), stream_.get()), "clearing totals");
  }

  /// Step `step` reads what the one before has left, and leaves its own.
  void bind(std::uint64_t step) {
    own().bind(program_, step, rows_.first());
    if constexpr (!Edges::kAlone) {
      const std::uint64_t now = step % 2;
      for (unsigned r = 0; r < all_ranks(); ++r) {
        const PeerLists::Copies there = peer_lists_->copies_on(r);
        const BeliefMemory theirs(peers_->of_ranks()[r], graph_.vertices(), there.edges, program_.states);
        all_.copies[r] = theirs.messages[now] + there.begin * program_.states;
        products_of_ranks_[r] = theirs.products[now] + rows_.first() * program_.states;
      }
    }
  }

  /// In one launch.
  void make_rounds(std::uint32_t most, double tolerance, std::vector<double>& changes) {
    clear_totals();
    with_states(program_.states, [&](auto states) {
      const auto kernel = belief_rounds_kernel<decltype(states)::value>;
      const unsigned blocks = std::min(std::max(belief_blocks(edges_), vertex_blocks(own_rows_)),
                                       cuda::blocks_at_once(kernel, kBeliefBlock, 0));
      cuda::launch_together(kernel, blocks, kBeliefBlock, stream_.get(), program_, own(), lists_,
                            hubs_.data(), hub_count_, steps_ + 1, most, tolerance, totals_.data());
      if (registers_ == 0) registers_ = cuda::registers_of(kernel);
    });
    launched("belief_rounds_kernel");
    read_totals();
    for (std::uint32_t round = 0; round < most; ++round) {
      ++steps_;
      const BeliefTotals& totals = totals_here_.data()[round];
      changes.push_back(possible(totals.impossible != 0 ? -1 : exact::of_bits(totals.change)));
      if (changes.back() <= tolerance) break;
    }
  }

  void read_totals() {
    cuda::check(cudaMemcpyAsync(totals_here_.data(), totals_.data(), totals_.bytes(), cudaMemcpyDeviceToHost,
                                stream_.get()),
                "copying totals");
    stream_.wait("a round of messages");
  }

  /// Every rank gets the products of this one's vertices.
  void share_products() {
    for (unsigned r = 0; r < all_ranks(); ++r) {
      if (r == static_cast<unsigned>(ranks().rank())) continue;
      cuda::check(cudaMemcpyAsync(products_of_ranks_[r], program_.after, priors_.bytes(),
                                  cudaMemcpyDeviceToDevice, stream_.get()),
                  "vertex states of ranks");
    }
  }

  /// The largest change of a belief, on all ranks.
  double combine() {
    launches_ += launch_combine(stream_, program_, lists_.offsets, own_rows_,
                                std::span(hubs_.data(), hub_count_), 0, totals_.data());
    if constexpr (!Edges::kAlone) share_products();
    read_totals();
    const BeliefTotals& totals = *totals_here_.data();
    double most[] = {exact::of_bits(totals.change), totals.impossible != 0 ? 1.0 : 0.0};
    // Then all ranks have what the others have sent.
    if constexpr (!Edges::kAlone) ranks().all_reduce(most, Reduce::max, "a round of messages");
    return possible(most[1] > 0 ? -1 : most[0]);
  }

  const AccGraph& graph_;
  EdgeIndex edges_, copies_ = 0;
  CsrView lists_;  ///< of own vertices
  cuda::Stream stream_;
  Buffer<Vertex> hubs_;  ///< rows
  unsigned hub_count_ = 0;
  Buffer<unsigned> lacks_reverse_;  ///< not 0: an edge has none
  bool fused_;
  Buffer<BeliefTotals> totals_;  ///< by round of a launch
  Staging<BeliefTotals> totals_here_;
  Buffer<EdgeIndex> reverse_;
  Buffer<std::byte> memory_;  ///< BeliefMemory
  std::unique_ptr<PeerLists> peer_lists_;
  std::unique_ptr<PeerMemory> peers_;
  LogProduct* products_of_ranks_[kMostPeers] = {};  ///< where those of own vertices go
  Edges all_;
  bool missing_ = false;  ///< an edge that leads back
  std::uint64_t steps_ = 0, launches_ = 0;
  unsigned registers_ = 0;
};

}  // namespace

std::unique_ptr<BeliefSolver> make_resident_beliefs(const AccGraph& graph, const BeliefModel& model,
                                                    const BeliefOptions& options) {
  const Device& device = graph.device();
  if (graph.complete()) {
    auto solver = std::make_unique<ResidentBeliefs<OwnEdges>>(device, graph, model, options.fusion);
    if (!device.plans()) solver->connect(), solver->begin(model, options);
    return solver;
  }
  auto solver = make_on_peers(graph, "messages", [&](const Device& on) {
    return std::make_unique<ResidentBeliefs<PeerEdges>>(on, graph, model, options.fusion);
  });
  if (solver) solver->begin(model, options);
  return solver;
}

}  // namespace sluice::acc
