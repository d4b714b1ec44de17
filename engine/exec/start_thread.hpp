// Starting a host thread, which the system may refuse.
#pragma once

#include <functional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "engine/core/error.hpp"

namespace sluice {

/// Starts one more thread; throws RunError where the system has none left.
inline void start_thread(std::vector<std::jthread>& threads, std::function<void()> body) {
  try {
    threads.emplace_back(std::move(body));
  } catch (const std::system_error& error) {
    throw RunError("a thread cannot be started: " + error.code().message() + " (give fewer --threads)");
  }
}

}  // namespace sluice
