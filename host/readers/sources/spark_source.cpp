// SparkApplications.
#include <fmt/format.h>

#include "host/model/quantity.hpp"
#include "host/readers/kubernetes_objects.hpp"
#include "host/readers/sources/job_state.hpp"
#include "host/readers/sources/source_kinds.hpp"
#include "host/readers/sources/spark_pods.hpp"

namespace espalier {
namespace {

// Reports what is wrong with the fields that a role's pods are made of.
void CheckRole(JsonValue role_spec, const SourceContext& context) {
  const ReadContext& read = context.read;
  for (const SparkQuantity& quantity : kSparkQuantities) {
    const auto text = StringMember(role_spec, quantity.field, read);
    if (!text) continue;
    const auto parsed = ParseQuantity(KubernetesText(quantity, *text));
    const JsonValue at = *Member(role_spec, quantity.field);
    if (!parsed) {
      read.Error(at, "it is not a quantity: " + parsed.error().message,
                 quantity.is_memory ? "a number with a unit in lower case, such as 512m or 2g"
                                    : "a number of cores, such as 2 or 500m");
    } else if (*parsed < Quantity()) {
      read.Error(at, "it is negative", "a quantity of 0 or more");
    }
  }
  if (const auto gpu = ObjectMember(role_spec, "gpu", read)) {
    RequiredText(*gpu, "name", read);
    Int64Member(*gpu, "quantity", read);
  }
  // Its node selector, tolerations, affinity and init containers are those of a PodSpec.
  ReadPodSpec(role_spec, read, context.defaults, "");
  ReadList(role_spec, "sidecars", read, [&](JsonValue container) {
    CompletedResources(container, read, nullptr);
    return 0;
  });
  TextMapMember(role_spec, "labels", read);
  TextMapMember(role_spec, "annotations", read);
  StringMember(role_spec, "priorityClassName", read);
}

// Says what Kueue does not count, though the pods will ask for it.
void NoteUncounted(JsonValue role_spec, const SparkRole& role, GangWorkload& workload) {
  const auto note = [&](std::string_view field) {
    workload.notes.push_back(
        fmt::format("spec.{}.{} is not counted, as in Kueue", role.name, field));
  };
  if (Member(role_spec, "memoryOverhead")) note("memoryOverhead");
  if (Member(role_spec, "cores") && !Member(role_spec, "coreRequest")) note("cores");
  const auto pod_template = Member(role_spec, "template");
  if (pod_template && pod_template->is_object() && Member(*pod_template, "spec")) {
    note("template.spec");
  }
}

// Reports findings about the metadata of made pods where it is from: Kueue too names the role's own
// field, whatever the template adds to it.
void Forward(Diagnostics said, const SparkRole& role, Diagnostics& diagnostics) {
  constexpr std::string_view kMetadata = "metadata.";
  const auto is_of_metadata = [&](Diagnostic& finding) {
    if (!finding.field.starts_with(kMetadata)) return false;
    finding.field = fmt::format("spec.{}.{}", role.name, finding.field.substr(kMetadata.size()));
    return true;
  };
  for (Diagnostic finding : said.errors()) {
    if (is_of_metadata(finding)) diagnostics.AddError(std::move(finding));
  }
  for (Diagnostic finding : said.warnings()) {
    if (is_of_metadata(finding)) diagnostics.AddWarning(std::move(finding));
  }
}

// The parts of an application, gathered while its roles are read.
struct SparkParts {
  GangGroup gang = {.name = "gg"};
  std::vector<JsonValue> templates;
  MadeObjects made;  // these
};

void AddRole(JsonValue object, JsonValue spec, const SparkRole& role, const SourceContext& context,
             GangWorkload& workload, SparkParts& parts) {
  const auto role_spec = RequiredObject(
      spec, role.name, fmt::format("what the {}'s pods ask for", role.name), context);
  if (!role_spec) return;
  CheckRole(*role_spec, context);
  NoteUncounted(*role_spec, role, workload);
  std::int32_t count = 1;
  if (&role != &kSparkDriver) {
    count = Int32Member(*role_spec, "instances", context.read).value_or(0);
  }
  const JsonValue pods = MadeSparkPods(NamespaceOfObject(context.read.root, context.read), spec,
                                       *role_spec, role, parts.made);
  parts.templates.push_back(pods);
  Diagnostics said;
  const std::string title = ObjectTitle(object, context.kind, context.read.generated);
  const ReadContext of_made{.diagnostics = said,
                            .file = context.read.file,
                            .root = pods,
                            .kind = context.kind,
                            .object = title,
                            .number = context.read.number,
                            .takes_byte_suffix = context.read.takes_byte_suffix};
  const SourceContext source{of_made,         context.defaults, context.find,    context.kind,
                             context.version, context.group,    context.as_kueue};
  AddRankedGroup(parts.gang, ReadEqGroup(std::string(role.name), pods, count, {}, source), "");
  Forward(std::move(said), role, context.read.diagnostics);
}

// Spark's own words for how far an application is.
void ReadSparkState(JsonValue object, GangWorkload& workload) {
  std::string_view state;
  if (object.at_pointer("/status/applicationState/state").get(state) != simdjson::SUCCESS) return;
  if (state == "COMPLETED" || state == "FAILED") {
    workload.head.conditions.push_back({"Finished", "True", std::string(state), ""});
  } else if (state == "SUBMITTED" || state == "RUNNING" || state == "SUCCEEDING") {
    workload.running = true;
  }
}

}  // namespace

void ReadSparkApplication(JsonValue object, const SourceContext& context,
                          std::vector<GangWorkload>& workloads) {
  GangWorkload workload = BeginWorkload(object, context);
  ReadSparkState(object, workload);
  const auto spec = SpecOf(object, context);
  if (!spec) return;
  workload.whole = true;
  workload.notes.push_back(
      "Kueue looks at it only with the feature gate SparkApplicationIntegration");
  bool is_dynamic = false;
  if ((*spec)["dynamicAllocation"]["enabled"].get(is_dynamic) == simdjson::SUCCESS && is_dynamic) {
    workload.notes.push_back("spec.dynamicAllocation is not honoured");
  }
  SparkParts parts;
  AddRole(object, *spec, kSparkDriver, context, workload, parts);
  AddRole(object, *spec, kSparkExecutor, context, workload, parts);
  if (!parts.gang.ranked_groups.empty()) workload.gang_groups.push_back(std::move(parts.gang));
  FinishWorkload(workload, object, parts.templates, context);
  workloads.push_back(std::move(workload));
}

}  // namespace espalier
