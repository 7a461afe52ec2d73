// Batches of what-if questions: both back ends say of every question the same, which is what they
// say of a state that is built anew with the question's changes, and what the oracle says.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "espalier/v1/questions.grpc.pb.h"
#include "host/cuda/device_backend.hpp"
#include "host/cuda/emulated_device.hpp"
#include "host/live/admitted_workloads.hpp"
#include "service/wire/answers.hpp"
#include "service/wire/feature_gates.hpp"
#include "service/wire/questions.hpp"
#include "tests/differential/generator.hpp"
#include "tests/differential/victims.hpp"
#include "tests/server/test_server.hpp"

namespace espalier::what_if_batches_test {
namespace {

constexpr std::uint64_t kSeeds = 250;
constexpr int kQuestions = 24;  // in a batch

// The changes of the state that one question is about, as positions in the batch's tables.
struct Question {
  std::uint32_t workload = 0;
  std::vector<std::uint32_t> gone;
  std::vector<std::uint32_t> drained;
  std::vector<std::uint32_t> upserted;
};

struct Batch {
  FeatureGates gates;
  ClusterStateInput cluster;  // with the usage of all victims
  std::vector<Victim> victims;
  std::vector<WorkloadRequest> workloads;
  std::vector<Node> upserted;
  std::vector<Question> questions;
};

// A node of the cluster that has more or less, or one that comes beside it.
Node AnyUpserted(Random& random, const std::vector<Node>& nodes, std::size_t number) {
  Node node = random.Pick(nodes);
  if (random.Chance(50)) {
    node.name = fmt::format("new-{}", number);
    node.labels.Set(kHostnameLabel, node.name);
  }
  node.ready = random.Chance(90);
  node.unschedulable = false;
  if (random.Chance(50)) node.taints.clear();
  for (const auto& [resource, amount] : Resources(node.allocatable)) {
    node.allocatable.Set(resource,
                         random.Chance(70) ? SaturatingMultiply(amount / 2, 3) : amount / 2);
  }
  return node;
}

Question AnyQuestion(Random& random, const Batch& batch) {
  Question question;
  question.workload =
      static_cast<std::uint32_t>(random.Between(0, std::ssize(batch.workloads) - 1));
  const int part = random.Pick({0, 20, 60, 100});
  for (std::uint32_t v = 0; v < batch.victims.size(); ++v) {
    if (random.Chance(part)) question.gone.push_back(v);
  }
  random.Shuffle(question.gone);
  if (random.Chance(60)) return question;  // nothing but usage changes
  std::map<std::string, int> changes;      // of each node
  for (std::uint32_t n = 0; n < batch.upserted.size(); ++n) {
    if (random.Chance(40) && ++changes[batch.upserted[n].name] == 1) question.upserted.push_back(n);
  }
  for (std::uint32_t n = 0; n < batch.cluster.nodes.size(); ++n) {
    if (random.Chance(15) && ++changes[batch.cluster.nodes[n].name] == 1) {
      question.drained.push_back(n);
    }
  }
  return question;
}

Batch GenerateBatch(std::uint64_t seed) {
  differential::VictimsInstance made = differential::GenerateVictims(seed);
  Batch batch{
      made.instance.gates, std::move(made.instance.cluster), std::move(made.victims), {}, {}, {}};
  Random random(seed ^ 0x5eed);
  batch.workloads.push_back(std::move(made.instance.request));
  for (int i = 0; i < 2; ++i) {
    batch.workloads.push_back(differential::GeneratePlainRequest(random, batch.cluster));
  }
  for (std::size_t i = 0; i < 4 && !batch.cluster.nodes.empty(); ++i) {
    batch.upserted.push_back(AnyUpserted(random, batch.cluster.nodes, i));
  }
  for (int q = 0; q < kQuestions; ++q) batch.questions.push_back(AnyQuestion(random, batch));
  return batch;
}

// The question's state and workload, told without any of the code that changes states.
differential::Instance BuiltAnew(const Batch& batch, const Question& question) {
  differential::Instance anew{batch.gates, batch.cluster, batch.workloads[question.workload]};
  anew.cluster.tas_usage =
      differential::UsageWithout(batch.cluster.tas_usage, batch.victims, question.gone);
  for (const std::uint32_t node : question.drained) anew.cluster.nodes[node].unschedulable = true;
  for (const std::uint32_t position : question.upserted) {
    const Node& node = batch.upserted[position];
    const auto known = std::ranges::find(anew.cluster.nodes, node.name, &Node::name);
    if (known == anew.cluster.nodes.end()) {
      anew.cluster.nodes.push_back(node);
    } else {
      *known = node;
    }
  }
  return anew;
}

// Returns the victim's usage as the state is to know it.
AdmittedUsage Admitted(const Victim& victim) {
  return InOrder({{"team", victim.name}, 0, 0, victim.usage});
}

// Returns whether a state can know it: it uses something, and no more than may be said of a
// workload.
bool CanBeKnown(const Victim& victim) {
  const AdmittedUsage admitted = Admitted(victim);
  return !admitted.usage.empty() &&
         std::ranges::all_of(victim.usage, [](const FlavorLeafUsage& entry) {
           return std::ranges::all_of(entry.usage, [](const auto& used) {
             return used.second >= 0 && used.second <= kMostAdmitted;
           });
         });
}

// Each victim with all that it holds; where `by_key`, the state knows that.
v1::WhatIfRequest ToMessage(const Batch& batch, bool by_key, bool placements) {
  v1::WhatIfRequest message;
  *message.mutable_workloads() = *ToProto(batch.workloads);
  WriteFeatureGates(batch.gates, *message.mutable_feature_gates());
  message.set_domain_naming(v1::DOMAIN_NAMING_NAME);
  message.set_placements(placements);
  std::vector<RunningWorkload> running;
  for (const Victim& victim : batch.victims) {
    running.push_back({{"team", victim.name}, victim, /*priority=*/0});
  }
  *message.mutable_victims() = ToProto(running);
  if (by_key) {
    v1::Victims& victims = *message.mutable_victims();
    const auto usage = victims.usage();
    victims.clear_usage();
    for (const v1::VictimUsage& row : usage) {
      if (!CanBeKnown(batch.victims[row.victim()])) *victims.add_usage() = row;
    }
  }
  StringTable strings(message.mutable_strings());
  for (const Node& node : batch.cluster.nodes) message.add_drained_nodes(strings.Ref(node.name));
  for (const Node& node : batch.upserted) Fill(node, strings, *message.add_upserted_nodes());
  message.add_victim_offsets(0);
  message.add_drained_offsets(0);
  message.add_upserted_offsets(0);
  const auto add = [](const std::vector<std::uint32_t>& list, auto& positions, auto& offsets) {
    positions.Add(list.begin(), list.end());
    offsets.Add(static_cast<std::uint32_t>(positions.size()));
  };
  for (const Question& question : batch.questions) {
    message.add_question_workloads(question.workload);
    add(question.gone, *message.mutable_question_victims(), *message.mutable_victim_offsets());
    add(question.drained, *message.mutable_question_drained(), *message.mutable_drained_offsets());
    add(question.upserted, *message.mutable_question_upserted(),
        *message.mutable_upserted_offsets());
  }
  return message;
}

// A server on one back end.
class Asked {
 public:
  explicit Asked(std::shared_ptr<Backend> backend) : server_({}, std::move(backend)) {}

