// Who must go for many workloads: both back ends say the same, in order, which is what is said of
// each workload alone.
#include <fmt/format.h>

#include "espalier/v1/questions.grpc.pb.h"
#include "host/cuda/device_backend.hpp"
#include "host/cuda/emulated_device.hpp"
#include "service/wire/answers.hpp"
#include "service/wire/feature_gates.hpp"
#include "service/wire/questions.hpp"
#include "service/wire/workloads.hpp"
#include "tests/differential/victims.hpp"
#include "tests/server/questions_fixture.hpp"

namespace espalier::victim_batches_test {
namespace {

using differential::VictimBatch;

constexpr std::uint64_t kSeeds = 100;

v1::FindVictimsRequest ToMessage(const VictimBatch& batch) {
  v1::FindVictimsRequest message;
  *message.mutable_workloads() = *ToProto(batch.requests);
  WriteFeatureGates(batch.made.instance.gates, *message.mutable_feature_gates());
  message.set_domain_naming(v1::DOMAIN_NAMING_NAME);
  std::vector<RunningWorkload> running;
  for (const Victim& victim : batch.made.victims) {
    running.push_back({{"team", victim.name}, victim, /*priority=*/0});
  }
  *message.mutable_victims() = ToProto(running);
  message.add_victim_offsets(0);
  for (std::size_t w = 0; w < batch.requests.size(); ++w) {
    const auto& list = batch.lists.size() == 1 ? batch.lists[0] : batch.lists[w];
    message.mutable_workload_victims()->Add(list.begin(), list.end());
    message.add_victim_offsets(static_cast<std::uint32_t>(message.workload_victims_size()));
  }
  return message;
}

// A server on one back end.
class Asked {
 public:
  explicit Asked(std::shared_ptr<Backend> backend) : server_({}, std::move(backend)) {}

  // Returns the messages without the position, which is each server's own.
  std::vector<v1::FindVictimsResponse> Ask(const VictimBatch& batch) {
    const grpc::Status loaded = server_.Load(batch.made.instance.cluster, nullptr);
    EXPECT_TRUE(loaded.ok()) << loaded.error_message();
    grpc::ClientContext context;
    const auto reader = stub_->FindVictims(&context, ToMessage(batch));
    std::vector<v1::FindVictimsResponse> responses;
    for (v1::FindVictimsResponse response; reader->Read(&response);) {
      response.clear_state();
      responses.push_back(response);
    }
    const grpc::Status ended = reader->Finish();
    EXPECT_TRUE(ended.ok()) << ended.error_message();
    return responses;
  }

 private:
  TestServer server_;
  std::unique_ptr<v1::Questions::Stub> stub_ = v1::Questions::NewStub(server_.channel);
};

PrefixAnswer ToAnswer(const WorkloadRequest& request, const v1::FindVictimsResponse& response) {
  WorkBudget budget;
  auto answers = FromProto(std::span(&request, 1), response.answers(), budget);
  EXPECT_TRUE(answers) << answers.error().message;
  return {response.fits(),
          response.prefix(),
          {response.targets().begin(), response.targets().end()},
          answers ? std::move(answers->front()) : WorkloadAnswer()};
}

PrefixAnswer Alone(const VictimBatch& batch, std::size_t w, const ClusterState& state) {
  const auto& list = batch.lists.size() == 1 ? batch.lists[0] : batch.lists[w];
  std::vector<Victim> victims;
  for (const std::uint32_t victim : list) victims.push_back(batch.made.victims[victim]);
  auto found = FindPrefix(Engine(MakeCpuBackend(1), batch.made.instance.gates), state,
                          batch.requests[w], victims);
  EXPECT_TRUE(found) << found.error().message;
  if (!found) return {};
  for (std::size_t& target : found->targets) target = list[target];
  return *std::move(found);
}

TEST(VictimBatches, AnswersAreThoseOfEachAloneOnBothBackEnds) {
  DeviceBackendOptions options;
  options.every_batch = true;
  const std::shared_ptr<DeviceBackend> device = *DeviceBackend::Make(
      "emulated", [] { return MakeEmulatedDevice(); }, MakeCpuBackend(1), options);
  Asked cpu(MakeCpuBackend(2));
  Asked on_device(device);
  int later = 0;
  for (std::uint64_t seed = 0; seed < kSeeds && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    const VictimBatch batch = differential::GenerateVictimBatch(seed);
    const auto state = ClusterState::Build(batch.made.instance.cluster);
    ASSERT_TRUE(state) << state.error().message;
    const auto responses = cpu.Ask(batch);
    const auto same = on_device.Ask(batch);
    ASSERT_EQ(responses.size(), batch.requests.size());
    ASSERT_EQ(same.size(), responses.size());
    for (std::size_t w = 0; w < responses.size(); ++w) {
      EXPECT_EQ(responses[w].workload(), w);
      EXPECT_EQ(same[w].SerializeAsString(), responses[w].SerializeAsString());
      EXPECT_EQ(ToAnswer(batch.requests[w], responses[w]), Alone(batch, w, *state));
      later += static_cast<int>(responses[w].prefix() > 0);
    }
  }
  EXPECT_GT(later, 50);
  EXPECT_GT(device->status().jobs_on_device, 0u);
  EXPECT_EQ(device->status().faults, 0u);
}

}  // namespace
}  // namespace espalier::victim_batches_test
