#include "apps/console.hpp"

#include <cstdio>

#include "engine/core/error.hpp"

namespace sluice::apps {

namespace {

bool muted = false;

}  // namespace

void mute() {
  muted = true;
}

void print(const std::string& text) {
  if (muted) return;
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (!written || std::fflush(stdout) != 0)
    throw RunError("standard output cannot be written (is the disk full?)");
}

void say(const std::string& text) {
  if (!muted) std::fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace sluice::apps
