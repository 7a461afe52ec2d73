#include <limits>

#include <fmt/format.h>

#include "host/model/go_texts.hpp"
#include "host/model/kueue_keys.hpp"
#include "host/model/parse_bool.hpp"
#include "host/model/parse_integer.hpp"
#include "host/readers/kubernetes_objects.hpp"
#include "host/readers/slice_constraints.hpp"

namespace espalier {
namespace {

std::optional<std::string> Text(JsonValue annotations, std::string_view key,
                                const ReadContext& context) {
  const auto text = StringMember(annotations, key, context);
  return text ? std::optional<std::string>(*text) : std::nullopt;
}

// Required, else preferred, else unconstrained.
void ReadLevel(JsonValue annotations, const ReadContext& context, TopologyRequest& request) {
  request.required = Text(annotations, kRequiredTopology, context);
  if (request.required) return;
  request.preferred = Text(annotations, kPreferredTopology, context);
  if (request.preferred) return;
  const auto text = StringMember(annotations, kUnconstrainedTopology, context);
  if (!text) return;
  request.unconstrained = ParseBool(*text);
  if (!request.unconstrained) {  // R23.5
    context.Error(*Member(annotations, kUnconstrainedTopology), "must be a boolean value",
                  "\"true\" or \"false\"");
  }
}

std::vector<SliceConstraint> ReadConstraints(JsonValue annotations, std::string_view text,
                                             const ReadContext& context) {
  Result<std::vector<SliceConstraint>> constraints = ParseSliceConstraints(text);
  if (constraints) return std::move(*constraints);
  context.Error(*Member(annotations, kSliceTopologyConstraints),  // R23.8
                "must be a valid JSON array: " + constraints.error().message,
                R"(a list such as [{"topology": "example.com/rack", "size": 4}])");
  return {};
}

// Returns whether no webhook of Kueue's looks at the annotations in objects of the kind.
bool IsUnchecked(std::string_view kind) {
  return kind == "Workload" || kind == "StatefulSet" || kind == "AppWrapper";
}

// Reports one annotation of the pair without the other. A webhook refuses a job with it (R23.7);
// where none does, Kueue reads both or none (R20.11).
void ReportHalfPair(JsonValue annotations, std::string_view there, std::string_view missing,
                    const ReadContext& context) {
  const JsonValue at = *Member(annotations, there);
  const std::string expected = fmt::format("{} beside it", missing);
  if (IsUnchecked(context.kind)) {
    context.Warn(at, fmt::format("it is not honoured without {}", missing), expected);
  } else {
    context.Error(at, fmt::format("may not be set when '{}' is not specified", missing), expected);
  }
}

// The constraints annotation, else the pair if both of it exist.
void ReadSlices(JsonValue annotations, const ReadContext& context, TopologyRequest& request) {
  if (const auto text = StringMember(annotations, kSliceTopologyConstraints, context)) {
    request.slice_constraints = ReadConstraints(annotations, *text, context);
    return;
  }
  const auto topology = Text(annotations, kSliceRequiredTopology, context);
  const auto size = StringMember(annotations, kSliceSize, context);
  if (topology.has_value() != size.has_value()) {
    ReportHalfPair(annotations, topology ? kSliceRequiredTopology : kSliceSize,
                   topology ? kSliceSize : kSliceRequiredTopology, context);
  }
  if (!size || !topology) return;
  const auto number = ParseInteger<std::int32_t>(*size);
  if (!number) {  // R23.6
    return context.Error(*Member(annotations, kSliceSize), "must be a numeric value",
                         "the number of pods per slice");
  }
  request.slice_topology = topology;
  request.slice_size = *number;
}

}  // namespace

std::string TopologyRequestError(const StringMap& annotations, bool with_layers) {
  const std::string* unconstrained = annotations.Find(kUnconstrainedTopology);
  if (unconstrained && !annotations.Contains(kRequiredTopology) &&
      !annotations.Contains(kPreferredTopology)) {
    if (const auto value = ParseGoBool(*unconstrained); !value) return value.error().message;
  }
  const std::string* layers = annotations.Find(kSliceTopologyConstraints);
  if (layers && with_layers) {
    constexpr std::size_t kMost = 3;
    const auto value = ParseSliceConstraints(*layers);
    if (value && !value->empty() && value->size() <= kMost) return "";
    return "failed to parse multi-layer topology constraints annotation: " +
           (value ? "topology constraints must contain between 1 and 3 entries"
                  : value.error().message);
  }
  const std::string* size = annotations.Find(kSliceSize);
  if (size && annotations.Contains(kSliceRequiredTopology)) {
    constexpr std::int64_t kLeast = std::numeric_limits<std::int32_t>::min();
    constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
    const auto value = ParseGoInt("ParseInt", *size, kLeast, kMost);
    if (!value) return value.error().message;
  }
  return "";
}

std::optional<TopologyRequest> ReadTopologyAnnotations(JsonValue pod_template,
                                                       std::string_view pod_index_label,
                                                       const ReadContext& context) {
  TopologyRequest request;
  const auto metadata = Member(pod_template, "metadata");
  if (const auto annotations = metadata ? Member(*metadata, "annotations") : std::nullopt) {
    ReadLevel(*annotations, context, request);
    ReadSlices(*annotations, context, request);
    if (request.required || request.preferred) {
      request.pod_set_group_name = Text(*annotations, kPodSetGroupName, context);
    }
  }
  if (!pod_index_label.empty()) request.pod_index_label = pod_index_label;
  if (request == TopologyRequest()) return std::nullopt;
  return request;
}

}  // namespace espalier
