// Calls are logged as they come over the wire, and made again.
#include "service/server/request_log.hpp"

#include <csignal>
#include <filesystem>
#include <fstream>

#include <sys/resource.h>

#include "service/client/logged_calls.hpp"
#include "service/client/replay.hpp"
#include "tests/server/manual_hold_clock.hpp"
#include "tests/server/test_server.hpp"

namespace espalier::request_log_test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class RequestLogOfAServer : public testing::Test {
 protected:
  RequestLogOfAServer() { fs::remove_all(folder_); }
  ~RequestLogOfAServer() override { fs::remove_all(folder_); }

  std::unique_ptr<TestServer> Logged(std::int64_t bytes = 1 << 30, int files = 8) {
    ServerOptions options;
    options.requests = {.folder = folder_, .bytes = bytes, .files = files};
    options.metrics = "127.0.0.1:0";
    options.hold_clock = clock_;
    return std::make_unique<TestServer>(options);
  }

  LoggedRequests ReadLog() {
    auto log = ReadRequestLog({folder_});
    EXPECT_TRUE(log) << log.error().message;
    EXPECT_EQ(log ? log->runs.size() : 0u, 1u);
    return log ? *std::move(log) : LoggedRequests();
  }

  std::vector<std::string> Files() {
    std::vector<std::string> files;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      if (entry.path().extension() == kRequestLogSuffix) files.push_back(entry.path().string());
    }
    std::ranges::sort(files);
    return files;
  }

  const std::string folder_ =
      testing::TempDir() + "espalier-requests-" + std::to_string(::getpid());
  const std::shared_ptr<ManualHoldClock> clock_ = std::make_shared<ManualHoldClock>();
};

grpc::Status Update(TestServer& server, const v1::StatePosition& base, const std::string& node,
                    v1::StatePosition* position = nullptr, const std::string& state_name = "") {
  grpc::ClientContext context;
  v1::UpdateStateRequest request;
  *request.mutable_base() = base;
  request.set_state_name(state_name);
  request.add_strings(node);
  request.add_remove_nodes(1);
  v1::UpdateStateResponse response;
  const grpc::Status status = server.cluster_state->UpdateState(&context, request, &response);
  if (position != nullptr) *position = response.state();
  return status;
}

v1::PlaceRequest Commit(const v1::StatePosition& position, const std::string& name,
                        const std::string& token = "") {
  v1::PlaceRequest request = MakePlaceRequest({MakeGang(name, 2)}, v1::PLACEMENT_MODE_SEQUENTIAL);
  *request.mutable_state() = position;
  request.set_commit(true);
  request.set_commit_token(token);
  return request;
}

std::size_t ReadWholeState(TestServer& server) {
  grpc::ClientContext context;
  const auto reader = server.cluster_state->ReadState(&context, {});
  v1::ReadStateResponse chunk;
  std::size_t chunks = 0;
  while (reader->Read(&chunk)) ++chunks;
  EXPECT_TRUE(reader->Finish().ok());
  return chunks;
}

