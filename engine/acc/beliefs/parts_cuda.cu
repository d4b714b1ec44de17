// Parts of belief propagation on a GPU: vertex states stay there; a part is copied in with its messages, and
// those that it sends are copied back to the host. While one part is processed, the next one is copied.
//
// Slots do not use PartitionCache, whose columns are copied once and never change. For each edge and state, 8
// bytes are copied in and 8 out every round, overlapping with the work on other parts. 8 bytes an edge stay
// in a slot, or 12.
#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "engine/acc/beliefs/kernels.cuh"
#include "engine/acc/beliefs/part_backend.hpp"
#include "engine/acc/resident_cuda/rounds.cuh"
#include "engine/exec/memory/buffer.hpp"
#include "engine/exec/memory/copy_lane.hpp"
#include "engine/exec/stream.cuh"
#include "engine/graph/partition_map.hpp"
#include "partition/plan.hpp"

namespace sluice::acc {

/// Computes the messages that a part's vertices send next.
template <unsigned kStates>
__global__ void __launch_bounds__(kBeliefBlock)
    part_messages_kernel(BeliefPart part, EdgeIndex first, EdgeIndex edges, BeliefTotals* totals) {
  for (EdgeIndex i = grid_thread(); i < edges; i += grid_threads()) {
    if (!part.send<kStates>(part.row_of(first + i), first + i)) totals->add_change(-1);
  }
}

namespace {

/// A part's memory on the device, and the stream for all its work.
struct Slot {
  static constexpr std::uint64_t kNoPart = ~std::uint64_t{0};

  Slot(const Device& device, std::uint64_t edges, unsigned states, bool weighted, bool in_file)
      : received(device, edges * states, "messages of a partition"),
        sent(device, edges * states, "messages of a partition"),
        arrivals(device, edges, "positions of a partition's messages"),
        departures(device, edges, "positions of a partition's messages"),
        weights(device, weighted ? edges : 0, "a partition's weights"),
        staging(device, in_file ? weights.size() : 0, "reading weights") {}
  ~Slot() { cudaStreamSynchronize(stream.get()); }  // pending work uses the buffers

  Buffer<std::int64_t> received, sent;
  Buffer<std::uint32_t> arrivals, departures;
  Buffer<float> weights;
  Staging<float> staging;  ///< for weights from a file
  std::uint64_t part = kNoPart;
  cuda::Stream stream;
};

class CudaBeliefParts final : public BeliefPartBackend {
 public:
  CudaBeliefParts(const Device& device, const RankPart& rank_part, const MessageParts& messages,
                  unsigned states, bool damped)
      : device_(device),
        rank_part_(rank_part),
        messages_(messages),
        lists_(rank_part.lists()),
        states_(states),
        damped_(damped),
        offsets_(device, lists_.vertices + 1, "the graph's offsets"),
        hub_rows_(rank_part.long_rows(kLongDegree)),
        hubs_(device, hub_rows_.size(), "hubs"),
        totals_(device, kTotals, "totals"),
        plan_(cut_for_slots(device, rank_part, states)) {
    copy_to_device(device_, offsets_.data(), lists_.offsets, offsets_.bytes());
    copy_to_device(device_, hubs_.data(), hub_rows_.data(), hubs_.bytes());
    const std::uint64_t largest = plan_.largest();  // edges
    for (std::uint64_t i = 0; i < belief_slots(rank_part, plan_); ++i)
      slots_.push_back(
          std::make_unique<Slot>(device, largest, states, rank_part.weighted(), rank_part.out().file));
    if (rank_part.weighted() && rank_part.out().file == nullptr && lists_.edges > 0)
      locks_.emplace_back(device, lists_.weights + lists_.offsets[0], lists_.edges * sizeof(float));
    copied_bytes_ += offsets_.bytes() + hubs_.bytes();
  }

  Ownership parts() const override { return plan_.ranges(); }

  BeliefRound round(const BeliefPropagation& program, bool sends) override {
    if (slots_.empty()) return {};
    const cuda::Stream& stream = slots_.front()->stream;
    cuda::check(cudaMemsetAsync(totals_.data(), 0, totals_.bytes(), stream.get()), "clearing totals");
    stream.wait("clearing totals");
    for (std::uint64_t part = 0; part < plan_.size(); ++part) {
      Slot& slot = *slots_[part % slots_.size()];
      load(part, slot);
      process(program, part, slot, sends);
    }
    for (const auto& slot : slots_) slot->stream.wait("a round of messages");
    std::array<BeliefTotals, kTotals> totals;
    copy_to_host(device_, totals.data(), totals_.data(), sizeof totals);
    return {exact::from_bits(totals[0].change), totals[0].impossible != 0, totals[1].impossible != 0};
  }

