// Declares the commands of the `espalier` binary. Each is in a file of its own: an options struct,
// an Add...Command that declares the flags and a function that runs it. The command sets
// `exit_code` (service/cli/terminal/exit_code.hpp) when it was the one chosen; both arguments must
// outlive the parse.
#pragma once

#include <CLI/CLI.hpp>

namespace espalier {

void AddAuditCommand(CLI::App& app, int& exit_code);
void AddBenchCommand(CLI::App& app, int& exit_code);
void AddCapacityCommand(CLI::App& app, int& exit_code);
void AddCompletionCommand(CLI::App& app, int& exit_code);  // must come last: it lists all others
void AddConformanceCommand(CLI::App& app, int& exit_code);
void AddCycleCommand(CLI::App& app, int& exit_code);
void AddDefragmentCommand(CLI::App& app, int& exit_code);
void AddDrainCommand(CLI::App& app, int& exit_code);
void AddExplainCommand(CLI::App& app, int& exit_code);
void AddGenerateCommand(CLI::App& app, int& exit_code);
void AddHoldsCommand(CLI::App& app, int& exit_code);
void AddPlaceCommand(CLI::App& app, int& exit_code);
void AddReplayCommand(CLI::App& app, int& exit_code);
void AddResizeCommand(CLI::App& app, int& exit_code);
void AddServeCommand(CLI::App& app, int& exit_code);
void AddSnapshotCommand(CLI::App& app, int& exit_code);
void AddStatusCommand(CLI::App& app, int& exit_code);
void AddUngateCommand(CLI::App& app, int& exit_code);
void AddValidateCommand(CLI::App& app, int& exit_code);
void AddValidateObjectsCommand(CLI::App& app, int& exit_code);
void AddVictimsCommand(CLI::App& app, int& exit_code);
void AddWhatIfCommand(CLI::App& app, int& exit_code);

}  // namespace espalier
