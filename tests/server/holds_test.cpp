// Holds over the wire: none is booked twice, each ends in one way, and all count meanwhile.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <iterator>
#include <limits>
#include <thread>

#include "espalier/v1/holds.pb.h"
#include "service/client/remote_holds.hpp"
#include "service/wire/status_details.hpp"
#include "tests/server/manual_hold_clock.hpp"
#include "tests/server/process.hpp"
#include "tests/server/test_server.hpp"

namespace espalier::holds_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::int64_t kMinute = 60;

struct HoldServer : TestServer {
  explicit HoldServer(std::shared_ptr<ManualHoldClock> by = std::make_shared<ManualHoldClock>())
      : TestServer([&] {
          ServerOptions options;
          options.hold_clock = by;
          return options;
        }()),
        clock(std::move(by)) {}

  // Places and holds a gang. Returns the status.
  grpc::Status Hold(const WorkloadRequest& gang, v1::PlaceResponse* response,
                    std::int64_t seconds = kMinute, const std::string& state_name = "") {
    v1::PlaceRequest request = MakePlaceRequest({gang}, v1::PLACEMENT_MODE_SEQUENTIAL);
    request.set_commit(true);
    request.set_hold_seconds(seconds);
    request.set_hold_owner("tester");
    request.set_state_name(state_name);
    return Place(request, response);
  }
  std::string Held(const std::string& name, int pods = 8, std::int64_t seconds = kMinute) {
    v1::PlaceResponse response;
    const grpc::Status status = Hold(MakeGang(name, pods), &response, seconds);
    EXPECT_TRUE(status.ok()) << status.error_message();
    EXPECT_EQ(response.hold_ids_size(), 1);
    return response.hold_ids_size() == 1 ? response.hold_ids(0) : "";
  }
  grpc::Status Release(const std::vector<std::string>& ids) {
    grpc::ClientContext context;
    v1::ReleaseHoldsRequest request;
    request.mutable_ids()->Assign(ids.begin(), ids.end());
    v1::ReleaseHoldsResponse response;
    return placement->ReleaseHolds(&context, request, &response);
  }
  grpc::Status Extend(const std::string& id, std::int64_t seconds) {
    grpc::ClientContext context;
    v1::ExtendHoldsRequest request;
    request.add_ids(id);
    request.set_hold_seconds(seconds);
    v1::ExtendHoldsResponse response;
    return placement->ExtendHolds(&context, request, &response);
  }
  grpc::Status Confirm(const std::string& id, const StateDelta& delta, bool reported = false) {
    grpc::ClientContext context;
    v1::ConfirmHoldsRequest request;
    request.add_ids(id);
    *request.mutable_update() = ToProto(delta);
    request.set_reported(reported);
    v1::ConfirmHoldsResponse response;
    return placement->ConfirmHolds(&context, request, &response);
  }
  std::vector<v1::Hold> List(const std::string& state_name = "") {
    grpc::ClientContext context;
    v1::ListHoldsRequest request;
    request.set_usage(true);
    request.set_state_name(state_name);
    const auto reader = placement->ListHolds(&context, request);
    std::vector<v1::Hold> holds;
    for (v1::ListHoldsResponse page; reader->Read(&page);) {
      holds.insert(holds.end(), page.holds().begin(), page.holds().end());
    }
    EXPECT_TRUE(reader->Finish().ok());
    return holds;
  }
  std::vector<std::string> Ids() {
    std::vector<std::string> ids;
    for (const v1::Hold& hold : List()) ids.push_back(hold.id());
    return ids;
  }
  v1::UpdateStateResponse Update(const StateDelta& delta) {
    grpc::ClientContext context;
    v1::UpdateStateRequest request = ToProto(delta);
    *request.mutable_base() = Summary().state();
    v1::UpdateStateResponse response;
    const grpc::Status status = cluster_state->UpdateState(&context, request, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return response;
  }
  // Returns how many of four racks of eight slots take a gang that fills one.
  int FreeRacks() {
    std::vector<WorkloadRequest> gangs(4, MakeGang("probe", 8));
    v1::PlaceResponse response;
    EXPECT_TRUE(Place(MakePlaceRequest(gangs, v1::PLACEMENT_MODE_SEQUENTIAL), &response).ok());
    int placed = 0;
    for (const int outcome : response.answers().outcomes()) {
      placed += outcome == v1::POD_SET_OUTCOME_PLACED;
    }
    return placed;
  }

  std::shared_ptr<ManualHoldClock> clock;
};

std::vector<int> ReasonsOf(const grpc::Status& status) {
  const auto problems = DetailIn<v1::HoldProblems>(status);
  EXPECT_TRUE(problems) << "no HoldProblems: " << status.error_message();
  if (!problems) return {};
  v1::ErrorStatus details;
  EXPECT_TRUE(details.ParseFromString(status.error_details()));
  EXPECT_EQ(details.code(), status.error_code());
  std::vector<int> reasons;
  for (const v1::HoldProblem& problem : problems->problems()) reasons.push_back(problem.reason());
  return reasons;
}

// A rack of SmallCluster in use by one workload, as what it uses there.
AdmittedUsage FullRack(const std::string& name, int rack) {
  AdmittedUsage workload{{"default", name}, 0, 0, {}, {}};
  for (int host = rack * 4; host < rack * 4 + 4; ++host) {
    workload.usage.push_back(
        {"main", "host-" + std::to_string(host), {{"cpu", 8000}, {"pods", 2}}});
  }
  return InOrder(std::move(workload));
}

TEST(Holds, CountAsUsageUntilTheyAreReleased) {
  HoldServer server;
  ASSERT_TRUE(server.Load(SmallCluster()).ok());
  EXPECT_EQ(server.FreeRacks(), 4);
  const std::string id = server.Held("gang");
  EXPECT_EQ(id, "default/gang@2");
  EXPECT_EQ(server.FreeRacks(), 3);
  EXPECT_EQ(server.Summary().holds(), 1);
  const std::vector<v1::Hold> holds = server.List();
  ASSERT_EQ(holds.size(), 1U);
  EXPECT_EQ(holds[0].owner(), "tester");
  EXPECT_EQ(holds[0].name(), "gang");
  EXPECT_EQ(holds[0].pods(), 8);
  EXPECT_EQ(holds[0].usage_size(), 4);
  EXPECT_EQ(holds[0].seconds_left(), kMinute);
  EXPECT_EQ(holds[0].age_seconds(), 0);
  ASSERT_TRUE(server.Release({id}).ok());
  EXPECT_EQ(server.FreeRacks(), 4);
  EXPECT_EQ(server.Summary().holds(), 0);
}

TEST(Holds, TheLastRackGoesToOneOfTwoControllers) {
  for (int round = 0; round < 20; ++round) {
    HoldServer server;
    ASSERT_TRUE(server.Load(SmallCluster(1)).ok());
    std::atomic<int> won = 0;
    const auto race = [&](const std::string& name) {
      for (;;) {  // as a controller that is told of a change asks again
        v1::PlaceResponse response;
        const grpc::Status status = server.Hold(MakeGang(name, 8), &response);
        if (status.error_code() == grpc::FAILED_PRECONDITION) continue;
        ASSERT_TRUE(status.ok()) << status.error_message();
        won += !response.hold_ids(0).empty();
        return;
      }
    };
    std::thread one(race, "one");
    std::thread other(race, "other");
    one.join();
    other.join();
    EXPECT_EQ(won, 1);
    EXPECT_EQ(server.List().size(), 1U);
  }
}

TEST(Holds, AreConfirmedInOneStep) {
  HoldServer server;
  ASSERT_TRUE(server.Load(SmallCluster()).ok());
  const std::string id = server.Held("gang");
  const std::uint64_t generation = server.Summary().state().generation();
  const AdmittedUsage usage = FullRack("gang", 0);
  EXPECT_EQ(server.FreeRacks(), 3);
  const grpc::Status status = server.Confirm(id, {.set_workloads = {usage}});
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(server.FreeRacks(), 3);
  EXPECT_EQ(server.Summary().state().generation(), generation + 1);
  EXPECT_EQ(server.Summary().holds(), 0);
  TestServer other;
  ASSERT_TRUE(other.Load(SmallCluster(), nullptr, "", {usage}).ok());
  EXPECT_EQ(server.Summary().checksum(), other.Summary().checksum());
}

TEST(Holds, AreConfirmedByUsageOfLeavesOrByUsageThatIsThere) {
  HoldServer server;
  ASSERT_TRUE(server.Load(SmallCluster()).ok());
  const std::string by_leaf = server.Held("leaf");
  ASSERT_TRUE(server.Confirm(by_leaf, {.set_tas_usage = FullRack("leaf", 0).usage}).ok());
  EXPECT_EQ(server.FreeRacks(), 3);
  const std::string before = server.Held("before");
  server.Update({.set_workloads = {FullRack("before", 1)}});
  ASSERT_TRUE(server.Confirm(before, {}, true).ok());
  EXPECT_EQ(server.FreeRacks(), 2);
}

TEST(Holds, AreNotConfirmedByNothing) {
  HoldServer server;
  ASSERT_TRUE(server.Load(SmallCluster()).ok());
  const std::string id = server.Held("gang");
  const auto checksum = server.Summary().checksum();
  for (const StateDelta& delta :
       {StateDelta(), StateDelta{.set_workloads = {FullRack("another", 0)}},
        StateDelta{.set_workloads = {{{"default", "gang"}, 0, 0, {}, {}}}},
        StateDelta{.set_tas_usage = {{"main", "host-0", {{"cpu", 1}}}}}}) {
    const grpc::Status status = server.Confirm(id, delta);
    EXPECT_EQ(status.error_code(), grpc::INVALID_ARGUMENT);
    EXPECT_THAT(status.error_message(), HasSubstr("reports neither workload default/gang"));
  }
  EXPECT_EQ(server.Summary().checksum(), checksum);
}

// No change of the date ends a hold, or keeps it.
static_assert(HoldClock::TimePoint::clock::is_steady);

TEST(Holds, ExpireByTheClockUnlessExtended) {
  HoldServer server;
  ASSERT_TRUE(server.Load(SmallCluster()).ok());
  const std::string brief = server.Held("brief", 8, 10);
  const std::string extended = server.Held("extended", 8, 10);
  const std::uint64_t generation = server.Summary().state().generation();
  ASSERT_TRUE(server.Extend(extended, 100).ok());
  EXPECT_EQ(server.Summary().state().generation(), generation);
  server.clock->Advance(std::chrono::seconds(9));
  EXPECT_EQ(server.Summary().holds(), 2);
  server.clock->Advance(std::chrono::seconds(1));
  EXPECT_THAT(server.Ids(), ElementsAre(extended));
  EXPECT_EQ(server.FreeRacks(), 3);
  EXPECT_EQ(server.Summary().state().generation(), generation + 1);
  server.clock->Advance(std::chrono::seconds(90));
  EXPECT_EQ(server.Summary().holds(), 0);
  EXPECT_EQ(server.FreeRacks(), 4);
  const grpc::Status status = server.Confirm(brief, {.set_workloads = {FullRack("brief", 0)}});
  EXPECT_EQ(status.error_code(), grpc::ABORTED);
  EXPECT_THAT(status.error_message(), HasSubstr("has expired"));
  EXPECT_THAT(ReasonsOf(status), ElementsAre(v1::HOLD_PROBLEM_REASON_EXPIRED));
}

TEST(Holds, ThatAreGoneSayHow) {
  HoldServer server;
  ASSERT_TRUE(server.Load(SmallCluster()).ok());
  const std::string confirmed = server.Held("confirmed");
  ASSERT_TRUE(server.Confirm(confirmed, {.set_workloads = {FullRack("confirmed", 0)}}).ok());
  const std::string released = server.Held("released");
  ASSERT_TRUE(server.Release({released}).ok());
  const std::string alive = server.Held("alive");
  const auto of = [&](const std::string& id) {
    const grpc::Status status = server.Confirm(id, {}, true);
    EXPECT_EQ(server.Release({id}).error_code(), status.error_code());
    EXPECT_EQ(server.Extend(id, 1).error_code(), status.error_code());
    return status;
  };
  EXPECT_EQ(of("default/none@7").error_code(), grpc::NOT_FOUND);
  EXPECT_EQ(of(confirmed).error_code(), grpc::ALREADY_EXISTS);
  EXPECT_EQ(of(released).error_code(), grpc::ABORTED);
  const grpc::Status status = server.Release({alive, "nobody@1", confirmed, released});
  EXPECT_EQ(status.error_code(), grpc::NOT_FOUND);
  EXPECT_THAT(ReasonsOf(status),
              ElementsAre(v1::HOLD_PROBLEM_REASON_UNKNOWN, v1::HOLD_PROBLEM_REASON_CONFIRMED,
                          v1::HOLD_PROBLEM_REASON_RELEASED));
  EXPECT_THAT(server.Ids(), ElementsAre(alive));
  EXPECT_EQ(server.Release({}).error_code(), grpc::INVALID_ARGUMENT);
  EXPECT_EQ(server.Release({alive, alive}).error_code(), grpc::INVALID_ARGUMENT);
}

TEST(Holds, OfAWorkloadAreOne) {
  HoldServer server;
  ASSERT_TRUE(server.Load(SmallCluster()).ok());
  const std::string id = server.Held("gang");
  v1::PlaceResponse response;
  const grpc::Status status = server.Hold(MakeGang("gang", 8), &response);
  EXPECT_EQ(status.error_code(), grpc::ALREADY_EXISTS);
  EXPECT_THAT(status.error_message(), HasSubstr("has hold default/gang@2 already, of tester"));
  EXPECT_THAT(ReasonsOf(status), ElementsAre(v1::HOLD_PROBLEM_REASON_HELD));
  EXPECT_THAT(server.Ids(), ElementsAre(id));
}

TEST(Holds, AreKeptByALoadAsLongAsTheirNodesAreThere) {
  HoldServer server;
  ASSERT_TRUE(server.Load(SmallCluster()).ok());
  const std::string first = server.Held("first");
  const std::string second = server.Held("second");
  ClusterStateInput input = SmallCluster();
  std::erase_if(input.nodes, [](const Node& node) { return node.name == "host-5"; });
  input.nodes[0].ready = false;  // which is no reason to go
  grpc::ClientContext context;
  v1::LoadStateResponse response;
  const auto writer = server.cluster_state->LoadState(&context, &response);
  ToChunks(input, [&](const v1::LoadStateRequest& chunk) { return writer->Write(chunk); });
  writer->WritesDone();
  ASSERT_TRUE(writer->Finish().ok());
  ASSERT_EQ(response.dropped_holds_size(), 1);
  EXPECT_EQ(response.dropped_holds(0).id(), second);
  EXPECT_EQ(response.dropped_holds(0).leaf(), "host-5");
  EXPECT_THAT(server.Ids(), ElementsAre(first));
  EXPECT_EQ(server.FreeRacks(), 2);
  EXPECT_EQ(server.Release({second}).error_code(), grpc::ABORTED);
}

TEST(Holds, AreBrokenByAnUpdateThatTakesANodeAway) {
  HoldServer server;
  ASSERT_TRUE(server.Load(SmallCluster()).ok());
  const std::string first = server.Held("first");
  const std::string second = server.Held("second");
  EXPECT_EQ(server.Update({.remove_nodes = {"host-15"}}).broken_holds_size(), 0);
  const v1::UpdateStateResponse broken = server.Update({.remove_nodes = {"host-2"}});
  ASSERT_EQ(broken.broken_holds_size(), 1);
  EXPECT_EQ(broken.broken_holds(0).id(), first);
  EXPECT_EQ(broken.broken_holds(0).flavor(), "main");
  EXPECT_EQ(broken.broken_holds(0).leaf(), "host-2");
  const grpc::Status status = server.Confirm(first, {}, true);
  EXPECT_THAT(ReasonsOf(status), ElementsAre(v1::HOLD_PROBLEM_REASON_BROKEN));
  ClusterStateInput fresh = SmallCluster();
  std::erase_if(fresh.nodes,
                [](const Node& node) { return node.name == "host-2" || node.name == "host-15"; });
  ASSERT_TRUE(server.Release({second}).ok());
  TestServer other;
  ASSERT_TRUE(other.Load(fresh).ok());
  EXPECT_EQ(server.Summary().checksum(), other.Summary().checksum());
}

TEST(Holds, AreOfTheNamedState) {
  HoldServer server;
  ASSERT_TRUE(server.Load(SmallCluster()).ok());
  ASSERT_TRUE(server.Load(SmallCluster(), nullptr, "west").ok());
  v1::PlaceResponse response;
  ASSERT_TRUE(server.Hold(MakeGang("gang", 8), &response, 10, "west").ok());
  EXPECT_EQ(server.List("west").size(), 1U);
  EXPECT_TRUE(server.List().empty());
  EXPECT_EQ(server.Release({response.hold_ids(0)}).error_code(), grpc::NOT_FOUND);
  server.clock->Advance(std::chrono::seconds(10));
  EXPECT_TRUE(server.List("west").empty());
}

TEST(Holds, LastSoLongAsTheyMay) {
  HoldServer server;
  ASSERT_TRUE(server.Load(SmallCluster()).ok());
  v1::PlaceResponse response;
  constexpr auto kMax = std::numeric_limits<std::int64_t>::max();
  constexpr auto kMin = std::numeric_limits<std::int64_t>::min();
  for (const std::int64_t seconds : {std::int64_t{-1}, std::int64_t{86'401}, kMax, kMin}) {
    const grpc::Status status = server.Hold(MakeGang("gang", 8), &response, seconds);
    EXPECT_EQ(status.error_code(), grpc::INVALID_ARGUMENT);
    EXPECT_THAT(status.error_message(), HasSubstr("1 to 86400 expected"));
    EXPECT_EQ(server.Extend("any@1", seconds).error_code(), grpc::INVALID_ARGUMENT);
  }
  EXPECT_EQ(server.Extend("any@1", 0).error_code(), grpc::INVALID_ARGUMENT);
  server.Held("longest", 8, 86'400);
  server.Held("shortest", 8, 1);
  server.clock->Advance(std::chrono::seconds(86'399));
  EXPECT_EQ(server.Summary().holds(), 1);
  server.clock->Advance(std::chrono::seconds(1));
  EXPECT_EQ(server.Summary().holds(), 0);
  v1::PlaceRequest request = MakePlaceRequest({MakeGang("gang", 8)});
  request.set_hold_seconds(1);
  EXPECT_THAT(server.Place(request).error_message(), HasSubstr("hold_seconds: needs `commit`"));
  request.set_hold_seconds(0);
  request.set_hold_owner("me");
  EXPECT_THAT(server.Place(request).error_message(), HasSubstr("hold_owner: needs"));
}

TEST(Holds, AreOfWhatIsPlacedAlone) {
  HoldServer server;
  ASSERT_TRUE(server.Load(SmallCluster()).ok());
  WorkloadRequest nameless = MakeGang("", 8);
  nameless.key = {};
  v1::PlaceRequest request = MakePlaceRequest(
      {MakeGang("too-large", 9), nameless, MakeGang("gang", 8)}, v1::PLACEMENT_MODE_SEQUENTIAL);
  request.set_commit(true);
  request.set_hold_seconds(kMinute);
  v1::PlaceResponse response;
  ASSERT_TRUE(server.Place(request, &response).ok());
  EXPECT_THAT(response.hold_ids(), ElementsAre("", "1@2", "default/gang@2"));
  request =
      MakePlaceRequest({MakeGang("twice", 1), MakeGang("twice", 1)}, v1::PLACEMENT_MODE_SEQUENTIAL);
  request.set_commit(true);
  request.set_hold_seconds(kMinute);
  EXPECT_EQ(server.Place(request).error_code(), grpc::INVALID_ARGUMENT);
  EXPECT_EQ(server.Summary().holds(), 2);
}

TEST(Holds, AreRepeatedByTheTokenOfTheirCommit) {
  HoldServer server;
  v1::StatePosition position;
  ASSERT_TRUE(server.Load(SmallCluster(), &position).ok());
  v1::PlaceRequest request = MakePlaceRequest({MakeGang("gang", 8)}, v1::PLACEMENT_MODE_SEQUENTIAL);
  request.set_commit(true);
  request.set_hold_seconds(kMinute);
  *request.mutable_state() = position;
  request.set_commit_token("token");
  v1::PlaceResponse first;
  v1::PlaceResponse again;
  ASSERT_TRUE(server.Place(request, &first).ok());
  ASSERT_TRUE(server.Place(request, &again).ok());
  EXPECT_EQ(first.SerializeAsString(), again.SerializeAsString());
  EXPECT_EQ(server.Summary().holds(), 1);
}

TEST(Holds, AreChangedThroughTheClient) {
  HoldServer server;
  ASSERT_TRUE(server.Load(SmallCluster()).ok());
  auto client = RemoteHolds::Connect(server.server->addresses().front(), "");
  ASSERT_TRUE(client);
  const std::vector<WorkloadRequest> gangs = {MakeGang("a", 8), MakeGang("b", 9)};
  const auto placed = client->Place(gangs, kMinute, "me", FeatureGates());
  ASSERT_TRUE(placed) << placed.error().message;
  EXPECT_THAT(placed->ids, ElementsAre("default/a@2", ""));
  ASSERT_EQ(placed->answers.size(), 2U);
  EXPECT_NE(placed->answers[1].FirstFailure(), nullptr);
  ASSERT_TRUE(client->Extend({placed->ids[0]}, 2 * kMinute));
  const auto holds = client->List();
  ASSERT_TRUE(holds) << holds.error().message;
  ASSERT_EQ(holds->size(), 1U);
  EXPECT_EQ(holds->front().owner, "me");
  EXPECT_EQ(holds->front().pods, 8);
  EXPECT_EQ(holds->front().seconds_left, 2 * kMinute);
  const auto broken = client->Confirm({placed->ids[0]}, {.set_workloads = {FullRack("a", 0)}});
  ASSERT_TRUE(broken) << broken.error().message;
  EXPECT_TRUE(broken->empty());
  EXPECT_EQ(client->Release({placed->ids[0]}).error().error_class, ErrorClass::kBadInput);
  EXPECT_EQ(client->Release({"none@1"}).error().error_class, ErrorClass::kNotFound);
}

TEST(Holds, AreListedAndReleasedByTheCommand) {
  HoldServer server;
  ASSERT_TRUE(server.Load(SmallCluster()).ok());
  const std::string id = server.Held("gang");
  const auto run = [&](std::vector<std::string> more) {
    std::vector<std::string> arguments = {"holds", "--connect", server.server->addresses().front()};
    std::ranges::move(more, std::back_inserter(arguments));
    return RunToEnd(std::move(arguments));
  };
  EXPECT_EQ(run({}).output,
            "HOLD            PODS  AGE  LEFT  OWNER\n"
            "default/gang@2  8     0    60    tester\n\n"
            "1 hold of 8 pods\n");
  EXPECT_THAT(run({"-o", "json"}).output,
              AllOf(HasSubstr("\"id\": \"default/gang@2\""), HasSubstr("\"secondsLeft\": 60"),
                    HasSubstr("\"ageSeconds\": 0"), HasSubstr("\"name\": \"gang\"")));
  EXPECT_EQ(run({"--release", "nobody@1"}).exit_code, 3);
  EXPECT_EQ(run({"--release", id}).exit_code, 0);
  EXPECT_EQ(run({}), (Outcome{"0 holds of 0 pods\n", 0}));
  EXPECT_EQ(run({"--state", "nowhere"}).exit_code, 3);
}

TEST(Holds, AreCountedByStatus) {
  HoldServer server;
  ASSERT_TRUE(server.Load(SmallCluster()).ok());
  const auto status = [&](const std::string& format) {
    return RunToEnd({"status", "--connect", server.server->addresses().front(), "-o", format});
  };
  // Returns what is under a heading of the table of states, of the one without a name.
  const auto cell = [&](const std::string& heading) {
    const std::string table = status("table").output;
    const std::size_t header = table.find("\nSTATE ") + 1;
    const std::size_t row = table.find('\n', header) + 1;
    const std::size_t column = table.find(heading, header) - header;
    return table.substr(row + column, table.find(' ', row + column) - row - column);
  };
  for (int held = 0; held < 3; ++held) {
    EXPECT_EQ(cell("HOLDS"), std::to_string(held));
    EXPECT_THAT(status("json").output, HasSubstr("\"holds\": " + std::to_string(held) + ","));
    server.Held("gang-" + std::to_string(held));
  }
  server.clock->Advance(std::chrono::seconds(kMinute));
  EXPECT_EQ(cell("HOLDS"), "0");
}

TEST(Holds, AreToldApartByReadState) {
  HoldServer server;
  ASSERT_TRUE(server.Load(SmallCluster()).ok());
  server.Held("gang");
  grpc::ClientContext context;
  const auto reader = server.cluster_state->ReadState(&context, {});
  ClusterStateInput input;
  std::vector<AdmittedUsage> workloads;
  std::vector<FlavorLeafUsage> held;
  for (v1::ReadStateResponse response; reader->Read(&response);) {
    ASSERT_TRUE(AppendChunk(response.chunk(), 0, WorkBudget::Unlimited(), input, workloads));
    ASSERT_TRUE(AppendHeld(response, WorkBudget::Unlimited(), held));
  }
  ASSERT_TRUE(reader->Finish().ok());
  EXPECT_EQ(input.nodes.size(), 16U);
  EXPECT_TRUE(input.tas_usage.empty());
  EXPECT_EQ(held, FullRack("gang", 0).usage);
}

}  // namespace
}  // namespace espalier::holds_test
