#include "service/cli/commands/serve_command.hpp"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include "host/model/excerpt.hpp"
#include "service/backends/backends.hpp"
#include "service/cli/commands/commands.hpp"
#include "service/cli/commands/version.hpp"
#include "service/cli/options/address_option.hpp"
#include "service/cli/options/gang_text.hpp"
#include "service/cli/terminal/exit_code.hpp"
#include "service/cli/terminal/json_log.hpp"
#include "service/cli/terminal/report_error.hpp"
#include "service/server/serve_until_signal.hpp"

namespace espalier {
namespace {

constexpr const char* kServeExamples = R"(Examples:
  Beside a controller in one pod, over a shared volume:
    espalier serve --listen unix:/run/espalier/espalier.sock

  A socket and a TCP port at once; port 0 takes a free one and prints it:
    espalier serve --listen unix:/tmp/espalier.sock --listen 127.0.0.1:0

  For others on the network, encrypted, and only for those with a certificate:
    espalier serve --listen 0.0.0.0:7878 --tls-cert tls.crt --tls-key tls.key \
      --tls-client-ca ca.crt

  And who of them may do more than read and place:
    espalier serve --listen 0.0.0.0:7878 --tls-cert tls.crt --tls-key tls.key \
      --tls-client-ca ca.crt --access access.yaml

  For others on a network that is trusted, without encryption and certificates:
    espalier serve --listen 0.0.0.0:7878 --insecure

  With metrics for Prometheus, at http://127.0.0.1:9464/metrics:
    espalier serve --listen unix:/run/espalier/espalier.sock --metrics 127.0.0.1:9464

  And among them how many more of some gangs fit, one a line as 8x{cpu=16,nvidia.com/gpu=8}:
    espalier serve --listen unix:/run/espalier/espalier.sock --metrics 127.0.0.1:9464 \
      --capacity-shapes shapes.txt

  With all that it is asked and answers in files, for `espalier replay`:
    espalier serve --listen unix:/run/espalier/espalier.sock --log-requests /var/log/espalier

  So that it begins with the states that it had when it was stopped:
    espalier serve --listen unix:/run/espalier/espalier.sock --state-dir /var/lib/espalier

  Ask it what `espalier place` would answer:
    espalier place --connect unix:/tmp/espalier.sock cluster.json

SIGTERM and SIGINT drain: health says "not serving", running calls finish, then it exits.
A second one ends it at once; SIGHUP, SIGPIPE, SIGUSR1, SIGUSR2 and SIGXFSZ do nothing.
Exit codes: 0 drained, 1 calls were cut off, 2 wrong command line, 4 an address is taken or
does not exist, a certificate or access rules cannot be used, requests cannot be logged, states
cannot be kept, or there is no GPU.)";

void PrintAddresses(const Server& server) {
  spdlog::info("{}", server.DescribeLimits());
  std::string lines;
  for (const std::string& address : server.addresses()) {
    lines += fmt::format("listening on {}\n", EscapeControls(address));
  }
  if (const std::string metrics = server.metrics_address(); !metrics.empty()) {
    lines += fmt::format("metrics on http://{}/metrics\n", metrics);
  }
  std::fputs(lines.c_str(), stdout);  // a server goes on when nobody listens to it, fmt would throw
  std::fflush(stdout);                // whoever started us waits for these lines
}

}  // namespace

int RunServeCommand(const ServeCommandOptions& options) {
  spdlog::set_default_logger(spdlog::stderr_color_mt("espalier"));
  if (options.log_format == "json") spdlog::set_formatter(MakeJsonLogFormatter());
  const auto make_backend = [&]() -> Result<std::shared_ptr<Backend>> {
    auto backend = MakeBackend(options.backend.name, options.backend.threads);
    if (backend) spdlog::info("back end: {}", DescribeBackend(**backend));
    return backend;
  };
  const auto clean =
      ServeUntilSignal(options.server, options.drain_patience, make_backend, PrintAddresses);
  if (!clean) {
    const ExitCode code = ReportError(clean.error());
    return code == kExitBadInput ? kExitUsage : code;  // all its input are options
  }
  // A call that was cut off may still be computing, on objects an orderly exit would destroy.
  if (!*clean) std::_Exit(kExitNo);
  return kExitOk;
}

namespace {

// Reads the shapes of a file, one a line; # begins a comment. An empty path is none.
std::vector<CapacityShape> ReadShapes(const std::string& path, const std::string& metrics) {
  constexpr const char* kOption = "--capacity-shapes";
  std::vector<CapacityShape> shapes;
  if (path.empty()) return shapes;
  if (metrics.empty()) throw CLI::ValidationError(kOption, "needs --metrics, where they are told");
  std::ifstream file(path);
  std::set<std::string> seen;
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    const std::string text = CLI::detail::trim_copy(line.substr(0, line.find('#')));
    if (text.empty()) continue;
    const auto wrong = [&](const std::string& problem) {
      throw CLI::ValidationError(kOption,
                                 fmt::format("{}, line {}: {}", Excerpt(path), number, problem));
    };
    Result<PodSetRequest> gang = ParseGang(text);
    if (!gang) wrong(gang.error().message);
    if (!seen.insert(text).second) wrong(fmt::format("{} is there twice", Excerpt(text)));
    shapes.push_back({text, *std::move(gang)});
  }
  return shapes;
}

