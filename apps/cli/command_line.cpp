#include "apps/cli/command_line.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <span>
#include <string_view>

#include "apps/cli/values.hpp"
#include "engine/core/error.hpp"
#include "engine/core/size.hpp"

namespace sluice::apps {

namespace {

template <class T>
std::string join(const std::vector<T>& items, const char* separator) {
  return fmt::format("{}", fmt::join(items, separator));
}

/// Some messages of CLI11 end with a newline or a full stop; ours are one line without either.
std::string one_line(std::string message) {
  std::replace(message.begin(), message.end(), '\n', ' ');
  while (!message.empty() && (message.back() == ' ' || message.back() == '.')) message.pop_back();
  return message;
}

/// Throws UsageError for words that belong to no option and no argument; an unknown option gets a suggestion.
void refuse_unexpected(const Command& command, std::vector<std::string> words) {
  std::erase(words, "--");
  if (words.empty()) return;
  const auto hint = fmt::format("(see {} --help)", command.full_name());
  const auto dashed = std::find_if(words.begin(), words.end(), [](auto& word) { return word[0] == '-'; });
  if (dashed == words.end()) throw UsageError(fmt::format("unexpected: {} {}", join(words, " "), hint));
  std::vector<std::string> names{"--help"};
  for (const auto& option : command.options()) {
    if (option.name.starts_with("--") && !option.idle) names.push_back(option.name);
  }
  const std::string name = dashed->substr(0, dashed->find('='));
  throw UsageError(fmt::format("unknown option {}{} {}", name, did_you_mean(name, names), hint));
}

/// The message for CLI11's error about an option given twice or without a value.
std::string mismatch_message(const CLI::ArgumentMismatch& error,
                             std::span<const CLI::Option* const> options) {
  for (const CLI::Option* const option : options)
    if (option->count() > 1) return fmt::format("{}: given twice (give it once)", option->get_name());
  const std::string_view text = error.what();
  return fmt::format("{}: its value is missing", text.substr(0, text.find(':')));
}

/// Throws UsageError for an option without a value. CLI11 would take the next option as the value.
void refuse_missing_values(const Command& command, std::span<const std::string> words) {
  const auto find = [&](std::string_view word) {
    const std::string_view name = word.substr(0, word.find('='));
    return std::ranges::find_if(command.options(), [&](const auto& option) {
      return option.name == name && option.name.starts_with("--");
    });
  };
  const auto none = command.options().end();
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto option = find(words[i]);
    if (option == none || option->placeholder.empty()) continue;
    const bool joined = words[i].size() > option->name.size();  // with `=`
    if (joined ? words[i].size() == option->name.size() + 1
               : ++i < words.size() && (find(words[i]) != none || words[i].starts_with("--help")))
      throw UsageError(
          fmt::format("{}: its value is missing (see {} --help)", option->name, command.full_name()));
  }
}

}  // namespace

std::string to_string(const OptionValue& value) {
  return std::visit([](const auto& v) { return fmt::format("{}", v); }, value);
}

void Command::text_value(const std::string& name, const std::string& placeholder,
                         std::function<void(const std::string&)> set, std::function<OptionValue()> get,
                         const std::string& help) {
  // A zero or empty default means an automatic choice, which the help describes in words. Arguments are
  // required.
  const std::string default_value = to_string(get());
  const bool has_default = !placeholder.empty() && name.starts_with("--") && default_value != "0";
  const std::string shown = has_default ? default_value : "";
  options_.push_back({name, placeholder, help, group_, shown, std::move(set), std::move(get)});
}

void Command::input_file(const std::string& name, std::string& value, const std::string& help) {
  text(name, name.starts_with("--") ? "FILE" : name, value, help);
  options_.back().file = FileUse::read;
}

void Command::output_file(const std::string& name, std::string& value, const std::string& help) {
  input_file(name, value, help);
  options_.back().file = FileUse::written;
}

void Command::output_or_stdout(const std::string& name, std::string& value, const std::string& help) {
  input_file(name, value, help);
  options_.back().file = FileUse::written_or_printed;
}

void Command::add_derived_file(std::string what, std::function<std::string()> path) {
  derived_files_.emplace_back(std::move(what), std::move(path));
}

void Command::flag(const std::string& name, bool& value, const std::string& help) {
  text_value(
      name, "", [&value](const std::string&) { value = true; }, [&value] { return OptionValue(value); },
      help);
}

void Command::text(const std::string& name, const std::string& placeholder, std::string& value,
                   const std::string& help) {
  const auto set = [&value, name](const std::string& given) {
    if (given.empty()) throw UsageError(fmt::format("{}: empty", name));
    value = given;
  };
  text_value(
      name, placeholder, set, [&value] { return OptionValue(value); }, help);
}

void Command::size(const std::string& name, std::uint64_t& value, const std::string& help) {
  const auto set = [&value, name](const std::string& given) {
    value = parse_size(given, name);
    if (value == 0) throw UsageError(fmt::format("{}: at least one byte", name));
  };
  text_value(
      name, "SIZE", set, [&value] { return OptionValue(value); }, help);
}

