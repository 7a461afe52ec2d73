// Small messages that ask for a lot of memory: the server stays within what it was told to use, and
// others are answered meanwhile.
#include <chrono>
#include <thread>

#include <gtest/gtest.h>

#include "espalier/v1/server.pb.h"
#include "tests/attack/client.hpp"
#include "tests/attack/http2.hpp"
#include "tests/attack/messages.hpp"
#include "tests/attack/sound_questions.hpp"

namespace espalier::attack::memory_test {
namespace {

// An attack on a server, beside which another client is answered.
class MemoryAttack : public testing::Test {
 protected:
  void Start(int nodes, ServerMemory memory, const std::vector<std::string>& flags = {}) {
    server_ = std::make_unique<ServerProcess>(flags, memory);
    client_ = std::make_unique<Client>(server_->address());
    client_->Load(Cluster(nodes));
    bystander_ = std::make_unique<Bystander>(server_->tcp_address());
  }

  void SetUp() override {
    if (kSanitized) GTEST_SKIP() << "the sanitizer's memory would be measured";
  }

  // Either answered or refused for its size.
  static void ExpectBounded(const Reply& reply) {
    EXPECT_TRUE(reply.ok() || reply.code() == grpc::RESOURCE_EXHAUSTED) << reply.Text();
  }

  // Asks what is either answered or refused for its size, and waits until the memory that it held
  // is given back, a moment after the answer.
  void ExpectBoundedAndGivenBack(const std::string& method, const v1::PlaceRequest& request) {
    const std::int64_t before = HeldBytes();
    ExpectBounded(client_->Call(method, request));
    const auto end = std::chrono::steady_clock::now() + kPatience;
    while (HeldBytes() > before + kMiB && std::chrono::steady_clock::now() < end) {
      std::this_thread::yield();
    }
    EXPECT_LE(HeldBytes(), before + kMiB) << "with the calls of the bystander";
  }

  std::int64_t HeldBytes() {
    return client_->Call(kServerStatus, std::string())
        .As<v1::ServerStatusResponse>()
        .memory_held_bytes();
  }

  void TearDown() override {
    if (!server_) return;
    EXPECT_TRUE(bystander_->AnsweredOnceMore());
    EXPECT_EQ(bystander_->Stop(), "");
    ASSERT_TRUE(server_->Running());
    EXPECT_LE(server_->PeakBytes(), server_->memory().MostResident());
    RecordProperty("peak_mib", static_cast<int>(server_->PeakBytes() / kMiB));
  }

