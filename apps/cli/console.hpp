// The two streams: what was asked for goes to standard output, messages to standard error.
#pragma once

#include <string>

namespace sluice::apps {

/// First of all: where a standard stream is closed, no file may take its number, and be read or written as
/// the stream. Reading or writing it fails as before; messages are lost.
void fill_streams();

/// Throws RunError where standard output is closed or full.
void print(const std::string& text);

/// Messages are never worth failing for.
void say(const std::string& text);

/// From here on print() and say() are silent: one of several ranks speaks for all.
void mute();

}  // namespace sluice::apps
