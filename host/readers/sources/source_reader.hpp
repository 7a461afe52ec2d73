// Shared parts of the readers of all kinds that describe a gang. Each reader turns one object into
// gang workloads and reports errors to the context with their field path.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/gangs/gang_workload.hpp"
#include "host/model/kueue_keys.hpp"
#include "host/readers/effective_requests.hpp"
#include "host/readers/json_fields.hpp"

namespace espalier {

// Labels of pods that tell their ranks (R22.9).
inline constexpr std::string_view kCompletionIndexLabel =
    "batch.kubernetes.io/job-completion-index";
inline constexpr std::string_view kGroupPodIndexLabel = "kueue.x-k8s.io/pod-group-pod-index";
inline constexpr std::string_view kJobIndex = "jobset.sigs.k8s.io/job-index";
inline constexpr std::string_view kReplicaIndex = "training.kubeflow.org/replica-index";
inline constexpr std::string_view kWorkerIndex = "leaderworkerset.sigs.k8s.io/worker-index";

// An object that is read along with another one, and what findings about it name.
struct FoundObject {
  JsonValue value;
  std::string_view file;
  std::string_view kind;
  std::uint32_t number = 0;  // as in ReadContext
};

// Returns an object of the input by kind, namespace and name; nullopt when there is none.
using FindObject = std::function<std::optional<FoundObject>(
    std::string_view kind, std::string_view name_space, std::string_view name)>;

struct SourceContext {
  const ReadContext& read;
  const ClusterDefaults& defaults;
  const FindObject& find;
  std::string_view kind;     // kind of the object
  std::string_view version;  // its apiVersion
  std::string_view group;    // API group of its kind
  // True: a job is read as the Workload that Kueue makes of it, whatever order it asks for (R30.1),
  // and not as the gangs of its description.
  bool as_kueue;
};

// Returns the context for reading `found` along with the object of `context`.
ReadContext ContextOf(const FoundObject& found, const SourceContext& context);

// Labels with the index of the pods of a template (R22.9); empty parts are absent.
struct PodIndex {
  std::string_view label;
  std::string_view sub_group_label;
  std::int32_t sub_group_count = 0;
};

// Reads what objects of all kinds have: name, age, queue, owners, source and true workload.
GangWorkload BeginWorkload(JsonValue object, const SourceContext& context);

// Reads pods made from a PodTemplateSpec, with the topology request of its annotations (R20.11).
EqGroup ReadEqGroup(std::string name, JsonValue pod_template, std::int32_t count,
                    const PodIndex& index, const SourceContext& context,
                    PodOrigin origin = PodOrigin::kTemplate);

// Adds what Kueue leaves out of a template: a preferred level beside a required one (W1.6), that it
// names a node, what keeps its pods apart from each other, and shares of a GPU.
void AddWhatKueueLeavesOut(JsonValue pod_template, EqGroup& group);

// Adds what keeps pods of the same labels apart from each other: required anti-affinity and
// topology spread whose selectors match the pods themselves.
void AddWhatKeepsApart(JsonValue pod_template, EqGroup& group);

// Lets the workload wait where its pods ask for a share of a GPU, as KAI's annotations do, which is
// not understood.
void RefuseShares(JsonValue pod_template, EqGroup& group);

// Adds a ranked group that holds this one equivalence group and has its name.
RankedGroup& AddRankedGroup(GangGroup& gang, EqGroup group, std::string_view rank_label);

// Reads priority (from the label, or else from the first template that has a class) and whether the
// requests are valid (R21.14) of a workload whose pods are made from `templates`.
void FinishWorkload(GangWorkload& workload, JsonValue object,
                    const std::vector<JsonValue>& templates, const SourceContext& context,
                    PodOrigin origin = PodOrigin::kTemplate);

// Returns the member, which is required; reports it when it is absent.
std::optional<JsonValue> RequiredObject(JsonValue parent, std::string_view name,
                                        std::string expected, const SourceContext& context);

// Returns the spec of an object. A spec that holds nothing but another spec is replaced by that
// one, with a warning.
std::optional<JsonValue> SpecOf(JsonValue object, const SourceContext& context);

// Warns of each field that is not in `known`, as its meaning may change what is placed.
void WarnOfUnknownFields(JsonValue object, std::initializer_list<std::string_view> known,
                         const ReadContext& context);

// Reads a mode: one of `words`, in any case. YAML takes a plain Off for the boolean false, which
// counts as that word. Warns of another case; reports another word and returns the first one.
std::string ReadWord(JsonValue parent, std::string_view name,
                     std::initializer_list<std::string_view> words, const ReadContext& context);

// Returns the text with ASCII letters in lower case.
std::string LowerCase(std::string_view text);

// Returns the value of the object's annotation (label); "" when it has none.
std::string_view AnnotationOf(JsonValue object, std::string_view name);
std::string_view LabelOf(JsonValue object, std::string_view name);

// Returns the spec of a pod template; where it has none the template itself, which may be the spec.
JsonValue PodSpecOf(JsonValue pod_template);

// Returns the object's namespace; `default` when it has none.
std::string NamespaceOfObject(JsonValue object, const ReadContext& context);

// Returns the owners that the object's metadata names.
std::vector<OwnerReference> OwnersOf(JsonValue object, const ReadContext& context);

}  // namespace espalier
