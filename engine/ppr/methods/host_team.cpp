#include "engine/ppr/methods/host_team.hpp"

#include <utility>

namespace sluice::ppr {

template <class M>
HostTeam<M>::HostTeam(const Device& device, Memory& query, const QueryRules& rules, unsigned balls,
                      unsigned threads)
    : query_(query), rules_(rules), threads_(threads - 1) {
  members_.push_back({&query});
  while (others_.size() < balls) members_.push_back({&others_.emplace_back(device, rules.graph.vertices)});
}

template <class M>
void HostTeam<M>::begin() {
  for (Memory& memory : others_) memory.begin();
}

template <class M>
void HostTeam<M>::stop() {
  {
    const Lock lock(mutex_);
    order_.count = 0;
    changed_.notify_all();
  }
  threads_.wait();
}

template <class M>
std::uint64_t HostTeam<M>::peak_bytes() const {
  std::uint64_t bytes = 0;
  for (const Memory& memory : others_) bytes += memory.peak_bytes();
  return bytes;
}

template <class M>
std::uint32_t HostTeam<M>::give(const BallOrder& order) {
  threads_.wait();
  order_ = order;
  next_ = 1, taken_ = 0;
  for (Memory& memory : others_) memory.lists = query_.lists;
  for (Member& member : members_) member.made = false, member.failure = nullptr;
  threads_.begin([this](unsigned) { work(); });
  return order.count;
}

template <class M>
HostWorkspaceMemory<M>& HostTeam<M>::wait_for(std::uint32_t ball) {
  Member& member = member_of(ball);
  Lock lock(mutex_);
  taken_ = ball;
  changed_.notify_all();
  while (!member.made) {
    if (!make_next(lock)) changed_.wait(lock);
  }
  member.made = false;
  if (member.failure) std::rethrow_exception(std::exchange(member.failure, nullptr));
  return *member.memory;
}

template <class M>
void HostTeam<M>::work() {
  Lock lock(mutex_);
  while (next_ < order_.count) {
    if (!make_next(lock)) changed_.wait(lock);
  }
}

/// False where none is left, or no workspace is free. The lock is open meanwhile.
template <class M>
bool HostTeam<M>::make_next(Lock& lock) {
  if (next_ >= order_.count || next_ - taken_ == members_.size()) return false;
  const std::uint32_t ball = next_++;
  Member& member = member_of(ball);
  lock.unlock();
  try {
    make(ball, member);
  } catch (...) {
    member.failure = std::current_exception();
  }
  lock.lock();
  member.made = true;
  changed_.notify_all();
  return true;
}

template <class M>
void HostTeam<M>::make(std::uint32_t ball, Member& member) {
  member.returning.assign(order_.steps, 0);
  using MemberBall = Ball<SingleLane, HostWorkspace<M>>;
  typename MemberBall::Shared shared;
  MemberBall diffusion({}, shared, *member.memory, rules_, {});
  diffusion.run_from(query_.second->ranked[order_.first + ball], order_.steps, member.returning.data());
  member.figures = diffusion.figures();
}

template class HostTeam<Mass>;
template class HostTeam<CoarseMass>;

}  // namespace sluice::ppr
