// espalier.v1.Dispatching over a connection: as Place on each state alone.
#include <map>
#include <set>

#include "espalier/v1/dispatch.grpc.pb.h"
#include "tests/server/test_server.hpp"

namespace espalier::dispatch_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class RemoteDispatch : public testing::Test {
 protected:
  grpc::Status Call(const v1::DispatchRequest& request) {
    grpc::ClientContext context;
    response_.Clear();
    return v1::Dispatching::NewStub(server_.channel)->Dispatch(&context, request, &response_);
  }

  static v1::DispatchRequest Request(const std::vector<WorkloadRequest>& workloads,
                                     const std::vector<std::string>& states = {}) {
    v1::DispatchRequest request;
    *request.mutable_workloads() = *ToProto(workloads);
    for (const std::string& state : states) request.add_states()->set_state_name(state);
    return request;
  }

  // The states of the answer to a workload, best first.
  std::vector<std::string> Order(int workload) const {
    std::vector<std::string> names;
    for (const v1::StateFit& fit : response_.workloads(workload).fits()) {
      names.push_back(response_.states(static_cast<int>(fit.state())).state_name());
    }
    return names;
  }

  const std::string& Text(std::uint32_t reference) const {
    static const std::string kNone;
    return reference == 0 ? kNone : response_.strings(static_cast<int>(reference - 1));
  }

  TestServer server_;
  v1::DispatchResponse response_;
};

TEST_F(RemoteDispatch, UnknownComesBeforeNoAndIsNoError) {  // W6.6
  ASSERT_TRUE(server_.Load(SmallCluster(1), nullptr, "small").ok());
  ASSERT_TRUE(server_.Load(SmallCluster(4), nullptr, "large").ok());
  const grpc::Status status =
      Call(Request({MakeGang("a", 10, "block")}, {"small", "nowhere", "large"}));
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_THAT(Order(0), ElementsAre("large", "nowhere", "small"));
  const v1::WorkloadFits& fits = response_.workloads(0);
  EXPECT_EQ(fits.fits(0).status(), v1::FIT_STATUS_FITS);
  ASSERT_EQ(fits.fits(0).pod_sets_size(), 1);
  EXPECT_EQ(Text(fits.fits(0).pod_sets(0).level()), "block");
  EXPECT_EQ(fits.fits(0).pod_sets(0).domains(), 5);
  EXPECT_EQ(fits.fits(1).status(), v1::FIT_STATUS_UNKNOWN);
  EXPECT_EQ(Text(fits.fits(1).reason()), "nothing is known of its state");
  EXPECT_EQ(fits.fits(2).status(), v1::FIT_STATUS_DOES_NOT_FIT);
  EXPECT_THAT(Text(fits.fits(2).reason()), HasSubstr("pod set main: "));
  EXPECT_FALSE(response_.states(1).has_state());
  EXPECT_EQ(response_.states(2).state().generation(), 1u);
}

TEST_F(RemoteDispatch, WithoutStatesAllNamedOnesAreAsked) {
  ASSERT_TRUE(server_.Load(SmallCluster(1)).ok());
  ASSERT_TRUE(server_.Load(SmallCluster(1), nullptr, "b").ok());
  ASSERT_TRUE(server_.Load(SmallCluster(1), nullptr, "a").ok());
  ASSERT_TRUE(Call(Request({MakeGang("w", 1)})).ok());
  EXPECT_THAT(Order(0), ElementsAre("a", "b"));
  ASSERT_TRUE(Call(Request({MakeGang("w", 1)}, {"", "b"})).ok());
  EXPECT_THAT(Order(0), ElementsAre("", "b"));
}

