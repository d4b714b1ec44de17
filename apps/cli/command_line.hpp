// The options of a command, declared once for the parser, the help text and the resolved configuration.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "apps/cli/names.hpp"

namespace sluice::apps {

/// The value of an option, as the report and the configuration show it.
using OptionValue = std::variant<bool, std::int64_t, std::uint64_t, double, std::string>;
using ResolvedOptions = std::vector<std::pair<std::string, OptionValue>>;

std::string to_string(const OptionValue& value);

/// A file of a job, and the option that names it.
struct NamedFile {
  std::string option, path;
  bool written = false;
  bool derived = false;  ///< derived from an option; may exist already
};

class Command {
 public:
  enum class FileUse { none, read, written, written_or_printed };
  struct Option {
    std::string name;         ///< `--seed`; a required argument has no dashes: `GRAPH`
    std::string placeholder;  ///< shown after the name in the help; empty for a flag
    std::string help;
    std::string group;
    std::string default_text;
    std::function<void(const std::string&)> set;  ///< throws UsageError
    std::function<OptionValue()> get;
    bool given = false;
    bool idle = false;       ///< has no effect for this command
    bool technique = false;  ///< one of several ways to do the same work, for comparisons
    FileUse file = FileUse::none;
  };

  Command(std::string name, std::string summary) : name_(std::move(name)), summary_(std::move(summary)) {}

  const std::string& name() const { return name_; }
  /// Name with its program: `sluice walk`.
  std::string full_name() const { return program_ + " " + name_; }
  void set_program(std::string name) { program_ = std::move(name); }
  const std::string& summary() const { return summary_; }
  const std::string& example() const { return example_; }
  const std::deque<Option>& options() const { return options_; }
  std::deque<Option>& options() { return options_; }

  /// Can several ranks share the command's work?
  bool allows_ranks() const { return allows_ranks_; }
  void set_allows_ranks() { allows_ranks_ = true; }

  void set_example(std::string text) { example_ = std::move(text); }
  /// Options declared from here on appear under this heading.
  void group(std::string title) { group_ = std::move(title); }

  // Each option writes to `value`, which holds the default and must outlive the command.
  /// A file that the command reads or writes: an option, or an argument such as `GRAPH`.
  void input_file(const std::string& name, std::string& value, const std::string& help);
  void output_file(const std::string& name, std::string& value, const std::string& help);
  /// An output_file that may be `-`, standard output.
  void output_or_stdout(const std::string& name, std::string& value, const std::string& help);
  /// A file written beside an option's file; `path` returns its name, or an empty string.
  void add_derived_file(std::string what, std::function<std::string()> path);
  void flag(const std::string& name, bool& value, const std::string& help);
  void text(const std::string& name, const std::string& placeholder, std::string& value,
            const std::string& help);
  void size(const std::string& name, std::uint64_t& value, const std::string& help);
  void integer(const std::string& name, std::uint64_t& value, std::uint64_t min_value,
               const std::string& help);
  void integer(const std::string& name, std::uint32_t& value, std::uint32_t min_value,
               const std::string& help, std::uint32_t max_value = std::numeric_limits<std::int32_t>::max());
  void real(const std::string& name, const std::string& placeholder, double& value, const std::string& help);
  void list(const std::string& name, const std::string& placeholder, std::vector<std::int64_t>& value,
            std::int64_t min_value, const std::string& help);
  /// A value that `set` parses and `get` returns; a flag if `placeholder` is empty.
  void text_value(const std::string& name, const std::string& placeholder,
                  std::function<void(const std::string&)> set, std::function<OptionValue()> get,
                  const std::string& help);
  template <class E, std::size_t N>
  void choice(const std::string& name, E& value, const std::array<Name<E>, N>& names,
              const std::string& help) {
    std::vector<std::string> words;
    for (const auto& entry : names) words.emplace_back(entry.name);
    word_choice(
        name, std::move(words), [&value, &names](std::size_t i) { value = names[i].value; },
        [&value, &names] { return OptionValue(std::string(name_of(names, value))); }, help);
  }
  /// One of `words`; `set` receives its index.
  void word_choice(const std::string& name, std::vector<std::string> words,
                   std::function<void(std::size_t)> set, std::function<OptionValue()> get,
                   const std::string& help);

  /// Marks options of a group that have no effect for this command. A job that gives one is refused, and help
  /// and resolved configuration omit them.
  void set_idle(std::span<const std::string_view> names) { mark(names, &Option::idle); }
  /// Marks options that only compare techniques: `--help` omits them, `--help-all` lists them.
  void set_techniques(std::span<const std::string_view> names) { mark(names, &Option::technique); }

  /// Is the option on the command line?
  bool given(const std::string& name) const;
  /// All options that have an effect, by name without dashes, with their current values.
  ResolvedOptions resolved() const;

  /// The files that the options name, without standard output.
  std::vector<NamedFile> files() const;

  /// Executes the command; throws Error.
  std::function<void(const Command&)> run;

 private:
  void mark(std::span<const std::string_view> names, bool Option::*property);

  std::string program_ = "sluice", name_, summary_, example_, group_;
  bool allows_ranks_ = false;
  std::deque<Option> options_;
  std::vector<std::pair<std::string, std::function<std::string()>>> derived_files_;
};

/// A command that calls run(command, options), and its options.
template <class Options, class Run>
std::pair<std::unique_ptr<Command>, std::shared_ptr<Options>> make_command(const char* name,
                                                                           const char* summary, Run run) {
  auto command = std::make_unique<Command>(name, summary);
  auto options = std::make_shared<Options>();
  command->run = [options, run](const Command& self) { run(self, *options); };
  return {std::move(command), std::move(options)};
}

enum class ParseResult { run, help, help_all };

/// Parses the words after the command's name. Throws UsageError naming the option.
ParseResult parse_command_line(Command& command, std::vector<std::string> words);

}  // namespace sluice::apps
