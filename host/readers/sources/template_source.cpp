#include "host/readers/sources/template_source.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace espalier {
namespace {

// Fields beside a template that say how many pods are made of it. Where there are several, as in a
// Job, the least counts.
constexpr std::string_view kCounts[] = {"replicas", "parallelism", "completions", "numNodes",
                                        "count",    "size",        "instances"};

bool ListsContainers(JsonValue pod_spec) {
  simdjson::dom::array list;
  return pod_spec["containers"].get(list) == simdjson::SUCCESS && list.size() > 0;
}

bool IsTemplate(JsonValue value) {
  const auto spec = value.is_object() ? Member(value, "spec") : std::nullopt;
  return spec && spec->is_object() && ListsContainers(*spec);
}

class TemplateReader {
 public:
  TemplateReader(const SourceContext& context, GangGroup& gang) : context_(context), gang_(gang) {}

  // Reads the templates in `value`, which is there under the name `field`.
  void Visit(JsonValue value, std::string_view field) {
    if (value.is_array()) {
      for (const JsonValue item : Items(value)) Visit(item, field);
      return;
    }
    if (!value.is_object()) return;
    for (const auto [name, inner] : Fields(value)) {
      if (IsTemplate(inner)) {
        Add(inner, value, field);
      } else {
        Visit(inner, name == "spec" || name == "template" ? field : name);
      }
    }
  }

  std::vector<JsonValue> Take() { return std::move(templates_); }

 private:
  void Add(JsonValue pod_template, JsonValue beside, std::string_view field) {
    std::string_view name = TextOf(beside, "name");
    if (name.empty()) name = field;
    if (name.empty()) name = "main";
    EqGroup group = ReadEqGroup(std::string(name), pod_template, CountBeside(beside), {}, context_);
    AddRankedGroup(gang_, std::move(group), "");
    templates_.push_back(pod_template);
  }

  std::int32_t CountBeside(JsonValue object) {
    std::optional<std::int32_t> least;
    for (const std::string_view name : kCounts) {
      const auto value = Member(object, name);
      if (!value || !value->is_int64()) continue;
      const auto count = Int32Member(object, name, context_.read);
      if (count) least = std::min(least.value_or(*count), *count);
    }
    return least.value_or(1);
  }

  const SourceContext& context_;
  GangGroup& gang_;
  std::vector<JsonValue> templates_;
};

}  // namespace

void ReadByTemplates(JsonValue object, const SourceContext& context, GangWorkload& workload) {
  const auto spec = Member(object, "spec");
  if (!spec || !spec->is_object()) return;
  GangGroup gang;
  gang.name = "gg";
  gang.mode = GangMode::kOff;
  TemplateReader reader(context, gang);
  reader.Visit(*spec, "");
  const std::vector<JsonValue> templates = reader.Take();
  if (templates.empty()) return;
  const auto replicas = Member(*spec, "replicas");
  if (replicas && replicas->is_int64()) {
    workload.replicas = Int32Member(*spec, "replicas", context.read);
  }
  workload.waits_for.clear();
  workload.gang_groups.push_back(std::move(gang));
  FinishWorkload(workload, object, templates, context);
}

}  // namespace espalier
