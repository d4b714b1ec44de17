#include "engine/batch/batch_writer.hpp"

#include <future>
#include <utility>

#include "engine/core/clock.hpp"

namespace sluice {

struct BatchWriter::Pending {
  std::future<void> write;
};

BatchWriter::BatchWriter(double* waited) : waited_(waited), pending_(std::make_unique<Pending>()) {}

BatchWriter::~BatchWriter() {
  if (pending_->write.valid()) pending_->write.wait();
}

void BatchWriter::submit(std::function<void()> write) {
  finish();
  ++submitted_;
  pending_->write = std::async(std::launch::async, std::move(write));
}

bool BatchWriter::idle() const {
  return !pending_->write.valid();
}

void BatchWriter::finish() {
  if (!pending_->write.valid()) return;
  const double begin = seconds_now();
  pending_->write.wait();
  if (waited_) *waited_ += seconds_now() - begin;
  failed_ = true;  // unless get() returns
  pending_->write.get();
  failed_ = false;
}

}  // namespace sluice
