#include "tests/chaos/round.hpp"

#include <atomic>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <stdlib.h>

#include "espalier/v1/cluster_state.grpc.pb.h"
#include "fallback_cpu/cpu_backend.hpp"
#include "host/engine/engine.hpp"
#include "host/live/admitted_workloads.hpp"
#include "host/live/state_store.hpp"
#include "service/wire/answers.hpp"
#include "service/wire/cluster_state.hpp"
#include "service/wire/request_log_file.hpp"
#include "service/wire/workloads.hpp"
#include "tests/attack/http2.hpp"
#include "tests/attack/messages.hpp"
#include "tests/chaos/controller.hpp"

namespace espalier::chaos {
namespace {

constexpr int kControllers = 5;

// A folder for logs of requests; removed with this object.
class LogFolder {
 public:
  LogFolder() {
    std::string pattern = std::filesystem::temp_directory_path() / "espalier-chaos-XXXXXX";
    if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp");
    path_ = pattern;
  }
  ~LogFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  LogFolder(const LogFolder&) = delete;
  LogFolder& operator=(const LogFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// Clients that ask and do not go on.
class Strangers {
 public:
  explicit Strangers(Arena& arena) : arena_(arena) {}

  void BeginALoad() {
    auto client = std::make_unique<attack::Client>(arena_.server.address());
    auto stream = client->Open(attack::kLoadState);
    stream->Write(attack::UnendedChunks(100).front().SerializeAsString());
    clients_.push_back(std::move(client));
    streams_.push_back(std::move(stream));
    arena_.tally.Add(&Counts::half_open);
  }
  void NeverRead(Random& random) {
    auto& deaf =
        deaf_.emplace_back(std::make_unique<attack::DeafConnection>(arena_.server.socket_path()));
    const std::string question =
        attack::Gangs({.gangs = static_cast<int>(1 + random.Below(20)), .pods = 20})
            .SerializeAsString();
    for (int i = 0; i < 10; ++i) deaf->Ask(attack::kPlace, question);
    arena_.tally.Add(&Counts::half_open);
  }
  void Vanish() {
    streams_.clear();
    deaf_.clear();
    clients_.clear();
  }

 private:
  Arena& arena_;
  std::vector<std::unique_ptr<attack::Client>> clients_;
  std::vector<std::unique_ptr<attack::OpenStream>> streams_;
  std::vector<std::unique_ptr<attack::DeafConnection>> deaf_;
};

// Stops the server until all controllers wait or others did something, or a call has given up.
void StopForAWhile(Arena& arena, Random& random) {
  arena.tally.Add(&Counts::stops);
  attack::Client client(arena.server.address());
  client.Summary();  // it is connected
  arena.server.Stop();
  if (random.Below(2) == 0) {
    arena.pulse.WaitUntilBusy(kControllers);
    return;
  }
  const attack::Reply reply =
      client.Call(attack::kGetStateSummary, std::string(), std::chrono::milliseconds(200));
  if (reply.code() == grpc::DEADLINE_EXCEEDED) return;
  arena.tally.Problem(&Counts::wrong, "a stopped server answered " + reply.Text());
}

// Kills the server so many times, each time once clients have done something, and does worse.
void MakeFaults(Arena& arena, Random& random, int kills, bool logs) {
  Strangers strangers(arena);
  for (int killed = 0; killed < kills;) {
    arena.pulse.WaitForMore(static_cast<std::int64_t>(20 + random.Below(300)));
    const std::uint64_t kind = random.Below(13);
    if (kind <= 1) {
      StopForAWhile(arena, random);
      arena.server.Continue();
    } else if (kind == 2) {
      strangers.BeginALoad();
    } else if (kind == 3) {
      strangers.NeverRead(random);
    } else if (kind == 4 && logs) {
      arena.server.FillDisk(static_cast<std::int64_t>(random.Below(200'000)));
      arena.tally.Add(&Counts::full_disks);
    } else if (kind == 12) {
      arena.server.identities().Replace();
      arena.tally.Add(&Counts::certificates);
    } else {
      if (kind == 5) StopForAWhile(arena, random);
      if (random.Below(2) == 0) strangers.Vanish();
      arena.server.KillAndRestart();
      arena.tally.Add(&Counts::kills);
      strangers.Vanish();
      ++killed;
    }
  }
  arena.pulse.WaitForMore(static_cast<std::int64_t>(random.Below(200)));
}

// Returns the workloads that the server knows by key; none: it has another position by now.
std::optional<std::set<std::string>> ReadWorkloads(Controller& checker,
                                                   const StatePosition& position) {
  const auto stub = v1::ClusterState::NewStub(checker.Channel());
  grpc::ClientContext context;
  v1::ReadStateRequest request;
  *request.mutable_state() = ToProto(position);
  const auto reader = stub->ReadState(&context, request);
  std::set<std::string> names;
  for (v1::ReadStateResponse part; reader->Read(&part);) {
    const auto text = [&](std::uint32_t reference) {
      return reference == 0 ? "" : part.chunk().strings(static_cast<int>(reference) - 1);
    };
    for (const v1::AdmittedWorkload& workload : part.chunk().workloads()) {
      names.insert(ObjectKey{text(workload.namespace_()), text(workload.name())}.ToString());
    }
  }
  if (!reader->Finish().ok()) return std::nullopt;
  return names;
}

// The answers of a quiet server at one position.
struct Said {
  StatePosition position;
  std::vector<v1::Hold> holds;
  std::uint64_t checksum = 0;
  v1::AnswerBatch answers;
  std::set<std::string> workloads;
};

// Asks until nothing expires in between.
Said AskForAll(Controller& checker) {
  for (;;) {
    Said said;
    checker.Sync();
    said.holds = checker.ListHolds(said.position);
    const auto summary = checker.Ask(attack::kGetStateSummary, v1::GetStateSummaryRequest())
                             .As<v1::GetStateSummaryResponse>();
    said.checksum = summary.checksum();
    v1::PlaceRequest question;
    question.set_mode(v1::PLACEMENT_MODE_NOMINATE);
    question.set_domain_naming(v1::DOMAIN_NAMING_NAME);
    *question.mutable_workloads() = *ToProto(Questions());
    *question.mutable_state() = summary.state();
    const attack::Reply reply = checker.Ask(attack::kPlace, question, {grpc::FAILED_PRECONDITION});
    said.answers = reply.As<v1::PlaceResponse>().answers();
    auto workloads = ReadWorkloads(checker, said.position);
    if (!reply.ok() || !workloads || FromProto(summary.state()) != said.position) continue;
    said.workloads = *std::move(workloads);
    return said;
  }
}

// Compares what the server says with a fresh engine that has what the controllers know.
void Check(Arena& arena, std::vector<std::unique_ptr<Controller>>& controllers) {
  Tally& tally = arena.tally;
  Controller checker(arena, "checker", 0);
  for (const auto& controller : controllers) controller->Sync();  // it may not know of a restart
  const Said said = AskForAll(checker);
  tally.Add(&Counts::checks);

  std::set<std::string> listed;
  for (const v1::Hold& hold : said.holds) listed.insert(hold.id());
  std::vector<espalier::Hold> holds;
  for (const auto& controller : controllers) {
    std::vector<std::string> gone;
    for (const auto& [id, held] : controller->held()) {
      if (held.epoch != said.position.epoch) continue;
      if (listed.erase(id) == 0) {
        gone.push_back(id);
        continue;
      }
      AdmittedUsage usage;
      usage.usage = held.usage;
      espalier::Hold& hold = holds.emplace_back();
      hold.id = id;
      hold.workload = held.request.key;
      hold.usage = InOrder(std::move(usage)).usage;
    }
    for (const std::string& id : gone) controller->Drop(id);
  }
  for (const std::string& id : listed) {
    tally.Problem(&Counts::wrong, fmt::format("there is a hold {} that nobody has", id));
  }

  World::Contents contents = arena.world.Read();
  for (const AdmittedUsage& workload : contents.workloads) {
    if (said.workloads.contains(workload.key.ToString())) continue;
    tally.Problem(&Counts::lost, workload.key.ToString() + " was confirmed and is gone");
  }
  StateStore fresh;
  const auto base =
      fresh.Load(std::move(contents.input), WorkBudget::Unlimited(), std::move(contents.workloads));
  if (!base) throw std::runtime_error(base.error().message);
  if (const auto held = fresh.PlaceHolds(*base, std::move(holds)); !held) {
    throw std::runtime_error(held.error().error.message);
  }
  if (fresh.CurrentChecked()->checksum != said.checksum) {
    tally.Problem(&Counts::wrong,
                  fmt::format("the checksum at generation {} is not that of a fresh engine",
                              said.position.generation));
  }
  WorkBudget budget(std::int64_t{1} << 30);
  const auto answers = FromProto(Questions(), said.answers, budget);
  const Engine engine(MakeCpuBackend(1), FeatureGates());
  if (!answers || *answers != engine.Nominate(fresh.Current()->state, Questions())) {
    tally.Problem(&Counts::wrong,
                  fmt::format("the answers at generation {} are not those of a fresh engine",
                              said.position.generation));
  }
  arena.world.CheckBookings(said.position.epoch, tally);
}

// Reads all logs: each must be whole up to its last record, whatever its server died of.
void CheckLogs(const std::string& folder, Tally& tally) {
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file() || entry.path().extension() != kRequestLogSuffix) continue;
    auto reader = RequestLogReader::Open(entry.path());
    if (!reader) continue;  // killed, or full, before its first record
    v1::RequestLogPiece piece;
    std::string_view payload;
    for (;;) {
      const auto next = reader->Next(piece, payload);
      if (!next) tally.Problem(&Counts::wrong, next.error().message);
      if (!next || !*next) break;
    }
  }
}

}  // namespace

RoundResult ChaosRound(std::uint64_t seed, int episodes, int kills) {
  Random random(seed);
  const bool logs = random.Below(4) != 0;
  const LogFolder folder;
  Arena arena(logs ? folder.path() : "");
  std::vector<std::unique_ptr<Controller>> controllers;
  for (int i = 0; i < kControllers; ++i) {
    controllers.push_back(
        std::make_unique<Controller>(arena, fmt::format("c{}", i), random.Next(), i % 2 == 1));
  }
  for (int episode = 0; episode < episodes; ++episode) {
    std::atomic<bool> stop = false;
    std::vector<std::thread> threads;
    for (const auto& controller : controllers) {
      threads.emplace_back([&] { controller->Run(stop); });
    }
    MakeFaults(arena, random, kills, logs);
    stop = true;
    for (std::thread& thread : threads) thread.join();
    if (!arena.server.Running()) {
      arena.tally.Problem(&Counts::wrong, "the server has ended by itself");
      break;
    }
    Check(arena, controllers);
    if (random.Below(2) == 0) controllers[random.Below(controllers.size())]->Vanish();
  }
  if (logs) CheckLogs(folder.path(), arena.tally);
  return {arena.tally.counts(), arena.tally.problems()};
}

}  // namespace espalier::chaos
