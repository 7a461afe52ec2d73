#include "host/live/hold_changes.hpp"

#include <fmt/format.h>

#include "host/model/excerpt.hpp"

namespace espalier {
namespace {

constexpr std::size_t kMostTold = 8;  // problems in a message

const char* TextOf(std::optional<HoldEnd> ended) {
  if (!ended) {
    return "is not known: it was never made on this state, or it ended long ago; ListHolds tells "
           "those that are there";
  }
  switch (*ended) {
    case HoldEnd::kConfirmed:
      return "was confirmed already; what it held is the controller's to report";
    case HoldEnd::kReleased:
      return "was released; place the workload anew";
    case HoldEnd::kExpired:
      return "has expired, and others may have its room; place the workload anew";
    case HoldEnd::kBroken:
      return "was broken by an update that took a node of it away; place the workload anew";
    case HoldEnd::kDropped:
      return "was dropped by a load that has a node of it no more; place the workload anew";
  }
  return "";
}

}  // namespace

HoldProblem ProblemOf(const std::string& id, std::optional<HoldEnd> ended) {
  return {id, ended, false, fmt::format("hold {} {}", Excerpt(id), TextOf(ended))};
}

tl::unexpected<HoldRefusal> Refused(std::vector<HoldProblem> problems) {
  std::string text;
  for (std::size_t i = 0; i < problems.size() && i < kMostTold; ++i) {
    text += (i > 0 ? "\n" : "") + problems[i].text;
  }
  if (problems.size() > kMostTold) {
    text += fmt::format("\nand {} more", problems.size() - kMostTold);
  }
  return tl::unexpected(HoldRefusal{{ErrorClass::kNotFound, std::move(text)}, std::move(problems)});
}

tl::unexpected<HoldRefusal> Refused(Error error) {
  return tl::unexpected(HoldRefusal{std::move(error), {}});
}

Result<void> CheckHoldIds(const std::vector<std::string>& ids) {
  if (ids.empty()) return BadInput("ids: is empty; the id of a hold expected, or more");
  std::set<std::string_view> seen;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (ids[i].empty()) return BadInput(fmt::format("ids[{}]: is empty; holds have ids", i));
    if (seen.insert(ids[i]).second) continue;
    return BadInput(
        fmt::format("ids[{}]: hold {} is named twice; name each once", i, Excerpt(ids[i])));
  }
  return {};
}

Result<void> CheckHoldSeconds(std::int64_t seconds) {
  if (seconds >= kShortestHold && seconds <= kLongestHold) return {};
  return BadInput(
      fmt::format("hold_seconds: is {}; {} to {} expected", seconds, kShortestHold, kLongestHold));
}

ReportedUsage::ReportedUsage(const StateDelta& delta) {
  for (const AdmittedUsage& workload : delta.set_workloads) {
    if (!workload.usage.empty()) workloads_.insert(workload.key);
  }
  for (const FlavorLeafUsage& entry : delta.set_tas_usage) {
    leaves_.emplace(entry.flavor, entry.leaf);
  }
}

Result<void> ReportedUsage::CheckIsOf(const Hold& hold) const {
  if (workloads_.contains(hold.workload)) return {};
  for (const FlavorLeafUsage& entry : hold.usage) {
    if (leaves_.contains({entry.flavor, entry.leaf})) continue;
    return BadInput(fmt::format(
        "update: reports neither workload {} with its usage nor the usage of leaf {} of flavor {}, "
        "which hold {} holds; send either, or set `reported` where the state has it already",
        Excerpt(hold.workload.ToString()), Excerpt(entry.leaf), Excerpt(entry.flavor),
        Excerpt(hold.id)));
  }
  return {};
}

}  // namespace espalier
