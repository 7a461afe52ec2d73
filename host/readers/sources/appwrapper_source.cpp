// AppWrappers: objects within an object.
#include <charconv>

#include <fmt/format.h>

#include "host/model/excerpt.hpp"
#include "host/readers/sources/job_state.hpp"
#include "host/readers/sources/pod_search.hpp"
#include "host/readers/sources/source_kinds.hpp"

namespace espalier {
namespace {

// Follows a path such as "template.spec.groups[0].template" from `value`.
std::optional<JsonValue> Follow(JsonValue value, std::string_view path) {
  while (!path.empty()) {
    const std::size_t end = std::min(path.find_first_of(".["), path.size());
    if (end > 0) {
      const auto next = Member(value, path.substr(0, end));
      if (!next) return std::nullopt;
      value = *next;
    }
    path.remove_prefix(end);
    if (path.starts_with('.')) path.remove_prefix(1);
    if (!path.starts_with('[')) continue;
    std::size_t index = 0;
    const std::size_t close = std::min(path.find(']'), path.size());
    const auto [stop, code] = std::from_chars(path.data() + 1, path.data() + close, index);
    simdjson::dom::array list;
    if (code != std::errc{} || stop != path.data() + close ||
        value.get(list) != simdjson::SUCCESS || index >= list.size()) {
      return std::nullopt;
    }
    value = list.at(index).value_unsafe();
    path.remove_prefix(std::min(close + 1, path.size()));
  }
  return value.is_object() ? std::optional<JsonValue>(value) : std::nullopt;
}

// What an AppWrapper adds up while its components are read.
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
  const SourceContext of_inner{context.read, context.defaults,
                               context.find, kind,
                               version,      kind == "Job" ? "batch" : row->group};
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

void AddComponent(JsonValue component, const SourceContext& context, std::string_view wrapper,
                  Wrapped& wrapped) {
  const auto inner = RequiredObject(component, "template", "the object that it wraps", context);
  if (!inner) return;
  const auto pod_sets = ArrayMember(component, "podSets", context.read);
  if (!pod_sets || pod_sets->size() == 0) return AddKnownKind(*inner, context, wrapper, wrapped);
  ReadList(component, "podSets", context.read, [&](JsonValue pod_set) {
    const std::string path = RequiredText(pod_set, "path", context.read);
    const auto pods = Follow(component, path);
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
    AddComponent(component, context, workload.head.key.name, wrapped);
    return 0;
  });
  if (!wrapped.gang.ranked_groups.empty()) workload.gang_groups.push_back(std::move(wrapped.gang));
  FinishWorkload(workload, object, wrapped.templates, context);
  workloads.push_back(std::move(workload));
}

}  // namespace espalier
