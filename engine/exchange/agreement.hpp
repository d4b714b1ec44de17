// Agreement between ranks: whether any of them has work left, or lacks memory.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>

#include "engine/exchange/communicator.hpp"

namespace sluice {

/// Whether any of `ranks` has work `left`; if `ranks` is null, whether this one has.
bool any_left(Communicator* ranks, std::uint64_t left, const char* label);

/// Calls `body`. If it throws BudgetError on one of `ranks`, all of them throw BudgetError. If `ranks` is
/// null, this rank is alone.
void agree_on_memory(Communicator* ranks, const std::function<void()>& body);

/// Calls `body` and returns the BudgetError that it throws, or null.
std::exception_ptr catch_budget_error(const std::function<void()>& body);
/// Calls `body`. Returns false, on all of `ranks`, if it throws BudgetError on one. All ranks call it.
bool all_have_memory(Communicator& ranks, const char* label, const std::function<void()>& body);
/// Throws `own_error`, or BudgetError if that is null and `any_lacks`: another rank lacks memory.
void throw_if_out_of_memory(const std::exception_ptr& own_error, bool any_lacks);

}  // namespace sluice
