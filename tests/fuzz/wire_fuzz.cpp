// Messages from the network. The first byte says which; the rest is the message.
#include "fallback_cpu/cpu_backend.hpp"
#include "host/engine/engine.hpp"
#include "service/wire/address.hpp"
#include "service/wire/answers.hpp"
#include "service/wire/cluster_state.hpp"
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

std::vector<WorkloadRequest> Reread(const v1::WorkloadBatch& message) {
  ExpansionBudget budget{8 * kBudget};
  auto requests = FromProto(message, budget);
  Expect(requests.has_value(), "what is written can be read");
  return std::move(*requests);
}

void Place(const std::vector<WorkloadRequest>& requests) {
  auto state = ClusterState::Build(SmallCluster());
  const Engine engine(MakeCpuBackend(1), FeatureGates{});
  const auto answers = engine.PlaceInOrder(*state, requests);
  const auto written = ToProto(requests, answers, {});
  if (!written) return;  // an answer repeats an assignment of the request the wire cannot say
  ExpansionBudget budget{8 * kBudget};
  const auto reread = FromProto(requests, *written, budget);
  Expect(reread.has_value(), "an answer that is written can be read");
}

void RunWorkloads(std::string_view bytes) {
  v1::WorkloadBatch message;
  if (!Parse(bytes, message)) return;
  ExpansionBudget budget{kBudget};
  const auto requests = FromProto(message, budget);
  if (!requests) return;
  const auto written = ToProto(*requests);
  Expect(written.has_value(), "what was read can be written");
  const auto rewritten = ToProto(Reread(*written));
  Expect(rewritten && written->SerializeAsString() == rewritten->SerializeAsString(),
         "writing and reading change nothing");
  if (requests->size() <= 16) Place(*requests);
}

void RunLoad(std::string_view bytes) {
  v1::LoadStateRequest message;
  if (!Parse(bytes, message)) return;
  ExpansionBudget budget{kBudget};
  ClusterStateInput input;
  if (!AppendChunk(message, 0, budget, input)) return;
  ClusterStateInput reread;
  ExpansionBudget more{8 * kBudget};
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
  ExpansionBudget budget{kBudget};
  if (Parse(bytes, message)) std::ignore = FromProto(message, budget);
}

void RunAnswers(std::string_view bytes) {
  v1::AnswerBatch message;
  if (!Parse(bytes, message)) return;
  ExpansionBudget budget{kBudget};
  std::ignore = FromProto(SampleRequests(1, 4), message, budget);
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
    case 'c':
      return RunAddress(message);
    default:
      return;
  }
}

}  // namespace espalier::fuzz
