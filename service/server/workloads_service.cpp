#include "service/server/workloads_service.hpp"

#include <optional>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "host/kueue/planning/placement_plan.hpp"
#include "host/kueue/planning/planned_answers.hpp"
#include "host/model/excerpt.hpp"
#include "host/webhooks/refused_jobs.hpp"
#include "host/what_if/empty_nodes.hpp"
#include "service/server/batch_checks.hpp"
#include "service/server/found_state.hpp"
#include "service/server/object_text.hpp"
#include "service/server/status_with_position.hpp"
#include "service/wire/answers.hpp"
#include "service/wire/feature_gates.hpp"
#include "service/wire/nested.hpp"
#include "service/wire/workloads.hpp"

namespace espalier {
namespace {

// The workloads that are trees, and the rules by which those are decided.
struct Profile {
  Trees trees = Trees::kNone;
  NestedProfile rules = NestedProfile::kEspalier;
};

Result<Profile> ReadProfile(v1::PlacementProfile profile) {
  switch (static_cast<int>(profile)) {
    case v1::PLACEMENT_PROFILE_UNSPECIFIED:
    case v1::PLACEMENT_PROFILE_KUEUE:
      return Profile{};
    case v1::PLACEMENT_PROFILE_ESPALIER:
      return Profile{Trees::kNested, NestedProfile::kEspalier};
    case v1::PLACEMENT_PROFILE_KEP5732:
      return Profile{Trees::kAll, NestedProfile::kKep5732};
    default:
      return BadInput(fmt::format("profile: is {}; KUEUE (1), ESPALIER (2) or KEP5732 (3) expected",
                                  static_cast<int>(profile)));
  }
}

// Says what became of each planned workload.
class ResponseWriter {
 public:
  ResponseWriter(const Cluster& cluster, const PlacementPlan& plan, const PlannedAnswers& planned,
                 v1::PlaceObjectsResponse& response)
      : cluster_(cluster), plan_(plan), planned_(planned), response_(response) {}

  Result<void> Write(WorkBudget& budget) {
    for (std::size_t i = 0; i < plan_.workloads.size(); ++i) WriteWorkload(i);
    auto flat = ToProto(requests_, answers_, LeafIndex(), budget);
    if (!flat) return tl::unexpected(flat.error());
    *response_.mutable_answers() = *std::move(flat);
    auto nested = ToProto(trees_, budget);
    if (!nested) return tl::unexpected(nested.error());
    *response_.mutable_nested() = *std::move(nested);
    return {};
  }

 private:
  void WriteWorkload(std::size_t i) {
    const PlannedWorkload& planned = plan_.workloads[i];
    const Workload& workload = cluster_.workloads[planned.index];
    v1::ObjectWorkload& written = *response_.add_workloads();
    written.set_namespace_(workload.key.namespace_);
    written.set_name(workload.key.name);
    if (const auto* refused = std::get_if<RefusedWorkload>(&planned.plan)) {
      written.set_outcome(workload.refusal.empty() ? v1::OBJECT_OUTCOME_NOT_PLACED
                                                   : v1::OBJECT_OUTCOME_WAITING);
      written.set_reason(refused->reason);
    } else if (const auto* nothing = std::get_if<NothingToPlace>(&planned.plan)) {
      written.set_outcome(v1::OBJECT_OUTCOME_NOTHING_TO_PLACE);
      written.set_reason(nothing->reason);
    } else {
      const WorkloadAnswer& answer = planned_.answers[i];
      const bool placed = Fits(answer);
      written.set_outcome(placed ? v1::OBJECT_OUTCOME_PLACED : v1::OBJECT_OUTCOME_NOT_PLACED);
      if (planned_.verdicts[i]) written.set_verdict(ToProto(*planned_.verdicts[i]));
      if (placed) {
        for (const std::string& text : workload.not_honoured) written.add_not_honoured(text);
      }
      std::string others;
      for (const std::string& reason : OtherReasons(planned, planned_.other_answers[i])) {
        others += "; " + reason;
      }
      if (answer.tree) {
        WriteTree(*answer.tree, others, written);
      } else {
        WriteFlat(std::get<WorkloadRequest>(planned.plan), answer, others, written);
      }
    }
  }

  void WriteTree(const NestedAnswer& answer, const std::string& others,
                 v1::ObjectWorkload& written) {
    written.set_is_nested(true);
    written.set_reason(answer.reason + others);
    trees_.push_back(answer);
  }

