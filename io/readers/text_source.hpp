// An edge source over lines of text: one thread reads ahead (and decompresses), several parse, one delivers.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "engine/core/host_array.hpp"
#include "io/edge_source.hpp"
#include "io/readers/fault.hpp"
#include "io/readers/line_stream.hpp"
#include "io/readers/text_format.hpp"

namespace sluice::io::readers {

/// Blocks pass through a ring of slots: free -> filled (text) -> parsing -> parsed -> delivered in order, and
/// free again. All its memory is charged when the source is made, for text of nothing but the shortest edges
/// ("0 1\n" becomes 16 bytes), so that all users of the budget know at once what is left.
class TextSource final : public EdgeSource {
 public:
  TextSource(std::unique_ptr<LineStream> stream, std::unique_ptr<TextFormat> format,
             const ReadOptions& options);
  ~TextSource() override;

  const EdgeSourceInfo& info() const override { return info_; }
  bool next(EdgeBatch& batch) override;
  std::pair<std::uint64_t, std::uint64_t> progress() const override;
  std::string remark() const override { return format_->remark(); }

 private:
  enum class State { free, filled, parsing, parsed };
  struct Slot {
    State state = State::free;
    HostArray<char> text;
    LineStream::Block read;  ///< of the text; size 0: the input ends here
    ParsedBlock block;
    std::optional<LineFault> fault;
    std::exception_ptr error;

    std::string_view view() const { return {text.data(), read.size}; }
  };

  void size_blocks(const ReadOptions& options);
  void reserve(EdgeBatch& batch) const;
  void start();
  void stop();
  void read_ahead();
  void parse_ahead();
  void parse(Slot& slot) const;
  bool deliver(Slot& slot, EdgeBatch& batch);
  void finish();
  void change(Slot& slot, State state);
  Slot& slot(std::uint64_t block) { return slots_[block % slots_.size()]; }

  std::unique_ptr<LineStream> stream_;
  std::unique_ptr<TextFormat> format_;
  EdgeSourceInfo info_;
  unsigned parsers_ = 1;
  bool may_be_empty_;
  std::size_t block_bytes_ = 1;
  std::size_t block_edges_ = 0;  ///< that many bytes hold

  std::mutex mutex_;  ///< guards the states of slots, to_parse_ and stopping_
  std::condition_variable changed_;
  std::vector<Slot> slots_;
  EdgeBatch spare_;             ///< for the slot whose edges the caller has
  std::uint64_t to_parse_ = 0;  ///< the next block for a parser
  bool stopping_ = false;
  std::vector<std::thread> threads_;

  std::uint64_t to_deliver_ = 0;  ///< the next block for the caller
  std::uint64_t line_ = 0;        ///< lines before it
  std::uint64_t edges_ = 0;       ///< delivered so far
  bool finished_ = false;
};

}  // namespace sluice::io::readers
