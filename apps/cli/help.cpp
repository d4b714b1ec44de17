// Help and version texts.
#include "apps/cli/program.hpp"

#include <H5public.h>
#include <fmt/core.h>

#include "apps/cli/values.hpp"
#include "engine/exchange/communicator.hpp"
#include "engine/exchange/nccl.hpp"
#include "engine/exec/device.hpp"

namespace sluice::apps {

namespace {

constexpr std::size_t kTextColumn = 30;
constexpr std::size_t kWidth = 100;

/// Formats `label` in the left column and wraps `text` in the right one.
std::string entry(const std::string& label, const std::string& text) {
  std::string out("  ");
  out += label;
  std::size_t column = out.size();
  const auto new_line = [&] {
    out += '\n';
    out.append(kTextColumn, ' ');
    column = kTextColumn;
  };
  if (column + 2 > kTextColumn) {
    new_line();
  } else {
    out.append(kTextColumn - column, ' ');
    column = kTextColumn;
  }
  bool first = true;
  for (const auto word : split(text, " ")) {
    if (!first && column + 1 + word.size() > kWidth) {
      new_line();
    } else if (!first) {
      out += ' ', ++column;
    }
    out += word;
    column += word.size();
    first = false;
  }
  return out + '\n';
}

}  // namespace

std::string program_help(const Program& program, const Commands& commands) {
  std::string out =
      fmt::format("{0}: {1}\n\nUsage: {0} COMMAND [options]\n\nCommands:\n", program.name, program.summary);
  for (const auto& command : commands) out += entry(command->name(), command->summary());
  out += '\n';
  out += entry("help COMMAND", "the options of a command, with their defaults (or COMMAND --help)");
  out += entry("--version", "this build and the libraries in it");
  out += "\nExample:\n";
  for (const auto& example : program.examples) out += "  " + example + '\n';
  return out + "\nExit status: 0 done, 1 failed or interrupted, 2 usage, 3 bad input, 4 too little memory.\n";
}

std::string command_help(const Command& command, bool techniques) {
  std::string arguments, out;
  std::string group;
  bool hides_techniques = false;
  for (const auto& option : command.options()) {
    if (option.idle) continue;
    if (option.technique && !techniques) {
      hides_techniques = true;
      continue;
    }
    if (!option.name.starts_with("--")) arguments += " " + option.name;
    if (option.group != group) out += fmt::format("\n{}:\n", group = option.group);
    const bool without_value = option.placeholder.empty() || option.placeholder == option.name;
    std::string text = option.help;
    if (!option.default_text.empty()) text += fmt::format(" (default: {})", option.default_text);
    out += entry(without_value ? option.name : fmt::format("{} {}", option.name, option.placeholder), text);
  }
  if (hides_techniques) out += '\n' + entry("--help-all", "also the options that compare techniques");
  return fmt::format("{0}: {1}\n\nUsage: {0}{2} [options]\n{3}\nExample:\n  {4}\n", command.full_name(),
                     command.summary(), arguments, out, command.example());
}

std::string nccl_text() {
#if defined(SLUICE_HAVE_CUDA)
  return nccl_version();
#else
  return "not built";
#endif
}

std::string version_text() {
  unsigned major = 0, minor = 0, release = 0;
  H5get_libversion(&major, &minor, &release);
  return fmt::format("sluice {} ({})\nCUDA {}\nNCCL {}\nMPI {}\nHDF5 {}.{}.{}\n", SLUICE_VERSION,
                     SLUICE_BUILD, cuda_version(), nccl_text(), mpi_version(), major, minor, release);
}

}  // namespace sluice::apps
