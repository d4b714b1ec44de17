#include "io/readers/text_source.hpp"

#include <algorithm>

namespace sluice::io::readers {

TextSource::TextSource(std::unique_ptr<LineStream> stream, std::unique_ptr<TextFormat> format,
                       const ReadOptions& options)
    : stream_(std::move(stream)),
      format_(std::move(format)),
      info_(format_->info()),
      parsers_(std::max(1u, options.threads)),
      may_be_empty_(options.may_be_empty),
      batch_bytes_(std::max<std::size_t>(1, options.batch_bytes)),
      slots_(parsers_ + 2),
      line_(stream_->line()) {
  info_.origin = stream_->path().substr(stream_->path().find_last_of('/') + 1);
}

TextSource::~TextSource() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void TextSource::start() {
  threads_.reserve(parsers_ + 1);
  threads_.emplace_back([this] { read_ahead(); });
  for (unsigned i = 0; i < parsers_; ++i) threads_.emplace_back([this] { parse_ahead(); });
}

void TextSource::change(Slot& slot, State state) {
  {
    const std::lock_guard lock(mutex_);
    slot.state = state;
  }
  changed_.notify_all();
}

/// Fills slots until the input ends or fails; either is told by a last slot without text.
void TextSource::read_ahead() {
  for (std::uint64_t block = 0;; ++block) {
    Slot& s = slot(block);
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return stopping_ || s.state == State::free; });
      if (stopping_) return;
    }
    s.size = 0;
    try {
      s.size = stream_->read_block(s.text, batch_bytes_);
    } catch (const LineFault& fault) {
      s.fault = fault;
    } catch (...) {
      s.error = std::current_exception();
    }
    const bool last = s.size == 0;
    change(s, State::filled);
    if (last) return;
  }
}

void TextSource::parse_ahead() {
  for (;;) {
    Slot* mine;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return stopping_ || slot(to_parse_).state == State::filled; });
      if (stopping_) return;
      mine = &slot(to_parse_++);
      mine->state = State::parsing;
    }
    if (mine->size > 0) parse(*mine);
    change(*mine, State::parsed);
  }
}

void TextSource::parse(Slot& slot) const {
  slot.block.clear();
  try {
    format_->parse(slot.view(), slot.block);
  } catch (const LineFault& fault) {
    slot.fault = fault;
  } catch (...) {
    slot.error = std::current_exception();
  }
}

bool TextSource::next(EdgeBatch& batch) {
  batch.clear();
  if (threads_.empty()) start();
  while (!finished_) {
    Slot& s = slot(to_deliver_);
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return s.state == State::parsed; });
    }
    // A slot with a fault stays where it is, so that asking again gives the same answer.
    if (s.error) std::rethrow_exception(s.error);
    if (s.fault) throw_at(stream_->path(), line_ + s.fault->line + 1, s.fault->text);
    if (s.size == 0) {
      finish();
      break;
    }
    if (deliver(s, batch)) return true;
  }
  return false;
}

/// Passes the slot's edges on and frees the slot; false if it holds none (comments).
bool TextSource::deliver(Slot& slot, EdgeBatch& batch) {
  try {
    format_->accept(slot.block, slot.view());
  } catch (const LineFault& fault) {
    slot.fault = fault;
    throw_at(stream_->path(), line_ + fault.line + 1, fault.text);
  }
  std::swap(batch, slot.block.edges);
  line_ += slot.block.lines;
  edges_ += batch.size();
  ++to_deliver_;
  change(slot, State::free);
  return batch.size() > 0;
}

void TextSource::finish() {
  if (const auto wrong = format_->finish()) throw_in(stream_->path(), *wrong);
  if (edges_ == 0 && !info_.vertices && !may_be_empty_)
    throw_in(stream_->path(), "holds no edges; is it the right file?");
  finished_ = true;
}

std::pair<std::uint64_t, std::uint64_t> TextSource::progress() const {
  const std::uint64_t total = stream_->bytes().total();
  return total > 0 ? std::pair(stream_->bytes().consumed(), total)
                   : std::pair<std::uint64_t, std::uint64_t>();
}

}  // namespace sluice::io::readers
