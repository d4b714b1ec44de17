#include "engine/ppr/methods/host_team.hpp"

#include <algorithm>
#include <utility>

namespace sluice::ppr {

template <class M>
HostTeam<M>::HostTeam(const Device& device, Memory& query, const QueryRules& rules, unsigned balls,
                      unsigned threads)
    : device_(device), query_(query), rules_(rules), balls_(balls), helpers_(threads - 1) {
  members_.emplace_back(query);
}

template <class M>
void HostTeam<M>::begin() {
  for (Memory& memory : others_) memory.begin();
}

template <class M>
std::uint64_t HostTeam<M>::peak_bytes() const {
  std::uint64_t bytes = 0;
  for (const Memory& memory : others_) bytes += memory.peak_bytes();
  return bytes;
}

template <class M>
bool HostTeam<M>::brings_lists() const {
  const std::span<const ListRange> ranges = query_.lists->ranges();
  return ranges.size() != 1 || ranges[0].begin != 0 || ranges[0].end != rules_.graph.vertices ||
         ranges[0].each != nullptr;
}

template <class M>
void HostTeam<M>::give(const BallOrder& order) {
  while (others_.size() < std::min(balls_, order.count))
    members_.emplace_back(others_.emplace_back(device_, rules_.graph.vertices));
  for (Member& member : members_) member.ball.reset();
  failure_ = nullptr;
  order_ = order;
  begun_ = taken_ = resumed_ = paused_ = under_way_ = 0;
}

template <class M>
void HostTeam<M>::go_on() {
  for (Memory& memory : others_) memory.lists = query_.lists;
  resumed_ = taken_, paused_ = begun_;
  resting_ = false;
  if (helpers_ == 0) return;
  threads_.emplace(helpers_);
  threads_->begin([this](unsigned) { work(); });
}

template <class M>
bool HostTeam<M>::makes(std::uint32_t ball) {
  Lock lock(mutex_);
  taken_ = ball;
  changed_.notify_all();
  while (ball == begun_ || !member_of(ball).made) {
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
    if (make_next(lock)) continue;
    if (at_work_ == 0) return false;
    changed_.wait(lock);
  }
  return true;
}

template <class M>
void HostTeam<M>::rest() {
  {
    const Lock lock(mutex_);
    resting_ = true;
    changed_.notify_all();
  }
  threads_.reset();
}

template <class M>
void HostTeam<M>::work() {
  Lock lock(mutex_);
  while (!resting_ && (resumed_ < paused_ || begun_ < order_.count)) {
    if (!make_next(lock)) changed_.wait(lock);
  }
}

/// Those that wait for lists first, each once. kNoBall where none is left, or no workspace is free.
template <class M>
std::uint32_t HostTeam<M>::next_ball() {
  for (resumed_ = std::max(resumed_, taken_); resumed_ < paused_;) {
    const std::uint32_t ball = resumed_++;
    if (!member_of(ball).made) return ball;
  }
  if (begun_ == order_.count || begun_ - taken_ == members_.size() || under_way_ == balls_) return kNoBall;
  ++under_way_;
  member_of(begun_).made = false;
  return begun_++;
}

/// False where there is none. The lock is open meanwhile.
template <class M>
bool HostTeam<M>::make_next(Lock& lock) {
  const std::uint32_t ball = next_ball();
  if (ball == kNoBall) return false;
  Member& member = member_of(ball);
  ++at_work_;
  lock.unlock();
  bool made = false;
  std::exception_ptr failure;
  try {
    made = make(ball, member);
  } catch (...) {
    failure = std::current_exception();
  }
  lock.lock();
  --at_work_;
  if (failure && !failure_) failure_ = failure;
  if (made) member.made = true, --under_way_;
  changed_.notify_all();
  return true;
}

/// As far as lists lead; false if others are missing.
template <class M>
bool HostTeam<M>::make(std::uint32_t ball, Member& member) {
  if (!member.ball) {
    member.returning.assign(order_.steps, 0);
    member.step = 0;
    member.ball.emplace(SingleLane{}, member.shared, *member.memory, rules_, SeedsView{});
  } else if (!member.ball->go_on()) {
    return false;
  }
  member.ball->run_from(query_.second->ranked[order_.first + ball], member.step, order_.steps,
                        member.returning.data());
  if (member.ball->stopped()) return false;
  member.figures = member.ball->figures();
  member.ball.reset();
  return true;
}

template class HostTeam<Mass>;
template class HostTeam<CoarseMass>;

}  // namespace sluice::ppr
