// Limits, health and the end of a server.
#include <semaphore>
#include <thread>
#include <utility>

#include <google/protobuf/descriptor.h>
#include <grpcpp/generic/generic_stub.h>

#include "tests/server/faulty_backend.hpp"
#include "tests/server/health_client.hpp"
#include "tests/server/test_server.hpp"

namespace espalier::lifecycle_test {
namespace {

constexpr auto kLong = std::chrono::minutes(1);

TEST(Reflection, IsOfferedByFlagOnly) {
  for (const bool reflection : {true, false}) {
    ServerOptions options;
    options.reflection = reflection;
    TestServer server(options);
    grpc::GenericStub stub(server.channel);
    grpc::ClientContext context;
    grpc::CompletionQueue queue;
    const auto call = stub.PrepareCall(
        &context, "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo", &queue);
    void* tag = nullptr;
    bool ok = false;
    call->StartCall(nullptr);
    queue.Next(&tag, &ok);
    call->WritesDone(nullptr);
    queue.Next(&tag, &ok);
    grpc::Status status;
    call->Finish(&status, nullptr);
    queue.Next(&tag, &ok);
    EXPECT_EQ(status.error_code(), reflection ? grpc::OK : grpc::UNIMPLEMENTED);
  }
}

TEST(Limits, AnOversizeMessageIsRefused) {
  ServerOptions options;
  options.max_message_bytes = 2000;
  TestServer server(options);
  ASSERT_TRUE(server.Load(ClusterStateInput()).ok());
  v1::PlaceRequest request = MakePlaceRequest({MakeGang(std::string(3000, 'x'), 1)});
  EXPECT_EQ(server.Place(request).error_code(), grpc::RESOURCE_EXHAUSTED);
  EXPECT_TRUE(server.Place(MakePlaceRequest({})).ok());
}

TEST(Limits, AFullQueueRefusesAndRecovers) {
  ServerOptions options;
  options.workers = 1;
  options.max_queued_calls = 1;
  TestServer server(options);
  ASSERT_TRUE(server.Load(SmallCluster()).ok());
  const auto request = MakePlaceRequest({MakeGang("a", 1)});

  server.backend->Close();
  std::vector<grpc::Status> statuses(3);
  std::vector<std::thread> calls;
  std::counting_semaphore<> over(0);
  const auto call = [&](std::size_t i) {
    calls.emplace_back([&, i] {
      statuses[i] = server.Place(request);
      over.release();
    });
  };
  call(0);
  server.backend->WaitEntered(1);
  call(1);  // one of these two waits and the other is refused, whichever comes second
  call(2);
  over.acquire();
  server.backend->Open();
  for (std::thread& thread : calls) thread.join();
  EXPECT_TRUE(statuses[0].ok());
  if (statuses[1].ok()) std::swap(statuses[1], statuses[2]);
  EXPECT_EQ(statuses[1].error_code(), grpc::RESOURCE_EXHAUSTED) << statuses[1].error_message();
  EXPECT_TRUE(statuses[2].ok()) << statuses[2].error_message();
  EXPECT_TRUE(server.Place(request).ok());
}

TEST(Deadline, WorkPastItIsNeverStarted) {
  ServerOptions options;
  options.workers = 1;
  TestServer server(options);
  ASSERT_TRUE(server.Load(SmallCluster()).ok());
  const auto request = MakePlaceRequest({MakeGang("a", 1)});

  server.backend->Close();
  std::thread running([&] { EXPECT_TRUE(server.Place(request).ok()); });
  server.backend->WaitEntered(1);
  EXPECT_EQ(server.Place(request, nullptr, std::chrono::milliseconds(50)).error_code(),
            grpc::DEADLINE_EXCEEDED);  // waits behind the first
  server.Summary();                    // on the same connection: the server has heard of the end
  server.backend->Open();
  running.join();
  EXPECT_TRUE(server.Place(request).ok());
  EXPECT_EQ(server.backend->entered(), 2);  // the first and the last
}

TEST(Health, FollowsTheLifeOfTheServer) {
  TestServer server;
  HealthClient health(server.channel);
  EXPECT_EQ(health.Check(""), "SERVING");
  EXPECT_EQ(health.Check("espalier.v1.ClusterState"), "SERVING");
  EXPECT_EQ(health.Check("espalier.v1.Ungating"), "SERVING");
  for (const char* service :
       {"espalier.v1.Placement", "espalier.v1.Questions", "espalier.v1.Scheduling"}) {
    EXPECT_EQ(health.Check(service), "NOT_SERVING");
  }
  ASSERT_TRUE(server.Load(SmallCluster()).ok());
  for (const char* service :
       {"espalier.v1.Placement", "espalier.v1.Questions", "espalier.v1.Scheduling"}) {
    EXPECT_EQ(health.Check(service), "SERVING");
  }
  EXPECT_EQ(health.Check("unknown"), "NOT_FOUND");

  server.backend->Close();
  std::thread call([&] { EXPECT_TRUE(server.Place(MakePlaceRequest({MakeGang("a", 1)})).ok()); });
  server.backend->WaitEntered(1);
  std::thread drain([&] { EXPECT_TRUE(server.server->Drain(kLong)); });
  while (health.Check("") == "SERVING") std::this_thread::yield();
  EXPECT_EQ(health.Check(""), "NOT_SERVING");
  EXPECT_EQ(health.Check("espalier.v1.Placement"), "NOT_SERVING");
  server.backend->Open();
  call.join();
  drain.join();
}

// A lost device is no reason not to serve: the CPU answers, and health says so.
TEST(Health, SaysWhetherTheDeviceAnswers) {
  const auto plan = std::make_shared<FaultPlan>();
  TestServer server({}, MakeFaultyBackend(plan));
  HealthClient health(server.channel);
  EXPECT_EQ(health.Check("device"), "SERVING");
  ASSERT_TRUE(server.Load(SmallCluster()).ok());
  const auto request = MakePlaceRequest({MakeGang("a", 1)});
  v1::PlaceResponse on_device;
  EXPECT_TRUE(server.Place(request, &on_device).ok());

  plan->fail_at = 1;
  v1::PlaceResponse on_cpu;
  EXPECT_TRUE(server.Place(request, &on_cpu).ok());
  EXPECT_EQ(on_cpu.answers().SerializeAsString(), on_device.answers().SerializeAsString());
  EXPECT_EQ(health.Check("device"), "NOT_SERVING");
  EXPECT_EQ(health.Check("espalier.v1.Placement"), "SERVING");
  EXPECT_EQ(health.Check(""), "SERVING");

  plan->fail_at = -1;
  EXPECT_TRUE(server.Place(request).ok());
  EXPECT_EQ(health.Check("device"), "SERVING");
}

TEST(Health, WithoutADeviceThereIsNothingToSay) {
  TestServer server;
  EXPECT_EQ(HealthClient(server.channel).Check("device"), "NOT_FOUND");
}

TEST(Drain, FinishesWhatRunsAndRefusesWhatComes) {
  TestServer server;
  ASSERT_TRUE(server.Load(SmallCluster()).ok());
  const auto request = MakePlaceRequest({MakeGang("a", 1)});
  server.backend->Close();
  std::thread running([&] { EXPECT_TRUE(server.Place(request).ok()); });
  server.backend->WaitEntered(1);
  std::thread drain([&] { EXPECT_TRUE(server.server->Drain(kLong)); });
  // A call that computes nothing is answered before the drain, and refused from then on.
  grpc::Status summary;
  do {
    grpc::ClientContext context;
    v1::GetStateSummaryResponse response;
    summary = server.cluster_state->GetStateSummary(&context, {}, &response);
  } while (summary.ok());
  const grpc::Status refused = server.Place(request);
  EXPECT_EQ(refused.error_code(), grpc::UNAVAILABLE);
  EXPECT_NE(refused.error_message().find("draining"), std::string::npos);
  server.backend->Open();
  running.join();
  drain.join();
}

TEST(Drain, CutsOffAStuckCallAfterThePatience) {
  TestServer server;
  ASSERT_TRUE(server.Load(SmallCluster()).ok());
  server.backend->Close();
  grpc::Status status;
  std::thread stuck([&] { status = server.Place(MakePlaceRequest({MakeGang("a", 1)})); });
  server.backend->WaitEntered(1);
  EXPECT_FALSE(server.server->Drain(std::chrono::milliseconds(10)));
  stuck.join();  // the caller is released although the computation still hangs
  EXPECT_FALSE(status.ok());
  EXPECT_FALSE(server.server->Drain(kLong));  // told again
}

TEST(Drain, OfAnIdleServerIsQuietAndFinal) {
  TestServer server;
  EXPECT_TRUE(server.server->Drain(kLong));
  EXPECT_TRUE(server.server->Drain(kLong));
  EXPECT_EQ(server.Place(MakePlaceRequest({})).error_code(), grpc::UNAVAILABLE);
}

TEST(Drain, DoesNotWaitForAHealthWatch) {
  TestServer server;
  HealthClient health(server.channel);
  const auto watch = health.Watch();
  EXPECT_TRUE(server.server->Drain(kLong));
}

}  // namespace
}  // namespace espalier::lifecycle_test
