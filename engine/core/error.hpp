// Errors that carry what the user needs: the message names the file, line or option, and the remedy.
// One place in `apps` turns them into a line on standard error and an exit status (CONTRACT section 1).
#pragma once

#include <stdexcept>
#include <string>

namespace sluice {

/// Exit statuses of the program.
enum class ExitStatus : int {
  done = 0,
  failed = 1,       ///< failed while running (I/O error, CUDA error)
  usage = 2,        ///< wrong usage
  bad_input = 3,    ///< the data is wrong
  over_budget = 4,  ///< does not fit the memory budget
};

/// Base of all errors; `what()` is one line without a trailing full stop or newline.
class Error : public std::runtime_error {
 public:
  Error(ExitStatus status, const std::string& message) : std::runtime_error(message), status_(status) {}
  ExitStatus status() const { return status_; }

 private:
  ExitStatus status_;
};

struct RunError : Error {
  explicit RunError(const std::string& m) : Error(ExitStatus::failed, m) {}
};
struct UsageError : Error {
  explicit UsageError(const std::string& m) : Error(ExitStatus::usage, m) {}
};
struct InputError : Error {
  explicit InputError(const std::string& m) : Error(ExitStatus::bad_input, m) {}
};
struct BudgetError : Error {
  explicit BudgetError(const std::string& m) : Error(ExitStatus::over_budget, m) {}
};

}  // namespace sluice
