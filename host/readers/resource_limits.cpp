#include "host/readers/resource_limits.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace espalier {
namespace {

constexpr std::string_view kAboveLimit = "requests must not exceed its limits";
constexpr std::string_view kAboveMax = "requests must not be above the limitRange max";
constexpr std::string_view kBelowMin = "requests must not be below the limitRange min";

// Adds a field error with the resources of which `a` has more than `b`; those that only one of them
// has do not count.
void CheckNotAbove(const QuantityMap& a, const QuantityMap& b, const std::string& field,
                   std::string_view problem, std::vector<std::string>& errors) {
  std::vector<std::string> names;
  for (const auto& [name, quantity] : a) {
    const Quantity* other = b.Find(name);
    if (other != nullptr && quantity > *other) names.push_back(fmt::format("\"{}\"", name));
  }
  if (names.empty()) return;
  errors.push_back(
      fmt::format("{}: Invalid value: [{}]: {}", field, fmt::join(names, ","), problem));
}

// The errors together, in brackets where there are several.
std::string Joined(const std::vector<std::string>& errors) {
  return errors.size() == 1 ? errors.front() : fmt::format("[{}]", fmt::join(errors, ", "));
}

class Checker {
 public:
  Checker(const ReadContext& context, const ClusterDefaults& defaults, std::string_view name_space,
          PodOrigin origin)
      : context_(context),
        defaults_(defaults),
        origin_(origin),
        limits_(defaults.LimitsOf(name_space)) {}

  void Check(JsonValue pod_spec, const std::string& path) {
    for (const char* list : {"initContainers", "containers"}) {
      std::size_t i = 0;
      ReadList(pod_spec, list, context_, [&](JsonValue container) {
        CheckContainer(container, fmt::format("{}.{}[{}]", path, list, i++));
        return true;
      });
    }
    if (origin_ != PodOrigin::kWrapped && ObjectMember(pod_spec, "resources", context_)) {
      const auto [requests, limits] = CompletedResources(
          pod_spec, context_, limits_ == nullptr ? nullptr : &limits_->pods, origin_);
      CheckNotAbove(requests, limits, path + ".resources", kAboveLimit, above_limits_);
    }
    if (limits_ == nullptr) return;
    const QuantityMap total = PodRequests(pod_spec, context_, defaults_, limits_, origin_);
    CheckNotAbove(total, limits_->pods.max, path, kAboveMax, out_of_range_);
    CheckNotAbove(limits_->pods.min, total, path, kBelowMin, out_of_range_);
  }

  std::string Text() const {
    if (!above_limits_.empty()) return "resources validation failed: " + Joined(above_limits_);
    if (out_of_range_.empty()) return "";
    return "resources didn't satisfy LimitRange constraints: " + Joined(out_of_range_);
  }

 private:
  void CheckContainer(JsonValue container, const std::string& path) {
    const auto [requests, limits] = CompletedResources(
        container, context_, limits_ == nullptr ? nullptr : &limits_->containers, origin_);
    CheckNotAbove(requests, limits, path, kAboveLimit, above_limits_);
    if (limits_ == nullptr) return;
    // A container asks for a limit at the most and for a request at the least, where its requests
    // are not above its limits.
    QuantityMap most = limits;
    FillGaps(most, requests);
    CheckNotAbove(most, limits_->containers.max, path, kAboveMax, out_of_range_);
    CheckNotAbove(limits_->containers.min, requests, path, kBelowMin, out_of_range_);
  }

  const ReadContext& context_;
  const ClusterDefaults& defaults_;
  const PodOrigin origin_;
  const NamespaceLimits* limits_;  // null: the namespace has no LimitRange
  std::vector<std::string> above_limits_;
  std::vector<std::string> out_of_range_;
};

}  // namespace

std::string ResourcesError(const std::vector<std::optional<JsonValue>>& pod_specs,
                           const ReadContext& context, const ClusterDefaults& defaults,
                           std::string_view name_space, PodOrigin origin) {
  Diagnostics reported_elsewhere;
  const ReadContext quiet{reported_elsewhere, context.file, context.root};
  Checker checker(quiet, defaults, name_space, origin);
  for (std::size_t i = 0; i < pod_specs.size(); ++i) {
    if (!pod_specs[i] || !pod_specs[i]->is_object()) continue;
    checker.Check(*pod_specs[i], fmt::format("spec.podSets[{}].template.spec", i));
  }
  return checker.Text();
}

}  // namespace espalier
