#include "service/cli/bench/bench_open_loop.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <fstream>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>
#include <grpcpp/grpcpp.h>
#include <unistd.h>

#include "bench/scenarios/answer_digest.hpp"
#include "bench/scenarios/run_gangs.hpp"
#include "host/engine/engine.hpp"
#include "host/model/work_budget.hpp"
#include "host/packing/flavor_state.hpp"
#include "service/cli/bench/bench_server.hpp"
#include "service/wire/answers.hpp"
#include "service/wire/cluster_state.hpp"

namespace espalier {
namespace {

constexpr auto kGivenUpAfter = std::chrono::seconds(1);
constexpr auto kBetweenUpdates = std::chrono::milliseconds(100);
constexpr int kPercents[] = {50, 90, 200};
constexpr std::size_t kUnderWay = 64;  // in the closed loop, of all clients together
// Parts of the time: of warming up, of the closed loop, and of each load.
constexpr double kPartOfWarmUp = 0.1;
constexpr double kPartOfClosed = 0.21;
constexpr double kPartOfLoad = 0.23;

std::int64_t ResidentBytes() {
  std::ifstream file("/proc/self/statm");
  std::int64_t size = 0;
  std::int64_t resident = 0;
  file >> size >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

// The state as it was loaded, and with 1,000 leaves that are full: updates go from one to the other
// and back, so that the generation tells which of the two an answer is about.
class TwoStates {
 public:
  static Result<TwoStates> Make(const LoadedScenario& loaded, BenchServer& server,
                                const std::vector<WorkloadRequest>& requests) {
    TwoStates states;
    std::unordered_map<std::string, Resources> before;
    for (const FlavorLeafUsage& usage : server.input().tas_usage) {
      AddTo(before[usage.leaf], usage.usage);
    }
    const std::vector<Node>& nodes = server.input().nodes;
    ClusterStateInput full = server.input();
    for (std::size_t i = 0; i < std::min(kLeavesOfUpdate, nodes.size()); ++i) {
      const Node& node = nodes[i * (nodes.size() / std::min(kLeavesOfUpdate, nodes.size()))];
      states.deltas_[0].set_tas_usage.push_back({loaded.flavor_name, node.name, node.allocatable});
      states.deltas_[1].set_tas_usage.push_back({loaded.flavor_name, node.name, before[node.name]});
      before.erase(node.name);
    }
    std::erase_if(full.tas_usage,
                  [&](const FlavorLeafUsage& usage) { return !before.contains(usage.leaf); });
    for (const FlavorLeafUsage& usage : states.deltas_[0].set_tas_usage) {
      full.tas_usage.push_back(usage);
    }
    const ClusterStateInput* inputs[] = {&server.input(), &full};
    for (std::size_t i = 0; i < 2; ++i) {
      const auto built = ClusterState::Build(*inputs[i]);
      if (!built) return tl::unexpected(built.error());
      const auto answers = Engine(server.backend(), loaded.mix.gates).Nominate(*built, requests);
      const LeafIndex leaves = LeavesOf(built->Find(loaded.flavor_name)->snapshot());
      for (std::size_t k = 0; k < requests.size(); ++k) {
        const auto batch = ToProto({&requests[k], 1}, {&answers[k], 1}, leaves);
        if (!batch) return tl::unexpected(batch.error());
        states.expected_[i].push_back(batch->SerializeAsString());
      }
    }
    return states;
  }

  // Returns the change from the state that an even or odd number of updates made to the next.
  const StateDelta& Change(std::uint64_t updates) const { return deltas_[updates % 2]; }
  // Returns what a gang is answered after so many updates.
  const std::string& Expected(std::uint64_t updates, std::size_t gang) const {
    return expected_[updates % 2][gang];
  }

 private:
  std::array<StateDelta, 2> deltas_;
  std::array<std::vector<std::string>, 2> expected_;
};

// Returns the name of a code with which a server ends calls that are too many: it is full; the call
// has waited for too long; its connection, which took back too many, was closed. Else null.
const char* NameOf(grpc::StatusCode code) {
  switch (code) {
    case grpc::RESOURCE_EXHAUSTED:
      return "RESOURCE_EXHAUSTED";
    case grpc::DEADLINE_EXCEEDED:
      return "DEADLINE_EXCEEDED";
    case grpc::UNAVAILABLE:
      return "UNAVAILABLE";
    default:
      return nullptr;
  }
}

// The outcome of the calls of one stage.
struct Load {
  std::vector<double> seconds;  // of those that were answered
  std::map<grpc::StatusCode, std::int64_t> failed;
  std::int64_t sent = 0;
  std::int64_t unsent = 0;  // their moment had passed by a whole stage
  std::int64_t wrong = 0;
  double duration = 0;

  std::string Text() const {
    std::string text =
        fmt::format("{} calls sent in {:.1f} s, {} answered", sent, duration, seconds.size());
    for (const auto& [code, calls] : failed) {
      const char* name = NameOf(code);
      text += fmt::format(", {} {}", calls, name == nullptr ? "of another code" : name);
    }
    if (unsent > 0) text += fmt::format(", {} never sent", unsent);
    return text;
  }
};

class OpenLoop {
 public:
  OpenLoop(BenchServer& server, const TwoStates& states, std::vector<v1::PlaceRequest> requests,
           std::uint64_t first_generation, int clients, bool check)
      : states_(states),
        requests_(std::move(requests)),
        first_generation_(first_generation),
        check_(check) {
    for (int i = 0; i < clients; ++i) stubs_.push_back(server.NewPlacement());
  }

  // For each call that is answered its client sends another one.
  Load RunClosed(double seconds) {
    Begin();
    again_until_ = Now() + seconds;
    for (std::size_t i = 0; i < kUnderWay; ++i) Send(i % stubs_.size(), Now());
    return End();
  }

  // Calls are sent `rate` times a second, by the clients in turn.
  Load Run(double rate, double seconds) {
    Begin();
    again_until_ = 0;
    const double start = Now();
    const auto calls = static_cast<std::int64_t>(rate * seconds);
    const auto clock_start = std::chrono::steady_clock::now();
    std::int64_t unsent = 0;
    for (std::int64_t i = 0; i < calls; ++i) {
      const double moment = static_cast<double>(i) / rate;
      std::this_thread::sleep_until(clock_start +
                                    std::chrono::duration_cast<std::chrono::nanoseconds>(
                                        std::chrono::duration<double>(moment)));
      if (Now() - start > 2 * seconds) {
        unsent = calls - i;
        break;
      }
      Send(static_cast<std::size_t>(i) % stubs_.size(), start + moment);
    }
    Load load = End();
    load.unsent = unsent;
    return load;
  }

 private:
  struct Call {
    grpc::ClientContext context;
    v1::PlaceResponse response;
    std::size_t client = 0;
    std::size_t gang = 0;
    double moment = 0;  // at which it was to be sent
  };

  void Begin() {
    const std::lock_guard lock(mutex_);
    load_ = {};
    begun_ = Now();
  }

  Load End() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return under_way_ == 0; });
    load_.duration = Now() - begun_;
    std::ranges::sort(load_.seconds);
    return std::move(load_);
  }

