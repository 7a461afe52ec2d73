#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <google/protobuf/stubs/logging.h>

#include "host/model/excerpt.hpp"
#include "host/model/nearest_name.hpp"
#include "service/cli/commands/commands.hpp"
#include "service/cli/commands/version.hpp"
#include "service/cli/options/input.hpp"
#include "service/cli/terminal/exit_code.hpp"
#include "service/cli/terminal/standard_output.hpp"

namespace {

constexpr std::size_t kMaxMessageBytes = 1024;  // of what the command line parser says

std::vector<std::string> CommandNames(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(command->get_name());
  }
  return names;
}

bool HasCommand(const CLI::App& app, const std::string& name) {
  const std::vector<std::string> names = CommandNames(app);
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string NoCommandText(const CLI::App& app, const std::string& name) {
  const std::vector<std::string> names = CommandNames(app);
  const std::vector<std::string_view> views(names.begin(), names.end());
  const std::string_view nearest = espalier::NearestName(name, views);
  return fmt::format("no command \"{}\"; {}`espalier --help` lists them", espalier::Excerpt(name),
                     nearest.empty() ? "" : fmt::format("there is {}; ", nearest));
}

int Run(int argc, char** argv) {
  google::protobuf::SetLogHandler(nullptr);  // what is wrong with a message is said as an error
  CLI::App app("Topology placement: where would each pending workload of a cluster go?");
  app.name("espalier");
  app.footer(
      "Try:\n"
      "  espalier snapshot -o cluster.json.gz\n"
      "  espalier place cluster.json.gz\n"
      "\n"
      "Exit codes: 0 all placed or passed; 1 some not; 2 wrong command line; 3 wrong input;\n"
      "4 no server, address, GPU or memory, or output lost; 5 internal error.\n"
      "`espalier COMMAND --help` explains each command with examples.");
  app.set_version_flag("--version", espalier::VersionText(), "Print version and build facts");
  app.failure_message([](const CLI::App*, const CLI::Error& error) {
    return fmt::format("espalier: {}\nRun with --help for more information.\n",
                       espalier::Excerpt(error.what(), kMaxMessageBytes));
  });
  app.require_subcommand(1);

  int exit_code = espalier::kExitOk;
  espalier::AddAuditCommand(app, exit_code);
  espalier::AddBenchCommand(app, exit_code);
  espalier::AddCapacityCommand(app, exit_code);
  espalier::AddConformanceCommand(app, exit_code);
  espalier::AddCycleCommand(app, exit_code);
  espalier::AddDefragmentCommand(app, exit_code);
  espalier::AddDrainCommand(app, exit_code);
  espalier::AddExplainCommand(app, exit_code);
  espalier::AddGenerateCommand(app, exit_code);
  espalier::AddHoldsCommand(app, exit_code);
  espalier::AddPlaceCommand(app, exit_code);
  espalier::AddReplayCommand(app, exit_code);
  espalier::AddResizeCommand(app, exit_code);
  espalier::AddServeCommand(app, exit_code);
  espalier::AddSnapshotCommand(app, exit_code);
  espalier::AddStatusCommand(app, exit_code);
  espalier::AddUngateCommand(app, exit_code);
  espalier::AddValidateCommand(app, exit_code);
  espalier::AddValidateObjectsCommand(app, exit_code);
  espalier::AddVictimsCommand(app, exit_code);
  espalier::AddWhatIfCommand(app, exit_code);
  espalier::AddCompletionCommand(app, exit_code);

  if (argc == 1) {
    std::fputs(app.help().c_str(), stderr);
    return espalier::kExitUsage;
  }
  if (const std::string command = argv[1]; command[0] != '-' && !HasCommand(app, command)) {
    espalier::Tell(NoCommandText(app, command));
    return espalier::kExitUsage;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    exit_code = app.exit(error) == 0 ? espalier::kExitOk : espalier::kExitUsage;
    return espalier::FinishOutput(exit_code);
  }
  // A server's answers do not go to standard output.
  return app.got_subcommand("serve") ? exit_code
                                     : espalier::FinishOutput(espalier::CountLeftOut(exit_code));
}

}  // namespace

int main(int argc, char** argv) {
  // Whoever started us may ignore it; a closed pipe ends a command as it ends any other filter.
  std::signal(SIGPIPE, SIG_DFL);
  espalier::ReserveStandardDescriptors();
  try {
    return Run(argc, argv);
  } catch (const std::bad_alloc&) {
    espalier::Tell("out of memory; less input, or less at once, may help");
    return espalier::kExitUnavailable;
  } catch (const std::exception& error) {
    espalier::Tell("internal error, please report it:");
    espalier::Tell(error.what());
  }
  return espalier::kExitInternal;
}
