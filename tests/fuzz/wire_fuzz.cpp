// Messages from the network. The first byte says which; the rest is the message. What can be read
// is answered as the services do, and survives being written and read again.
#include <algorithm>

#include "espalier/v1/placement.grpc.pb.h"
#include "fallback_cpu/cpu_backend.hpp"
#include "host/engine/assignments.hpp"
#include "host/engine/engine.hpp"
#include "host/kueue/scheduling_cycle.hpp"
#include "host/kueue/ungater.hpp"
#include "host/packing/flavor_state.hpp"
#include "service/wire/address.hpp"
#include "service/wire/answers.hpp"
#include "service/wire/cluster_state.hpp"
#include "service/wire/feature_gates.hpp"
#include "service/wire/gangs.hpp"
#include "service/wire/place_response.hpp"
#include "service/wire/scheduling.hpp"
#include "service/wire/ungating.hpp"
#include "service/wire/workloads.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "tests/server/small_cluster.hpp"
#include "tests/wire/wire_samples.hpp"

namespace espalier::fuzz {
namespace {

constexpr std::int64_t kBudget = std::int64_t{16} << 20;  // bytes

template <class Message>
bool Parse(std::string_view bytes, Message& message) {
  return message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

bool SameBytes(const google::protobuf::MessageLite& a, const google::protobuf::MessageLite& b) {
  return a.SerializeAsString() == b.SerializeAsString();
}

// Reads `message`, with more to spend than what it was made from had.
template <class Message, class... Context>
auto Reread(const Message& message, const Context&... context) {
  WorkBudget budget(8 * kBudget);
  auto value = FromProto(context..., message, budget);
  Expect(value.has_value(), "what is written can be read");
  return std::move(*value);
}

// Answers are the same after the way to the client. Returns them with domains by index.
v1::AnswerBatch CheckAnswers(const ClusterState& state,
                             const std::vector<WorkloadRequest>& requests,
                             const std::vector<WorkloadAnswer>& answers) {
  const auto named = ToProto(requests, answers, {});
  Expect(named.has_value(), "answers can be written");
  Expect(Reread(*named, std::span(requests)) == answers, "answers arrive as they were sent");
  for (int d = 0; d < named->added_counts_size(); ++d) {
    Expect(named->added_counts(d) >= 0 && named->added_counts(d) <= named->counts(d),
           "no more pods are added than there are");
  }

  auto indexed = ToProto(requests, answers, [&](const std::string& flavor, const auto& values) {
    const FlavorState* found = state.Find(flavor);
    const LeafId leaf = found ? found->snapshot().FindLeaf(DomainIdText(values)) : LeafId();
    return leaf.valid() ? std::optional(leaf.value) : std::nullopt;
  });
  Expect(indexed && std::ranges::equal(indexed->counts(), named->counts()),
         "naming changes no count");
  return *std::move(indexed);
}

void Place(const v1::WorkloadBatch& message, const std::vector<WorkloadRequest>& requests,
           const FeatureGates& gates) {
  const auto state = ClusterState::Build(SmallCluster());
  const auto backend = MakeCpuBackend(1);
  const Engine engine(backend, gates);
  ClusterState scratch = state->Clone();
  const auto nominated = CheckAnswers(*state, requests, engine.Nominate(*state, requests));
  const auto ordered = CheckAnswers(*state, requests, engine.PlaceInOrder(scratch, requests));

  KnownGangShapes known;
  WorkBudget budget(kBudget);
  const auto gangs = ReadGangs(message, *state, gates, known, budget);
  if (!gangs) return;
  const auto again = ReadGangs(message, *state, gates, known, budget);
  Expect(again && again->shapes == gangs->shapes, "shapes are known again");
  const auto written = [&](const GangBatch& batch, const GangAnswers& answers) {
    grpc::ByteBuffer bytes =
        ToBytes({}, RowsToProto(*gangs, batch, answers, *state), *gangs, answers);
    v1::PlaceResponse response;
    Expect(grpc::SerializationTraits<v1::PlaceResponse>::Deserialize(&bytes, &response).ok(),
           "answers can be read");
    return response.answers();
  };
  GangAnswers answers;
  GangBatch batch(*state, gangs->shapes);
  batch.Nominate(*backend, gangs->gangs, answers);
  Expect(SameBytes(written(batch, answers), nominated), "gangs nominated alike");
  scratch = state->Clone();
  GangBatch in_order(scratch, gangs->shapes);
  in_order.PlaceInOrder(*backend, scratch, gangs->gangs, answers);
  Expect(SameBytes(written(in_order, answers), ordered), "gangs placed alike");
}

void RunBatch(const v1::WorkloadBatch& message, const FeatureGates& gates) {
  WorkBudget budget(kBudget);
  const auto requests = FromProto(message, budget);
  if (!requests) return;
  const auto written = ToProto(*requests);
  Expect(written.has_value(), "what was read can be written");
  const auto rewritten = ToProto(Reread(*written));
  Expect(rewritten && SameBytes(*written, *rewritten), "writing and reading change nothing");
  if (requests->size() <= 16) Place(message, *requests, gates);
}

void RunWorkloads(std::string_view bytes) {
  v1::WorkloadBatch message;
  if (Parse(bytes, message)) RunBatch(message, FeatureGates{});
}

// The gates decide whether a workload with pods in place may be resized.
void RunPlace(std::string_view bytes) {
  v1::PlaceRequest message;
  if (!Parse(bytes, message)) return;
  const auto gates = ApplyFeatureGates(message.feature_gates(), FeatureGates{});
  if (gates) RunBatch(message.workloads(), *gates);
}

void RunLoad(std::string_view bytes) {
  v1::LoadStateRequest message;
  if (!Parse(bytes, message)) return;
  WorkBudget budget(kBudget);
  ClusterStateInput input;
  if (!AppendChunk(message, 0, budget, input)) return;
  ClusterStateInput reread;
  WorkBudget more{8 * kBudget};
  ToChunks(input, [&](const v1::LoadStateRequest& chunk) {
    Expect(AppendChunk(chunk, 0, more, reread).has_value(), "a chunk that is written can be read");
    return true;
  });
  Expect(input.nodes == reread.nodes && input.topologies == reread.topologies &&
             input.flavors == reread.flavors && input.non_tas_usage == reread.non_tas_usage &&
             input.tas_usage == reread.tas_usage,
         "chunks keep everything");
  std::ignore = ClusterState::Build(input);
}

void RunUpdate(std::string_view bytes) {
  v1::UpdateStateRequest message;
  WorkBudget budget(kBudget);
  if (Parse(bytes, message)) std::ignore = FromProto(message, budget);
}

void RunAnswers(std::string_view bytes) {
  v1::AnswerBatch message;
  if (!Parse(bytes, message)) return;
  WorkBudget budget(kBudget);
  std::ignore = FromProto(SampleRequests(1, 4), message, budget);
}

void Decide(Cluster cluster, const FeatureGates& gates, bool until_stable) {
  ClusterStateInput loaded = SmallCluster();
  cluster.nodes = std::move(loaded.nodes);
  cluster.topologies = std::move(loaded.topologies);
  cluster.flavors = std::move(loaded.flavors);
  const Engine engine(MakeCpuBackend(1), gates);
  const auto result =
      RunSchedulingCycles(std::move(cluster), engine, {.until_stable = until_stable});
  Expect(result.has_value(), "queues and workloads break no state");
  const auto written = ToProto(*result);
  Expect(written.has_value(), "decisions can be written");
  const SchedulingCyclesResult reread = Reread(*written);
  Expect(reread.decisions == result->decisions && reread.cycles == result->cycles &&
             reread.notes == result->notes,
         "decisions arrive as they were sent");
}

void RunCycle(std::string_view bytes) {
  v1::CycleRequest message;
  if (!Parse(bytes, message)) return;
  WorkBudget budget(kBudget);
  const auto cluster = FromProto(message, budget);
  if (!cluster) return;
  const auto written = ToProto(*cluster);
  Expect(written.has_value(), "what was read can be written");
  Expect(Reread(*written) == *cluster, "writing and reading change no object");
  const auto gates = ApplyFeatureGates(message.feature_gates(), FeatureGates{});
  if (gates && cluster->workloads.size() <= 16) Decide(*cluster, *gates, message.until_stable());
}

void RunDecisions(std::string_view bytes) {
  v1::CycleResponse message;
  if (!Parse(bytes, message)) return;
  WorkBudget budget(kBudget);
  const auto result = FromProto(message, budget);
  if (!result) return;
  const auto written = ToProto(*result);
  Expect(written.has_value(), "what was read can be written");
  const SchedulingCyclesResult reread = Reread(*written);
  Expect(reread.decisions == result->decisions && reread.notes == result->notes,
         "writing and reading change no decision");
}

void RunUngate(std::string_view bytes) {
  v1::UngateRequest message;
  if (!Parse(bytes, message)) return;
  WorkBudget budget(kBudget);
  const auto request = FromProto(message, budget);
  if (!request) return;
  const auto written = ToProto(request->workload, request->pods);
  Expect(written.has_value(), "what was read can be written");
  const WorkloadToUngate reread = Reread(*written);
  Expect(reread.workload == request->workload && reread.pods == request->pods,
         "writing and reading change no object");
  const auto ungated = UngateWorkload(request->workload, request->pods);
  if (!ungated) return;
  const std::span<const Pod> pods = request->pods;
  WorkBudget more{8 * kBudget};
  const auto received = FromProto(ToProto(*ungated, pods), pods, more);
  Expect(received && *received == *ungated, "pods to ungate arrive as they were sent");
}

void RunUngated(std::string_view bytes) {
  v1::UngateResponse message;
  if (!Parse(bytes, message)) return;
  std::vector<Pod> pods(3);
  for (std::size_t i = 0; i < pods.size(); ++i) pods[i].key = {"ns", "pod-" + std::to_string(i)};
  WorkBudget budget(kBudget);
  const auto ungated = FromProto(message, pods, budget);
  if (!ungated) return;
  WorkBudget more{8 * kBudget};
  const auto reread = FromProto(ToProto(*ungated, pods), pods, more);
  Expect(reread && *reread == *ungated, "writing and reading change no pod");
}

void RunAddress(std::string_view text) {
  const auto address = ParseAddress(text);
  if (!address) return;
  const auto reread = ParseAddress(address->ToString());
  Expect(reread && reread->path == address->path && reread->host == address->host &&
             reread->port == address->port,
         "an address reads back", std::string(text));
}

}  // namespace

void RunOne(std::string_view bytes) {
  // Protobuf reports every string that is not UTF-8.
  [[maybe_unused]] static const auto silenced = google::protobuf::SetLogHandler(nullptr);
  if (bytes.empty()) return;
  const std::string_view message = bytes.substr(1);
  switch (bytes[0]) {
    case 'w':
      return RunWorkloads(message);
    case 'l':
      return RunLoad(message);
    case 'u':
      return RunUpdate(message);
    case 'a':
      return RunAnswers(message);
    case 'p':
      return RunPlace(message);
    case 'y':
      return RunCycle(message);
    case 'd':
      return RunDecisions(message);
    case 'g':
      return RunUngate(message);
    case 'o':
      return RunUngated(message);
    case 'c':
      return RunAddress(message);
    default:
      return;
  }
}

}  // namespace espalier::fuzz
