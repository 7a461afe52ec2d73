// Drain, Defragment and Replay of espalier.v1.Questions: who is moved where, and what would have
// been decided about what somebody else placed.
#include <set>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "host/what_if/defragment.hpp"
#include "service/client/remote_questions.hpp"
#include "service/wire/answers.hpp"
#include "tests/generated/random.hpp"
#include "tests/server/questions_fixture.hpp"

namespace espalier::moves_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class MovesTest : public QuestionsTest {
 protected:
  template <class Request, class Response>
  Response Ask(grpc::Status (v1::Questions::Stub::*call)(grpc::ClientContext*, const Request&,
                                                         Response*),
               const Request& request, grpc::StatusCode expected = grpc::StatusCode::OK) {
    grpc::ClientContext context;
    Response response;
    status_ = (stub_.get()->*call)(&context, request, &response);
    EXPECT_EQ(status_.error_code(), expected) << status_.error_message();
    return response;
  }

  v1::DefragmentResponse Defragment(const v1::DefragmentRequest& request,
                                    grpc::StatusCode expected = grpc::StatusCode::OK) {
    return Ask(&v1::Questions::Stub::Defragment, request, expected);
  }

  grpc::Status status_;
};

WorkloadRequest GangOfTeam(const std::string& name, std::int32_t count) {
  WorkloadRequest request = MakeGang(name, count);
  request.key.namespace_ = "team";
  return request;
}

TEST_F(MovesTest, ADrainSaysWhomItHitsAndWhereTheyGo) {
  Load(SmallCluster(1), {Running("a", {"host-0"}), Running("b", {"host-1"})});
  v1::DrainRequest request;
  request.add_nodes("host-1");
  *request.mutable_workloads() = *ToProto(std::vector{GangOfTeam("a", 2), GangOfTeam("b", 2)});
  const v1::DrainResponse response = Ask(&v1::Questions::Stub::Drain, request);
  ASSERT_EQ(response.hits_size(), 1);
  EXPECT_EQ(response.hits(0).workload().name(), "b");
  EXPECT_EQ(response.hits(0).pods_hit(), 2);
  EXPECT_THAT(response.moved(), ElementsAre(1));
  EXPECT_THAT(response.answers().domains(), ElementsAre(2));
  EXPECT_EQ(server_.Summary().state().generation(), 1u);
}

// Nodes take nothing any more, as after `kubectl cordon`, which comes before a drain.
TEST_F(MovesTest, ADrainHitsWhatRunsOnNodesThatTakeNothingAnyMore) {
  ClusterStateInput input = SmallCluster(1);
  input.flavors[0].node_labels = {{"rack", "r0"}};
  input.nodes[0].unschedulable = true;
  input.nodes[1].ready = false;
  input.nodes[2].labels.Set("rack", "other");
  Load(input, {Running("a", {"host-0"}), Running("b", {"host-1"}), Running("c", {"host-2"}),
               Running("d", {"host-3"})});
  v1::DrainRequest request;
  for (const char* node : {"host-0", "host-1", "host-2"}) request.add_nodes(node);
  const v1::DrainResponse response = Ask(&v1::Questions::Stub::Drain, request);
  std::vector<std::string> hit;
  for (const v1::HitWorkload& row : response.hits()) hit.push_back(row.workload().name());
  EXPECT_THAT(hit, ElementsAre("a", "b", "c"));
}

// An audit asks both about one state, or says that it could not.
TEST_F(MovesTest, AValidationAfterAReplayIsOnItsState) {
  Load(SmallCluster(1), {Running("a", {"host-0"})});
  const auto connected = RemoteQuestions::Connect(server_.server->addresses()[0], "", {});
  ASSERT_TRUE(connected);
  Questions& remote = **connected;
  ReplayedWorkloads replayed;
  replayed.requests = {GangOfTeam("a", 2)};
  replayed.chosen = {{}};
  ASSERT_TRUE(remote.Replay(replayed));
  EXPECT_TRUE(remote.Validate({}));
  ASSERT_TRUE(server_.Load(SmallCluster(1)).ok());
  const auto check = remote.Validate({});
  ASSERT_FALSE(check);
  EXPECT_EQ(check.error().error_class, ErrorClass::kStale);
  EXPECT_EQ(check.error().message, "the state changed while it was asked: ask again");
  ASSERT_TRUE(remote.Replay(replayed));
  EXPECT_TRUE(remote.Validate({}));
}

