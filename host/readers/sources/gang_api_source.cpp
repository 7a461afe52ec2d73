#include "host/readers/sources/gang_api_source.hpp"

#include <utility>

#include <fmt/format.h>

#include "host/gangs/expand.hpp"
#include "host/model/excerpt.hpp"
#include "host/readers/job_metadata.hpp"
#include "host/readers/key_check.hpp"
#include "host/readers/kubernetes_objects.hpp"
#include "host/readers/object_metadata.hpp"
#include "host/readers/sources/pod_groups.hpp"
#include "host/readers/sources/topology_claims.hpp"

namespace espalier {
namespace {

constexpr std::string_view kTerminateAll = "TerminateAll";
constexpr std::int32_t kMostPods = 1'000'000;  // of a group

// The first of the names that the object has.
std::string_view FirstOf(JsonValue object, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    if (Member(object, name)) return name;
  }
  return *names.begin();
}

class Reader {
 public:
  explicit Reader(const SourceContext& context) : context_(context), read_(context.read) {}

  GangApiWorkload Read(JsonValue object) {
    GangApiWorkload result;
    GangWorkload& workload = result.workload;
    workload.head = BeginWorkload(object, context_).head;
    workload.head.owners = OwnersOf(object, read_);
    workload.source = fmt::format("{} Workload", context_.version);
    const auto spec = ObjectMember(object, "spec", read_);
    if (!spec) return result;
    WarnOfUnknownFields(
        *spec,
        {"controllerRef", "replicaMode", "replicationMode", "replicas", "topologyRequest",
         "topologySpread", "gangGroups", "replicaKey", "queue", "priority", "priorityClassName"},
        read_);
    ReadTrueWorkload(*spec, workload);
    ReadMode(*spec, workload);
    workload.replicas = CountMember(*spec, "replicas");
    result.replica_key = TextMember(*spec, "replicaKey", read_);
    workload.topology_request = ReadGroupTopologyRequest(*spec, "the workload", read_, notes_);
    RefuseSpread(*spec, "the workload");
    selectors_ = &result.selectors;
    workload.gang_groups = ReadNamed<GangGroup>(
        *spec, "gangGroups", "gg",
        [&](JsonValue gang, std::string name) { return ReadGang(gang, std::move(name)); });
    ReadQueueAndPriority(object, *spec, workload.head);
    if (workload.replica_mode == ReplicaMode::kReplicatedPods) MoveRequestsOfShapes(workload);
    const bool replicated = workload.replica_mode == ReplicaMode::kReplicatedGangs;
    if (replicated && workload.gang_groups.size() > 1) {
      read_.Error(*Member(*spec, "gangGroups"),
                  "every replica of ReplicatedGangs matches the one gangGroup that is listed",
                  "one gangGroup, or replicaMode Unreplicated");
    }
    workload.notes = std::move(notes_);
    workload.waits_for = std::move(refusal_);
    return result;
  }

 private:
  // An equivalence group is all replicas here, and what it asks for is of all of them. In a
  // template it would be of each pod alone.
  static void MoveRequestsOfShapes(GangWorkload& workload) {
    for (GangGroup& gang : workload.gang_groups) {
      for (RankedGroup& ranked : gang.ranked_groups) {
        if (ranked.eq_groups.size() != 1 || !ranked.topology_request.empty()) continue;
        ranked.topology_request = std::exchange(ranked.eq_groups[0].topology_request, {});
      }
    }
  }

  void RefuseSpread(JsonValue object, const std::string& of) {
    if (!Member(object, "topologySpread")) return;
    Refuse(fmt::format("topologySpread of {} is not honoured: a topologyRequest expected", of));
  }

  // Such a workload is described, and not placed.
  void Refuse(std::string why) {
    if (refusal_.empty()) refusal_ = std::move(why);
  }

