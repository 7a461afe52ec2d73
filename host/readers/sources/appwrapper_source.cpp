// AppWrappers: objects within an object.
#include <algorithm>

#include <fmt/format.h>

#include "host/model/excerpt.hpp"
#include "host/readers/sources/job_state.hpp"
#include "host/readers/sources/pod_search.hpp"
#include "host/readers/sources/source_kinds.hpp"
#include "host/readers/sources/wrapped_pod_sets.hpp"

namespace espalier {
namespace {

// The gang and the templates of the components of an AppWrapper that were read so far.
struct Wrapped {
  GangGroup gang;
  std::vector<JsonValue> templates;
};

void Add(EqGroup group, std::string_view rank_label, std::string_view wrapper, Wrapped& wrapped) {
  group.name = fmt::format("{}-{}", wrapper, wrapped.gang.ranked_groups.size());
  AddRankedGroup(wrapped.gang, std::move(group), rank_label);
}

// Reads a component whose kind is one that describes a gang by itself.
void AddKnownKind(JsonValue inner, const SourceContext& context, std::string_view wrapper,
                  Wrapped& wrapped) {
  const std::string_view kind = StringMember(inner, "kind", context.read).value_or("");
  const std::string_view version = StringMember(inner, "apiVersion", context.read).value_or("");
  if (kind == "Pod") {
    wrapped.templates.push_back(inner);
    return Add(ReadEqGroup("", inner, 1, {}, context), "", wrapper, wrapped);
  }
  const SourceKind* row = FindSourceKind(kind, version);
  const ReadSource read = kind == "Job" ? ReadBatchJob : row == nullptr ? nullptr : row->read;
  if (read == nullptr) {
    if (FindPods(inner, kind).empty()) return;  // a Service, say
    return context.read.Error(
        inner, fmt::format("its pods are not known, as {} is no kind that is read", Excerpt(kind)),
        "podSets beside the template, each with replicas and path");
  }
  const SourceContext of_inner{context.read,    context.defaults,
                               context.find,    kind,
                               version,         kind == "Job" ? "batch" : row->group,
                               context.as_kueue};
  std::vector<GangWorkload> workloads;
  read(inner, of_inner, workloads);
  for (GangWorkload& workload : workloads) {
    for (GangGroup& gang : workload.gang_groups) {
      for (RankedGroup& ranked : gang.ranked_groups) {
        for (EqGroup& group : ranked.eq_groups) {
          Add(std::move(group), "", wrapper, wrapped);
          wrapped.gang.ranked_groups.back().rank_from = ranked.rank_from;
        }
      }
    }
  }
}

// Says which fields of a template Kueue does not keep (PodOrigin::kWrapped).
void NoteDropped(JsonValue pod_template, GangWorkload& workload) {
  constexpr std::string_view kDropped[] = {"resources", "runtimeClassName", "resourceClaims"};
  const auto spec = Member(pod_template, "spec");
  for (const std::string_view field : kDropped) {
    if (!spec || !Member(*spec, field)) continue;
    std::string note = fmt::format("{} of its pods is left out, as Kueue does", field);
    if (std::ranges::find(workload.notes, note) == workload.notes.end()) {
      workload.notes.push_back(std::move(note));
    }
  }
}

// Reads the pods that Kueue finds in a component.
void AddAsKueue(JsonValue component, const SourceContext& context, GangWorkload& workload,
                Wrapped& wrapped) {
  const auto note = [&](std::string text) { workload.notes.push_back(std::move(text)); };
  for (const WrappedPods& pods : ReadWrappedPods(component, context.read, note)) {
    NoteDropped(pods.pod_template, workload);
    wrapped.templates.push_back(pods.pod_template);
    Add(ReadEqGroup("", pods.pod_template, pods.count, pods.index, context, PodOrigin::kWrapped),
        pods.index.label, workload.head.key.name, wrapped);
  }
}

void AddComponent(JsonValue component, const SourceContext& context, std::string_view wrapper,
                  Wrapped& wrapped) {
  const auto inner = RequiredObject(component, "template", "the object that it wraps", context);
  if (!inner) return;
  const auto pod_sets = ArrayMember(component, "podSets", context.read);
  if (!pod_sets || pod_sets->size() == 0) return AddKnownKind(*inner, context, wrapper, wrapped);
  ReadList(component, "podSets", context.read, [&](JsonValue pod_set) {
    const std::string path = RequiredText(pod_set, "path", context.read);
    const auto pods = FollowPath(component, path);
    if (!pods) {
      context.read.Error(pod_set, fmt::format("nothing is at its path {}", Excerpt(path)),
                         "the path of a pod template, such as template.spec.template");
      return 0;
    }
    wrapped.templates.push_back(*pods);
    Add(ReadEqGroup("", *pods, Int32Member(pod_set, "replicas", context.read).value_or(1), {},
                    context),
        "", wrapper, wrapped);
    return 0;
  });
}

}  // namespace

void ReadAppWrapper(JsonValue object, const SourceContext& context,
                    std::vector<GangWorkload>& workloads) {
  GangWorkload workload = BeginWorkload(object, context);
  ReadJobState(object, context, workload);
  const auto spec = SpecOf(object, context);
  if (!spec) return;
  workload.whole = true;
  Wrapped wrapped;
  wrapped.gang.name = "gg";
  ReadList(*spec, "components", context.read, [&](JsonValue component) {
    if (context.as_kueue) {
      AddAsKueue(component, context, workload, wrapped);
    } else {
      AddComponent(component, context, workload.head.key.name, wrapped);
    }
    return 0;
  });
  if (!wrapped.gang.ranked_groups.empty()) workload.gang_groups.push_back(std::move(wrapped.gang));
  FinishWorkload(workload, object, wrapped.templates, context,
                 context.as_kueue ? PodOrigin::kWrapped : PodOrigin::kTemplate);
  workloads.push_back(std::move(workload));
}

}  // namespace espalier