class HalfEmptyHosts : public MovesTest {
 protected:
  void SetUp() override {
    Load(SmallCluster(1), {Running("a", {"host-0"}, 1), Running("b", {"host-1"}, 1),
                           Running("c", {"host-2"}, 1), Running("d", {"host-3"}, 2)});
    request_.set_level(std::string(kHostnameLabel));
    request_.set_most_moves(10);
  }

  void Describe(const std::vector<std::string>& names) {
    std::vector<WorkloadRequest> workloads;
    for (const std::string& name : names) workloads.push_back(GangOfTeam(name, 1));
    *request_.mutable_workloads() = *ToProto(workloads);
  }

  v1::DefragmentRequest request_;
};

TEST_F(HalfEmptyHosts, TellsWhichGangsToMove) {
  Describe({"a", "b", "c"});
  const v1::DefragmentResponse response = Defragment(request_);
  EXPECT_EQ(response.flavor(), "main");
  EXPECT_EQ(response.domains(), 4);
  EXPECT_EQ(response.free_already(), 0);
  ASSERT_EQ(response.freed_size(), 1);
  EXPECT_THAT(response.freed(0).values(), ElementsAre("b0", "r0", "host-0"));
  EXPECT_THAT(response.freed(0).moves(), ElementsAre(0));
  EXPECT_THAT(response.answers().domains(), ElementsAre(1));  // host-1
  EXPECT_EQ(response.out_of_reach(), 3);
  ASSERT_EQ(response.staying_size(), 1);
  EXPECT_EQ(response.staying(0).name(), "d");
  EXPECT_EQ(server_.Summary().state().generation(), 1u);
}

TEST_F(HalfEmptyHosts, TellsWhomOnlyOneSideKnows) {
  Describe({"ghost", "c"});
  const v1::DefragmentResponse response = Defragment(request_);
  EXPECT_THAT(response.unknown(), ElementsAre(0));
  EXPECT_EQ(response.staying_size(), 3);
  ASSERT_EQ(response.freed_size(), 1);
  EXPECT_THAT(response.freed(0).values(), ElementsAre("b0", "r0", "host-2"));
  EXPECT_THAT(response.freed(0).moves(), ElementsAre(1));
}

TEST_F(HalfEmptyHosts, NoMovesAreNoPlan) {
  Describe({"a", "b", "c"});
  request_.set_most_moves(0);
  const v1::DefragmentResponse response = Defragment(request_);
  EXPECT_EQ(response.freed_size(), 0);
  EXPECT_EQ(response.out_of_reach(), 4);
}