  void Send(std::size_t client, double moment) {
    auto call = std::make_shared<Call>();
    call->client = client;
    call->moment = moment;
    call->context.set_deadline(std::chrono::system_clock::now() + kGivenUpAfter);
    {
      const std::lock_guard lock(mutex_);
      ++under_way_;
      ++load_.sent;
      call->gang = next_gang_++ % requests_.size();
    }
    stubs_[client]->async()->Place(
        &call->context, &requests_[call->gang], &call->response,
        [this, call](const grpc::Status& status) { Ended(*call, status); });
  }

  void Ended(const Call& call, const grpc::Status& status) {
    const double now = Now();
    const bool wrong =
        status.ok() && check_ &&
        call.response.answers().SerializeAsString() !=
            states_.Expected(call.response.state().generation() - first_generation_, call.gang);
    if (now < again_until_) Send(call.client, now);
    const std::lock_guard lock(mutex_);
    if (status.ok()) {
      load_.seconds.push_back(now - call.moment);
    } else {
      ++load_.failed[status.error_code()];
    }
    load_.wrong += wrong ? 1 : 0;
    if (--under_way_ == 0) changed_.notify_all();
  }

  const TwoStates& states_;
  const std::vector<v1::PlaceRequest> requests_;
  const std::uint64_t first_generation_;
  const bool check_;
  std::vector<std::unique_ptr<v1::Placement::Stub>> stubs_;
  double again_until_ = 0;  // changes while no call is under way
  std::mutex mutex_;        // guards all below
  std::condition_variable changed_;
  Load load_;
  double begun_ = 0;
  std::int64_t under_way_ = 0;
  std::size_t next_gang_ = 0;
};

// Changes the state again and again, until it is stopped.
class Updater {
 public:
  Updater(BenchServer& server, const TwoStates& states, v1::StatePosition position)
      : server_(server),
        states_(states),
        position_(std::move(position)),
        thread_([this] { Run(); }) {}
  ~Updater() { Stop(); }
  Updater(const Updater&) = delete;
  Updater& operator=(const Updater&) = delete;