  void ReadTrueWorkload(JsonValue spec, GangWorkload& workload) {
    const auto reference = ObjectMember(spec, "controllerRef", read_);
    if (!reference) return;
    WarnOfUnknownFields(*reference, {"name", "kind", "apiGroup", "uid", "namespace"}, read_);
    std::string group = TextMember(*reference, "apiGroup", read_);
    if (const std::size_t slash = group.find('/'); slash != std::string::npos) {
      group.resize(slash);
      read_.Warn(*Member(*reference, "apiGroup"), "it has a version, and is read without", group);
    }
    workload.true_workload = {std::move(group), RequiredText(*reference, "kind", read_),
                              RequiredText(*reference, "name", read_)};
    const std::string name_space = TextMember(*reference, "namespace", read_);
    if (!name_space.empty() && name_space != workload.head.key.namespace_) {
      read_.Error(*Member(*reference, "namespace"), "a reference does not cross namespaces",
                  workload.head.key.namespace_);
    }
  }

  // The priority is what the Workload says, else its label, else the first template that has any.
  void ReadQueueAndPriority(JsonValue object, JsonValue spec, Workload& head) {
    if (head.queue_name.empty()) head.queue_name = TextMember(spec, "queue", read_);
    ReadGroupPriority(spec, context_, head);
    if (Member(spec, "priority") || !head.priority_class.empty()) return;
    ReadJobPriority(object, {}, read_, context_.defaults, head);
    if (!head.priority_class.empty()) return;
    head.priority = 0;
    if (of_pods_) ReadGroupPriority(*of_pods_, context_, head);
  }

  void ReadMode(JsonValue spec, GangWorkload& workload) {
    const std::string_view field = FirstOf(spec, {"replicaMode", "replicationMode"});
    const std::string word =
        ReadWord(spec, field, {"Unreplicated", "ReplicatedPods", "ReplicatedGangs"}, read_);
    if (word == "ReplicatedPods") workload.replica_mode = ReplicaMode::kReplicatedPods;
    if (word == "ReplicatedGangs") workload.replica_mode = ReplicaMode::kReplicatedGangs;
  }

  // Reads a list of parts, each with its name or, where it has none, that of its place: pods name
  // parts that way too.
  template <class Group, class ReadPart>
  std::vector<Group> ReadNamed(JsonValue parent, std::string_view list, std::string_view base,
                               const ReadPart& read) {
    const auto parts = ArrayMember(parent, list, read_);
    const std::size_t size = parts ? parts->size() : 0;
    std::size_t index = 0;
    std::vector<Group> groups = ReadList(parent, list, read_, [&](JsonValue part) {
      std::string name = TextMember(part, "name", read_);
      if (name.empty()) name = DefaultName(base, index, size);
      ++index;
      return read(part, std::move(name));
    });
    CheckNames(groups, parent, list);
    return groups;
  }

  GangGroup ReadGang(JsonValue object, std::string name) {
    WarnOfUnknownFields(
        object,
        {"name", "gangMode", "mode", "minCount", "maxCount", "count", "scheduleTimeoutSeconds",
         "reschedulingPolicy", "topologyRequest", "rankedGroups", "eqGroups", "rankMode",
         "rankFrom", "podRank", "rankPlacement", "selector", "topologySpread"},
        read_);
    GangGroup gang;
    gang.name = std::move(name);
    const std::string_view field = FirstOf(object, {"gangMode", "mode"});
    gang.mode =
        ReadWord(object, field, {"Gang", "Off"}, read_) == "Off" ? GangMode::kOff : GangMode::kGang;
    ReadCounts(object, gang.min_count, gang.max_count);
    gang.schedule_timeout_seconds = Int32Member(object, "scheduleTimeoutSeconds", read_);
    gang.rescheduling_policy = TextMember(object, "reschedulingPolicy", read_);
    if (!gang.rescheduling_policy.empty() && gang.rescheduling_policy != kTerminateAll) {
      gang.waits_for = fmt::format(
          "reschedulingPolicy of gangGroup {} is {}, which is not known: {} "
          "expected",
          gang.name, Excerpt(gang.rescheduling_policy), kTerminateAll);
    }
    RefuseSpread(object, "gangGroup " + gang.name);
    gang.topology_request =
        ReadGroupTopologyRequest(object, "gangGroup " + gang.name, read_, notes_);
    ReadSelector(object, gang.name);
    if (Member(object, "eqGroups")) {
      if (const auto both = Member(object, "rankedGroups")) {
        read_.Error(*both, "it stands beside eqGroups", "one of them");
      }
      gang.ranked_groups.push_back(ReadRanked(object, "rg", gang.name, true));
      return gang;
    }
    gang.ranks = ReadRankPlacement(object, {RankPlacement::kByPath, RankPlacement::kTogether});
    gang.ranked_groups = ReadNamed<RankedGroup>(
        object, "rankedGroups", "rg", [&](JsonValue ranked, std::string ranked_name) {
          return ReadRanked(ranked, std::move(ranked_name), gang.name, false);
        });
    return gang;
  }