void Command::integer(const std::string& name, std::uint64_t& value, std::uint64_t min_value,
                      const std::string& help) {
  const auto set = [&value, name, min_value](const std::string& given) {
    value = parse_unsigned(given, name, min_value);
  };
  text_value(
      name, "N", set, [&value] { return OptionValue(value); }, help);
}

void Command::integer(const std::string& name, std::uint32_t& value, std::uint32_t min_value,
                      const std::string& help, std::uint32_t max_value) {
  const auto set = [&value, name, min_value, max_value](const std::string& given) {
    value = static_cast<std::uint32_t>(parse_unsigned(given, name, min_value, max_value));
  };
  text_value(
      name, "N", set, [&value] { return OptionValue(std::uint64_t{value}); }, help);
}

void Command::real(const std::string& name, const std::string& placeholder, double& value,
                   const std::string& help) {
  const auto set = [&value, name](const std::string& given) { value = parse_real(given, name); };
  text_value(
      name, placeholder, set, [&value] { return OptionValue(value); }, help);
}

void Command::list(const std::string& name, const std::string& placeholder, std::vector<std::int64_t>& value,
                   std::int64_t min_value, const std::string& help) {
  const auto set = [&value, name, min_value](const std::string& given) {
    value = parse_list(given, name, min_value);
  };
  const auto get = [&value] { return OptionValue(join(value, ",")); };
  text_value(name, placeholder, set, get, help);
}

void Command::word_choice(const std::string& name, std::vector<std::string> words,
                          std::function<void(std::size_t)> set, std::function<OptionValue()> get,
                          const std::string& help) {
  const auto find = [name, words, set = std::move(set)](const std::string& given) {
    const auto found = std::find(words.begin(), words.end(), given);
    if (found == words.end()) {
      throw UsageError(fmt::format("{}: '{}' is unknown (one of {})", name, given, join(words, ", ")));
    }
    set(static_cast<std::size_t>(found - words.begin()));
  };
  text_value(name, name.starts_with("--") ? join(words, "|") : name, find, std::move(get), help);
}

void Command::mark(std::span<const std::string_view> names, bool Option::*property) {
  for (auto& option : options_)
    option.*property |= std::find(names.begin(), names.end(), option.name) != names.end();
}

bool Command::given(const std::string& name) const {
  return std::any_of(options_.begin(), options_.end(),
                     [&](const Option& option) { return option.name == name && option.given; });
}

ResolvedOptions Command::resolved() const {
  ResolvedOptions all;
  for (const auto& option : options_) {
    if (option.idle) continue;
    const bool dashed = option.name.starts_with("--");
    std::string key = dashed ? option.name.substr(2) : option.name;
    if (!dashed) std::transform(key.begin(), key.end(), key.begin(), [](char c) { return std::tolower(c); });
    all.emplace_back(std::move(key), option.get());
  }
  return all;
}

std::vector<NamedFile> Command::files() const {
  std::vector<NamedFile> all;
  for (const Option& option : options_) {
    if (option.file != FileUse::none)
      all.push_back({option.name, to_string(option.get()), option.file != FileUse::read});
  }
  for (const auto& [what, path] : derived_files_) all.push_back({what, path(), true, true});
  std::erase_if(all, [](const NamedFile& file) { return file.path.empty() || file.path == "-"; });
  return all;
}

ParseResult parse_command_line(Command& command, std::vector<std::string> words) {
  CLI::App parser;
  parser.allow_extras();  // refused below
  parser.set_help_flag("-h,--help");
  parser.set_help_all_flag("--help-all");
  std::vector<const CLI::Option*> with_values;
  for (auto& option : command.options()) {
    if (option.placeholder.empty()) {
      parser.add_flag_callback(option.name, [&option] { option.given = true, option.set({}); });
      continue;
    }
    auto* added = parser.add_option_function<std::string>(
        option.name, [&option](const std::string& given) { option.given = true, option.set(given); });
    if (!option.name.starts_with("--")) added->required();
    with_values.push_back(added);
  }
  refuse_missing_values(command, words);
  std::reverse(words.begin(), words.end());  // CLI11 reads a vector of words from its end
  try {
    parser.parse(std::move(words));
  } catch (const CLI::CallForHelp&) {
    return ParseResult::help;
  } catch (const CLI::CallForAllHelp&) {
    return ParseResult::help_all;
  } catch (const CLI::ArgumentMismatch& error) {
    throw UsageError(
        fmt::format("{} (see {} --help)", mismatch_message(error, with_values), command.full_name()));
  } catch (const CLI::ParseError& error) {
    refuse_unexpected(command, parser.remaining());  // a misspelt option may be the cause
    throw UsageError(fmt::format("{} (see {} --help)", one_line(error.what()), command.full_name()));
  }
  refuse_unexpected(command, parser.remaining());
  for (const auto& option : command.options()) {
    if (option.file == Command::FileUse::written && to_string(option.get()) == "-")
      throw UsageError(option.name + ": cannot be standard output (name a file instead of -)");
    if (option.idle && option.given)
      throw UsageError(fmt::format("{} does not apply to {} (omit it)", option.name, command.name()));
  }
  return ParseResult::run;
}

}  // namespace sluice::apps
