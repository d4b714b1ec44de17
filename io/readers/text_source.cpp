// An edge source over lines of text: one thread reads ahead (and decompresses), several parse, one delivers.

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/core/host_array.hpp"
#include "engine/exec/thread_pool.hpp"
#include "io/edge_source.hpp"
#include "io/readers/fault.hpp"
#include "io/readers/line_stream.hpp"
#include "io/readers/text_format.hpp"

namespace sluice::io::readers {

namespace {

/// Least bytes of a parser's block: if memory cannot hold such blocks, there are fewer parsers.
constexpr std::uint64_t kMinBlockBytes = 64u << 10;
/// Bytes that hold a line of most files. Shorter blocks would grow while the caller also takes memory, and
/// the peak memory of a job would depend on which comes first.
constexpr std::uint64_t kUsualLineBytes = 64;

/// Blocks pass through a ring of slots: free -> filled (text) -> parsing -> parsed -> delivered in order, and
/// free again. All memory of the ring is charged when the source is made, for text of only the shortest edges
/// ("0 1\n" becomes 16 bytes), so that all users of the budget know at once what is left.
class TextSource final : public EdgeStream {
 public:
  TextSource(std::unique_ptr<LineStream> stream, std::unique_ptr<TextFormat> format,
             const ReadOptions& options)
      : stream_(std::move(stream)),
        format_(std::move(format)),
        info_(format_->info()),
        may_be_empty_(options.may_be_empty),
        line_(stream_->line()) {
    info_.origin = stream_->path().substr(stream_->path().find_last_of('/') + 1);
    size_blocks(options);
    slots_.resize(parsers_ + 2);
    stream_->reserve_block(block_bytes_);
    for (Slot& slot : slots_) {
      slot.text = HostArray<char>(block_bytes_ + 1, "a block of text");
      reserve(slot.block.edges);
    }
    reserve(spare_);
  }

  ~TextSource() override { stop(); }

  const EdgeStreamInfo& info() const override { return info_; }