  // `collapsed`: the gang group itself holds what its only ranked group would.
  RankedGroup ReadRanked(JsonValue object, std::string name, const std::string& gang,
                         bool collapsed) {
    RankedGroup ranked;
    ranked.name = std::move(name);
    if (!collapsed) {
      WarnOfUnknownFields(object,
                          {"name", "rankMode", "rankFrom", "podRank", "rankPlacement",
                           "topologyRequest", "topologySpread", "eqGroups", "selector"},
                          read_);
      RefuseSpread(object, "rankedGroup " + ranked.name);
      ranked.topology_request =
          ReadGroupTopologyRequest(object, "rankedGroup " + ranked.name, read_, notes_);
      ReadSelector(object, gang + "/" + ranked.name);
    }
    ranked.rank_from = ReadRank(object);
    ranked.ranks = ReadRankPlacement(object, {RankPlacement::kByPath, RankPlacement::kContiguous,
                                              RankPlacement::kBalanced, RankPlacement::kStriped});
    const std::string path = gang + "/" + ranked.name;
    ranked.eq_groups = ReadNamed<EqGroup>(object, "eqGroups", "template",
                                          [&](JsonValue group, std::string group_name) {
                                            return ReadGroup(group, std::move(group_name), path);
                                          });
    return ranked;
  }

  std::string ReadRank(JsonValue object) {
    std::string from = TextMember(object, "rankFrom", read_);
    if (const auto rank = ObjectMember(object, "podRank", read_)) {
      const auto value = RequiredObject(*rank, "valueFrom", "fieldRef with a fieldPath", context_);
      const auto field =
          value ? RequiredObject(*value, "fieldRef", "a fieldPath", context_) : std::nullopt;
      if (field) from = RequiredText(*field, "fieldPath", read_);
    }
    const auto mode = Member(object, "rankMode");
    if (!mode) return from;
    if (ReadWord(object, "rankMode", {"Off", "Ranked"}, read_) == "Ranked") {
      if (from.empty()) {
        read_.Error(*mode, "nothing says where the ranks are from", "podRank beside it, or Off");
      }
      return from;
    }
    if (!from.empty()) read_.Error(*mode, "it contradicts the podRank beside it", "one of them");
    return "";
  }

  // {policy, level}, of which a policy by domains has the level.
  RankRequest ReadRankPlacement(JsonValue object, std::initializer_list<RankPlacement> known) {
    RankRequest ranks;
    const auto placement = ObjectMember(object, "rankPlacement", read_);
    if (!placement) return ranks;
    WarnOfUnknownFields(*placement, {"policy", "level"}, read_);
    const std::string policy = RequiredText(*placement, "policy", read_);
    std::string names;
    bool found = policy.empty();  // which is reported
    for (const RankPlacement one : known) {
      names.append(names.empty() ? "" : ", ").append(ToString(one));
      if (ToString(one) != policy) continue;
      ranks.placement = one;
      found = true;
    }
    if (!found) {
      read_.Error(*Member(*placement, "policy"), "there is no such policy here",
                  names +
                      "; Together is one of a gangGroup with rankedGroups, the others are "
                      "those of a rankedGroup");
      return ranks;
    }
    const std::string level = TextMember(*placement, "level", read_);
    if (HasLevel(ranks.placement) != level.empty()) {
      if (!level.empty()) ranks.level = level;
      return ranks;
    }
    if (level.empty()) {
      read_.Missing(*placement, "level", "the level whose domains the ranks are dealt to");
    } else {
      read_.Error(*Member(*placement, "level"), "only ranks together, balanced or striped have one",
                  "none");
    }
    return {};
  }