// A life of a server: two states, changes, questions of all kinds of ends.
void Live(TestServer& server) {
  EXPECT_EQ(server.Place(MakePlaceRequest({MakeGang("early", 1)})).error_code(),
            grpc::FAILED_PRECONDITION);
  EXPECT_EQ(server.Summary().state().generation(), 0u);
  v1::StatePosition first;
  ASSERT_TRUE(server.Load(SmallCluster(), &first).ok());
  ASSERT_TRUE(server.Load(SmallCluster(1), nullptr, "west").ok());
  ASSERT_TRUE(server.Place(MakePlaceRequest({MakeGang("a", 8)})).ok());
  v1::PlaceResponse placed;
  ASSERT_TRUE(server.Place(Commit(first, "b", "token"), &placed).ok());
  ASSERT_TRUE(server.Place(Commit(first, "b", "token")).ok());  // again
  EXPECT_EQ(server.Place(Commit(first, "c")).error_code(), grpc::FAILED_PRECONDITION);
  v1::StatePosition updated;
  ASSERT_TRUE(Update(server, placed.committed(), "host-3", &updated).ok());
  EXPECT_EQ(Update(server, updated, "host-3").error_code(), grpc::INVALID_ARGUMENT);
  ASSERT_TRUE(server.Place(MakePlaceRequest({MakeGang("d", 8), MakeGang("e", 7)})).ok());
  EXPECT_EQ(ReadWholeState(server), 1u);
  v1::PlaceRequest in_west = MakePlaceRequest({MakeGang("f", 1)});
  in_west.set_state_name("west");
  ASSERT_TRUE(server.Place(in_west).ok());
  grpc::ClientContext context;
  v1::UnloadStateRequest unload;
  unload.set_state_name("west");
  v1::UnloadStateResponse unloaded;
  ASSERT_TRUE(server.cluster_state->UnloadState(&context, unload, &unloaded).ok());
  EXPECT_EQ(server.Place(in_west).error_code(), grpc::NOT_FOUND);
  ASSERT_TRUE(server.Load(SmallCluster(2), nullptr, "west").ok());
  ASSERT_TRUE(server.Place(in_west).ok());
  EXPECT_NE(server.Summary().checksum(), 0u);
}
constexpr std::int64_t kCallsOfALife = 18;

// Calls about the holds of one state.
struct HoldCalls {
  TestServer& server;
  std::string state_name = {};

  // Returns the ids, or none where that was refused.
  std::vector<std::string> Hold(const std::vector<WorkloadRequest>& gangs) {
    v1::PlaceRequest request = MakePlaceRequest(gangs, v1::PLACEMENT_MODE_SEQUENTIAL);
    request.set_commit(true);
    request.set_hold_seconds(60);
    request.set_state_name(state_name);
    v1::PlaceResponse response;
    server.Place(request, &response);
    return {response.hold_ids().begin(), response.hold_ids().end()};
  }
  template <class Request, class Response, class Method>
  grpc::StatusCode Call(Method method, Request request, const std::vector<std::string>& ids,
                        Response response) {
    grpc::ClientContext context;
    request.set_state_name(state_name);
    request.mutable_ids()->Add(ids.begin(), ids.end());
    return (server.placement.get()->*method)(&context, request, &response).error_code();
  }
  grpc::StatusCode Confirm(const std::vector<std::string>& ids) {
    v1::ConfirmHoldsRequest request;
    request.set_reported(true);
    return Call(&v1::Placement::Stub::ConfirmHolds, request, ids, v1::ConfirmHoldsResponse());
  }
  grpc::StatusCode Release(const std::vector<std::string>& ids) {
    return Call(&v1::Placement::Stub::ReleaseHolds, v1::ReleaseHoldsRequest(), ids,
                v1::ReleaseHoldsResponse());
  }
  grpc::StatusCode Extend(const std::vector<std::string>& ids, std::int64_t seconds) {
    v1::ExtendHoldsRequest request;
    request.set_hold_seconds(seconds);
    return Call(&v1::Placement::Stub::ExtendHolds, request, ids, v1::ExtendHoldsResponse());
  }
  // Returns how many there are.
  int List() {
    grpc::ClientContext context;
    v1::ListHoldsRequest request;
    request.set_state_name(state_name);
    request.set_usage(true);
    const auto reader = server.placement->ListHolds(&context, request);
    int holds = 0;
    for (v1::ListHoldsResponse page; reader->Read(&page);) holds += page.holds_size();
    EXPECT_TRUE(reader->Finish().ok());
    return holds;
  }
};