TEST_F(HalfEmptyHosts, WrongQuestionsAreRefused) {
  Describe({"a", "a"});
  Defragment(request_, grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(status_.error_message(), HasSubstr("team/a (position 1) is named twice"));
  Describe({"a"});
  request_.set_level("row");
  Defragment(request_, grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(status_.error_message(), HasSubstr("no flavor with a topology has the level row"));
  request_.set_flavor("nobody");
  Defragment(request_, grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(status_.error_message(), HasSubstr("flavor nobody"));
}

TEST_F(MovesTest, SlicesOfAJobMoveTogether) {
  AdmittedUsage newest = Running("train-2", {"host-1"}, 1);
  newest.job = "train";
  Load(SmallCluster(1), {Running("train", {"host-0"}, 1), newest, Running("b", {"host-2"}, 1)});
  v1::DefragmentRequest request;
  request.set_level(std::string(kHostnameLabel));
  request.set_most_moves(10);
  *request.mutable_workloads() = *ToProto(std::vector{GangOfTeam("train-2", 2)});
  const v1::DefragmentResponse response = Defragment(request);
  ASSERT_EQ(response.freed_size(), 1);
  EXPECT_THAT(response.freed(0).values(), ElementsAre("b0", "r0", "host-0"));
  EXPECT_THAT(response.answers().domains(), ElementsAre(1));
  ASSERT_EQ(response.staying_size(), 1);
  EXPECT_EQ(response.staying(0).name(), "b");
  *request.mutable_workloads() =
      *ToProto(std::vector{GangOfTeam("train-2", 2), GangOfTeam("train", 1)});
  Defragment(request, grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(status_.error_message(), HasSubstr("team/train (position 1) is a slice of the same"));
}

// Whatever is moved is outside of all that became free, and no host holds more than it has.
TEST_F(MovesTest, PlansCanBeCarriedOut) {
  std::size_t moves = 0;
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Random random(seed);
    const ClusterStateInput input = SmallCluster(static_cast<int>(1 + random.Below(4)));
    std::map<std::string, std::int64_t> pods_on;
    std::vector<AdmittedUsage> running;
    std::vector<WorkloadRequest> workloads;
    for (int i = 0; i < 12; ++i) {
      const std::string& host = input.nodes[random.Below(input.nodes.size())].name;
      if (pods_on[host] == 2) continue;
      ++pods_on[host];
      running.push_back(Running(fmt::format("w{}", i), {host}, 1));
      workloads.push_back(GangOfTeam(fmt::format("w{}", i), 1));
    }
    ASSERT_NO_FATAL_FAILURE(Load(input, running));
    v1::DefragmentRequest request;
    *request.mutable_workloads() = *ToProto(workloads);
    request.set_level(random.Below(2) ? "rack" : std::string(kHostnameLabel));
    request.set_most_moves(static_cast<std::uint32_t>(random.Below(8)));
    request.set_domain_naming(v1::DOMAIN_NAMING_NAME);
    const v1::DefragmentResponse response = Defragment(request);
    std::vector<WorkloadRequest> moved;
    std::set<std::string> free;
    for (const v1::FreedDomain& freed : response.freed()) {
      free.insert(freed.values(freed.values_size() - 1));
      for (const std::uint32_t position : freed.moves()) moved.push_back(workloads[position]);
    }
    EXPECT_LE(moved.size(), request.most_moves());
    moves += moved.size();
    const auto answers = FromProto(moved, response.answers(), WorkBudget::Unlimited());
    ASSERT_TRUE(answers) << answers.error().message;
    std::map<std::string, std::string> host_of;
    for (const AdmittedUsage& workload : running) {
      host_of[workload.key.name] = workload.usage[0].leaf;
    }
    for (std::size_t i = 0; i < moved.size(); ++i) {
      ASSERT_TRUE((*answers)[i].pod_sets[0].assignment);
      const auto& domains = (*answers)[i].pod_sets[0].assignment->domains;
      host_of[moved[i].key.name] = domains[0].values.back();
    }
    std::map<std::string, int> then;
    for (const auto& [name, host] : host_of) {
      EXPECT_LE(++then[host], 2) << host;
      EXPECT_FALSE(free.contains(host)) << name << " is in " << host;
      const std::string rack = fmt::format("r{}", std::stoi(host.substr(5)) / 4);
      EXPECT_FALSE(free.contains(rack)) << name << " is in " << rack;
    }
  }
  EXPECT_GT(moves, 100u);
}

TEST_F(MovesTest, ReplayDecidesOnWhatIsFreeAtEachTurn) {
  Load(SmallCluster(1),
       {Running("ended", {"host-0"}), Running("a", {"host-1"}), Running("other", {"host-2"})});
  v1::ReplayRequest request;
  *request.mutable_workloads() =
      *ToProto(std::vector{GangOfTeam("a", 6), GangOfTeam("b", 2), GangOfTeam("waits", 3)});
  StringTable strings(request.mutable_strings());
  const auto choose = [&](std::uint32_t workload, const std::string& host, std::int32_t pods) {
    v1::ChosenPlace& chosen = *request.add_chosen();
    chosen.set_workload(workload);
    Fill(Running("", {host}, pods).usage[0], strings, *chosen.add_usage());
  };
  choose(0, "host-1", 2);
  choose(1, "host-3", 2);
  request.add_ended()->set_name("nobody");
  v1::WorkloadName& ended = *request.add_ended();
  ended.set_namespace_("team");
  ended.set_name("ended");
  const auto responses = Read(&v1::Questions::Stub::Replay, request);
  ASSERT_EQ(responses.size(), 3u);
  EXPECT_THAT(responses[0].answers().domains(), ElementsAre(0, 1, 3));
  EXPECT_EQ(responses[1].workload(), 1u);
  EXPECT_THAT(responses[1].answers().domains(), ElementsAre(0));
  EXPECT_EQ(responses[2].answers().domains_size(), 0);  // only host-0 is left
  EXPECT_EQ(server_.Summary().state().generation(), 1u);

  request.mutable_chosen(1)->set_workload(0);
  ExpectRefused(&v1::Questions::Stub::Replay, request, grpc::StatusCode::INVALID_ARGUMENT,
                "chosen[1].workload: is 0; ascending positions below 3 expected");
  request.mutable_chosen(1)->set_workload(3);
  ExpectRefused(&v1::Questions::Stub::Replay, request, grpc::StatusCode::INVALID_ARGUMENT,
                "chosen[1].workload: is 3");
  request.clear_chosen();
  *request.mutable_workloads() = *ToProto(std::vector{GangOfTeam("a", 1), GangOfTeam("a", 1)});
  EXPECT_EQ(Read(&v1::Questions::Stub::Replay, request).size(), 2u);  // as on several flavors
}

}  // namespace
}  // namespace espalier::moves_test
