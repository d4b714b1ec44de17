#include "engine/exchange/agreement.hpp"

#include "engine/core/error.hpp"

namespace sluice {

bool any_left(Communicator* ranks, std::uint64_t left, const char* label) {
  if (ranks) ranks->all_reduce(std::span(&left, 1), Reduce::max, label);
  return left > 0;
}

void agree_on_memory(Communicator* ranks, const std::function<void()>& body) {
  if (!ranks) return body();
  const std::exception_ptr own_error = catch_budget_error(body);
  throw_if_out_of_memory(own_error, any_left(ranks, own_error ? 1 : 0, "memory for the work of all ranks"));
}

std::exception_ptr catch_budget_error(const std::function<void()>& body) {
  try {
    body();
  } catch (const BudgetError&) {
    return std::current_exception();
  }
  return nullptr;
}

bool all_have_memory(Communicator& ranks, const char* label, const std::function<void()>& body) {
  return !any_left(&ranks, catch_budget_error(body) ? 1 : 0, label);
}

void throw_if_out_of_memory(const std::exception_ptr& own_error, bool any_lacks) {
  if (own_error) std::rethrow_exception(own_error);
  if (any_lacks) throw BudgetError("another rank lacks the memory for its part of the work");
}

}  // namespace sluice
