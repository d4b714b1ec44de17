// What ranks agree on before they go on.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>

#include "engine/exchange/communicator.hpp"

namespace sluice {

/// Has any of `ranks` work left? Null: has this one?
bool any_left(Communicator* ranks, std::uint64_t left, const char* label);

/// Calls `body`, which may find too little memory. Then all of `ranks` throw BudgetError, not this one alone;
/// null: this one is alone.
void together(Communicator* ranks, const std::function<void()>& body);

/// The BudgetError that `body` ends with, or null.
std::exception_ptr lack_of_memory(const std::function<void()>& body);
/// Calls `body`; false, on all of `ranks`, where one ends with BudgetError. All of them call it.
bool all_have_memory(Communicator& ranks, const char* label, const std::function<void()>& body);
/// Throws `own`, or where that is null and another rank `lacks` memory, BudgetError.
void throw_if_lacking(const std::exception_ptr& own, bool lacks);

}  // namespace sluice