// A life of holds that end in every way.
void LiveWithHolds(TestServer& server, ManualHoldClock& clock) {
  v1::StatePosition loaded;
  ASSERT_TRUE(server.Load(SmallCluster(), &loaded).ok());
  ASSERT_TRUE(server.Load(SmallCluster(2), nullptr, "west").ok());
  HoldCalls holds{server};
  HoldCalls west{server, "west"};
  const std::vector<std::string> first = holds.Hold({MakeGang("a", 2), MakeGang("b", 2)});
  ASSERT_EQ(first.size(), 2u);
  EXPECT_TRUE(holds.Hold({MakeGang("a", 1)}).empty());  // has one already
  ASSERT_EQ(west.Hold({MakeGang("a", 1)}).size(), 1u);
  EXPECT_EQ(holds.Confirm({first[0]}), grpc::OK);
  EXPECT_EQ(holds.Confirm({first[0]}), grpc::ALREADY_EXISTS);
  EXPECT_EQ(holds.Release({first[1]}), grpc::OK);
  EXPECT_EQ(holds.Release({"nobody@7"}), grpc::NOT_FOUND);
  const std::vector<std::string> second = holds.Hold({MakeGang("c", 8), MakeGang("d", 4)});
  ASSERT_EQ(second.size(), 2u);
  EXPECT_EQ(holds.Extend({second[1]}, 600), grpc::OK);
  EXPECT_EQ(holds.List(), 2);
  clock.Advance(std::chrono::seconds(61));  // c, and a of west
  EXPECT_EQ(holds.List(), 1);
  EXPECT_EQ(west.List(), 0);
  EXPECT_EQ(holds.Confirm({second[0]}), grpc::ABORTED);
  EXPECT_EQ(server.Summary().holds(), 1);
  ASSERT_TRUE(server.Place(MakePlaceRequest({MakeGang("e", 8), MakeGang("f", 8)})).ok());
  const v1::StatePosition now = server.Summary().state();
  ASSERT_TRUE(Update(server, now, "host-3").ok());
  ASSERT_TRUE(server.Load(SmallCluster(1)).ok());  // which d may lose its nodes by
  EXPECT_EQ(holds.Hold({MakeGang("g", 1)}).size(), 1u);
  ASSERT_TRUE(server.Place(MakePlaceRequest({MakeGang("h", 8)})).ok());
}
constexpr std::int64_t kCallsWithHolds = 22;

HoldsOfServer HoldsOf(TestServer& server) {
  return {[&server](const std::string& state, std::vector<Hold> holds) {
            return server.server->AddHolds(state, std::move(holds));
          },
          [&server](const std::string& state, const std::vector<std::string>& ids) {
            return server.server->ExpireHolds(state, ids);
          }};
}

// A server on which no hold expires by itself.
std::unique_ptr<TestServer> FreshServer() {
  ServerOptions options;
  options.hold_clock = std::make_shared<ManualHoldClock>();
  return std::make_unique<TestServer>(options);
}

struct Outcome {
  ReplayCounts counts;
  std::string difference;  // "call: what"
  std::vector<ReplayDifference> unanswered;
};

Outcome ReplayOnFreshServer(const LoggedRun& run) {
  const auto server = FreshServer();
  Replay replay(server->channel, HoldsOf(*server), run);
  const auto difference = replay.Run();
  if (!difference) return {replay.counts(), difference.error().message, {}};
  const std::string text =
      *difference ? std::to_string((*difference)->call->call) + ": " + (*difference)->what : "";
  return {replay.counts(), text, replay.unanswered()};
}

