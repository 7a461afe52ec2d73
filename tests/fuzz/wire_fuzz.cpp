// Messages from the network. The first byte says which; the rest is the message. What can be read
// is answered as the services do, and survives being written and read again.
#include <algorithm>

#include "espalier/v1/placement.grpc.pb.h"
#include "fallback_cpu/cpu_backend.hpp"
#include "fallback_cpu/nested_cpu.hpp"
#include "host/engine/assignments.hpp"
#include "host/engine/engine.hpp"
#include "host/kueue/cycle/scheduling_cycle.hpp"
#include "host/kueue/objects/ungater.hpp"
#include "host/nested/place_nested.hpp"
#include "host/packing/flavor_state.hpp"
#include "service/server/atlas_answers.hpp"
#include "service/server/move_plans.hpp"
#include "service/server/replay_answers.hpp"
#include "service/server/victim_answers.hpp"
#include "service/server/what_if_answers.hpp"
#include "service/wire/address.hpp"
#include "service/wire/answers.hpp"
#include "service/wire/cluster_state.hpp"
#include "service/wire/feature_gates.hpp"
#include "service/wire/gangs.hpp"
#include "service/wire/nested.hpp"
#include "service/wire/place_response.hpp"
#include "service/wire/questions.hpp"
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

  ResolvedShapeCache known;
  WorkBudget budget(kBudget);
  const auto gangs = ReadGangs(message, *state, gates, known, budget);
  if (!gangs) return;
  const auto again = ReadGangs(message, *state, gates, known, budget);
  Expect(again && again->shapes == gangs->shapes, "shapes are known again");
  const auto written = [&](const GangBatch& batch, const GangAnswers& answers) {
    grpc::ByteBuffer bytes =
        ToBytes({}, RowsToProto(*gangs, batch, answers, *state, false), *gangs, answers, *state);
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
  std::vector<AdmittedUsage> workloads;
  if (!AppendChunk(message, 0, budget, input, workloads)) return;
  ClusterStateInput reread;
  std::vector<AdmittedUsage> workloads_reread;
  WorkBudget more{8 * kBudget};
  const auto read = [&](const v1::LoadStateRequest& chunk) {
    Expect(AppendChunk(chunk, 0, more, reread, workloads_reread).has_value(),
           "a chunk that is written can be read");
    return true;
  };
  ToChunks(input, read, "", workloads);
  Expect(input.nodes == reread.nodes && input.topologies == reread.topologies &&
             input.flavors == reread.flavors && input.non_tas_usage == reread.non_tas_usage &&
             input.tas_usage == reread.tas_usage && workloads == workloads_reread,
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

void Decide(Cluster cluster, const FeatureGates& gates, const v1::CycleRequest& message) {
  ClusterStateInput loaded = SmallCluster();
  cluster.nodes = std::move(loaded.nodes);
  cluster.topologies = std::move(loaded.topologies);
  cluster.flavors = std::move(loaded.flavors);
  const Engine engine(MakeCpuBackend(1), gates);
  const auto result = RunSchedulingCycles(
      std::move(cluster), engine,
      {.until_stable = message.until_stable(),
       .joint_replacement = message.profile() == v1::PLACEMENT_PROFILE_ESPALIER});
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
  if (gates && cluster->workloads.size() <= 16) Decide(*cluster, *gates, message);
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

// Returns the state that questions are asked about: two jobs run, one of them in two slices.
FoundState StateForQuestions() {
  auto store = std::make_shared<StateStore>();
  const std::vector<AdmittedUsage> running = {
      {{"", "a"}, 0, 0, {{"main", "host-0", {{"cpu", 8000}, {"pods", 2}}}}},
      {{"", "b"}, 1, 0, {{"main", "host-5", {{"cpu", 4000}, {"pods", 1}}}}},
      {{"", "c"}, 1, 0, {{"main", "host-6", {{"cpu", 4000}, {"pods", 1}}}}, "b"}};
  const auto loaded = store->Load(SmallCluster(), WorkBudget::Unlimited(), running);
  Expect(loaded.has_value(), "a sound state");
  return {store, store->Current()};
}

// Opens a question about at most 16 workloads. Returns false where it is refused.
template <class Message>
bool OpenQuestion(const Message& message, QuestionContext& asked) {
  return ReadWorkloads(message.feature_gates(), message.workloads(), message.domain_naming(), asked)
             .ok() &&
         asked.workloads.size() <= 16;
}

// Whatever is asked about a state is answered or refused, to its end. Hands each message to `see`.
template <class Response, class Answers, class See>
bool AnswerAll(Answers& answers, const WorkBudget& budget, const See& see) {
  for (bool more = true; more;) {
    Response response;
    const Result<bool> next = answers.Next(response);
    if (!next) {
      Expect(budget.stopped(), "what was looked at is answered", next.error().message);
      return false;
    }
    see(response);
    more = *next;
  }
  return true;
}

void RunWhatIf(std::string_view bytes) {
  v1::WhatIfRequest message;
  if (!Parse(bytes, message)) return;
  WorkBudget budget(kBudget);
  QuestionContext asked{
      .found = StateForQuestions(), .backend = MakeCpuBackend(1), .budget = &budget};
  const std::shared_ptr<StateStore> store = asked.found.store;
  if (!OpenQuestion(message, asked) || message.question_workloads_size() > 256) return;
  WhatIfAnswers answers(std::move(asked));
  if (!answers.Read(message)) return;
  int answered = 0;
  const auto count = [&](const v1::WhatIfResponse& response) { answered += response.fits_size(); };
  if (!AnswerAll<v1::WhatIfResponse>(answers, budget, count)) return;
  Expect(answered == message.question_workloads_size(), "each question has an answer");
  Expect(store->Current()->position.generation == 1, "questions change nothing");
}

void RunFindVictims(std::string_view bytes) {
  v1::FindVictimsRequest message;
  if (!Parse(bytes, message)) return;
  WorkBudget budget(kBudget);
  QuestionContext asked{
      .found = StateForQuestions(), .backend = MakeCpuBackend(1), .budget = &budget};
  const std::shared_ptr<StateStore> store = asked.found.store;
  if (!OpenQuestion(message, asked) || message.victims().names_size() > 8) return;
  VictimAnswers answers(std::move(asked));
  if (!answers.Read(message)) return;
  const int victims = message.victims().names_size();
  const auto known = [&](std::uint32_t victim) { return static_cast<int>(victim) < victims; };
  // The victims of the first workload are looked at when they are searched.
  v1::FindVictimsResponse response;
  for (Result<bool> more = true; more && *more;) {
    response.Clear();
    more = answers.Next(response);
    Expect(std::ranges::all_of(response.targets(), known), "targets are victims");
    for (const v1::DomainVictims& domain : response.domains()) {
      Expect(!domain.sets().empty(), "a domain has a set");
      for (const v1::VictimSet& set : domain.sets()) {
        Expect(std::ranges::all_of(set.victims(), known), "sets are of victims");
      }
    }
  }
  Expect(store->Current()->position.generation == 1, "questions change nothing");
}

void RunAtlas(std::string_view bytes) {
  v1::AtlasRequest message;
  if (!Parse(bytes, message)) return;
  WorkBudget budget(kBudget);
  QuestionContext asked{
      .found = StateForQuestions(), .backend = MakeCpuBackend(1), .budget = &budget};
  const std::shared_ptr<StateStore> store = asked.found.store;
  const bool is_open =
      ReadWorkloads(message.feature_gates(), message.workloads(), v1::DOMAIN_NAMING_NAME, asked)
          .ok();
  if (!is_open || asked.workloads.size() > 16 || message.victims().names_size() > 8) return;
  const std::size_t workloads = asked.workloads.size();
  AtlasAnswers answers(std::move(asked));
  if (!answers.Read(message)) return;
  NamedAtlas atlas;
  const auto append = [&](const v1::AtlasResponse& response) {
    Expect(AppendFromProto(response, workloads, atlas).has_value(), "a part can be read");
  };
  if (!AnswerAll<v1::AtlasResponse>(answers, budget, append)) return;
  std::vector<int> rows(workloads);
  for (const NamedAtlas::Row& row : atlas.rows) {
    for (const std::size_t workload : row.requests) ++rows[workload];
  }
  Expect(std::ranges::count(rows, 1) == std::ssize(rows), "each workload has a row");
  Expect(store->Current()->position.generation == 1, "questions change nothing");
}

void RunReplay(std::string_view bytes) {
  v1::ReplayRequest message;
  if (!Parse(bytes, message)) return;
  WorkBudget budget(kBudget);
  QuestionContext asked{
      .found = StateForQuestions(), .backend = MakeCpuBackend(1), .budget = &budget};
  const std::shared_ptr<StateStore> store = asked.found.store;
  if (!OpenQuestion(message, asked)) return;
  const std::size_t workloads = asked.workloads.size();
  ReplayAnswers answers(std::move(asked));
  if (!answers.Read(message)) return;
  std::size_t answered = 0;
  const auto count = [&](const v1::ReplayResponse& response) {
    answered = std::min<std::size_t>(response.workload() + 1, workloads);
  };
  if (!AnswerAll<v1::ReplayResponse>(answers, budget, count)) return;
  Expect(answered == workloads, "each workload has an answer");
  Expect(store->Current()->position.generation == 1, "questions change nothing");
}

// Runs a question about moves, whose answer says which workloads move.
template <class Request, class Response, class MovedBy>
void RunMoves(std::string_view bytes,
              grpc::Status (*plan)(const Request&, const QuestionContext&, Response&),
              const MovedBy& moved_by) {
  Request message;
  if (!Parse(bytes, message)) return;
  WorkBudget budget(kBudget);
  QuestionContext asked{
      .found = StateForQuestions(), .backend = MakeCpuBackend(1), .budget = &budget};
  if (!OpenQuestion(message, asked)) return;
  Response response;
  if (!plan(message, asked, response).ok()) return;
  const auto known = [&](std::uint32_t position) { return position < asked.workloads.size(); };
  Expect(std::ranges::all_of(moved_by(response), known), "what moves was asked about");
  Expect(asked.found.store->Current()->position.generation == 1, "questions change nothing");
}

void RunDrain(std::string_view bytes) {
  RunMoves(bytes, PlanDrain, [](const v1::DrainResponse& response) { return response.moved(); });
}

void RunDefragment(std::string_view bytes) {
  RunMoves(bytes, PlanDefragment, [](const v1::DefragmentResponse& response) {
    std::vector<std::uint32_t> moved;
    for (const v1::FreedDomain& freed : response.freed()) {
      moved.insert(moved.end(), freed.moves().begin(), freed.moves().end());
    }
    return moved;
  });
}

// Reads an answer of a server, whatever it says.
void RunExplained(std::string_view bytes) {
  v1::ExplainResponse message;
  if (!Parse(bytes, message)) return;
  const Certificate found = FromProto(message);
  v1::ExplainResponse written;
  Write(found, written);
  v1::ExplainResponse rewritten;
  Write(FromProto(written), rewritten);
  Expect(SameBytes(written, rewritten), "writing and reading change nothing");
}

void RunValidate(std::string_view bytes) {
  v1::ValidateRequest message;
  WorkBudget budget(kBudget);
  if (Parse(bytes, message)) std::ignore = FromProto(message, budget);
}

// Groups of a tree, copies counted; many are as good as too many.
std::int64_t GroupsOf(const NestedGroup& group) {
  std::int64_t groups = 1;
  for (const NestedGroup& child : group.groups) groups += GroupsOf(child);
  return std::min<std::int64_t>(groups * std::clamp(group.copies, 1, 1 << 10), 1 << 20);
}

void RunNested(std::string_view bytes) {
  v1::NestedBatch message;
  if (!Parse(bytes, message)) return;
  WorkBudget budget(kBudget);
  auto requests = FromProto(message, budget);
  if (!requests) return;
  Expect(Reread(ToProto(*requests)) == *requests, "writing and reading change no tree");
  constexpr std::int64_t kFew = 64;
  const bool few = requests->size() <= 4 && std::ranges::all_of(*requests, [](const auto& one) {
                     return GroupsOf(one.root) <= kFew;
                   });
  if (!few) return;
  const auto runner = MakeNestedCpuRunner();
  for (const NestedProfile profile : {NestedProfile::kEspalier, NestedProfile::kKep5732}) {
    auto state = ClusterState::Build(SmallCluster());
    for (NestedRequest& request : *requests) request.profile = profile;
    const auto answers = PlaceNested(*runner, *state, *requests, PlacementMode::kSequential);
    WorkBudget more(8 * kBudget);
    const auto written = ToProto(answers, more);
    Expect(written.has_value(), "answers can be written");
    const auto received = FromProto(*written, requests->size(), more);
    Expect(received && *received == answers, "answers arrive as they were sent");
  }
}

void RunNestedAnswers(std::string_view bytes) {
  v1::NestedAnswerBatch message;
  if (!Parse(bytes, message)) return;
  WorkBudget budget(kBudget);
  const auto answers =
      FromProto(message, static_cast<std::size_t>(message.workloads_size()), budget);
  if (!answers) return;
  WorkBudget more(8 * kBudget);
  const auto written = ToProto(*answers, more);
  if (!written) return;
  const auto received = FromProto(*written, answers->size(), more);
  Expect(received && *received == *answers, "writing and reading change no answer");
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
    case 'q':
      return RunWhatIf(message);
    case 'f':
      return RunFindVictims(message);
    case 't':
      return RunAtlas(message);
    case 'r':
      return RunReplay(message);
    case 'k':
      return RunDrain(message);
    case 'b':
      return RunDefragment(message);
    case 'e':
      return RunExplained(message);
    case 'v':
      return RunValidate(message);
    case 'n':
      return RunNested(message);
    case 'm':
      return RunNestedAnswers(message);
    case 'c':
      return RunAddress(message);
    default:
      return;
  }
}

}  // namespace espalier::fuzz