  EqGroup ReadGroup(JsonValue object, std::string name, const std::string& path) {
    WarnOfUnknownFields(object,
                        {"name", "count", "minCount", "maxCount", "template", "maxTemplate",
                         "topologyRequest", "topologySpread", "selector"},
                        read_);
    EqGroup group;
    group.name = std::move(name);
    RefuseSpread(object, "eqGroup " + group.name);
    ReadCounts(object, group.min_count, group.max_count);
    if (const auto pods = ObjectMember(object, "template", read_)) {
      group.pod_template = ReadShape(*pods);
    }
    if (const auto most = ObjectMember(object, "maxTemplate", read_)) {
      group.max_requests = ReadShape(*most).requests;
    }
    group.topology_request =
        ReadGroupTopologyRequest(object, "eqGroup " + group.name, read_, notes_);
    if (const auto pods = ObjectMember(object, "template", read_)) {
      const JsonValue spec = PodSpecOf(*pods);
      if (!of_pods_ && (Member(spec, "priorityClassName") || Member(spec, "priority"))) {
        of_pods_ = spec;
      }
      ReadTopologyOfTemplate(*pods, group);
      AddWhatKueueLeavesOut(*pods, group);
      ApplyPodClaims(*pods, NamespaceOfObject(read_.root, read_), read_, context_.defaults, group);
    }
    ReadSelector(object, path + "/" + group.name);
    return group;
  }

  // Annotations of the template ask for the same as the fields of the group (W2.3).
  void ReadTopologyOfTemplate(JsonValue pods, EqGroup& group) {
    CheckTemplateKeys(pods, read_);
    const auto request = ReadTopologyAnnotations(pods, "", read_);
    if (!request) return;
    std::optional<TopologyRequest>& of_group = group.topology_request.levels;
    if (of_group && *of_group != *request) {
      return read_.Error(pods, "its annotations contradict the topologyRequest beside it",
                         "one of them");
    }
    of_group = request;
  }

  // A PodTemplateSpec, a PodSpec, or nothing but the resources of a pod.
  PodTemplate ReadShape(JsonValue object) {
    WarnOfUnknownFields(
        object,
        {"metadata", "spec", "resources", "containers", "initContainers", "volumes", "nodeSelector",
         "tolerations", "affinity", "overhead", "runtimeClassName", "priorityClassName", "priority",
         "restartPolicy", "topologySpreadConstraints", "schedulerName", "resourceClaims",
         "nodeName"},
        read_);
    const std::string name_space = NamespaceOfObject(read_.root, read_);
    PodTemplate shape = ReadPodTemplate(object, read_, context_.defaults, name_space);
    if (!Member(object, "spec")) {
      PodTemplate of_spec =
          ReadPodSpec(object, read_, context_.defaults, name_space, PodOrigin::kOfGangApi);
      of_spec.labels = std::move(shape.labels);
      of_spec.annotations = std::move(shape.annotations);
      shape = std::move(of_spec);
    } else if (Member(object, "resources")) {
      const QuantityMap requests = CompletedResources(object, read_, nullptr).requests;
      for (const auto& [name, amount] : ToCanonical(requests)) shape.requests.Set(name, amount);
    }
    return shape;
  }

  void ReadCounts(JsonValue object, std::optional<std::int32_t>& least,
                  std::optional<std::int32_t>& most) {
    least = CountMember(object, "minCount");
    most = CountMember(object, "maxCount");
    if (const auto count = CountMember(object, "count")) {
      if (least || most) {
        read_.Error(*Member(object, "count"), "it stands beside minCount or maxCount",
                    "count, or minCount and maxCount");
      }
      least = most = count;
    }
    if (least && most && *least > *most) {
      read_.Error(*Member(object, "minCount"), "it is above maxCount",
                  fmt::format("at most {}", *most));
    }
  }

  std::optional<std::int32_t> CountMember(JsonValue object, std::string_view name) {
    auto count = Int32Member(object, name, read_);
    if (count && *count > kMostPods) {
      read_.Error(*Member(object, name), "there are too many",
                  fmt::format("at most {}", kMostPods));
      count = kMostPods;
    }
    return count;
  }

