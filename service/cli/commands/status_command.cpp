// espalier status: how a server fares.
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include <fmt/format.h>

#include "espalier/v1/server.grpc.pb.h"
#include "service/cli/commands/commands.hpp"
#include "service/cli/options/address_option.hpp"
#include "service/cli/options/tls_options.hpp"
#include "service/cli/reports/status_report.hpp"
#include "service/cli/terminal/report_error.hpp"
#include "service/cli/terminal/standard_output.hpp"
#include "service/client/connection.hpp"

namespace espalier {
namespace {

struct StatusOptions {
  std::string address;
  ClientTls tls;
  std::string state;
  std::string output = "table";  // or json, yaml
  std::string color = "auto";
  double max_age_seconds = 0;
  double timeout_seconds = 5;
  double watch_seconds = 0;
  bool with_max_age = false;
  bool with_state = false;
  bool watch = false;
  bool alive = false;
};

constexpr const char* kStatusExamples = R"(Examples:
  How does the server beside the controller fare?
    espalier status --connect unix:/run/espalier/espalier.sock

  Again every five seconds:
    espalier status --connect unix:/run/espalier/espalier.sock --watch=5

  As a readiness probe: is a state loaded that changed within the last ten minutes?
    espalier status --connect unix:/run/espalier/espalier.sock --max-age 10m

  As a liveness probe, of a server that may wait for its first load:
    espalier status --connect unix:/run/espalier/espalier.sock --alive

AGE is the time since the state changed, by the server's clock. USED is what admitted workloads use
of what other pods leave; MOST FREE IN ONE is, for each resource, the most that one domain of the
level has free. REFUSED counts the calls that failed since the start, by cause, with the last of each.

Exit codes: 0 it serves and a state is loaded; 1 none is, or one is older than --max-age; 2 wrong
command line; 3 it is not a server of this version; 4 it cannot be reached or does not answer in time,
or output lost; 5 internal error.)";

// Asks one server, as often as is wanted, over one connection.
class StatusPoller {
 public:
  StatusPoller(const StatusOptions& options, Connection connection)
      : options_(options),
        connection_(std::move(connection)),
        server_(v1::Server::NewStub(connection_.channel())) {}

  ExitCode Run() {
    ExitCode code = AskAndPrint();
    while (options_.watch) {
      std::this_thread::sleep_for(std::chrono::duration<double>(options_.watch_seconds));
      WriteOutput("\n");
      code = AskAndPrint();
      if (FinishOutput(code) != code) return kExitUnavailable;
    }
    return code;
  }

 private:
  ExitCode AskAndPrint() {
    const Result<ServerReport> report = Ask();
    if (!report) return ReportError(report.error());
    const std::string why_not = WhyNotServing(report->status, Rule());
    if (options_.output == "table") {
      WriteOutput(RenderStatus(*report, why_not, OutputStyle(options_.color, false)));
    } else {
      const auto writer = options_.output == "yaml" ? MakeYamlWriter()
                          : options_.watch          ? MakeJsonLineWriter()
                                                    : MakeJsonWriter();
      writer->BeginMap();
      WriteStatus(*report, why_not, *writer);
      writer->EndMap();
      WriteOutput(writer->Finish());
    }
    return why_not.empty() || options_.alive ? kExitOk : kExitNo;
  }

  ServingRule Rule() const {
    ServingRule rule;
    if (options_.with_state) rule.state = options_.state;
    if (options_.with_max_age) rule.max_age_seconds = options_.max_age_seconds;
    return rule;
  }

  Result<ServerReport> Ask() {
    ServerReport report{.address = options_.address, .info = {}, .status = {}};
    grpc::ClientContext info_context;
    connection_.SetDeadline(info_context);
    if (auto got = connection_.Check(server_->Info(&info_context, {}, &report.info)); !got) {
      return tl::unexpected(got.error());
    }
    grpc::ClientContext status_context;
    connection_.SetDeadline(status_context);
    v1::ServerStatusRequest request;
    request.set_with_use(!options_.alive);
    if (auto got = connection_.Check(server_->Status(&status_context, request, &report.status));
        !got) {
      return tl::unexpected(got.error());
    }
    return report;
  }

  const StatusOptions& options_;
  const Connection connection_;
  const std::unique_ptr<v1::Server::Stub> server_;
};

ExitCode RunStatusCommand(const StatusOptions& options) {
  const std::chrono::milliseconds timeout(
      static_cast<std::int64_t>(options.timeout_seconds * 1000));
  auto connection = Connection::Open(options.address, timeout, options.tls);
  if (!connection) return ReportError(connection.error());
  return StatusPoller(options, *std::move(connection)).Run();
}

}  // namespace

void AddStatusCommand(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<StatusOptions>();
  CLI::App* status = app.add_subcommand("status", "How a server fares; a probe's exit code");
  status->footer(kStatusExamples);
  CLI::Option* connect =
      status->add_option("--connect", options->address, "The server: unix:PATH or HOST:PORT")
          ->required()
          ->check(IsAddress());
  AddTlsOptions(*status, connect, options->tls);
  CLI::Option* state =
      status->add_option("--state", options->state,
                         "The exit code is about the state of this name; \"\": without one");
  CLI::Option* max_age =
      status->add_option("--max-age", options->max_age_seconds,
                         "A state that changed longer ago counts as stale, as 90s, 10m or 2h");
  max_age
      ->transform(CLI::AsNumberWithUnit(
          std::map<std::string, double>{{"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400}}))
      ->check(CLI::NonNegativeNumber)
      ->type_name("TIME");
  CLI::Option* watch = status->add_option("--watch", options->watch_seconds,
                                          "Ask again and again, every so many seconds");
  watch->expected(0, 1)->default_str("2")->check(CLI::Range(0.01, 86400.0));
  status->add_flag("--alive", options->alive,
                   "Exit with 0 wherever the server answers, whatever it has loaded");
  status->add_option("--timeout", options->timeout_seconds, "Seconds that the server has to answer")
      ->check(CLI::Range(0.001, 86400.0))
      ->capture_default_str();
  status->add_option("-o,--output", options->output, "table; json, yaml: for scripts")
      ->check(CLI::IsMember({"table", "json", "yaml"}))
      ->capture_default_str();
  AddColorOption(*status, options->color);
  status->callback([options, state, max_age, watch, &exit_code] {
    options->with_state = !state->empty();
    options->with_max_age = !max_age->empty();
    options->watch = !watch->empty();
    exit_code = RunStatusCommand(*options);
  });
}

}  // namespace espalier
