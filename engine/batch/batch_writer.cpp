#include "engine/batch/batch_writer.hpp"

#include <future>
#include <utility>

namespace sluice {

struct WaveWriter::Pending {
  std::future<void> write;
};

WaveWriter::WaveWriter() : pending_(std::make_unique<Pending>()) {}

WaveWriter::~WaveWriter() {
  if (pending_->write.valid()) pending_->write.wait();
}

void WaveWriter::submit(std::function<void()> write) {
  finish();
  ++submitted_;
  pending_->write = std::async(std::launch::async, std::move(write));
}

bool WaveWriter::idle() const {
  return !pending_->write.valid();
}

void WaveWriter::finish() {
  if (pending_->write.valid()) pending_->write.get();
}

}  // namespace sluice