  void WriteFlat(const WorkloadRequest& request, const WorkloadAnswer& answer,
                 const std::string& others, v1::ObjectWorkload& written) {
    written.set_reason(ReasonOf(answer) + others);
    for (const PodSetRequest& pod_set : request.pod_sets) {
      v1::ObjectPodSet& row = *written.add_pod_sets();
      row.set_name(pod_set.name);
      row.set_flavor(pod_set.flavor);
      row.set_count(pod_set.count);
    }
    requests_.push_back(request);
    answers_.push_back(answer);
  }

  const Cluster& cluster_;
  const PlacementPlan& plan_;
  const PlannedAnswers& planned_;
  v1::PlaceObjectsResponse& response_;
  std::vector<WorkloadRequest> requests_;
  std::vector<WorkloadAnswer> answers_;
  std::vector<NestedAnswer> trees_;
};

void WriteFindings(const ClusterRead& read, v1::PlaceObjectsResponse& response) {
  for (const Diagnostic& error : read.diagnostics.left_out()) {
    response.add_warnings("left out, as wrong: " + ToString(error));
  }
  for (const Diagnostic& warning : read.diagnostics.warnings()) {
    response.add_warnings(ToString(warning));
  }
  if (std::string skipped = SkippedLine(read.facts); !skipped.empty()) {
    response.add_warnings(std::move(skipped));
  }
  for (const GangWorkload& workload : read.gang_workloads) {
    for (const std::string& note : workload.notes) {
      response.add_notes(fmt::format("workload {}: {}", workload.head.key.ToString(), note));
    }
  }
}

// Returns the workloads in the order in which a request wants them decided. Errors: kBadInput when
// `is_nested` does not go with them.
Result<std::vector<WorkloadRequest>> InOrder(const v1::PlaceNestedRequest& message,
                                             std::vector<NestedRequest> nested,
                                             std::vector<WorkloadRequest> flat) {
  const std::size_t all = nested.size() + flat.size();
  const auto said = static_cast<std::size_t>(message.is_nested_size());
  if (said != all && (said != 0 || (!nested.empty() && !flat.empty()))) {
    return BadInput(
        fmt::format("is_nested: has {} entries for {} workloads, {} nested and {} flat; one each "
                    "expected",
                    said, all, nested.size(), flat.size()));
  }
  std::vector<WorkloadRequest> requests;
  std::size_t next_nested = 0;
  std::size_t next_flat = 0;
  for (std::size_t i = 0; i < all; ++i) {
    const bool is_nested = said == 0 ? !nested.empty() : message.is_nested(static_cast<int>(i));
    if (is_nested ? next_nested == nested.size() : next_flat == flat.size()) {
      return BadInput(fmt::format("is_nested[{}]: is {}, but there are only {} workloads of {}", i,
                                  is_nested, is_nested ? nested.size() : flat.size(),
                                  is_nested ? "nested" : "flat"));
    }
    if (is_nested) {
      NestedRequest& tree = nested[next_nested++];
      WorkloadRequest& request = requests.emplace_back();
      request.key = tree.key;
      request.tree = std::move(tree);
    } else {
      requests.push_back(std::move(flat[next_flat++]));
    }
  }
  return requests;
}

Result<void> CheckFlavor(const std::string& flavor, std::string_view field, std::size_t position,
                         const ClusterState& state) {
  if (state.Find(flavor) != nullptr) return {};
  return tl::unexpected(
      Error{ErrorClass::kNotFound,
            fmt::format("{}[{}]: the state has no flavor \"{}\" with a topology; it has {}", field,
                        position, Excerpt(flavor),
                        Excerpt(fmt::format("{}", fmt::join(state.FlavorNames(), ", "))))});
}

Result<void> CheckFlavors(const std::vector<NestedRequest>& nested,
                          const std::vector<WorkloadRequest>& flat, const ClusterState& state) {
  for (std::size_t w = 0; w < nested.size(); ++w) {
    if (auto known = CheckFlavor(nested[w].flavor, "nested.flavors", w, state); !known) {
      return known;
    }
  }
  std::size_t position = 0;
  for (const WorkloadRequest& workload : flat) {
    for (const PodSetRequest& pod_set : workload.pod_sets) {
      if (auto known = CheckFlavor(pod_set.flavor, "flat.pod_set_flavors", position++, state);
          !known) {
        return known;
      }
    }
  }
  return {};
}

// The settings and the state that a call places with.
struct Placing {
  PlacementMode mode;
  Profile profile;
  Engine engine;
  const FoundState& found;
  ClusterState& scratch;  // a branch of the state that was found; takes what is placed
};

grpc::Status Decide(const v1::PlaceObjectsRequest& request, Placing& placing, WorkBudget& budget,
                    v1::PlaceObjectsResponse& response) {
  auto flavors = placing.found.store->FlavorsAt(placing.found.position());
  if (!flavors) return StatusWithPosition(flavors.error(), *placing.found.store);
  const SharedConfiguration& of_state = placing.found.snapshot->configuration;
  RefusedJobs refused;
  std::function<void(const JobObject&)> look;
  if (placing.profile.trees == Trees::kNone) {
    look = [&](const JobObject& job) { refused.Look(job, placing.engine.gates()); };
  }
  Result<ClusterRead> read =
      ReadObjectText("objects", request.objects(),
                     {.strict = request.strict(),
                      .with_owned_jobs = true,
                      .trees = placing.profile.trees,
                      .on_job = look,
                      .configuration = of_state == nullptr ? nullptr : &of_state->configuration},
                     budget);
  if (!read) return ToStatus(read.error());
  Cluster& cluster = read->cluster;
  if (look) refused.Refuse(cluster);
  cluster.topologies = std::move(flavors->topologies);
  cluster.flavors = std::move(flavors->flavors);
  cluster.nodes.clear();
  cluster.pods.clear();
  auto plan = PlanPlacement(cluster, {.gates = placing.engine.gates(),
                                      .guess_flavor = request.guess_flavor(),
                                      .tree_rules = placing.profile.rules});
  if (!plan) return ToStatus(plan.error());
  const auto all_or_why = [&](std::vector<WorkloadAnswer> answers) {
    return budget.stopped()
               ? Result<std::vector<WorkloadAnswer>>(tl::unexpected(budget.Check().error()))
               : Result<std::vector<WorkloadAnswer>>(std::move(answers));
  };
  const ClusterState& state = placing.found.snapshot->state;
  std::optional<LoadedInput> input;  // read only where something was not placed
  std::optional<EmptyNodes> empty;
  const auto planned = AnswerPlan(
      *plan,
      [&](const std::vector<WorkloadRequest>& requests) -> Result<std::vector<WorkloadAnswer>> {
        Result<ClusterState> scratch = state.Branch(budget);
        if (!scratch) return tl::unexpected(scratch.error());
        placing.scratch = *std::move(scratch);
        return all_or_why(placing.engine.Place(placing.scratch, requests, placing.mode));
      },
      [&](std::vector<WorkloadRequest> requests) -> Result<std::vector<WorkloadAnswer>> {
        if (!empty) {
          auto loaded = placing.found.store->LoadedAt(placing.found.position(), budget);
          if (!loaded) return tl::unexpected(loaded.error());
          input = *std::move(loaded);
          empty.emplace(state, input->input, placing.engine);
        }
        return empty->Nominate(std::move(requests));
      });
  if (!planned) return StatusWithPosition(planned.error(), *placing.found.store);
  const auto written = ResponseWriter(cluster, *plan, *planned, response).Write(budget);
  if (!written) return ToStatus(written.error());
  WriteFindings(*read, response);
  if (of_state == nullptr && cluster.configuration &&
      !cluster.configuration->feature_gates.empty()) {
    response.add_warnings(
        fmt::format("{}: its feature gates do not count here; load it with the "
                    "state, or name them in the request",
                    cluster.configuration->place));
  }
  if (of_state != nullptr && HasConfiguration(read->facts)) {
    response.add_warnings("the Configuration among the objects does not count: the state has one");
  }
  return grpc::Status::OK;
}

grpc::Status Decide(const v1::PlaceNestedRequest& request, Placing& placing, WorkBudget& budget,
                    v1::PlaceNestedResponse& response) {
  if (placing.profile.trees == Trees::kNone) {
    return ToStatus(Error{ErrorClass::kBadInput,
                          fmt::format("profile: is {}, which has no trees; ESPALIER (2) or KEP5732 "
                                      "(3) expected",
                                      static_cast<int>(request.profile()))});
  }
  auto nested = FromProto(request.nested(), budget);
  if (!nested) return ToStatus(nested.error());
  if (request.nested().profiles().empty()) {
    for (NestedRequest& tree : *nested) tree.profile = placing.profile.rules;
  }
  const auto flat = FromProto(request.flat(), budget);
  if (!flat) return ToStatus(flat.error());
  const auto known = CheckFlavors(*nested, *flat, placing.scratch);
  if (!known) return ToStatus(known.error());
  const auto requests = InOrder(request, *std::move(nested), *flat);
  if (!requests) return ToStatus(requests.error());
  std::vector<WorkloadAnswer> answers =
      placing.engine.Place(placing.scratch, *requests, placing.mode);
  if (budget.stopped()) return ToStatus(budget.Check().error());

  std::vector<NestedAnswer> trees;
  std::vector<WorkloadAnswer> others;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if ((*requests)[i].pod_sets.empty() && answers[i].tree) {
      trees.push_back(*answers[i].tree);
    } else {
      others.push_back(std::move(answers[i]));
    }
  }
  auto of_trees = ToProto(trees, budget);
  if (!of_trees) return ToStatus(of_trees.error());
  auto of_others = ToProto(*flat, others, LeafIndex(), budget);
  if (!of_others) return ToStatus(of_others.error());
  *response.mutable_nested() = *std::move(of_trees);
  *response.mutable_flat() = *std::move(of_others);
  return grpc::Status::OK;
}

}  // namespace

