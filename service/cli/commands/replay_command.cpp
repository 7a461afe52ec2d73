// espalier replay: makes the calls of a request log again.
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <grpcpp/grpcpp.h>

#include "host/engine/feature_gates.hpp"
#include "host/live/hold_clock.hpp"
#include "host/model/excerpt.hpp"
#include "service/backends/backends.hpp"
#include "service/cli/commands/commands.hpp"
#include "service/cli/options/backend_options.hpp"
#include "service/cli/reports/count_with_noun.hpp"
#include "service/cli/terminal/report_error.hpp"
#include "service/cli/terminal/standard_output.hpp"
#include "service/client/logged_calls.hpp"
#include "service/client/replay.hpp"
#include "service/server/server.hpp"
#include "service/wire/address.hpp"
#include "service/wire/request_log_file.hpp"

namespace espalier {
namespace {

struct ReplayOptions {
  std::vector<std::string> paths;
  BackendOptions backend{.name = "cpu"};
  double speed = 0;
  std::int64_t cut_to = 0;
  std::string file;
};

constexpr const char* kReplayExamples = R"(Examples:
  Does this version give the answers that a server gave in production?
    espalier serve --listen unix:/tmp/e.sock --log-requests /var/log/espalier
    espalier replay /var/log/espalier

  At the speed at which they came, or ten times that:
    espalier replay /var/log/espalier --speed 10

  A log of one call and the state that it was asked about, as a test or for a bug report:
    espalier replay /var/log/espalier --cut-to 8123 -o oddity.requests
    espalier replay oddity.requests

Every start of a server that is in the log is replayed on a server of its own in this process, from its
first call, or from the first state that a file of the log begins with. Calls are made one after the
other, each on the state that its answer was given on. Those that ended for want of time, room, a
client or a permission are not made again, nor are those on a state that nothing in the log leads to;
both are counted.
What came over the wire is as confidential as a dump of the cluster, and so is a cut log.

Exit codes: 0 all answers are the same; 1 one differs, none was replayed or the log's end is missing; 2
wrong command line; 3 no log, a damaged one, or no such call; 4 no memory or GPU, or output lost; 5
internal error.)";

// A folder for a socket that nobody else can reach.
class PrivateFolder {
 public:
  PrivateFolder() { made_ = ::mkdtemp(path_.data()) != nullptr; }
  ~PrivateFolder() {
    std::error_code ignored;
    if (made_) std::filesystem::remove_all(path_, ignored);
  }
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;

  bool made() const { return made_; }
  const std::string& path() const { return path_; }

 private:
  std::string path_ = (std::filesystem::temp_directory_path() / "espalier-replay-XXXXXX").string();
  bool made_ = false;
};

// Holds expire where the log says it.
class StoppedHoldClock final : public HoldClock {
 public:
  TimePoint Now() override { return TimePoint() + std::chrono::hours(1); }
  void Wait(std::condition_variable& wake, std::unique_lock<std::mutex>& lock,
            TimePoint /*until*/) override {
    wake.wait(lock);
  }
};

// A server without a state, with the gates of the one whose calls are in the log.
class FreshServer {
 public:
  static Result<std::unique_ptr<FreshServer>> Start(const v1::RequestLogFile& log,
                                                    const BackendOptions& backend) {
    auto fresh = std::make_unique<FreshServer>();
    auto made = MakeBackend(backend.name, backend.threads);
    if (!made) return tl::unexpected(made.error());
    const auto gates = ParseFeatureGates(log.feature_gates());
    if (!gates) return tl::unexpected(gates.error());
    if (!fresh->folder_.made()) {
      return tl::unexpected(
          Error{ErrorClass::kUnavailable, fmt::format("{} cannot be made", fresh->folder_.path())});
    }
    ServerOptions options;
    options.listen = {"unix:" + fresh->folder_.path() + "/socket"};
    options.max_message_bytes = std::numeric_limits<int>::max();
    options.max_states = 1024;
    options.gates = *gates;
    options.named_gates = log.feature_gates();
    options.hold_clock = std::make_shared<StoppedHoldClock>();
    auto server = Server::Start(options, *std::move(made));
    if (!server) return tl::unexpected(server.error());
    fresh->server_ = *std::move(server);
    return fresh;
  }