TEST_F(RequestLogOfAServer, HasCallsAsTheyCame) {
  v1::PlaceRequest request = MakePlaceRequest({MakeGang("a", 3)});
  v1::PlaceResponse response;
  {
    const auto server = Logged();
    ASSERT_TRUE(server->Load(SmallCluster()).ok());
    ASSERT_TRUE(server->Place(request, &response).ok());
    request.set_mode(static_cast<v1::PlacementMode>(99));
    EXPECT_EQ(server->Place(request).error_code(), grpc::INVALID_ARGUMENT);
  }
  ASSERT_EQ(Files().size(), 1u);
  EXPECT_EQ(fs::status(Files().front()).permissions(),
            fs::perms::owner_read | fs::perms::owner_write);
  const LoggedRequests log = ReadLog();
  const std::vector<LoggedCall>& calls = log.runs.front().calls;
  ASSERT_EQ(calls.size(), 3u);
  EXPECT_EQ(calls[0].method, "espalier.v1.ClusterState/LoadState");
  EXPECT_EQ(calls[0].requests.size(), 1u);
  EXPECT_EQ(calls[1].call, 2);
  EXPECT_EQ(calls[1].method, "espalier.v1.Placement/Place");
  ASSERT_EQ(calls[1].answers.size(), 1u);
  EXPECT_EQ(calls[1].answers[0], response.SerializeAsString());
  EXPECT_TRUE(calls[1].status.ok());
  ASSERT_EQ(calls[2].requests.size(), 1u);
  EXPECT_EQ(calls[2].requests[0], request.SerializeAsString());
  EXPECT_EQ(calls[2].answers.size(), 0u);
  EXPECT_EQ(calls[2].status.error_code(), grpc::INVALID_ARGUMENT);
  EXPECT_THAT(calls[2].status.error_message(), HasSubstr("mode"));
}

TEST_F(RequestLogOfAServer, GivesTheSameAnswersAgain) {
  Live(*Logged());
  const LoggedRequests log = ReadLog();
  const Outcome outcome = ReplayOnFreshServer(log.runs.front());
  EXPECT_EQ(outcome.difference, "");
  EXPECT_EQ(outcome.counts.same, kCallsOfALife);
  EXPECT_EQ(outcome.counts.not_repeatable, 0);
  EXPECT_EQ(outcome.counts.out_of_reach, 0);
}

TEST_F(RequestLogOfAServer, GivesTheSameAnswersAboutHoldsAgain) {
  LiveWithHolds(*Logged(), *clock_);
  const LoggedRequests log = ReadLog();
  const Outcome outcome = ReplayOnFreshServer(log.runs.front());
  EXPECT_EQ(outcome.difference, "");
  EXPECT_EQ(outcome.counts.same, kCallsWithHolds);
  EXPECT_EQ(outcome.counts.not_repeatable, 0);
  EXPECT_EQ(outcome.counts.out_of_reach, 0);
}

TEST_F(RequestLogOfAServer, TellsADifferenceInWhatIsWrongWithAHold) {
  LiveWithHolds(*Logged(), *clock_);
  LoggedRequests log = ReadLog();
  std::vector<LoggedCall>& calls = log.runs.front().calls;
  const auto refused = std::ranges::find_if(calls, [](const LoggedCall& call) {
    return call.status.error_code() == grpc::ALREADY_EXISTS;
  });
  ASSERT_NE(refused, calls.end());
  v1::ErrorStatus details;
  v1::HoldProblems problems;
  ASSERT_TRUE(details.ParseFromString(refused->status.error_details()));
  ASSERT_TRUE(details.details(0).UnpackTo(&problems));
  problems.mutable_problems(0)->set_id("test/a@1");
  details.mutable_details(0)->PackFrom(problems);
  refused->status = {grpc::ALREADY_EXISTS, refused->status.error_message(),
                     details.SerializeAsString()};
  EXPECT_THAT(ReplayOnFreshServer(log.runs.front()).difference,
              testing::StartsWith(std::to_string(refused->call) + ": modified: problems[0].id: "));
}

// The order in the log of two calls at once says nothing about which came first.
TEST_F(RequestLogOfAServer, IsReplayedInTheOrderOfStates) {
  {
    const auto server = Logged();
    v1::StatePosition first;
    v1::StatePosition second;
    ASSERT_TRUE(server->Load(SmallCluster(1), &first).ok());
    ASSERT_TRUE(server->Place(MakePlaceRequest({MakeGang("a", 8)})).ok());  // fits
    ASSERT_TRUE(Update(*server, first, "host-0", &second).ok());
    ASSERT_TRUE(server->Place(MakePlaceRequest({MakeGang("a", 8)})).ok());  // does not
    ASSERT_TRUE(Update(*server, second, "host-1").ok());
  }
  LoggedRequests log = ReadLog();
  std::vector<LoggedCall>& calls = log.runs.front().calls;
  ASSERT_EQ(calls.size(), 5u);
  std::vector<std::size_t> order = {0, 1, 2, 3, 4};
  do {
    LoggedRun run = log.runs.front();
    for (std::size_t i = 0; i < order.size(); ++i) run.calls[i] = calls[order[i]];
    const Outcome outcome = ReplayOnFreshServer(run);
    ASSERT_EQ(outcome.difference, "");
    ASSERT_EQ(outcome.counts.same, 5) << testing::PrintToString(order);
  } while (std::ranges::next_permutation(order).found);
}

