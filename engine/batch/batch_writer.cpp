#include "engine/batch/batch_writer.hpp"

#include <utility>

#include "engine/core/clock.hpp"
#include "engine/exec/thread_pool.hpp"

namespace sluice {

struct BatchWriter::Pending {
  bool active = false;
  Background write;
};

BatchWriter::BatchWriter(double* waited) : waited_(waited), pending_(std::make_unique<Pending>()) {}

BatchWriter::~BatchWriter() = default;

void BatchWriter::submit(std::function<void()> write) {
  finish();
  ++submitted_;
  pending_->active = true;
  pending_->write.begin(std::move(write));
}

bool BatchWriter::idle() const {
  return !pending_->active;
}

void BatchWriter::finish() {
  if (!std::exchange(pending_->active, false)) return;
  const double begin = seconds_now();
  failed_ = true;  // unless wait() returns
  pending_->write.wait();
  failed_ = false;
  if (waited_) *waited_ += seconds_now() - begin;
}

}  // namespace sluice
