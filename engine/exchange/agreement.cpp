#include "engine/exchange/agreement.hpp"

#include "engine/core/error.hpp"

namespace sluice {

bool any_left(Communicator* ranks, std::uint64_t left, const char* label) {
  if (ranks) ranks->all_reduce(std::span(&left, 1), Reduce::max, label);
  return left > 0;
}

void together(Communicator* ranks, const std::function<void()>& body) {
  if (!ranks) return body();
  const std::exception_ptr own = lack_of_memory(body);
  throw_if_lacking(own, any_left(ranks, own ? 1 : 0, "memory for the work of all ranks"));
}

std::exception_ptr lack_of_memory(const std::function<void()>& body) {
  try {
    body();
  } catch (const BudgetError&) {
    return std::current_exception();
  }
  return nullptr;
}

bool all_have_memory(Communicator& ranks, const char* label, const std::function<void()>& body) {
  return !any_left(&ranks, lack_of_memory(body) ? 1 : 0, label);
}

void throw_if_lacking(const std::exception_ptr& own, bool lacks) {
  if (own) std::rethrow_exception(own);
  if (lacks) throw BudgetError("another rank lacks the memory for its part of the work");
}

}  // namespace sluice
