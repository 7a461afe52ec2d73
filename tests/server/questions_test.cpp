// espalier.v1.Questions over a connection: the same answers as in this process, and as on states
// that are loaded anew.
#include <algorithm>

#include <fmt/format.h>

#include "host/packing/flavor_state.hpp"
#include "host/what_if/census.hpp"
#include "host/what_if/prefix_search.hpp"
#include "service/wire/answers.hpp"
#include "service/wire/objects.hpp"
#include "tests/generated/random.hpp"
#include "tests/server/questions_fixture.hpp"

namespace espalier::questions_test {
namespace {

// One rack: of four hosts two are in use.
class OneRack : public QuestionsTest {
 protected:
  void SetUp() override {
    Load(SmallCluster(1), {Running("a", {"host-0"}), Running("b", {"host-1"})});
    victims_ = VictimsNamed({"a", "b"});
    request_.add_question_workloads(0);
    request_.add_victim_offsets(0);
    request_.add_victim_offsets(1);
    request_.add_question_victims(1);
    *request_.mutable_victims() = victims_;
    *request_.mutable_workloads() = *ToProto(std::vector{MakeGang("asked", 6)});
  }

  v1::Victims victims_;
  v1::WhatIfRequest request_;
};

TEST_F(OneRack, AnswersWithoutAVictim) {
  EXPECT_EQ(AskWhatIf(request_), std::vector{true});
  *request_.mutable_workloads() = *ToProto(std::vector{MakeGang("asked", 7)});
  EXPECT_EQ(AskWhatIf(request_), std::vector{false});
}

TEST_F(OneRack, SaysWhereItGoes) {
  request_.set_placements(true);
  const auto responses = Read(&v1::Questions::Stub::WhatIf, request_);
  ASSERT_EQ(responses.size(), 1u);
  EXPECT_EQ(responses[0].state().generation(), 1u);
  EXPECT_THAT(responses[0].answers().domains(), testing::ElementsAre(1, 2, 3));
}

TEST_F(OneRack, AsksOfNodesThatAreDrainedAndCome) {
  request_.add_strings("host-3");
  request_.add_drained_nodes(1);
  request_.add_drained_offsets(0);
  request_.add_drained_offsets(1);
  request_.add_question_drained(0);
  EXPECT_EQ(AskWhatIf(request_), std::vector{false});
  EXPECT_EQ(server_.Summary().state().generation(), 1u);  // nothing has changed
  request_.clear_drained_offsets();
  request_.clear_question_drained();
  EXPECT_EQ(AskWhatIf(request_), std::vector{true});

  v1::UpdateStateRequest larger;
  Node node = SmallCluster(1).nodes[2];
  node.allocatable.Set("cpu", 80000);
  larger = ToProto(StateDelta{.upsert_nodes = {node}});
  *request_.mutable_strings() = larger.strings();
  request_.clear_drained_nodes();
  *request_.mutable_upserted_nodes() = larger.upsert_nodes();
  request_.add_upserted_offsets(0);
  request_.add_upserted_offsets(1);
  request_.add_question_upserted(0);
  *request_.mutable_workloads() = *ToProto(std::vector{MakeGang("asked", 22)});
  EXPECT_EQ(AskWhatIf(request_), std::vector{true});
}

TEST_F(OneRack, NamesWhatIsWrongAndAnswersNothing) {
  const auto what_if = &v1::Questions::Stub::WhatIf;
  v1::WhatIfRequest request = request_;
  *request.mutable_victims() = VictimsNamed({"a", "nobody"});
  ExpectRefused(what_if, request, grpc::NOT_FOUND, "victim team/nobody: the state knows 2 ");
  *request.mutable_victims() = VictimsNamed({"a", "a"});
  ExpectRefused(what_if, request, grpc::INVALID_ARGUMENT,
                "victim team/a: it is named twice; want each once");
  request = request_;
  v1::VictimUsage& usage = *request.mutable_victims()->add_usage();
  usage.set_victim(1);
  request.mutable_victims()->clear_strings();
  for (const char* text : {"team", "a", "b", "main", "host-1", "cpu"}) {
    request.mutable_victims()->add_strings(text);
  }
  v1::FlavorLeafUsage& leaf = *usage.add_usage();
  leaf.set_flavor(4);
  leaf.set_leaf(5);
  leaf.mutable_usage()->add_names(6);
  leaf.mutable_usage()->add_amounts(8001);
  ExpectRefused(what_if, request, grpc::INVALID_ARGUMENT,
                "victim team/b: it is to give back 8001 cpu on host-1, of which it uses "
                "8000; want 0 to 8000");
  leaf.mutable_usage()->set_amounts(0, 4000);
  EXPECT_EQ(AskWhatIf(request), std::vector{false});  // five fit
  request = request_;
  request.set_question_victims(0, 2);
  ExpectRefused(what_if, request, grpc::INVALID_ARGUMENT, "question_victims[0]: names position 2");
  request = request_;
  request.set_question_workloads(0, 1);
  ExpectRefused(what_if, request, grpc::INVALID_ARGUMENT, "question_workloads[0]: is 1");
  request = request_;
  request.add_strings("nowhere");
  request.add_drained_nodes(1);
  ExpectRefused(what_if, request, grpc::NOT_FOUND, "node nowhere: the state has no node");
  request = request_;
  request.mutable_state()->set_epoch(1);
  ExpectRefused(what_if, request, grpc::FAILED_PRECONDITION, "the state is of epoch");
}

TEST_F(OneRack, FindsWhoMustGo) {
  v1::FindVictimsRequest request;
  *request.mutable_victims() = victims_;
  *request.mutable_workloads() =
      *ToProto(std::vector{MakeGang("fits", 4), MakeGang("six", 6), MakeGang("nine", 9)});
  const auto responses = Read(&v1::Questions::Stub::FindVictims, request);
  ASSERT_EQ(responses.size(), 3u);
  EXPECT_TRUE(responses[0].fits());
  EXPECT_EQ(responses[0].targets_size(), 0);
  EXPECT_EQ(responses[1].prefix(), 1u);
  EXPECT_THAT(responses[1].targets(), testing::ElementsAre(0));
  EXPECT_THAT(responses[1].answers().domains(), testing::ElementsAre(0, 2, 3));
  EXPECT_FALSE(responses[2].fits());
  EXPECT_EQ(responses[2].answers().failures(0), 1u);

  for (const std::uint32_t offset : {0, 0, 1, 1}) request.add_victim_offsets(offset);
  request.add_workload_victims(1);
  EXPECT_THAT(Read(&v1::Questions::Stub::FindVictims, request)[1].targets(),
              testing::ElementsAre(1));
}

TEST_F(OneRack, FindsWhomItCostsLeast) {
  v1::FindVictimsRequest request;
  *request.mutable_victims() = victims_;
  *request.mutable_workloads() = *ToProto(std::vector{MakeGang("fits", 4), MakeGang("six", 6)});
  request.set_cheapest(true);
  const auto responses = Read(&v1::Questions::Stub::FindVictims, request);
  ASSERT_EQ(responses.size(), 2u);
  EXPECT_TRUE(responses[0].fits());
  EXPECT_EQ(responses[0].domains_size(), 0);
  ASSERT_EQ(responses[1].domains_size(), 1);
  EXPECT_THAT(responses[1].domains(0).values(), testing::ElementsAre("b0", "r0"));
  EXPECT_TRUE(responses[1].domains(0).exact());
  ASSERT_EQ(responses[1].domains(0).sets_size(), 1);
  EXPECT_THAT(responses[1].domains(0).sets(0).victims(), testing::ElementsAre(0));

  // Positions are those of the table, whatever part of it a workload may use.
  for (const std::uint32_t offset : {0, 0, 1}) request.add_victim_offsets(offset);
  request.add_workload_victims(1);
  EXPECT_THAT(Read(&v1::Questions::Stub::FindVictims, request)[1].domains(0).sets(0).victims(),
              testing::ElementsAre(1));
}

TEST_F(OneRack, FindsWhoMustGoOnceNodesHaveChanged) {
  v1::FindVictimsRequest request;
  *request.mutable_victims() = victims_;
  *request.mutable_workloads() = *ToProto(std::vector{MakeGang("four", 4)});
  request.add_drained_nodes("host-3");
  EXPECT_EQ(Read(&v1::Questions::Stub::FindVictims, request)[0].prefix(), 1u);
  Node node = SmallCluster(1).nodes[2];
  node.allocatable.Set("cpu", 80000);
  StringTable strings(request.mutable_strings());
  Fill(node, strings, *request.add_upserted_nodes());
  EXPECT_EQ(Read(&v1::Questions::Stub::FindVictims, request)[0].prefix(), 0u);
  request.add_drained_nodes("host-2");
  ExpectRefused(&v1::Questions::Stub::FindVictims, request, grpc::INVALID_ARGUMENT,
                "node host-2 changes twice; want each once");
  request.clear_upserted_nodes();
  EXPECT_EQ(Read(&v1::Questions::Stub::FindVictims, request)[0].prefix(), 2u);
  request.add_drained_nodes("nowhere");
  ExpectRefused(&v1::Questions::Stub::FindVictims, request, grpc::NOT_FOUND,
                "node nowhere: the state has no node");
  EXPECT_EQ(server_.Summary().state().generation(), 1u);
}

TEST_F(OneRack, CountsHowManyMoreFit) {
  v1::CountGangsRequest request;
  *request.mutable_shapes() = *ToProto(std::vector{MakeGang("two", 2), MakeGang("three", 3)});
  request.add_levels("rack");
  request.set_domains(true);
  const auto responses = Read(&v1::Questions::Stub::CountGangs, request);
  ASSERT_EQ(responses.size(), 2u);
  ASSERT_EQ(responses[0].levels_size(), 1);
  EXPECT_EQ(responses[0].levels(0).gangs(), 2);
  EXPECT_THAT(responses[0].levels(0).values(), testing::ElementsAre("b0", "r0"));
  EXPECT_THAT(responses[0].levels(0).domain_pods(), testing::ElementsAre(4));
  request.set_all_domains(true);
  request.clear_levels();
  request.add_levels(std::string(kHostnameLabel));
  EXPECT_THAT(Read(&v1::Questions::Stub::CountGangs, request)[0].levels(0).domain_pods(),
              testing::ElementsAre(0, 0, 2, 2));
  request.clear_levels();
  request.add_levels("rack");
  EXPECT_EQ(responses[1].levels(0).gangs(), 1);
  request.add_drained_nodes("host-3");
  EXPECT_EQ(Read(&v1::Questions::Stub::CountGangs, request)[1].levels(0).gangs(), 0);
  v1::CountGangsRequest without_pods;
  WorkloadRequest pair = MakeGang("pair", 1);
  pair.pod_sets.push_back(pair.pod_sets[0]);
  pair.pod_sets[1].name = "none";
  pair.pod_sets[1].count = 0;
  *without_pods.mutable_shapes() = *ToProto(std::vector{pair});
  ExpectRefused(&v1::Questions::Stub::CountGangs, without_pods, grpc::INVALID_ARGUMENT,
                "pair (position 0) has 0 pods; want 1 or more");
  *without_pods.mutable_shapes() = *ToProto(std::vector{WorkloadRequest{.key = {"team", "none"}}});
  ExpectRefused(&v1::Questions::Stub::CountGangs, without_pods, grpc::INVALID_ARGUMENT,
                "none (position 0) has no pod sets; want 1 or more");
  request.add_levels("row");
  ExpectRefused(&v1::Questions::Stub::CountGangs, request, grpc::INVALID_ARGUMENT,
                "flavor main has no level row");
}

TEST_F(OneRack, ExplainsWhyNot) {
  v1::ExplainRequest request;
  *request.mutable_workloads() = *ToProto(std::vector{MakeGang("five", 5), MakeGang("nine", 9)});
  const auto responses = Read(&v1::Questions::Stub::Explain, request);
  ASSERT_EQ(responses.size(), 2u);
  EXPECT_FALSE(responses[0].fits());
  EXPECT_FALSE(responses[0].never());
  EXPECT_EQ(responses[0].fewer_pods(), 4);
  ASSERT_EQ(responses[0].gone_size(), 2);
  EXPECT_EQ(responses[0].gone(0).name(), "a");
  EXPECT_EQ(responses[0].near_miss().level(), "rack");
  EXPECT_EQ(responses[0].near_miss().binding(0).resource(), "cpu");
  EXPECT_TRUE(responses[1].never());
  *request.mutable_victims() = VictimsNamed({"b"});
  EXPECT_EQ(Read(&v1::Questions::Stub::Explain, request)[0].gone_size(), 1);
}

// A proposal beside all that runs; where the state knows one of its key, in its place.
TEST_F(OneRack, ChecksProposals) {
  const auto check = [&](const std::string& name, const std::string& host) {
    Workload workload;
    workload.key = {"team", name};
    PodSet& pod_set = workload.pod_sets.emplace_back();
    pod_set.name = "main";
    pod_set.count = 2;
    pod_set.pod_template.requests = {{"cpu", 4000}};
    pod_set.topology_request.emplace().required = "rack";
    Admission& admission = workload.admission.emplace();
    admission.cluster_queue = "queue";
    PodSetAssignment& assignment = admission.pod_set_assignments.emplace_back();
    assignment.name = "main";
    assignment.count = 2;
    assignment.flavors = {{"cpu", "main"}};
    assignment.resource_usage = {{"cpu", 8000}};
    assignment.topology_assignment =
        TopologyAssignment{{std::string(kHostnameLabel)}, {{{host}, 2}}};
    workload.conditions = {{"QuotaReserved", "True", "", ""}};
    v1::ValidateRequest request;
    WorkloadTablesWriter tables(request);
    *request.add_workloads() = ToProto(workload, tables);
    v1::ValidateResponse response;
    grpc::ClientContext context;
    const grpc::Status status = stub_->Validate(&context, request, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    EXPECT_EQ(response.workloads(), 1);
    return response;
  };
  EXPECT_EQ(check("c", "host-2").faults_size(), 0);
  EXPECT_EQ(check("b", "host-1").faults_size(), 0);  // where it runs
  const v1::ValidateResponse beside = check("c", "host-1");
  ASSERT_EQ(beside.faults_size(), 1);
  EXPECT_EQ(beside.faults(0).workload().name(), "c");
  EXPECT_THAT(beside.faults(0).problem(), testing::HasSubstr("host-1"));
  EXPECT_THAT(check("c", "host-9").faults(0).problem(), testing::HasSubstr("host-9"));
  EXPECT_EQ(server_.Summary().state().generation(), 1u);
}

// Chunks of the two kinds, on random clusters whose flavors may share nodes.
TEST_F(QuestionsTest, AnswersAreThoseOfStatesBuiltAnew) {
  std::int64_t fitting = 0;
  std::int64_t questions = 0;
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Random random(seed);
    ClusterStateInput input = RandomCluster(random);
    if (seed % 3 == 0) input.flavors.push_back({"other", {}, {}, {}, "tree"});
    std::vector<AdmittedUsage> running;
    std::vector<std::string> names;
    for (std::size_t i = 0; i < 12; ++i) {
      names.push_back(fmt::format("w{}", i));
      running.push_back(Running(names.back(), {input.nodes[random.Below(input.nodes.size())].name},
                                static_cast<std::int32_t>(1 + random.Below(2))));
      if (seed % 3 == 0 && random.Below(2)) running.back().usage[0].flavor = "other";
    }
    ASSERT_NO_FATAL_FAILURE(Load(input, running));
    const std::vector<WorkloadRequest> workloads = RandomWorkloads(random, 4);
    v1::WhatIfRequest request;
    *request.mutable_workloads() = *ToProto(workloads);
    *request.mutable_victims() = VictimsNamed(names);
    request.set_placements(seed % 2);
    request.set_domain_naming(v1::DOMAIN_NAMING_NAME);
    for (const Node& node : input.nodes) {
      request.add_strings(node.name);
      request.add_drained_nodes(static_cast<std::uint32_t>(request.strings_size()));
    }
    request.add_victim_offsets(0);
    request.add_drained_offsets(0);
    std::vector<WorkloadRequest> asked;
    std::vector<WorkloadAnswer> expected;
    for (int q = 0; q < 80; ++q) {
      const auto workload = static_cast<std::uint32_t>(q / 20);
      request.add_question_workloads(workload);
      ClusterStateInput changed = input;
      for (std::uint32_t v = 0; v < running.size(); ++v) {
        if (random.Below(3) == 0) {
          request.add_question_victims(v);
        } else {
          changed.tas_usage.insert(changed.tas_usage.end(), running[v].usage.begin(),
                                   running[v].usage.end());
        }
      }
      request.add_victim_offsets(static_cast<std::uint32_t>(request.question_victims_size()));
      for (std::uint32_t n = 0; n < input.nodes.size() && random.Below(4) == 0; ++n) {
        request.add_question_drained(n);
        changed.nodes[n].unschedulable = true;
      }
      request.add_drained_offsets(static_cast<std::uint32_t>(request.question_drained_size()));
      const auto state = ClusterState::Build(changed);
      asked.push_back(workloads[workload]);
      expected.push_back(Engine(MakeCpuBackend(1), gates_).NominateOne(*state, asked.back()));
    }
    std::vector<WorkloadAnswer> answers;
    std::vector<bool> fits;
    for (const auto& response : Read(&v1::Questions::Stub::WhatIf, request)) {
      const auto first = answers.size();
      const auto count = static_cast<std::size_t>(response.fits_size());
      fits.insert(fits.end(), response.fits().begin(), response.fits().end());
      if (!request.placements()) continue;
      WorkBudget budget;
      const auto batch =
          FromProto(std::span(asked).subspan(first, count), response.answers(), budget);
      ASSERT_TRUE(batch) << batch.error().message;
      answers.insert(answers.end(), batch->begin(), batch->end());
    }
    if (request.placements()) {
      EXPECT_EQ(answers, expected);
    }
    ASSERT_EQ(fits.size(), expected.size());
    for (std::size_t q = 0; q < fits.size(); ++q) {
      ASSERT_EQ(fits[q], expected[q].FirstFailure() == nullptr) << "question " << q;
      fitting += static_cast<std::int64_t>(fits[q]);
    }
    questions += std::ssize(fits);
  }
  EXPECT_GT(fitting, questions / 10);
  EXPECT_LT(fitting, questions * 9 / 10);
}

// A state that changes between two messages of a stream ends it, and says where the state is now.
TEST_F(OneRack, SaysWhereAStateIsThatChangesMeanwhile) {
  request_.set_placements(true);
  request_.add_strings("host-3");
  request_.add_drained_nodes(1);
  request_.clear_question_workloads();
  request_.clear_victim_offsets();
  request_.clear_question_victims();
  request_.add_drained_offsets(0);
  for (int i = 0; i < 64 * 5; ++i) {
    request_.add_question_workloads(0);
    request_.add_question_drained(0);
    request_.add_drained_offsets(static_cast<std::uint32_t>(i) + 1);
  }
  server_.backend->Close();
  grpc::ClientContext context;
  const auto reader = stub_->WhatIf(&context, request_);
  server_.backend->WaitEntered(1);
  v1::UpdateStateRequest update;
  *update.mutable_base() = position_;
  v1::UpdateStateResponse updated;
  grpc::ClientContext context_of_update;
  EXPECT_TRUE(server_.cluster_state->UpdateState(&context_of_update, update, &updated).ok());
  server_.backend->Open();
  for (v1::WhatIfResponse response; reader->Read(&response);) {
    EXPECT_EQ(response.state().generation(), position_.generation());
  }
  EXPECT_EQ(CurrentOf(reader->Finish()).generation(), updated.state().generation());
}

// The deadline of a client ends the work between two messages at the latest.
TEST_F(OneRack, StopsAtTheDeadline) {
  request_.set_placements(true);
  request_.clear_question_workloads();
  request_.clear_victim_offsets();
  request_.clear_question_victims();
  for (int i = 0; i < 64 * 5; ++i) request_.add_question_workloads(0);
  server_.backend->Close();
  // A later one each time, until the call arrives before it.
  for (std::chrono::milliseconds timeout(200); server_.backend->entered() == 0; timeout *= 2) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + timeout);
    EXPECT_EQ(stub_->WhatIf(&context, request_)->Finish().error_code(), grpc::DEADLINE_EXCEEDED);
  }
  server_.backend->WaitStopped();  // the server's clock comes to it a little later
  server_.backend->Open();
  EXPECT_TRUE(server_.server->Drain(std::chrono::minutes(1)));
  EXPECT_LE(server_.backend->entered(), 64);  // of the first message
}

}  // namespace
}  // namespace espalier::questions_test
