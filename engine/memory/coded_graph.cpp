#include "engine/memory/coded_graph.hpp"

#include <algorithm>
#include <atomic>
#include <numeric>

#include "engine/core/error.hpp"
#include "engine/core/memory_budget.hpp"
#include "engine/exec/threads.hpp"
#include "engine/graph/elias_fano.hpp"
#include "engine/select/coded_slots.hpp"

namespace sluice {

namespace {

constexpr std::uint64_t kGrain = 1024;
/// The first word of a list is a 32-bit number.
constexpr std::uint64_t kMaxWords = 0xffffffff;
/// Rows take at most a quarter of the device's memory; slots and batches need the rest.
constexpr std::uint64_t kShareOfRows = 4;

std::uint32_t degree_of(const CsrView& graph, std::uint64_t v) {
  return static_cast<std::uint32_t>(graph.offsets[v + 1] - graph.offsets[v]);
}

}  // namespace

CodedSizes::CodedSizes(const CsrView& lists, unsigned threads, bool slots, std::uint64_t targets)
    : lists_(lists), targets_(targets != 0 ? targets : lists.vertices), threads_(threads), slots_(slots) {
  const std::uint32_t max_degree = slots ? CodedSlots::kMaxSlots : EliasFano::kMaxTargets;
  block_begins_.assign((lists.vertices + kBlock - 1) / kBlock + 1, 0);
  std::atomic<bool> codable{true};
  parallel_blocks(threads, lists.vertices, kBlock, [&](std::uint64_t begin, std::uint64_t end, unsigned) {
    EdgeIndex words = 0;
    for (std::uint64_t v = begin; v < end; ++v) {
      words += words_of(v);
      if (degree_of(lists, v) > max_degree) codable = false;
    }
    block_begins_[begin / kBlock + 1] = words;
  });
  std::partial_sum(block_begins_.begin(), block_begins_.end(), block_begins_.begin());
  codable_ = codable && words() <= kMaxWords;
}

EdgeIndex CodedSizes::words_of(std::uint64_t v) const {
  const std::uint32_t degree = degree_of(lists_, v);
  if (degree == 0) return 0;
  return EliasFano::of(targets_, degree).words() + (slots_ ? CodedSlots::of(degree).words() : 0);
}

template <class Use>
void CodedSizes::for_each_begin(const Use& use) const {
  parallel_blocks(threads_, lists_.vertices, kBlock, [&](std::uint64_t begin, std::uint64_t end, unsigned) {
    EdgeIndex words = block_begins_[begin / kBlock];
    for (std::uint64_t v = begin; v < end; words += words_of(v++)) use(v, words);
  });
}

HostArray<EdgeIndex> CodedSizes::offsets() const {
  HostArray<EdgeIndex> offsets(lists_.vertices + 1, "offsets of coded lists");
  for_each_begin([&](std::uint64_t v, EdgeIndex words) { offsets[v] = words; });
  offsets[lists_.vertices] = words();
  return offsets;
}

void CodedSizes::fill(CodedRow* rows) const {
  for_each_begin([&](std::uint64_t v, EdgeIndex words) {
    rows[v] = {static_cast<std::uint32_t>(words), degree_of(lists_, v)};
  });
  rows[lists_.vertices] = {static_cast<std::uint32_t>(words()), 0};
}

bool should_code(const Device& device, const Graph& graph, Layout layout, const PageColumns& columns,
                 CodedSet& set) {
  if (layout == Layout::coded && graph.edge_source)
    throw UsageError("--layout coded: the graph stays in its file (raise --host-memory, or use csr or auto)");
  if (layout != Layout::automatic) return layout == Layout::coded;
  if (!device.is_cuda() || graph.edge_source) return false;
  if (!set.sizes) set.sizes.emplace(graph.out.view(), device.threads(), columns.alias);
  return set.sizes->saves_space(columns.bytes_per_edge());
}

ListExtents::ListExtents(const CsrView& lists, const PageColumns& columns, unsigned threads)
    : offsets_(lists.offsets, lists.vertices + 1), bytes_{0, columns.bytes_per_edge()} {
  if (!columns.coded) return;
  if (columns.rows == nullptr) {
    words_ = CodedSizes(lists, threads, columns.alias).offsets();
  } else {
    words_ = HostArray<EdgeIndex>(lists.vertices + 1, "offsets of coded lists");
    parallel_blocks(threads, words_.size(), 1u << 16, [&](std::uint64_t begin, std::uint64_t end, unsigned) {
      for (std::uint64_t v = begin; v < end; ++v) words_[v] = columns.rows[v].begin;
    });
  }
  offsets_ = words_.span(), bytes_ = {0, sizeof(std::uint32_t)};
}

std::optional<CodedGraph> CodedGraph::of(const Device& device, const CsrView& lists, const CodedSizes& sizes,
                                         const AliasSlotsOf* slots) {
  const std::uint64_t thresholds = sizes.slots() ? lists.edges : 0;
  const std::uint64_t bytes = sizes.word_bytes() + sizes.row_bytes() + thresholds * sizeof(std::uint64_t);
  if (!sizes.codable() || bytes > host_budget().available()) return std::nullopt;
  if (device.is_cuda() && sizes.row_bytes() > device.memory().available() / kShareOfRows) return std::nullopt;
  CodedGraph coded;
  coded.rows_ = HostArray<CodedRow>(lists.vertices + 1, "coded lists");
  if (device.is_cuda()) coded.device_rows_ = Buffer<CodedRow>(device, lists.vertices, "rows of coded lists");
  coded.words_ = HostArray<std::uint32_t>(sizes.words(), "coded lists");
  coded.thresholds_ = HostArray<std::uint64_t>(thresholds, "thresholds of coded slots");
  if (device.is_planning()) return coded;
  sizes.fill(coded.rows_.data());
  copy_to_device(device, coded.device_rows_.data(), coded.rows_.data(), coded.device_rows_.bytes());
  std::atomic<bool> sorted{true};
  parallel_blocks(
      device.threads(), lists.vertices, kGrain, [&](std::uint64_t begin, std::uint64_t end, unsigned) {
        std::fill_n(coded.words_.data() + coded.rows()[begin].begin, coded.words_of(begin, end).size(), 0);
        for (std::uint64_t v = begin; v < end; ++v) {
          if (!coded.write(lists, sizes, v, slots)) sorted = false;
        }
      });
  if (!sorted) return std::nullopt;
  // Locking memory that all threads have written takes less time than allocating locked memory.
  const auto lock_pages = [&](const auto& column) {
    coded.locks_.emplace_back(device, column.data(), column.bytes());
  };
  lock_pages(coded.words_), lock_pages(coded.thresholds_);
  return coded;
}

/// Codes a list into words that must be zero. Returns false if the list is not sorted.
bool CodedGraph::write(const CsrView& lists, const CodedSizes& sizes, std::uint64_t v,
                       const AliasSlotsOf* slots_of) {
  const EdgeIndex first = lists.offsets[v];
  const std::uint32_t degree = degree_of(lists, v);
  if (degree == 0) return true;
  const EliasFano code = EliasFano::of(sizes.targets(), degree);
  std::uint32_t* const words = words_.data() + rows()[v].begin;
  if (slots_of) {
    const CodedSlots slots = CodedSlots::of(degree);
    (*slots_of)(static_cast<Vertex>(v), [&](std::uint32_t i, const AliasSlot& slot) {
      slots.write(words + code.words(), i, slot);
      thresholds_.data()[first + i] = slot.threshold;
    });
  }
  return code.write({lists.targets + first, degree}, words);
}

}  // namespace sluice