TEST_F(RequestLogOfAServer, TellsTheFirstDifference) {
  Live(*Logged());
  LoggedRequests log = ReadLog();
  std::vector<LoggedCall>& calls = log.runs.front().calls;
  const auto place = std::ranges::find_if(calls, [](const LoggedCall& call) {
    return call.method == "espalier.v1.Placement/Place" && call.status.ok();
  });
  ASSERT_NE(place, calls.end());
  v1::PlaceResponse response;
  ASSERT_TRUE(response.ParseFromString(std::string(place->answers.front())));
  ASSERT_EQ(response.answers().outcomes(0), v1::POD_SET_OUTCOME_PLACED);
  response.mutable_answers()->set_outcomes(0, v1::POD_SET_OUTCOME_UNSPECIFIED);
  const std::string changed = response.SerializeAsString();
  place->answers = {changed};
  const std::string expected = std::to_string(place->call) + ": modified: answers.outcomes[0]: ";
  EXPECT_THAT(ReplayOnFreshServer(log.runs.front()).difference, testing::StartsWith(expected));

  place->status = {grpc::INTERNAL, "broken"};
  EXPECT_EQ(ReplayOnFreshServer(log.runs.front()).difference,
            std::to_string(place->call) + ": it ended with code 13 (broken), now with OK");
}

TEST_F(RequestLogOfAServer, MakesACallThatWasUnderWayAtTheEnd) {
  Live(*Logged());
  LoggedRequests log = ReadLog();
  log.runs.front().calls.back().ended = false;
  const Outcome outcome = ReplayOnFreshServer(log.runs.front());
  EXPECT_EQ(outcome.difference, "");
  EXPECT_EQ(outcome.counts.same, kCallsOfALife - 1);
  ASSERT_EQ(outcome.unanswered.size(), 1u);
  EXPECT_EQ(outcome.unanswered.front().what, "OK");
}

TEST_F(RequestLogOfAServer, DoesNotRepeatWhatEndedForWantOfTime) {
  Live(*Logged());
  LoggedRequests log = ReadLog();
  log.runs.front().calls.back().status = grpc::Status::CANCELLED;
  const Outcome outcome = ReplayOnFreshServer(log.runs.front());
  EXPECT_EQ(outcome.counts.same, kCallsOfALife - 1);
  EXPECT_EQ(outcome.counts.not_repeatable, 1);
}

// However many of the first files are gone.
TEST_F(RequestLogOfAServer, KeepsItsBoundsAndCanBeReplayedFromAnyFile) {
  constexpr std::int64_t kBytes = 64 << 10;
  constexpr int kFiles = 4;
  {
    const auto server = Logged(kBytes, kFiles);
    v1::StatePosition position;
    ASSERT_TRUE(server->Load(SmallCluster(), &position).ok());
    ASSERT_TRUE(server->Load(SmallCluster(1), nullptr, "west").ok());
    for (int i = 0; i < 200; ++i) {
      v1::PlaceResponse placed;
      v1::PlaceRequest commit = Commit(position, "gang-" + std::to_string(i));
      commit.mutable_workloads()->Clear();
      ASSERT_TRUE(server->Place(commit, &placed).ok());
      position = placed.committed();
      ASSERT_TRUE(server->Place(MakePlaceRequest({MakeGang(std::string(500, 'x'), 3)})).ok());
      std::int64_t bytes = 0;
      for (const std::string& file : Files())
        bytes += static_cast<std::int64_t>(fs::file_size(file));
      ASSERT_LE(bytes, kBytes);
      ASSERT_LE(Files().size(), static_cast<std::size_t>(kFiles));
    }
  }
  std::vector<std::string> files = Files();
  ASSERT_GT(files.size(), 1u);
  while (!files.empty()) {
    const auto log = ReadRequestLog(files);
    ASSERT_TRUE(log) << log.error().message;
    EXPECT_GT(log->runs.front().file.number(), 1);
    const Outcome outcome = ReplayOnFreshServer(log->runs.front());
    EXPECT_EQ(outcome.difference, "");
    EXPECT_GT(outcome.counts.same, 0);
    files.erase(files.begin());
  }
}