TEST_F(RemoteDispatch, AFlavorThatAStateDoesNotHaveIsANo) {
  ASSERT_TRUE(server_.Load(SmallCluster(1), nullptr, "a").ok());
  WorkloadRequest other = MakeGang("w", 1);
  other.pod_sets[0].flavor = "gpu";
  ASSERT_TRUE(Call(Request({other, MakeGang("w", 1)})).ok());
  EXPECT_EQ(Text(response_.workloads(0).fits(0).reason()),
            "the state has no flavor \"gpu\" with a topology");
  EXPECT_EQ(response_.workloads(1).fits(0).status(), v1::FIT_STATUS_FITS);
}

TEST_F(RemoteDispatch, NamesWhatIsWrong) {
  v1::StatePosition position;
  ASSERT_TRUE(server_.Load(SmallCluster(1), &position, "a").ok());
  EXPECT_EQ(Call(Request({MakeGang("w", 1)}, {"a", "a"})).error_message(),
            "states[1].state_name: \"a\" comes twice; distinct ones expected");
  v1::DispatchRequest stale = Request({MakeGang("w", 1)}, {"a"});
  *stale.mutable_states(0)->mutable_state() = position;
  stale.mutable_states(0)->mutable_state()->set_generation(7);
  EXPECT_EQ(Call(stale).error_code(), grpc::FAILED_PRECONDITION);
  WorkloadRequest placed = MakeGang("w", 2);
  placed.pod_sets[0].previous_assignment =
      TopologyAssignment{{std::string(kHostnameLabel)}, {{{"host-0"}, 1}}};
  const grpc::Status status = Call(Request({placed}, {"a"}));
  EXPECT_EQ(status.error_code(), grpc::INVALID_ARGUMENT);
  EXPECT_THAT(status.error_message(), HasSubstr("default/w (position 0) has pods in place"));
}

// Many random clusters and workloads, each answer held to Place on that state alone.
TEST_F(RemoteDispatch, AnswersAsPlaceOnEachStateAlone) {
  Random random(7);
  std::vector<std::string> names;
  for (int i = 0; i < 6; ++i) {
    names.push_back("c" + std::to_string(i));
    ASSERT_TRUE(server_.Load(RandomCluster(random), nullptr, names.back()).ok());
  }
  std::vector<WorkloadRequest> workloads;
  for (int i = 0; i < 60; ++i) {
    WorkloadRequest& workload = workloads.emplace_back();
    workload.key = {"default", "w" + std::to_string(i)};
    workload.pod_sets = {RandomPodSet(random, "main")};
    if (i % 3 == 0) workload.pod_sets.push_back(RandomPodSet(random, "more"));
  }
  ASSERT_TRUE(Call(Request(workloads, names)).ok());
  for (std::size_t c = 0; c < names.size(); ++c) {
    v1::PlaceRequest request = MakePlaceRequest(workloads);
    request.set_state_name(names[c]);
    v1::PlaceResponse alone;
    ASSERT_TRUE(server_.Place(request, &alone).ok());
    int first = 0;
    for (int w = 0; w < static_cast<int>(workloads.size()); ++w) {
      const auto& fits = response_.workloads(w).fits();
      const auto fit = std::ranges::find(fits, c, &v1::StateFit::state);
      ASSERT_NE(fit, fits.end());
      bool placed = true;
      std::vector<std::int64_t> domains;
      const int end = first + static_cast<int>(workloads[w].pod_sets.size());
      for (int p = first; p < end; ++p) {
        placed = placed && alone.answers().outcomes(p) != v1::POD_SET_OUTCOME_FAILED;
        domains.push_back(alone.answers().domain_offsets(p + 1) -
                          alone.answers().domain_offsets(p));
      }
      first = end;
      EXPECT_EQ(fit->status() == v1::FIT_STATUS_FITS, placed);
      if (!placed) continue;
      std::vector<std::int64_t> answered;
      for (const v1::PodSetFit& pod_set : fit->pod_sets()) answered.push_back(pod_set.domains());
      EXPECT_EQ(answered, domains);
    }
  }
}

}  // namespace
}  // namespace espalier::dispatch_test