// Holds what the flags say.
struct ServeFlags {
  ServeCommandOptions options;
  std::string feature_gates;
  std::string capacity_shapes;     // file
  std::string log_calls = "none";  // or failed, all
  double drain_seconds = 30;
  double idle_seconds = 30;
  std::uint64_t memory = 0;
  std::uint64_t call_memory = 0;
  std::uint64_t log_bytes = std::uint64_t{1} << 30;
  std::uint64_t state_bytes = std::uint64_t{4} << 30;
  std::uint64_t max_message_bytes = std::uint64_t{64} << 20;
};

// Adds the options that say who reaches the server, and how.
void AddAccessOptions(CLI::App& command, ServerOptions& server) {
  command
      .add_option("--listen", server.listen,
                  "unix:/path/to/socket or HOST:PORT; several times for several addresses")
      ->required()
      ->check(IsAddress());
  command.add_flag("--insecure", server.insecure,
                   "Listen on addresses that others on the network can reach as well, where\n"
                   "clients show no certificate");
  command.add_option(
      "--tls-cert", server.tls.certificate,
      "A PEM file with the server's certificate and those that vouch for it: encrypt\n"
      "all TCP addresses (TLS 1.2 or newer); read anew when it changes");
  command.add_option("--tls-key", server.tls.key, "A PEM file with the key of --tls-cert");
  command.add_option("--tls-client-ca", server.tls.client_ca,
                     "A PEM file with authorities: take only clients that show a certificate of\n"
                     "one of them");
  command
      .add_option_function<std::string>(
          "--socket-mode",
          [&server](const std::string& text) {
            server.socket_mode = static_cast<mode_t>(std::stoul(text, nullptr, 8));
          },
          "Mode of the files of unix sockets, as 0660; whoever may write may connect")
      ->check(CLI::Validator(
          [](const std::string& text) {
            const bool is_octal = !text.empty() && text.size() <= 4 &&
                                  text.find_first_not_of("01234567") == std::string::npos;
            return is_octal && std::stoul(text, nullptr, 8) <= 0777
                       ? std::string()
                       : fmt::format("\"{}\" is not a mode; want octal digits up to 0777, as 0660",
                                     Excerpt(text));
          },
          "MODE"));
  command.add_option("--socket-group", server.socket_group,
                     "Group of the files of unix sockets, by name or number");
  command
      .add_option("--access", server.access,
                  "A YAML file that says who may do what; read anew when it changes. Without it\n"
                  "the owner of a unix socket may do everything, whoever shows a certificate may\n"
                  "read and place, and without TLS everyone on TCP may do everything")
      ->type_name("FILE");
  command.add_flag("--reflection", server.reflection, "Offer gRPC reflection, as for grpcurl");
}

// Adds those that say what the server tells of itself and of its calls.
void AddReportOptions(CLI::App& command, ServeFlags& flags) {
  ServerOptions& server = flags.options.server;
  command
      .add_option("--metrics", server.metrics,
                  "HOST:PORT to serve Prometheus metrics on, over HTTP at /metrics; without\n"
                  "encryption, so on a loopback address")
      ->check(IsTcpAddress());
  command.add_flag("--insecure-metrics", server.insecure_metrics,
                   "Serve metrics on an address that others on the network can reach as well");
  command
      .add_option("--capacity-shapes", flags.capacity_shapes,
                  "A file of gangs, one a line as 8x{cpu=16,nvidia.com/gpu=8}: the metrics tell\n"
                  "how many more of each fit; needs --metrics")
      ->check(CLI::ExistingFile);
  command
      .add_option("--log-format", flags.options.log_format,
                  "text; json: an object a line, with the parts of lines about calls as fields")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  command
      .add_option(
          "--log-calls", flags.log_calls,
          "Which calls get a line with number, method, code, time and trace; one that ends\n"
          "with INTERNAL always does")
      ->check(CLI::IsMember({"none", "failed", "all"}))
      ->capture_default_str();
  command.add_option(
      "--log-requests", server.requests.folder,
      "Write all calls as they come over the wire to files in this folder, for\n"
      "`espalier replay`: states, changes, questions and answers. That is the whole\n"
      "cluster, with all names: as confidential as a dump. Only the owner reads it");
  command
      .add_option("--log-requests-bytes", flags.log_bytes,
                  "Bytes that these files may have together; the oldest are removed")
      ->transform(CLI::AsSizeValue(false))
      ->check(CLI::Range(std::uint64_t{64} << 10, std::uint64_t{1} << 50))
      ->default_str("1GiB");
  command
      .add_option("--log-requests-files", server.requests.files, "Among how many files they are")
      ->check(CLI::Range(2, 10000))
      ->capture_default_str();
}

