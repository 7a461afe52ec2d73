#include "service/wire/holds.hpp"

#include <algorithm>

#include "service/wire/cluster_state.hpp"
#include "service/wire/types.hpp"

namespace espalier {

void Fill(const Hold& hold, HoldClock::TimePoint now, bool usage, StringTable& strings,
          v1::Hold& message) {
  using std::chrono::seconds;
  message.set_id(hold.id);
  message.set_namespace_(hold.workload.namespace_);
  message.set_name(hold.workload.name);
  message.set_owner(hold.owner);
  message.set_age_seconds(std::chrono::duration_cast<seconds>(now - hold.made).count());
  const auto left = std::chrono::ceil<seconds>(hold.expires - now).count();
  message.set_seconds_left(std::max<std::int64_t>(left, 0));
  message.set_pods(PodSlotsOf(hold.usage));
  if (!usage) return;
  for (const FlavorLeafUsage& entry : hold.usage) Fill(entry, strings, *message.add_usage());
}

bool PagesOfHolds::Next(v1::ListHoldsResponse& page) {
  constexpr std::size_t kMostElements = 2000;  // holds and leaves
  *page.mutable_state() = ToProto(position_);
  StringTable strings(page.mutable_strings());
  for (std::size_t elements = 0; next_ < holds_.size() && elements < kMostElements;) {
    const Hold& hold = *holds_[next_++];
    Fill(hold, now_, usage_, strings, *page.add_holds());
    elements += 1 + (usage_ ? hold.usage.size() : 0);
  }
  return next_ < holds_.size();
}

Result<void> AppendHolds(const v1::ListHoldsResponse& message, WorkBudget& budget,
                         std::vector<Hold>& holds) {
  Decoder decoder(message.strings(), budget);
  for (int i = 0; i < message.holds_size(); ++i) {
    const v1::Hold& from = message.holds(i);
    Hold& hold = holds.emplace_back();
    hold.id = from.id();
    hold.workload = {from.namespace_(), from.name()};
    hold.owner = from.owner();
    AppendFromProto(from.usage(), FieldPath("holds", i), "usage", decoder, hold.usage);
  }
  if (!decoder.ok()) return tl::unexpected(decoder.error());
  return {};
}

v1::LostHold ToProto(const LostHold& hold) {
  v1::LostHold message;
  message.set_id(hold.id);
  message.set_flavor(hold.flavor);
  message.set_leaf(hold.leaf);
  return message;
}

LostHold FromProto(const v1::LostHold& message) {
  return {message.id(), message.flavor(), message.leaf()};
}

v1::HoldProblemReason ToProto(const HoldProblem& problem) {
  if (problem.held) return v1::HOLD_PROBLEM_REASON_HELD;
  if (!problem.ended) return v1::HOLD_PROBLEM_REASON_UNKNOWN;
  switch (*problem.ended) {
    case HoldEnd::kConfirmed:
      return v1::HOLD_PROBLEM_REASON_CONFIRMED;
    case HoldEnd::kReleased:
      return v1::HOLD_PROBLEM_REASON_RELEASED;
    case HoldEnd::kExpired:
      return v1::HOLD_PROBLEM_REASON_EXPIRED;
    case HoldEnd::kBroken:
      return v1::HOLD_PROBLEM_REASON_BROKEN;
    case HoldEnd::kDropped:
      return v1::HOLD_PROBLEM_REASON_DROPPED;
  }
  return v1::HOLD_PROBLEM_REASON_UNSPECIFIED;
}

}  // namespace espalier