  // Ends it. Says how many updates were made and refused; the error is that of one that failed.
  Result<std::string> Stop() {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
      changed_.notify_all();
    }
    if (thread_.joinable()) thread_.join();
    if (!updated_) return tl::unexpected(updated_.error());
    return fmt::format("{} updates, {} more refused", updates_, refused_);
  }

 private:
  void Run() {
    std::unique_lock lock(mutex_);
    while (!stop_) {
      v1::UpdateStateRequest update = ToProto(states_.Change(static_cast<std::uint64_t>(updates_)));
      *update.mutable_base() = position_;
      grpc::ClientContext context;
      v1::UpdateStateResponse response;
      const grpc::Status status = server_.cluster_state().UpdateState(&context, update, &response);
      if (status.ok()) {
        position_ = response.state();
        ++updates_;
      } else if (status.error_code() == grpc::RESOURCE_EXHAUSTED) {
        ++refused_;  // nothing has changed
      } else {
        updated_ = tl::unexpected(Error{ErrorClass::kInternal, status.error_message()});
        return;
      }
      changed_.wait_for(lock, kBetweenUpdates, [this] { return stop_; });
    }
  }

  BenchServer& server_;
  const TwoStates& states_;
  v1::StatePosition position_;
  Result<void> updated_;
  std::int64_t updates_ = 0;
  std::int64_t refused_ = 0;
  std::mutex mutex_;  // guards stop_
  std::condition_variable changed_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace

Result<void> RunOpenLoop(const LoadedScenario& loaded, const RunOptions& options,
                         ScenarioResult& result) {
  const std::string& variant = result.scenario.variant;
  int clients = 0;
  std::from_chars(variant.data(), variant.data() + variant.size(), clients);
  if (clients < 1) return BadInput(fmt::format("{}: not a number of clients", variant));
  const auto server = BenchServer::Start(loaded, options);
  if (!server) return tl::unexpected(server.error());
  std::vector<WorkloadRequest> gangs = RequestsOf(loaded.mix);
  std::vector<v1::PlaceRequest> requests;
  for (const WorkloadRequest& gang : gangs) {
    auto request = NominateByNumber({gang}, loaded.mix.gates);
    if (!request) return tl::unexpected(request.error());
    requests.push_back(*std::move(request));
  }
  const auto states = TwoStates::Make(loaded, **server, gangs);
  if (!states) return tl::unexpected(states.error());
  v1::GetStateSummaryResponse summary;
  grpc::ClientContext context;
  const grpc::Status status = (*server)->cluster_state().GetStateSummary(&context, {}, &summary);
  if (!status.ok()) {
    return tl::unexpected(Error{ErrorClass::kInternal, status.error_message()});
  }

  const double seconds = options.repeat.seconds;
  OpenLoop loop(**server, *states, std::move(requests), summary.state().generation(), clients,
                options.check);
  Updater updater(**server, *states, summary.state());
  loop.RunClosed(seconds * kPartOfWarmUp);
  Load closed = loop.RunClosed(seconds * kPartOfClosed);
  const double capacity = static_cast<double>(closed.seconds.size()) / closed.duration;
  result.notes.push_back(fmt::format("{} calls under way: {:.0f} calls/s", kUnderWay, capacity));
  std::int64_t wrong = closed.wrong;
  const std::int64_t resident = ResidentBytes();
  if (!closed.seconds.empty()) result.stages.push_back({"closed", std::move(closed.seconds)});
  for (const int percent : kPercents) {
    Load load = loop.Run(capacity * percent / 100, seconds * kPartOfLoad);
    result.notes.push_back(
        fmt::format("{} %: {}; {} resident", percent, load.Text(), BytesText(ResidentBytes())));
    wrong += load.wrong;
    for (const auto& [code, calls] : load.failed) {
      if (NameOf(code) != nullptr) continue;
      result.problems.push_back(fmt::format("at {} % {} calls ended with code {}", percent, calls,
                                            static_cast<int>(code)));
    }
    if (load.seconds.empty()) continue;
    result.stages.push_back({fmt::format("at-{}", percent), std::move(load.seconds)});
  }
  const auto updates = updater.Stop();
  if (!updates) return tl::unexpected(updates.error());
  result.notes.push_back(fmt::format("{} resident after the closed loop, {} at the end; {}",
                                     BytesText(resident), BytesText(ResidentBytes()), *updates));
  result.floor_stage.clear();
  Sha256 sha;
  for (std::size_t i = 0; i < gangs.size(); ++i) sha.Add(states->Expected(0, i));
  result.digest = sha.Hex();
  if (!options.check) return {};
  if (wrong > 0) {
    result.problems.push_back(fmt::format("{} answers differ from the engine's", wrong));
  } else {
    result.checks.emplace_back("every answer equals the engine's on the state that it names");
  }
  return {};
}

}  // namespace espalier