  // Labels of the pods of a part: {matchLabels: {...}}, or the labels themselves.
  void ReadSelector(JsonValue object, const std::string& path) {
    const auto selector = ObjectMember(object, "selector", read_);
    if (!selector) return;
    const auto labels = ObjectMember(*selector, "matchLabels", read_);
    (*selectors_)[path] = ReadTextMap(labels.value_or(*selector), read_);
  }

  template <class Group>
  void CheckNames(const std::vector<Group>& groups, JsonValue parent, std::string_view list) {
    for (std::size_t i = 0; i < groups.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        if (groups[i].name != groups[j].name) continue;
        return read_.Error(*Member(parent, list),
                           fmt::format("two of them are named {}", Excerpt(groups[i].name)),
                           "a name of its own for each");
      }
    }
  }

  const SourceContext& context_;
  const ReadContext& read_;
  std::vector<std::string> notes_;
  std::string refusal_;               // why it is not placed, whatever else is there
  std::optional<JsonValue> of_pods_;  // the first PodSpec that has a priority
  PartSelectors* selectors_ = nullptr;
};

TopologyClaim ReadClaim(JsonValue object, const ReadContext& context) {
  WarnOfUnknownFields(object,
                      {"name", "resourceClaim", "resourceClaimTemplate", "resourceClaimName",
                       "resourceClaimTemplateName"},
                      context);
  TopologyClaim claim{
      TextMember(object, "name", context),
      TextMember(object, FirstOf(object, {"resourceClaim", "resourceClaimName"}), context),
      TextMember(object, FirstOf(object, {"resourceClaimTemplate", "resourceClaimTemplateName"}),
                 context)};
  if (claim.resource_claim.empty() == claim.resource_claim_template.empty()) {
    context.Error(object, "it names no claim, or two",
                  "either resourceClaim or resourceClaimTemplate");
  }
  return claim;
}

}  // namespace

GroupTopologyRequest ReadGroupTopologyRequest(JsonValue parent, const std::string& of,
                                              const ReadContext& context,
                                              std::vector<std::string>& notes) {
  GroupTopologyRequest request;
  const auto value = Member(parent, "topologyRequest");
  if (!value) return request;
  std::string_view text;
  if (value->get(text) == simdjson::SUCCESS) {
    context.Warn(*value, "it is a text, and asks for nothing",
                 "required or preferred with a level, or resourceClaims");
    notes.push_back(
        fmt::format("topologyRequest of {}: the text {} asks for nothing", of, Excerpt(text)));
    return request;
  }
  const auto object = ObjectMember(parent, "topologyRequest", context);
  if (!object) return request;
  WarnOfUnknownFields(
      *object,
      {"required", "preferred", "unconstrained", "policy", "level", "resourceClaims",
       "podSetSliceRequiredTopology", "podSetSliceSize", "podsetSliceRequiredTopologyConstraints",
       "podSetGroupName", "podIndexLabel", "subGroupIndexLabel", "subGroupCount"},
      context);
  TopologyRequest levels = ReadTopologyRequest(*object, context);
  if (levels.slice_topology.has_value() != levels.slice_size.has_value()) {
    const bool has_size = levels.slice_size.has_value();
    context.Error(*Member(*object, has_size ? "podSetSliceSize" : "podSetSliceRequiredTopology"),
                  "half of a request for slices asks for nothing",
                  has_size ? "podSetSliceRequiredTopology beside it" : "podSetSliceSize beside it");
  }
  if (levels != TopologyRequest()) request.levels = std::move(levels);
  request.claims = ReadList(*object, "resourceClaims", context,
                            [&](JsonValue claim) { return ReadClaim(claim, context); });
  return request;
}

bool IsGangApiWorkload(JsonValue object) {
  const auto spec = Member(object, "spec");
  if (!spec || !spec->is_object()) return true;
  return !Member(*spec, "podGroups") && !Member(*spec, "podGroupTemplates") &&
         !Member(*spec, "compositePodGroupTemplates");
}

GangApiWorkload ReadGangApiWorkload(JsonValue object, const SourceContext& context) {
  return Reader(context).Read(object);
}

}  // namespace espalier