  grpc::Status Load(const ClusterStateInput& input, const std::vector<AdmittedUsage>& workloads) {
    return server_.Load(input, nullptr, "", workloads);
  }

  // Returns the messages without the position, which is each server's own.
  std::vector<v1::WhatIfResponse> Ask(const v1::WhatIfRequest& request) {
    grpc::ClientContext context;
    const auto reader = stub_->WhatIf(&context, request);
    std::vector<v1::WhatIfResponse> responses;
    for (v1::WhatIfResponse response; reader->Read(&response);) {
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

std::vector<std::string> BytesOf(const std::vector<v1::WhatIfResponse>& responses) {
  std::vector<std::string> bytes;
  for (const v1::WhatIfResponse& response : responses) {
    bytes.push_back(response.SerializeAsString());
  }
  return bytes;
}

class WhatIfBatches : public testing::Test {
 protected:
  static std::shared_ptr<DeviceBackend> MakeDevice() {
    DeviceBackendOptions options;
    options.every_batch = true;
    return *DeviceBackend::Make(
        "emulated", [] { return MakeEmulatedDevice(); }, MakeCpuBackend(1), options);
  }

  // Loads the batch's state into both servers: of one seed in two the victims are known by key.
  bool Load(const Batch& batch, bool by_key) {
    ClusterStateInput input = batch.cluster;
    std::vector<AdmittedUsage> workloads;
    if (by_key) {
      std::vector<std::uint32_t> known;
      for (std::uint32_t v = 0; v < batch.victims.size(); ++v) {
        if (!CanBeKnown(batch.victims[v])) continue;
        known.push_back(v);
        workloads.push_back(Admitted(batch.victims[v]));
      }
      input.tas_usage = differential::UsageWithout(input.tas_usage, batch.victims, known);
    }
    for (Asked* asked : {&cpu_, &on_device_}) {
      const grpc::Status status = asked->Load(input, workloads);
      EXPECT_TRUE(status.ok()) << status.error_message();
      if (!status.ok()) return false;
    }
    return true;
  }

  // Expects the answers of a batch to be those of states that are built anew.
  void ExpectAsBuiltAnew(const Batch& batch, bool placements,
                         const std::vector<v1::WhatIfResponse>& responses) {
    std::vector<WorkloadRequest> asked;
    std::vector<WorkloadAnswer> expected;
    std::vector<bool> fits;
    for (const Question& question : batch.questions) {
      const differential::Instance anew = BuiltAnew(batch, question);
      const auto state = ClusterState::Build(anew.cluster);
      ASSERT_TRUE(state) << state.error().message;
      asked.push_back(anew.request);
      expected.push_back(Engine(plain_, anew.gates).NominateOne(*state, anew.request));
      fits.push_back(expected.back().FirstFailure() == nullptr);
      const auto difference =
          differential::Difference(differential::AskOracle(anew), expected.back());
      ASSERT_EQ(difference, std::nullopt) << *difference;
      fitting_ += static_cast<int>(fits.back());
    }
    std::vector<bool> answered;
    std::vector<WorkloadAnswer> answers;
    for (const v1::WhatIfResponse& response : responses) {
      const auto first = answered.size();
      answered.insert(answered.end(), response.fits().begin(), response.fits().end());
      if (!placements) continue;
      WorkBudget budget;
      const auto read = FromProto(std::span(asked).subspan(first, answered.size() - first),
                                  response.answers(), budget);
      ASSERT_TRUE(read) << read.error().message;
      answers.insert(answers.end(), read->begin(), read->end());
    }
    EXPECT_EQ(answered, fits);
    if (placements) {
      EXPECT_EQ(answers, expected);
    }
  }

  const std::shared_ptr<Backend> plain_ = MakeCpuBackend(1);
  const std::shared_ptr<DeviceBackend> device_ = MakeDevice();
  Asked cpu_{MakeCpuBackend(2)};
  Asked on_device_{device_};
  int fitting_ = 0;
};

TEST_F(WhatIfBatches, AnswersAreThoseOfStatesBuiltAnewOnBothBackEnds) {
  int questions = 0;
  for (std::uint64_t seed = 0; seed < kSeeds && !HasFailure(); ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    const Batch batch = GenerateBatch(seed);
    const bool by_key = seed % 2 == 1;
    if (!Load(batch, by_key)) return;
    for (const bool placements : {false, true}) {
      const v1::WhatIfRequest request = ToMessage(batch, by_key, placements);
      const std::vector<v1::WhatIfResponse> responses = cpu_.Ask(request);
      ASSERT_EQ(BytesOf(on_device_.Ask(request)), BytesOf(responses));
      ASSERT_NO_FATAL_FAILURE(ExpectAsBuiltAnew(batch, placements, responses));
      questions += kQuestions;
    }
  }
  // Questions are of use only where some fit and some do not.
  EXPECT_GT(fitting_, questions / 5);
  EXPECT_LT(fitting_, questions * 4 / 5);
  // Kept counts mostly tell whether it fits where only usage changes.
  EXPECT_GT(device_->status().jobs_on_device, static_cast<std::uint64_t>(questions / 2));
  EXPECT_EQ(device_->status().faults, 0u);
}

}  // namespace
}  // namespace espalier::what_if_batches_test