TEST_F(RequestLogOfAServer, HasHoldsInEveryFile) {
  constexpr std::int64_t kBytes = 64 << 10;
  {
    const auto server = Logged(kBytes, 4);
    ASSERT_TRUE(server->Load(SmallCluster()).ok());
    HoldCalls holds{*server};
    ASSERT_EQ(holds.Hold({MakeGang("a", 2), MakeGang("b", 2)}).size(), 2u);
    const std::string first = Files().front();
    while (fs::exists(first)) {
      ASSERT_TRUE(server->Place(MakePlaceRequest({MakeGang(std::string(500, 'x'), 3)})).ok());
      EXPECT_EQ(server->Summary().holds(), 2);
    }
    EXPECT_EQ(holds.List(), 2);
  }
  std::vector<std::string> files = Files();
  ASSERT_GT(files.size(), 1u);
  while (!files.empty()) {
    const auto log = ReadRequestLog(files);
    ASSERT_TRUE(log) << log.error().message;
    const Outcome outcome = ReplayOnFreshServer(log->runs.front());
    EXPECT_EQ(outcome.difference, "");
    EXPECT_GT(outcome.counts.same, 0);
    EXPECT_EQ(outcome.counts.out_of_reach, 0);
    files.erase(files.begin());
  }
}

TEST_F(RequestLogOfAServer, EndsAndNoCallWhereTheDiskIsFull) {
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before = {};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit full = before;
  full.rlim_cur = 4096;
  const auto server = Logged();
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &full), 0);
  EXPECT_TRUE(server->Load(SmallCluster()).ok());
  for (int i = 0; i < 20; ++i) {
    EXPECT_TRUE(server->Place(MakePlaceRequest({MakeGang(std::string(300, 'x'), 3)})).ok());
  }
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_TRUE(server->Place(MakePlaceRequest({MakeGang("a", 3)})).ok());
  EXPECT_LE(fs::file_size(Files().front()), 4096u);
  const LoggedRequests log = ReadLog();
  EXPECT_TRUE(log.notes.empty());
  EXPECT_EQ(ReplayOnFreshServer(log.runs.front()).difference, "");
}

TEST_F(RequestLogOfAServer, IsRefusedWhereAnotherServerWrites) {
  const auto server = Logged();
  EXPECT_THROW(Logged(), std::runtime_error);
  ServerOptions options;
  options.listen = {"127.0.0.1:0"};
  options.requests.folder = folder_ + "/no/such";
  const auto started = Server::Start(options, MakeCpuBackend(1));
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().error_class, ErrorClass::kUnavailable);
  EXPECT_THAT(started.error().message, HasSubstr("No such file"));
}

