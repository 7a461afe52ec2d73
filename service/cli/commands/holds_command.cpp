// espalier holds: what is held for whom in the state of a server?
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "service/cli/commands/commands.hpp"
#include "service/cli/commands/question.hpp"
#include "service/cli/options/address_option.hpp"
#include "service/cli/options/tls_options.hpp"
#include "service/cli/reports/count_with_noun.hpp"
#include "service/cli/terminal/report_error.hpp"
#include "service/cli/terminal/standard_output.hpp"
#include "service/client/remote_holds.hpp"

namespace espalier {
namespace {

struct HoldsOptions {
  std::string connect;
  ClientTls tls;
  std::string state;
  std::string output = "table";
  std::vector<std::string> release;
};

constexpr const char* kHoldsExamples = R"(Examples:
  What is held in the state of a server, for whom, and for how long?
    espalier holds --connect unix:/run/espalier/espalier.sock

  Give the room of two holds back, whose controller is gone:
    espalier holds --connect unix:/run/espalier/espalier.sock --release team/a@17 team/b@17

A hold is room that a controller has placed something on and not yet reported as usage: nothing else
gets it until the controller confirms or releases it, or it expires. --release gives the room to
others, even if pods are about to start there: first make sure that their controller is gone. All of
the holds are released, or none. AGE and LEFT are in seconds.

Exit codes: 0 done; 2 wrong command line; 3 a hold that is not there; 4 no server, nothing loaded
there, or output lost; 5 internal error.)";

void PrintTable(const std::vector<RemoteHold>& holds) {
  std::vector<TableRow> rows;
  std::int64_t pods = 0;
  for (const RemoteHold& hold : holds) {
    pods += hold.pods;
    rows.push_back({hold.id, std::to_string(hold.pods), std::to_string(hold.age_seconds),
                    std::to_string(hold.seconds_left), hold.owner});
  }
  if (!rows.empty())
    WriteOutput(RenderTable({"HOLD", "PODS", "AGE", "LEFT", "OWNER"}, rows) + "\n");
  WriteOutput(fmt::format("{} of {}\n", CountWithNoun(std::ssize(holds), "hold"),
                          CountWithNoun(pods, "pod")));
}

void Write(const std::vector<RemoteHold>& holds, ObjectWriter& out) {
  out.Key("holds");
  out.BeginList();
  for (const RemoteHold& hold : holds) {
    out.BeginMap();
    out.Field("id", std::string_view(hold.id));
    out.Field("namespace", std::string_view(hold.workload.namespace_));
    out.Field("name", std::string_view(hold.workload.name));
    out.Field("owner", std::string_view(hold.owner));
    out.Field("pods", hold.pods);
    out.Field("ageSeconds", hold.age_seconds);
    out.Field("secondsLeft", hold.seconds_left);
    out.EndMap();
  }
  out.EndList();
}

ExitCode RunHolds(const HoldsOptions& options) {
  Result<RemoteHolds> remote =
      RemoteHolds::Connect(options.connect, options.state, kCallTimeout, options.tls);
  if (!remote) return ReportError(remote.error());
  if (!options.release.empty()) {
    if (auto released = remote->Release(options.release); !released) {
      return ReportError(released.error());
    }
    Tell(fmt::format("released {}", CountWithNoun(std::ssize(options.release), "hold")));
    return kExitOk;
  }
  const auto holds = remote->List();
  if (!holds) return ReportError(holds.error());
  if (options.output == "table") {
    PrintTable(*holds);
  } else {
    PrintObject(options.output, [&](ObjectWriter& out) { Write(*holds, out); });
  }
  return kExitOk;
}

}  // namespace

void AddHoldsCommand(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<HoldsOptions>();
  CLI::App* holds =
      app.add_subcommand("holds", "What is held for whom in the state of a server; releases it");
  holds->footer(kHoldsExamples);
  CLI::Option* connect =
      holds->add_option("--connect", options->connect, "Server: unix:PATH or HOST:PORT")
          ->required()
          ->check(IsAddress());
  AddTlsOptions(*holds, connect, options->tls);
  holds->add_option("--state", options->state, "The server's state of that name");
  holds->add_option("-o,--output", options->output, "table, json or yaml")
      ->check(CLI::IsMember({"table", "json", "yaml"}));
  holds->add_option("--release", options->release, "Holds by id, whose room is free then");
  holds->callback([options, &exit_code] { exit_code = RunHolds(*options); });
}

}  // namespace espalier
