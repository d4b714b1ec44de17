#include "apps/console.hpp"

#include <cstdio>

#include "engine/core/error.hpp"

namespace sluice::apps {

void print(const std::string& text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (!written || std::fflush(stdout) != 0)
    throw RunError("standard output cannot be written (is the disk full?)");
}

void say(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace sluice::apps