TEST_F(RequestLogOfAServer, SaysWhereAFileIsDamaged) {
  Live(*Logged());
  const std::string path = Files().front();
  std::ifstream file(path, std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(file), {}};
  const auto write = [&](const std::string& bytes) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
  };
  // Cut anywhere, and with any byte changed, it is read or refused with the place.
  for (std::size_t size = 0; size < whole.size(); size += size < 100 ? 11 : 1009) {
    write(whole.substr(0, size));
    const auto log = ReadRequestLog({folder_});
    if (log) {
      EXPECT_EQ(ReplayOnFreshServer(log->runs.front()).difference, "");
    } else {
      EXPECT_THAT(log.error().message, HasSubstr(path));
    }
  }
  for (std::size_t at = 0; at < whole.size(); at += 211) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 0x20);
    write(changed);
    const auto log = ReadRequestLog({folder_});
    if (log) {
      EXPECT_EQ(log->notes.size(), 1u) << at;  // a length that leads beyond the end
    } else {
      EXPECT_THAT(log.error().message, HasSubstr(path)) << at;
    }
  }
  write(whole.substr(0, whole.size() - 1));
  const auto cut = ReadRequestLog({folder_});
  ASSERT_TRUE(cut);
  ASSERT_EQ(cut->notes.size(), 1u);
  EXPECT_THAT(cut->notes.front(), HasSubstr("the beginning of a record that was never finished"));
  write("not a log");
  EXPECT_THAT(ReadRequestLog({folder_}).error().message,
              HasSubstr("is no file of a request log of this version"));
  EXPECT_EQ(ReadRequestLog({folder_ + "/gone"}).error().error_class, ErrorClass::kNotFound);
}

TEST_F(RequestLogOfAServer, CutsToACallAndWhatItNeeds) {
  Live(*Logged());
  const LoggedRequests log = ReadLog();
  const LoggedRun& run = log.runs.front();
  for (const LoggedCall& call : run.calls) {
    const auto server = FreshServer();
    Replay replay(server->channel, HoldsOf(*server), run);
    const auto cut = replay.CutTo(call.call);
    ASSERT_TRUE(cut) << call.call << ": " << cut.error().message;
    EXPECT_EQ(cut->difference, "") << call.call;
    EXPECT_LE(cut->states.size(), 2u);
  }
  const auto placed = std::ranges::find_if(run.calls, [](const LoggedCall& call) {
    return call.method == "espalier.v1.ClusterState/ReadState";
  });
  const auto server = FreshServer();
  Replay replay(server->channel, HoldsOf(*server), run);
  const auto cut = replay.CutTo(placed->call);
  ASSERT_TRUE(cut);
  EXPECT_EQ(cut->changes.size(), 3u);  // load, commit, update
  ASSERT_EQ(cut->states.size(), 1u);
  EXPECT_EQ(cut->states.front().position.generation(), 3u);
  EXPECT_EQ(Replay(server->channel, HoldsOf(*server), run).CutTo(999).error().error_class,
            ErrorClass::kNotFound);
}

TEST_F(RequestLogOfAServer, CutsToACallAboutHolds) {
  LiveWithHolds(*Logged(), *clock_);
  const LoggedRequests log = ReadLog();
  const LoggedRun& run = log.runs.front();
  std::size_t with_holds = 0;
  for (const LoggedCall& call : run.calls) {
    if (call.position) continue;
    const auto server = FreshServer();
    Replay replay(server->channel, HoldsOf(*server), run);
    const auto cut = replay.CutTo(call.call);
    ASSERT_TRUE(cut) << call.call << ": " << cut.error().message;
    EXPECT_EQ(cut->difference, "") << call.call;
    // The states alone, as a log of their own.
    LoggedRun alone{.file = run.file, .files = 1, .calls = {}};
    for (const Replay::State& state : cut->states) {
      for (const auto& [method, messages] : {std::pair(kLoadStateMethod, &state.chunks),
                                             std::pair(kListHoldsMethod, &state.holds)}) {
        if (messages->empty()) continue;
        LoggedCall& restored = alone.calls.emplace_back();
        restored.method = method;
        restored.requests.assign(messages->begin(), messages->end());
        restored.ended = true;
        restored.position = state.position;
      }
      with_holds += state.holds.empty() ? 0 : 1;
    }
    alone.calls.push_back(*cut->call);
    // Only the way to a state tells what became of holds that are gone.
    if (call.status.ok()) {
      EXPECT_EQ(ReplayOnFreshServer(alone).difference, "") << call.call << " " << call.method;
    }
  }
  EXPECT_GT(with_holds, 0u);
}

}  // namespace
}  // namespace espalier::request_log_test