  HoldsOfServer holds() const {
    Server& server = *server_;
    return {[&server](const std::string& state, std::vector<Hold> holds) {
              return server.AddHolds(state, std::move(holds));
            },
            [&server](const std::string& state, const std::vector<std::string>& ids) {
              return server.ExpireHolds(state, ids);
            }};
  }

  std::shared_ptr<grpc::Channel> Connect() const {
    grpc::ChannelArguments arguments;
    arguments.SetMaxReceiveMessageSize(std::numeric_limits<int>::max());
    return grpc::CreateCustomChannel(ParseAddress(server_->addresses().front())->GrpcTarget(),
                                     grpc::InsecureChannelCredentials(), arguments);
  }

 private:
  PrivateFolder folder_;
  std::unique_ptr<Server> server_;
};

std::string CallText(const LoggedCall& call) {
  return fmt::format("call {} {}", call.call, Excerpt(call.method));
}

class RequestReplay {
 public:
  explicit RequestReplay(const ReplayOptions& options) : options_(options) {}

  Result<ExitCode> Run() {
    const auto log = ReadRequestLog(options_.paths);
    if (!log) return tl::unexpected(log.error());
    for (const std::string& note : log->notes) Tell(note);
    if (options_.cut_to != 0) return Cut(*log);
    ExitCode code = log->notes.empty() ? kExitOk : kExitNo;
    for (const LoggedRun& run : log->runs) {
      const auto same = ReplayRun(run);
      if (!same) return tl::unexpected(same.error());
      if (!*same) code = kExitNo;
    }
    return code;
  }

 private:
  // Returns whether all answers are the same.
  Result<bool> ReplayRun(const LoggedRun& run) const {
    const auto server = FreshServer::Start(run.file, options_.backend);
    if (!server) return tl::unexpected(server.error());
    Replay replay((*server)->Connect(), (*server)->holds(), run);
    replay.SetSpeed(options_.speed);
    const auto difference = replay.Run();
    if (!difference) return tl::unexpected(difference.error());
    const ReplayCounts& counts = replay.counts();
    std::string text = fmt::format("{}: {} with the same answer", Excerpt(run.file.run()),
                                   CountWithNoun(counts.same, "call"));
    if (counts.not_repeatable > 0) {
      text += fmt::format("; {} not made again, as they ended for want of time, room or a client",
                          counts.not_repeatable);
    }
    if (counts.out_of_reach > 0) {
      text += fmt::format("; {} not made, as nothing in the log leads to their state",
                          counts.out_of_reach);
    }
    text += "\n";
    for (const ReplayDifference& unanswered : replay.unanswered()) {
      text += fmt::format("{}: was under way when the server ended; now it ends with {}\n",
                          CallText(*unanswered.call), unanswered.what);
    }
    if (*difference) {
      text += fmt::format("first difference: {}: {}\n", CallText(*(*difference)->call),
                          (*difference)->what);
    }
    WriteOutput(text);
    return !*difference && counts.same > 0;
  }

  Result<ExitCode> Cut(const LoggedRequests& log) const {
    if (log.runs.size() != 1) {
      std::string runs;
      for (const LoggedRun& run : log.runs) runs += " " + Excerpt(run.file.run());
      return BadInput(fmt::format(
          "--cut-to: calls are numbered anew with each start of a server, and the log has {}:{}; "
          "give the files of one",
          CountWithNoun(std::ssize(log.runs), "start"), runs));
    }
    const LoggedRun& run = log.runs.front();
    const auto server = FreshServer::Start(run.file, options_.backend);
    if (!server) return tl::unexpected(server.error());
    Replay replay((*server)->Connect(), (*server)->holds(), run);
    const auto cut = replay.CutTo(options_.cut_to);
    if (!cut) return tl::unexpected(cut.error());
    // The state alone is enough unless the way to it makes a difference.
    if (auto written = Write(run, *cut, true); !written) return tl::unexpected(written.error());
    const auto repeated = DifferenceIn(options_.file);
    if (!repeated) return tl::unexpected(repeated.error());
    const bool states_alone = *repeated == cut->difference;
    if (!states_alone) {
      std::filesystem::remove(options_.file);
      if (auto written = Write(run, *cut, false); !written) return tl::unexpected(written.error());
    }
    const std::string with = states_alone
                                 ? CountWithNoun(std::ssize(cut->states), "state")
                                 : fmt::format("the {} that led to its state",
                                               CountWithNoun(std::ssize(cut->changes), "change"));
    WriteOutput(fmt::format("{}: {} and {}: {}\n", Excerpt(options_.file), with,
                            CallText(*cut->call),
                            cut->difference.empty() ? "the same answer" : cut->difference));
    return kExitOk;
  }

