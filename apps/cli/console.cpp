#include "apps/cli/console.hpp"

#include <fcntl.h>

#include <cstdio>

#include "engine/core/error.hpp"

namespace sluice::apps {

namespace {

bool muted = false;

}  // namespace

void reserve_standard_streams() {
  constexpr int kFlags[] = {O_WRONLY, O_RDONLY, O_WRONLY};
  for (int stream = 0; stream < 3; ++stream) {
    // open() returns the lowest unused number, which is `stream`.
    if (::fcntl(stream, F_GETFD) < 0) static_cast<void>(::open("/dev/null", kFlags[stream]));
  }
}

void mute() {
  muted = true;
}

void print(const std::string& text) {
  if (muted) return;
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (!written || std::fflush(stdout) != 0)
    throw RunError("standard output cannot be written (is the disk full?)");
}

void print_message(const std::string& text) {
  if (!muted) std::fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace sluice::apps