  std::unique_ptr<ServerProcess> server_;
  std::unique_ptr<Client> client_;
  std::unique_ptr<Bystander> bystander_;
};

// 281 KiB that ask for 1,000,000,000 places.
TEST_F(MemoryAttack, OfManyGangsOfManyPods) {
  Start(131'072, {.all = 2048 * kMiB, .call = 1024 * kMiB});
  const auto request = Gangs({.gangs = 10'000, .pods = 100'000, .cpu = 8000});
  const Reply reply = client_->Call(kPlace, request, 5 * kPatience);
  EXPECT_EQ(reply.code(), grpc::RESOURCE_EXHAUSTED) << reply.Text();
}

TEST_F(MemoryAttack, OfManyReplacementsInOneAssignment) {
  Start(10'000, {.all = 1024 * kMiB, .call = 512 * kMiB});
  ExpectBounded(client_->Call(kReplace, Replacements(1000, 10'000)));
}

TEST_F(MemoryAttack, OfOneWorkloadOfManyPodSets) {
  Start(1000, {.all = 256 * kMiB, .call = 64 * kMiB});
  for (const int pod_sets : {4000, 40'000}) {
    ExpectBoundedAndGivenBack(kPlace, WorkloadWithPodSets(pod_sets));
    ExpectBoundedAndGivenBack(kPlace, WorkloadInGroups(pod_sets));
  }
}

TEST_F(MemoryAttack, OfOneWorkloadOfManyPreviousAssignments) {
  Start(1000, {.all = 256 * kMiB, .call = 64 * kMiB});
  for (const char* method : {kPlace, kReplace}) {
    ExpectBoundedAndGivenBack(method, WorkloadThatGrows(40'000, 1));
    ExpectBoundedAndGivenBack(method, WorkloadThatGrows(4000, 1000));
    ExpectBoundedAndGivenBack(method, WorkloadThatGrows(40'000, 1000));
  }
}

TEST_F(MemoryAttack, OfManyFlavorsOfAllNodes) {
  Start(16, {.all = 512 * kMiB, .call = 256 * kMiB});
  ExpectBounded(client_->Stream(kLoadState, Serialized(ClusterWithFlavors(2000, 20'000))));
}

TEST_F(MemoryAttack, OfNodesWithAResourceOfTheirOwn) {
  Start(16, {.all = 384 * kMiB, .call = 192 * kMiB});
  ExpectBounded(client_->Stream(kLoadState, Serialized(ClusterWithResources(10'000))));
}

TEST_F(MemoryAttack, OfACycleOfEmptyWorkloads) {
  Start(16, {.all = 512 * kMiB, .call = 256 * kMiB});
  ExpectBounded(client_->Call(kCycle, CycleOfEmptyWorkloads(8'000'000)));
}

TEST_F(MemoryAttack, OfEmptyPodsToUngate) {
  Start(16, {.all = 512 * kMiB, .call = 256 * kMiB});
  ExpectBounded(client_->Call(kUngate, UngateOfEmptyPods(16'000'000)));
}

TEST_F(MemoryAttack, OfEmptyNodesInAnUpdate) {
  Start(16, {.all = 512 * kMiB, .call = 256 * kMiB});
  std::string request = SoundRequest(kUpdateState);
  for (int i = 0; i < 16'000'000; ++i) request.append("\x22\x00", 2);  // upsert_nodes
  const Reply reply = client_->Call(kUpdateState, request);
  EXPECT_FALSE(reply.ok());
}

TEST_F(MemoryAttack, OfAClientThatAsksAndNeverReads) {
  Start(20'000, {.all = 512 * kMiB, .call = 256 * kMiB}, {"--idle-seconds", "1"});
  ASSERT_TRUE(bystander_->AnsweredOnceMore());
  const std::int64_t before = server_->ResidentBytes();
  // 8 MB and more for each answer.
  const std::string request =
      Gangs({.gangs = 100, .pods = 20'000, .cpu = 8000}).SerializeAsString();
  std::vector<std::unique_ptr<DeafConnection>> connections;
  for (int i = 0; i < 10; ++i) {
    connections.push_back(std::make_unique<DeafConnection>(server_->socket_path()));
    for (int call = 0; call < 20; ++call) connections.back()->Ask(kPlace, request);
  }
  // Those who never read keep nothing for long, once their calls have been computed.
  for (int i = 0; i < 20; ++i) ExpectBounded(client_->Call(kPlace, request));
  EXPECT_TRUE(server_->ResidentFallsTo(before + 128 * kMiB));
}

TEST_F(MemoryAttack, OfBigCallsLeavesNothingBehind) {
  Start(131'072, {.all = 2048 * kMiB, .call = 1024 * kMiB});
  ASSERT_TRUE(bystander_->AnsweredOnceMore());
  const std::int64_t before = server_->ResidentBytes();
  for (int i = 0; i < 4; ++i) {
    const auto request = Gangs({.gangs = 100, .pods = 100'000, .cpu = 8000});
    std::vector<std::unique_ptr<PendingCall>> calls;
    for (int call = 0; call < 4; ++call) calls.push_back(client_->Start(kPlace, request));
    for (const auto& call : calls) ExpectBounded(call->Wait());
  }
  EXPECT_TRUE(server_->ResidentFallsTo(before + 128 * kMiB))
      << before / kMiB << " MiB before, " << server_->ResidentBytes() / kMiB << " MiB after";
}

}  // namespace
}  // namespace espalier::attack::memory_test
