// Standard output for requested text, standard error for messages.
#pragma once

#include <string>

namespace sluice::apps {

/// Call it first. It reserves the number of each closed standard stream, so that no file gets that number and
/// is used as the stream. Access to the stream still fails; messages are lost.
void reserve_standard_streams();

/// Prints on standard output. Throws RunError if that is closed or full.
void print(const std::string& text);

/// Prints a message on standard error; a failure to write is ignored.
void print_message(const std::string& text);

/// Makes print() and print_message() silent from here on: only one of several ranks prints.
void mute();

}  // namespace sluice::apps