WorkloadsService::WorkloadsService(Calls& calls, NamedStates& states, Commits& commits,
                                   std::shared_ptr<Backend> backend, FeatureGates gates)
    : calls_(calls),
      states_(states),
      commits_(commits),
      backend_(std::move(backend)),
      gates_(gates) {}

grpc::ServerUnaryReactor* WorkloadsService::PlaceObjects(grpc::CallbackServerContext* context,
                                                         const grpc::ByteBuffer* request,
                                                         grpc::ByteBuffer* response) {
  return Run<v1::PlaceObjectsRequest, v1::PlaceObjectsResponse>(context, request, response);
}

grpc::ServerUnaryReactor* WorkloadsService::PlaceNested(grpc::CallbackServerContext* context,
                                                        const grpc::ByteBuffer* request,
                                                        grpc::ByteBuffer* response) {
  return Run<v1::PlaceNestedRequest, v1::PlaceNestedResponse>(context, request, response);
}

template <class Request, class Response>
grpc::ServerUnaryReactor* WorkloadsService::Run(grpc::CallbackServerContext* context,
                                                const grpc::ByteBuffer* request,
                                                grpc::ByteBuffer* response) {
  return calls_.RunParsed<Request>(
      context, calls_.queue(), request,
      [this, response](const Request& message, WorkBudget& budget) {
        return commits_.Answer(message, *response, [&](const CommittedReplies::Key& key) {
          return Answer<Request, Response>(message, key, budget, *response);
        });
      });
}