  bool next(EdgeBatch& batch) override {
    batch.clear();
    if (!threads_ && !finished_) start();
    while (!finished_) {
      Slot& s = slot(to_deliver_);
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return s.state == State::parsed; });
      }
      // A slot with a fault is kept, so that the next call throws the same fault.
      if (s.error) std::rethrow_exception(s.error);
      if (s.fault) throw_at(stream_->path(), line_ + s.fault->line + 1, s.fault->text);
      if (s.read.size == 0) {
        finish();
        break;
      }
      if (deliver(s, batch)) return true;
    }
    return false;
  }

  std::pair<std::uint64_t, std::uint64_t> progress() const override {
    const ByteStream& bytes = stream_->bytes();
    if (bytes.total() == 0) return {};
    return {bytes.compressed() ? bytes.consumed() : delivered_, bytes.total()};
  }

  std::string remark() const override { return format_->remark(); }

 private:
  enum class State { free, filled, parsing, parsed };
  struct Slot {
    State state = State::free;
    HostArray<char> text;
    LineStream::Block read;  ///< of `text`; size 0: the input has ended
    ParsedBlock block;
    std::optional<LineFault> fault;
    std::exception_ptr error;

    std::string_view view() const { return {text.data(), read.size}; }
  };

  /// Chooses as many parsers and as large blocks as the reader's share of the memory holds.
  void size_blocks(const ReadOptions& options) {
    const std::uint64_t edge_bytes = 2 * sizeof(std::uint64_t) + (info_.weighted ? sizeof(float) : 0) +
                                     (info_.timed ? sizeof(std::int64_t) : 0);
    const std::uint64_t byte_cost =
        1 + (edge_bytes + format_->min_text_bytes() - 1) / format_->min_text_bytes();
    // Memory holds the slots, the edges of the caller, and text that is read beyond the end of a block.
    const std::uint64_t affordable_blocks = reader_memory() / (byte_cost * kMinBlockBytes);
    const std::uint64_t parsers = std::max(1u, options.threads);
    parsers_ = static_cast<unsigned>(std::clamp<std::uint64_t>(affordable_blocks, 4, parsers + 3) - 3);
    std::uint64_t max_block_bytes =
        std::min<std::uint64_t>(options.batch_bytes, reader_memory() / (byte_cost * (parsers_ + 3)));
    const std::uint64_t total = stream_->bytes().total();
    if (total > 0 && !stream_->bytes().compressed())
      max_block_bytes = std::min(max_block_bytes, std::max(kMinBlockBytes, total / parsers_ + 1));
    block_bytes_ = std::max(max_block_bytes, kUsualLineBytes);
    block_edges_ = (block_bytes_ + 1) / format_->min_text_bytes() + 1;
  }

  void reserve(EdgeBatch& batch) const {
    batch.source.reserve(block_edges_);
    batch.target.reserve(block_edges_);
    if (info_.weighted) batch.weight.reserve(block_edges_);
    if (info_.timed) batch.time.reserve(block_edges_);
  }

  void start() {
    threads_.emplace(parsers_ + 1);
    threads_->begin([this](unsigned thread) { thread == 0 ? fill_slots() : parse_slots(); });
  }

  /// Ends the threads and releases the ring's memory.
  void stop() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    changed_.notify_all();
    threads_.reset();
    slots_.clear();
    spare_ = {};
  }

  /// Fills slots until the input ends or fails; a last slot without text marks both cases.
  void fill_slots() {
    for (std::uint64_t block = 0;; ++block) {
      Slot& s = slot(block);
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return stopping_ || s.state == State::free; });
        if (stopping_) return;
      }
      s.read = {};
      try {
        const auto cut = [&](std::string_view text, bool continued) { return format_->cut(text, continued); };
        s.read = stream_->read_block(s.text, block_bytes_, cut);
      } catch (const LineFault& fault) {
        s.fault = fault;
      } catch (...) {
        s.error = std::current_exception();
      }
      const bool last = s.read.size == 0;
      set_state(s, State::filled);
      if (last) return;
    }
  }

  void parse_slots() {
    for (;;) {
      Slot* claimed;
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return stopping_ || slot(to_parse_).state == State::filled; });
        if (stopping_) return;
        claimed = &slot(to_parse_++);
        claimed->state = State::parsing;
      }
      if (claimed->read.size > 0) parse(*claimed);
      set_state(*claimed, State::parsed);
    }
  }

  void parse(Slot& slot) const {
    slot.block.clear();
    slot.block.continued = slot.read.continued;
    slot.block.cut = slot.read.cut;
    try {
      format_->parse(slot.view(), slot.block);
    } catch (const LineFault& fault) {
      slot.fault = fault;
    } catch (...) {
      slot.error = std::current_exception();
    }
  }

  /// Moves the slot's edges to `batch` and frees the slot; returns false if it holds none (comments).
  bool deliver(Slot& slot, EdgeBatch& batch) {
    try {
      format_->accept(slot.block, slot.view());
    } catch (const LineFault& fault) {
      slot.fault = fault;
      throw_at(stream_->path(), line_ + fault.line + 1, fault.text);
    }
    std::swap(batch, slot.block.edges);
    // A caller's first batch is too small for the slot, which then takes the spare batch.
    if (slot.block.edges.source.capacity() < block_edges_) std::swap(slot.block.edges, spare_);
    line_ += slot.block.lines;
    delivered_ += slot.read.size;
    edges_ += batch.size();
    ++to_deliver_;
    set_state(slot, State::free);
    return batch.size() > 0;
  }

  void finish() {
    if (const auto error = format_->finish()) throw_in(stream_->path(), *error);
    if (edges_ == 0 && !info_.vertices && !may_be_empty_)
      throw_in(stream_->path(), "holds no edges; is it the right file?");
    finished_ = true;
    stop();
  }

  void set_state(Slot& slot, State state) {
    {
      const std::lock_guard lock(mutex_);
      slot.state = state;
    }
    changed_.notify_all();
  }

  Slot& slot(std::uint64_t block) { return slots_[block % slots_.size()]; }

  std::unique_ptr<LineStream> stream_;
  std::unique_ptr<TextFormat> format_;
  EdgeStreamInfo info_;
  unsigned parsers_ = 1;
  bool may_be_empty_;
  std::size_t block_bytes_ = 1;
  std::size_t block_edges_ = 0;  ///< edges that a block can hold

  std::mutex mutex_;  ///< guards the states of slots, to_parse_ and stopping_
  std::condition_variable changed_;
  std::vector<Slot> slots_;
  EdgeBatch spare_;             ///< for the slot whose edges the caller has
  std::uint64_t to_parse_ = 0;  ///< the next block for a parser
  bool stopping_ = false;
  std::optional<BorrowedThreads> threads_;

  std::uint64_t to_deliver_ = 0;  ///< the next block for the caller
  std::uint64_t line_ = 0;        ///< lines before it
  std::uint64_t edges_ = 0;       ///< delivered so far
  std::uint64_t delivered_ = 0;   ///< bytes of text that held them
  bool finished_ = false;
};

}  // namespace

std::unique_ptr<EdgeStream> make_text_source(std::unique_ptr<LineStream> stream,
                                             std::unique_ptr<TextFormat> format, const ReadOptions& options) {
  return std::make_unique<TextSource>(std::move(stream), std::move(format), options);
}

}  // namespace sluice::io::readers