  Result<std::string> DifferenceIn(const std::string& path) const {
    const auto log = ReadRequestLog({path});
    if (!log) return tl::unexpected(log.error());
    const auto server = FreshServer::Start(log->runs.front().file, options_.backend);
    if (!server) return tl::unexpected(server.error());
    Replay replay((*server)->Connect(), (*server)->holds(), log->runs.front());
    const auto difference = replay.Run();
    if (!difference) return tl::unexpected(difference.error());
    return *difference ? (*difference)->what : std::string();
  }

  Result<void> Write(const LoggedRun& run, const Replay::Cut& cut, bool states) const {
    v1::RequestLogFile file = run.file;
    file.set_number(1);
    auto writer = RequestLogWriter::Create(options_.file, file);
    if (!writer) return tl::unexpected(writer.error());
    std::vector<LoggedCall> restored;
    if (states) {
      for (const Replay::State& state : cut.states) {
        for (const auto& [method, messages] : {std::pair(kLoadStateMethod, &state.chunks),
                                               std::pair(kListHoldsMethod, &state.holds)}) {
          if (messages->empty()) continue;
          LoggedCall& call = restored.emplace_back();
          call.call = -std::ssize(restored);
          call.method = method;
          call.time_ns = cut.call->time_ns;
          call.requests.assign(messages->begin(), messages->end());
          call.ended = true;
          call.position = state.position;
        }
      }
      for (const LoggedCall& call : restored) {
        if (auto written = WriteCall(call, *writer); !written) return written;
      }
    } else {
      for (const LoggedCall* change : cut.changes) {
        if (auto written = WriteCall(*change, *writer); !written) return written;
      }
    }
    return WriteCall(*cut.call, *writer);
  }

  static grpc::ByteBuffer Bytes(std::string_view bytes) {
    const grpc::Slice slice(bytes.data(), bytes.size());
    return {&slice, 1};
  }

  static Result<void> WriteCall(const LoggedCall& call, RequestLogWriter& writer) {
    v1::RequestLogPiece piece;
    piece.set_call(call.call);
    piece.set_method(call.method);
    piece.set_time_ns(call.time_ns);
    if (call.position) *piece.mutable_position() = *call.position;
    for (const auto& [kind, messages] :
         {std::pair(v1::RequestLogPiece::KIND_REQUEST, &call.requests),
          std::pair(v1::RequestLogPiece::KIND_ANSWER, &call.answers)}) {
      piece.set_kind(kind);
      for (const std::string_view message : *messages) {
        if (auto written = writer.Write(piece, Bytes(message)); !written) return written;
      }
    }
    if (!call.ended) return {};
    piece.set_kind(v1::RequestLogPiece::KIND_END);
    piece.set_code(call.status.error_code());
    piece.set_message(call.status.error_message());
    piece.set_details(call.status.error_details());
    return writer.Write(piece);
  }

  const ReplayOptions& options_;
};

}  // namespace

void AddReplayCommand(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<ReplayOptions>();
  CLI::App* replay =
      app.add_subcommand("replay", "Make the calls of a request log again; do the answers differ?");
  replay->footer(kReplayExamples);
  replay
      ->add_option("LOG", options->paths,
                   "Folders of --log-requests, or files out of one from one start of a server")
      ->required();
  replay
      ->add_option("--speed", options->speed,
                   "1: as fast as the calls came, 10: ten times that; 0: without a wait")
      ->check(CLI::Range(0.0, 1e9))
      ->capture_default_str();
  CLI::Option* cut = replay->add_option(
      "--cut-to", options->cut_to,
      "Write the smallest log that still has this call, with the same difference if there is one");
  cut->check(CLI::Range(std::int64_t{1}, std::numeric_limits<std::int64_t>::max()));
  CLI::Option* file = replay->add_option("-o,--output", options->file,
                                         "The file for --cut-to; must not be there yet");
  file->needs(cut);
  cut->needs(file);
  AddBackendOptions(*replay, options->backend);
  replay->callback([options, &exit_code] {
    const auto code = RequestReplay(*options).Run();
    exit_code = code ? *code : ReportError(code.error());
  });
}

}  // namespace espalier