template <class Request, class Response>
grpc::Status WorkloadsService::Answer(const Request& request, const CommittedReplies::Key& key,
                                      WorkBudget& budget, grpc::ByteBuffer& bytes) {
  const auto mode = ReadCommitMode(request);
  if (!mode) return ToStatus(mode.error());
  const auto profile = ReadProfile(request.profile());
  if (!profile) return ToStatus(profile.error());
  FoundState found;
  if (const grpc::Status status = FindState(states_, request, found); !status.ok()) return status;
  const auto gates =
      ApplyFeatureGates(request.feature_gates(), GatesOf(found.snapshot->configuration, gates_));
  if (!gates) return ToStatus(gates.error());
  Result<ClusterState> scratch = found.snapshot->state.Branch(budget);
  if (!scratch) return ToStatus(scratch.error());
  Placing placing{*mode, *profile, Engine(backend_, *gates, budget), found, *scratch};
  Response response;
  if (const grpc::Status status = Decide(request, placing, budget, response); !status.ok()) {
    return status;
  }
  if (!budget.MayContinue()) return ToStatus(budget.Check().error());
  // The whole answer is made before anything is booked: whatever can be refused is refused now.
  *response.mutable_state() = ToProto(found.position());
  if (request.commit()) *response.mutable_committed() = ToProto(Next(found.position()));
  if (const auto fits = calls_.CheckAnswer(response.ByteSizeLong(), budget); !fits) {
    return ToStatus(fits.error());
  }
  bytes = ToBytes(response);
  if (!request.commit()) return grpc::Status::OK;
  return commits_.Book(key, bytes, *found.store, found.position(), *std::move(scratch), budget);
}

}  // namespace espalier