// Adds those of states that outlive the process.
void AddStateOptions(CLI::App& command, ServeFlags& flags) {
  ServerOptions& server = flags.options.server;
  command.add_option(
      "--state-dir", server.state_dir.folder,
      "Keep the loaded states in files in this folder while they change, and begin with\n"
      "them after a start. As confidential as a dump; only the owner reads it. Holds end\n"
      "with the process");
  command
      .add_option("--state-dir-bytes", flags.state_bytes,
                  "Bytes that these files may have together, one that is being written\n"
                  "included; a state that needs more is not written")
      ->transform(CLI::AsSizeValue(false))
      ->check(CLI::Range(std::uint64_t{1} << 20, std::uint64_t{1} << 50))
      ->default_str("4GiB");
}

// Adds those that bound what clients may ask for.
void AddLimitOptions(CLI::App& command, ServeFlags& flags) {
  ServerOptions& server = flags.options.server;
  const CLI::Range kByteRange(std::uint64_t{0}, std::uint64_t{1} << 62);  // -1 reads as 2^64 - 1
  command
      .add_option("--max-calls", server.workers,
                  "Calls computed at once; 0: one per core, at least 2")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  command
      .add_option("--max-queued-calls", server.max_queued_calls,
                  "Calls that may wait; more are refused with RESOURCE_EXHAUSTED")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command
      .add_option("--max-states", server.max_states,
                  "States of clusters by name that may be loaded beside the one without a name")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  command
      .add_option("--max-message-bytes", flags.max_message_bytes,
                  "Largest message, either way; 64MiB and the like are understood")
      ->transform(CLI::AsSizeValue(false))
      ->check(kByteRange)
      ->capture_default_str();
  command
      .add_option("--memory", flags.memory,
                  "Bytes that all calls and the loaded state may take together; beyond, calls are "
                  "refused with RESOURCE_EXHAUSTED; 0: three quarters of what the machine and the "
                  "control group allow")
      ->transform(CLI::AsSizeValue(false))
      ->check(kByteRange)
      ->capture_default_str();
  command
      .add_option("--call-memory", flags.call_memory,
                  "Bytes that one call may take, a load of a state too; 0: half of --memory")
      ->transform(CLI::AsSizeValue(false))
      ->check(kByteRange)
      ->capture_default_str();
  command
      .add_option("--idle-seconds", flags.idle_seconds,
                  "How long a client may leave a stream without progress, or an answer unread")
      ->check(CLI::Range(0.001, 86400.0))
      ->capture_default_str();
  command
      .add_option("--drain-seconds", flags.drain_seconds,
                  "How long running calls may take to finish after a signal")
      ->check(CLI::Range(0.0, 86400.0))
      ->capture_default_str();
}

// Completes the options by flags that are written otherwise.
void ApplyFlags(ServeFlags& flags) {
  const auto gates = ParseFeatureGates(flags.feature_gates);
  if (!gates) throw CLI::ValidationError("--feature-gates", gates.error().message);
  flags.options.server.gates = *gates;
  flags.options.server.named_gates = flags.feature_gates;
  flags.options.server.capacity_shapes =
      ReadShapes(flags.capacity_shapes, flags.options.server.metrics);
  flags.options.server.logged_calls = flags.log_calls == "all"      ? LoggedCalls::kAll
                                      : flags.log_calls == "failed" ? LoggedCalls::kFailed
                                                                    : LoggedCalls::kNone;
  flags.options.server.version = Version();
  flags.options.server.commit = Commit();
  const auto milliseconds = [](double seconds) {
    return std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000));
  };
  flags.options.drain_patience = milliseconds(flags.drain_seconds);
  ServerOptions& limits = flags.options.server;
  limits.memory = static_cast<std::int64_t>(flags.memory);
  limits.call_memory = static_cast<std::int64_t>(flags.call_memory);
  limits.max_message_bytes = static_cast<std::int64_t>(flags.max_message_bytes);
  limits.requests.bytes = static_cast<std::int64_t>(flags.log_bytes);
  limits.state_dir.bytes = static_cast<std::int64_t>(flags.state_bytes);
  limits.patience = milliseconds(flags.idle_seconds);
}

}  // namespace

void AddServeCommand(CLI::App& app, int& exit_code) {
  const auto flags = std::make_shared<ServeFlags>();
  CLI::App* command = app.add_subcommand("serve", "Answer placements over gRPC until told to stop");
  AddAccessOptions(*command, flags->options.server);
  AddReportOptions(*command, *flags);
  AddStateOptions(*command, *flags);
  AddBackendOptions(*command, flags->options.backend);
  AddLimitOptions(*command, *flags);
  command->add_option(
      "--feature-gates", flags->feature_gates,
      "Kueue's feature gates where a request names none, as in Name=true,Other=false; they win\n"
      "over those of a Configuration that is loaded with a state");
  command->footer(kServeExamples);
  command->callback([flags, &exit_code] {
    ApplyFlags(*flags);
    exit_code = RunServeCommand(flags->options);
  });
}

}  // namespace espalier
