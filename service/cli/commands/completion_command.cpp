// espalier completion: scripts that let a shell complete commands, flags and their values.
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "service/cli/commands/commands.hpp"
#include "service/cli/terminal/exit_code.hpp"
#include "service/cli/terminal/standard_output.hpp"

namespace espalier {
namespace {

constexpr const char* kCompletionExamples = R"(Examples:
  Bash, in ~/.bashrc:
    source <(espalier completion bash)

  Zsh, in ~/.zshrc, after compinit:
    source <(espalier completion zsh)

  Fish:
    espalier completion fish > ~/.config/fish/completions/espalier.fish)";

struct Flag {
  std::vector<std::string> names;   // with their dashes
  std::vector<std::string> values;  // that it may have; empty: any
  bool takes_value = false;
  std::string what;  // first line of its description
};

struct Command {
  std::string name;
  std::string what;
  std::vector<Flag> flags;
};

std::string FirstLine(const std::string& text) { return text.substr(0, text.find('\n')); }

// The type of an option that takes one of a few values ends in {one,two}.
std::vector<std::string> ValuesOf(const std::string& type) {
  std::vector<std::string> values;
  const std::size_t begin = type.rfind('{');
  const std::size_t end = type.rfind('}');
  if (begin == type.npos || end == type.npos || end < begin) return values;
  std::string_view list = std::string_view(type).substr(begin + 1, end - begin - 1);
  while (!list.empty()) {
    const std::string_view value = list.substr(0, list.find(','));
    values.emplace_back(value);
    list.remove_prefix(std::min(list.size(), value.size() + 1));
  }
  return values;
}

std::vector<Command> CommandsOf(const CLI::App& app) {
  std::vector<Command> commands;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    Command described{command->get_name(), FirstLine(command->get_description()), {}};
    for (const CLI::Option* option : command->get_options()) {
      Flag flag{.values = ValuesOf(option->get_type_name()),
                .takes_value = option->get_expected_min() > 0,
                .what = FirstLine(option->get_description())};
      for (const std::string& name : option->get_snames()) flag.names.push_back("-" + name);
      for (const std::string& name : option->get_lnames()) flag.names.push_back("--" + name);
      if (!flag.names.empty()) described.flags.push_back(std::move(flag));
    }
    commands.push_back(std::move(described));
  }
  return commands;
}

std::string BashScript(const std::vector<Command>& commands) {
  std::string names;
  std::string flags;
  std::string values;
  for (const Command& command : commands) {
    names += command.name + " ";
    std::vector<std::string> words;
    for (const Flag& flag : command.flags) {
      words.insert(words.end(), flag.names.begin(), flag.names.end());
      if (flag.values.empty()) continue;
      for (const std::string& name : flag.names) {
        values += fmt::format("    {}:{}) words='{}' ;;\n", command.name, name,
                              fmt::join(flag.values, " "));
      }
    }
    flags += fmt::format("      {}) words='{}' ;;\n", command.name, fmt::join(words, " "));
  }
  return fmt::format(R"(_espalier() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} command=${{COMP_WORDS[1]}} words=
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W '{}--help --version' -- "$current"))
    return
  fi
  case $command:${{COMP_WORDS[COMP_CWORD-1]}} in
{}  esac
  if [ -z "$words" ] && [ "${{current#-}}" != "$current" ]; then
    case $command in
{}    esac
  fi
  if [ -n "$words" ]; then
    COMPREPLY=($(compgen -W "$words" -- "$current"))
  else
    COMPREPLY=($(compgen -f -- "$current"))
  fi
}}
complete -o filenames -F _espalier espalier
)",
                     names, values, flags);
}

// Commands by which zsh takes a script for bash, in a shell without completion too.
constexpr const char* kZshSetUp =
    R"((( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
autoload -Uz bashcompinit && bashcompinit
)";

// Within single quotes of a shell.
std::string Quoted(const std::string& text) {
  std::string quoted;
  for (const char c : text) quoted += c == '\'' ? "\\'" : std::string(1, c);
  return quoted;
}

std::string FishScript(const std::vector<Command>& commands) {
  std::string script;
  for (const Command& command : commands) {
    script += fmt::format("complete -c espalier -n __fish_use_subcommand -f -a {} -d '{}'\n",
                          command.name, Quoted(command.what));
    for (const Flag& flag : command.flags) {
      std::string names;
      for (const std::string& name : flag.names) {
        names += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      }
      std::string value;
      if (!flag.values.empty()) {
        value = fmt::format(" -x -a '{}'", fmt::join(flag.values, " "));
      } else if (flag.takes_value) {
        value = " -r";
      }
      script +=
          fmt::format("complete -c espalier -n '__fish_seen_subcommand_from {}'{}{} -d '{}'\n",
                      command.name, names, value, Quoted(flag.what));
    }
  }
  return script;
}

}  // namespace

void AddCompletionCommand(CLI::App& app, int& exit_code) {
  auto shell = std::make_shared<std::string>();
  CLI::App* completion =
      app.add_subcommand("completion", "Print a script that lets a shell complete this command");
  completion->footer(kCompletionExamples);
  completion->add_option("SHELL", *shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  completion->callback([&app, &exit_code, shell] {
    const std::vector<Command> commands = CommandsOf(app);
    if (*shell == "fish") {
      WriteOutput(FishScript(commands));
    } else {
      if (*shell == "zsh") WriteOutput(kZshSetUp);
      WriteOutput(BashScript(commands));
    }
    exit_code = kExitOk;
  });
}

}  // namespace espalier
