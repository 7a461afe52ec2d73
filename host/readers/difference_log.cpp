#include "host/readers/difference_log.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <simdjson.h>

#include "host/readers/json_fields.hpp"
#include "host/readers/kubernetes_objects.hpp"
#include "host/readers/syntax_error.hpp"

namespace espalier {
namespace {

std::string ReadTime(JsonValue line, std::string_view name, const ReadContext& context) {
  std::string text = RequiredText(line, name, context);
  if (!text.empty()) TimeMember(line, name, context);  // reports what is no time
  return text;
}

LoggedPodSet ReadLoggedPodSet(JsonValue object, bool is_chosen, const ReadContext& context) {
  LoggedPodSet read{.name = RequiredText(object, "name", context),
                    .flavor = TextMember(object, "flavor", context),
                    .reason = TextMember(object, "reason", context),
                    .assignment = std::nullopt};
  if (const auto assignment = ObjectMember(object, "topologyAssignment", context)) {
    read.assignment = ReadTopologyAssignment(*assignment, context);
  }
  if (read.assignment && !read.reason.empty()) {
    context.Error(*Member(object, "reason"), "it stands beside a topologyAssignment",
                  "one of both");
  } else if (is_chosen && !read.assignment) {
    context.Missing(object, "topologyAssignment", "where the pods were sent");
  }
  return read;
}

std::vector<LoggedPodSet> ReadDecision(JsonValue line, std::string_view name,
                                       const ReadContext& context) {
  const auto decision = ObjectMember(line, name, context);
  if (!decision) {
    context.Missing(line, name, "a decision, with `podSets`");
    return {};
  }
  auto pod_sets = ReadList(*decision, "podSets", context, [&](JsonValue object) {
    return ReadLoggedPodSet(object, name == "chosen", context);
  });
  if (pod_sets.empty()) context.Missing(*decision, "podSets", "an entry for each pod set");
  return pod_sets;
}

LoggedDifference ReadDifference(JsonValue line, const ReadContext& context) {
  LoggedDifference read{.time = ReadTime(line, "time", context),
                        .reserved_at = ReadTime(line, "reservedAt", context),
                        .workload = RequiredText(line, "workload", context)};
  const std::string verdict = RequiredText(line, "verdict", context);
  read.late = verdict == "late";
  if (!verdict.empty() && !read.late && verdict != "different") {
    context.Error(*Member(line, "verdict"), "it is not a verdict", "different or late");
  }
  read.generation = Int64Member(line, "generation", context).value_or(0);
  read.chosen = ReadDecision(line, "chosen", context);
  read.here = ReadDecision(line, "here", context);
  return read;
}

Diagnostic NoJson(const std::string& place, std::string_view line, std::string_view otherwise) {
  Diagnostic finding{.file = place, .expected = "a difference as one JSON object"};
  if (const auto fault = FindJsonFault(line)) {
    finding.problem = fmt::format("column {}: {}", fault->offset + 1, fault->problem);
  } else {
    finding.problem = otherwise;
  }
  return finding;
}

}  // namespace

Result<void> ReadDifferenceLog(const std::string& path, InputLimit& limit,
                               std::vector<LoggedDifference>& differences, Diagnostics& findings) {
  const Result<std::string> text = ReadUnpacked(path, limit);
  if (!text) return tl::unexpected(text.error());
  if (const auto taken = limit.Take(text->size()); !taken) return taken;
  simdjson::dom::parser parser;
  std::string_view rest = *text;
  for (std::size_t number = 1; !rest.empty(); ++number) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    const std::string place = fmt::format("{}, line {}", InputName(path), number);
    JsonValue root;
    if (const auto code = parser.parse(line.data(), line.size()).get(root)) {
      findings.AddError(NoJson(place, line, simdjson::error_message(code)));
      continue;
    }
    if (!root.is_object()) {
      findings.AddError({.file = place,
                         .problem = "it is not an object",
                         .expected = "a difference as one JSON object"});
      continue;
    }
    Diagnostics of_line;
    const ReadContext context{
        .diagnostics = of_line, .file = place, .root = root, .object = "difference"};
    LoggedDifference read = ReadDifference(root, context);
    if (of_line.ok()) differences.push_back(std::move(read));
    findings.Append(std::move(of_line));
  }
  return {};
}

}  // namespace espalier