  void count(AccStats& stats) const override {
    stats.partitions = plan_.size();
    stats.partition_transfers = transfers_;
    stats.host_to_device_bytes += copied_bytes_;
    stats.read_bytes = read_bytes_;
    stats.kernel_launches += launches_;
    stats.pull_registers = registers_;
  }

 private:
  /// Totals of combining messages, and of sending them.
  static constexpr std::uint64_t kTotals = 2;

  template <class T>
  void copy_in(const Slot& slot, T* target, const T* source, std::uint64_t count) {
    cuda::check(cudaMemcpyAsync(target, source, count * sizeof(T), cudaMemcpyHostToDevice, slot.stream.get()),
                "copying messages to the device");
    copied_bytes_ += count * sizeof(T);
  }

  void load(std::uint64_t part, Slot& slot) {
    const std::uint64_t edges = messages_.edges(part);
    const EdgeIndex first = messages_.first_edge(part), edge_index = first - lists_.offsets[0];
    if (slot.part != part) {
      slot.stream.wait("a partition of messages");
      copy_in(slot, slot.arrivals.data(), messages_.arrivals() + edge_index, edges);
      copy_in(slot, slot.departures.data(), messages_.departures() + edge_index, edges);
      if (damped_) copy_in(slot, slot.sent.data(), messages_.sent(part), edges * states_);
      load_weights(first, edges, slot);
      slot.part = part;
      ++transfers_;
    }
    copy_in(slot, slot.received.data(), messages_.received(part), edges * states_);
  }

  void load_weights(EdgeIndex first, std::uint64_t edges, Slot& slot) {
    if (!rank_part_.weighted()) return;
    if (rank_part_.out().file == nullptr)
      return copy_in(slot, slot.weights.data(), lists_.weights + first, edges);
    rank_part_.out().file->read_weights(first, {slot.staging.data(), edges});
    read_bytes_ += edges * sizeof(float);
    copy_in(slot, slot.weights.data(), slot.staging.data(), edges);
  }

  void process(const BeliefPropagation& program, std::uint64_t part, const Slot& slot, bool sends) {
    const EdgeIndex first = messages_.first_edge(part);
    const std::uint64_t edges = messages_.edges(part);
    BeliefPart view = belief_part(program, rank_part_, messages_, part);
    view.offsets = offsets_.data() + messages_.begin(part);
    view.arrivals = rebase(slot.arrivals.data(), first);
    view.departures = rebase(slot.departures.data(), first);
    view.program.incoming = slot.received.data();
    view.program.weights = rank_part_.weighted() ? rebase(slot.weights.data(), first) : nullptr;
    view.sent = slot.sent.data();
    const auto hub = std::lower_bound(hub_rows_.begin(), hub_rows_.end(), messages_.begin(part)),
               hub_end = std::lower_bound(hub, hub_rows_.end(), messages_.end(part));
    const std::span hubs(hubs_.data() + (hub - hub_rows_.begin()), static_cast<std::size_t>(hub_end - hub));
    launches_ += launch_combine(slot.stream, view, view.offsets, view.rows, hubs,
                                static_cast<Vertex>(messages_.begin(part)), totals_.data());
    if (!sends || edges == 0) return;
    dispatch_states(program.states, [&](auto states) {
      const auto kernel = part_messages_kernel<decltype(states)::value>;
      kernel<<<belief_blocks(edges), kBeliefBlock, 0, slot.stream.get()>>>(view, first, edges,
                                                                           totals_.data() + 1);
      if (registers_ == 0) registers_ = cuda::registers_of(kernel);
    });
    count_launch("part_messages_kernel");
    cuda::check(
        cudaMemcpyAsync(messages_.sent(part), view.sent, edges * program.states * sizeof(std::int64_t),
                        cudaMemcpyDeviceToHost, slot.stream.get()),
        "copying messages to the host");
  }

  void count_launch(const char* kernel) {
    cuda::check_launch(kernel);
    ++launches_;
  }

  const Device& device_;
  const RankPart& rank_part_;
  const MessageParts& messages_;
  CsrView lists_;
  unsigned states_;
  bool damped_;
  Buffer<EdgeIndex> offsets_;
  std::vector<Vertex> hub_rows_;
  Buffer<Vertex> hubs_;
  Buffer<BeliefTotals> totals_;
  PartitionPlan plan_;
  std::vector<std::unique_ptr<Slot>> slots_;
  std::vector<PageLock> locks_;
  std::uint64_t launches_ = 0, transfers_ = 0, copied_bytes_ = 0, read_bytes_ = 0;
  unsigned registers_ = 0;
};

}  // namespace

std::unique_ptr<BeliefPartBackend> make_cuda_belief_parts(const Device& device, const RankPart& rank_part,
                                                          const MessageParts& messages, unsigned states,
                                                          bool damped) {
  return std::make_unique<CudaBeliefParts>(device, rank_part, messages, states, damped);
}

}  // namespace sluice::acc
