// A server whose memory runs out in the middle of an evaluation says so, keeps its state, and
// answers the same question when it is asked again.
#include "tests/failing_allocation.hpp"

#include <functional>
#include <memory>
#include <vector>

#include "host/live/state_store.hpp"
#include "service/server/dispatch_service.hpp"
#include "tests/server/same_state.hpp"
#include "tests/server/test_server.hpp"

namespace espalier::failing_allocation_test {
namespace {

// Fails one allocation of all that evaluations make.
class BackendOutOfMemory : public Backend {
 public:
  std::string_view name() const override { return "cpu"; }

  void Evaluate(std::span<const PlacementJob> jobs, std::span<const Evaluation> asked,
                PlacementColumns& answers) override {
    if (fail_at_ < 0) return cpu_->Evaluate(jobs, asked, answers);
    const FailingAllocation failing(fail_at_, AllocationsOf::kThisThread);
    failed_ = true;  // unless it gets to the end
    cpu_->Evaluate(jobs, asked, answers);
    failed_ = failing.failed();
    fail_at_ = -1;  // one evaluation of a call
  }

  void FailAt(std::int64_t number) { fail_at_ = number; }
  // Returns whether the allocation was reached.
  bool failed() const { return failed_; }

 private:
  const std::shared_ptr<Backend> cpu_ = MakeCpuBackend(1);  // in the thread of the call
  std::int64_t fail_at_ = -1;
  bool failed_ = false;
};

class ServerOutOfMemory : public testing::TestWithParam<v1::PlacementMode> {
 protected:
  v1::PlaceRequest Request() const {
    std::vector<WorkloadRequest> gangs;
    for (int i = 0; i < 6; ++i) {
      const std::string level = i % 2 == 0 ? "rack" : "block";
      gangs.push_back(MakeGang("gang-" + std::to_string(i), 1 + 3 * i, level));
    }
    return MakePlaceRequest(gangs, GetParam());
  }
};

TEST_P(ServerOutOfMemory, AnswersTheSameAfterwards) {
  const auto backend = std::make_shared<BackendOutOfMemory>();
  TestServer server({}, backend);
  v1::PlaceRequest request = Request();
  const ClusterStateInput cluster = SmallCluster();
  ASSERT_TRUE(server.Load(cluster).ok());
  v1::PlaceResponse right;
  ASSERT_TRUE(server.Place(request, &right).ok());
  request.set_commit(GetParam() == v1::PLACEMENT_MODE_SEQUENTIAL);
  std::int64_t number = 0;
  for (bool failed = true; failed; ++number) {
    SCOPED_TRACE(number);
    ASSERT_TRUE(server.Load(cluster).ok());
    const std::uint64_t generation = server.Summary().state().generation();
    backend->FailAt(number);
    const grpc::Status status = server.Place(request);
    backend->FailAt(-1);
    failed = backend->failed();
    if (!status.ok()) {
      EXPECT_TRUE(failed);
      EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
      EXPECT_EQ(status.error_message(), "out of memory; ask for less at once");
      EXPECT_EQ(server.Summary().state().generation(), generation) << "booked";
      v1::PlaceResponse response;
      ASSERT_TRUE(server.Place(request, &response).ok());
      EXPECT_EQ(response.answers().SerializeAsString(), right.answers().SerializeAsString());
    }
  }
  EXPECT_GT(number, 10);
}

// A dispatch does not know the state, whether it is named or found among all.
TEST(StateThatLostItsContents, IsUnknownToADispatch) {
  NamedStates states(1);
  Node changed = SmallCluster().nodes[1];
  changed.allocatable.Set("gpu", 1);
  std::shared_ptr<StateStore> store;
  for (std::int64_t number = 0; number == 0 || store->Current()->position.generation > 0;
       ++number) {
    const StatePosition loaded = *states.Load("east", SmallCluster());
    store = *states.Find("east");
    ASSERT_TRUE(FailAllocation(number, AllocationsOf::kThisThread, [&] {
      static_cast<void>(store->Update(loaded, {.upsert_nodes = {changed}}));
    })) << "no failure unloads the state";
  }
  for (const bool named : {false, true}) {
    v1::DispatchRequest request;
    if (named) request.add_states()->set_state_name("east");
    std::vector<DispatchTarget> asked;
    ASSERT_TRUE(FindDispatchTargets(states, request, asked).ok());
    ASSERT_EQ(asked.size(), 1U);
    EXPECT_EQ(asked[0].name, "east");
    EXPECT_EQ(asked[0].snapshot, nullptr);
  }
}

// A change whose memory runs out leaves the state as it was, or nothing loaded.
class StateStoreOutOfMemory : public testing::Test {
 protected:
  // Makes each allocation of a change fail in turn.
  void FailEach(const std::function<void(StateStore&)>& change) {
    std::int64_t unloaded = 0;
    for (std::int64_t number = 0;; ++number) {
      SCOPED_TRACE(number);
      StateStore store;
      StatePosition loaded = *store.Load(SmallCluster());
      ClusterState booked = store.Current()->state.Branch();
      booked.AddUsage(kBooked);
      loaded = *store.Book(loaded, std::move(booked));
      if (!FailAllocation(number, AllocationsOf::kThisThread, [&] { change(store); })) break;
      if (store.Current()->position.generation == 0) {
        ++unloaded;
        EXPECT_EQ(store.CurrentChecked()->checksum, 0U);
        EXPECT_FALSE(store.Update(loaded, {}));
        ASSERT_TRUE(store.Load(SmallCluster()));
        EXPECT_NE(store.Current()->position, loaded);
      }
      const StatePosition now = *store.Update(store.Current()->position, {});
      const auto built = ClusterState::Build(store.LoadedAt(now)->input);
      ASSERT_TRUE(built);
      ExpectSame(store.Current()->state, *built);
    }
    EXPECT_GT(unloaded, 0);
  }

  const std::vector<FlavorLeafUsage> kBooked = {
      {"tas", SmallCluster().nodes[0].name, {{"gpu", 1}, {"pods", 1}}}};
};

TEST_F(StateStoreOutOfMemory, NeverKeepsHalfOfAnUpdate) {
  Node changed = SmallCluster().nodes[1];
  changed.allocatable.Set("gpu", 1);
  FailEach([&](StateStore& store) {
    static_cast<void>(store.Update(store.Current()->position, {.upsert_nodes = {changed}}));
  });
  FailEach([&](StateStore& store) {
    static_cast<void>(store.Update(store.Current()->position, {.set_tas_usage = kBooked}));
  });
}

TEST_F(StateStoreOutOfMemory, NeverKeepsHalfOfABookingOrAQuestion) {
  FailEach([&](StateStore& store) {
    ClusterState booked = store.Current()->state.Branch();
    booked.AddUsage(kBooked);
    static_cast<void>(store.Book(store.Current()->position, std::move(booked)));
  });
  FailEach([](StateStore& store) { static_cast<void>(store.CurrentChecked()); });
  Node joins = SmallCluster().nodes[1];
  joins.allocatable.Set("gpu", 1);
  FailEach([&](StateStore& store) {
    static_cast<void>(store.With(store.Current()->position, {.delta = {.upsert_nodes = {joins}}}));
  });
}

INSTANTIATE_TEST_SUITE_P(, ServerOutOfMemory,
                         testing::Values(v1::PLACEMENT_MODE_NOMINATE,
                                         v1::PLACEMENT_MODE_SEQUENTIAL));

}  // namespace
}  // namespace espalier::failing_allocation_test
