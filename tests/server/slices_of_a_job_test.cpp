// Slices of an elastic job that are loaded under a key each: questions take them as one victim.
#include "service/wire/questions.hpp"
#include "tests/server/questions_fixture.hpp"

namespace espalier::slices_of_a_job_test {
namespace {

// One rack: `a` on host-0, and of an elastic job a slice on each of the next two hosts.
class OneRackWithSlices : public QuestionsTest {
 protected:
  void SetUp() override {
    Load(SmallCluster(1), {Running("a", {"host-0"}), Running("train", {"host-1"}), Newest()});
    *six_.mutable_workloads() = *ToProto(std::vector{MakeGang("six", 6)});
  }

  // The slice that is to replace `train`, of a priority of its own.
  static AdmittedUsage Newest() {
    AdmittedUsage slice = Running("train-2", {"host-2"}, 2, 7);
    slice.quota_reserved_seconds = 2;
    slice.job = "train";
    return slice;
  }

  std::vector<v1::FindVictimsResponse> AskWhoMustGo(const std::vector<std::string>& victims) {
    *six_.mutable_victims() = VictimsNamed(victims);
    return Read(&v1::Questions::Stub::FindVictims, six_);
  }

  grpc::Status Update(const AdmittedUsage& workload) {
    v1::UpdateStateRequest update = ToProto(StateDelta{.set_workloads = {workload}});
    *update.mutable_base() = position_;
    grpc::ClientContext context;
    v1::UpdateStateResponse response;
    const grpc::Status status = server_.cluster_state->UpdateState(&context, update, &response);
    position_ = response.state();
    return status;
  }

  v1::FindVictimsRequest six_;
};

TEST_F(OneRackWithSlices, AllGoWithTheOneThatIsNamed_W5_5) {
  for (const char* slice : {"train", "train-2"}) {
    const auto responses = AskWhoMustGo({slice, "a"});
    ASSERT_EQ(responses.size(), 1u);
    EXPECT_TRUE(responses[0].fits());
    EXPECT_EQ(responses[0].prefix(), 1u);
    EXPECT_THAT(responses[0].targets(), testing::ElementsAre(0));
    EXPECT_THAT(responses[0].answers().domains(), testing::ElementsAre(1, 2, 3));

    v1::WhatIfRequest request;
    *request.mutable_workloads() = six_.workloads();
    *request.mutable_victims() = VictimsNamed({"a", slice});
    for (const std::uint32_t victim : {0, 1}) {
      request.add_question_workloads(0);
      request.add_question_victims(victim);
    }
    for (const std::uint32_t offset : {0, 1, 2}) request.add_victim_offsets(offset);
    for (const bool placements : {false, true}) {
      request.set_placements(placements);
      EXPECT_EQ(AskWhatIf(request), (std::vector{false, true}));
    }
  }
}

TEST_F(OneRackWithSlices, CountAsOneOfTheNewestsPriority_W5_5) {
  six_.set_cheapest(true);
  const auto responses = AskWhoMustGo({"train", "a"});
  ASSERT_EQ(responses[0].domains_size(), 1);
  ASSERT_EQ(responses[0].domains(0).sets_size(), 1);
  EXPECT_THAT(responses[0].domains(0).sets(0).victims(), testing::ElementsAre(0));
  EXPECT_EQ(responses[0].domains(0).sets(0).priority(), 7);
}

TEST_F(OneRackWithSlices, AreTriedTogetherUnderTheNewest_W5_5) {
  v1::ExplainRequest request;
  WorkloadRequest own = MakeGang("train", 6);
  own.key.namespace_ = "team";
  *request.mutable_workloads() =
      *ToProto(std::vector{MakeGang("four", 4), MakeGang("six", 6), own});
  const auto gone = [&](std::size_t workload) {
    const auto responses = Read(&v1::Questions::Stub::Explain, request);
    std::vector<std::string> names;
    for (const auto& name : responses.at(workload).gone()) names.push_back(name.name());
    return names;
  };
  EXPECT_THAT(gone(0), testing::ElementsAre("a", "train-2"));
  EXPECT_THAT(gone(1), testing::ElementsAre("train-2"));
  EXPECT_THAT(gone(2), testing::IsEmpty());  // nobody makes room for their own job
  *request.mutable_victims() = VictimsNamed({"train"});
  EXPECT_THAT(gone(1), testing::ElementsAre("train"));  // as it was named
  EXPECT_THAT(gone(2), testing::IsEmpty());
}

TEST_F(OneRackWithSlices, AreNamedByOneOfThem_W5_5) {
  *six_.mutable_victims() = VictimsNamed({"train-2", "a", "train"});
  ExpectRefused(&v1::Questions::Stub::FindVictims, six_, grpc::INVALID_ARGUMENT,
                "victim team/train: it is a slice of the same job as team/train-2; name one of "
                "them, and all slices go");
  // A victim gives back the usage of all slices.
  RunningWorkload job{{"team", "train"}, {"team/train", {}}, 0};
  for (const AdmittedUsage& slice : {Running("train", {"host-1"}), Newest()}) {
    job.victim.usage.push_back(slice.usage.front());
  }
  *six_.mutable_victims() = ToProto(std::vector{job});
  EXPECT_TRUE(Read(&v1::Questions::Stub::FindVictims, six_)[0].fits());
  job.victim.usage[1].usage.Set("cpu", 8001);
  *six_.mutable_victims() = ToProto(std::vector{job});
  ExpectRefused(&v1::Questions::Stub::FindVictims, six_, grpc::INVALID_ARGUMENT,
                "victim team/train: it is to give back 8001 cpu on host-2, of which it uses 8000");
}

TEST_F(OneRackWithSlices, AreOfTheJobThatTheLastUpdateSays) {
  AdmittedUsage slice = Newest();
  slice.job = "another";
  ASSERT_TRUE(Update(slice).ok());
  EXPECT_EQ(AskWhoMustGo({"train", "train-2"})[0].targets_size(), 2);
  slice.job = "train-2";  // its own name
  ASSERT_TRUE(Update(slice).ok());
  EXPECT_EQ(AskWhoMustGo({"train", "train-2"})[0].targets_size(), 2);
  ASSERT_TRUE(Update(Newest()).ok());
  EXPECT_EQ(AskWhoMustGo({"train"})[0].targets_size(), 1);
  ASSERT_TRUE(Update({{"team", "train"}, 0, 0, {}}).ok());  // the slice that was replaced has ended
  EXPECT_TRUE(AskWhoMustGo({"train-2"})[0].fits());
  AdmittedUsage third = Running("train-3", {"host-1"});
  third.job = "train";
  ASSERT_TRUE(Update(third).ok());
  EXPECT_EQ(AskWhoMustGo({"train-3"})[0].targets_size(), 1);
  ASSERT_TRUE(Update({{"team", "train-3"}, 0, 0, {}}).ok());
  ASSERT_TRUE(Update({{"team", "train-2"}, 0, 0, {}}).ok());
  EXPECT_EQ(server_.Summary().workloads(), 1);
}

}  // namespace
}  // namespace espalier::slices_of_a_job_test
