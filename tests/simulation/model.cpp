#include "tests/simulation/model.hpp"

#include <algorithm>
#include <utility>

namespace espalier::simulation {
namespace {

std::int64_t On(const AmountsByHost& amounts, const std::string& host) {
  const auto found = amounts.find(host);
  return found == amounts.end() ? 0 : found->second;
}

void Add(const AmountsByHost& more, AmountsByHost& to) {
  for (const auto& [host, amount] : more) to[host] += amount;
}

}  // namespace

std::int64_t Model::Remaining(const std::string& host) const {
  std::int64_t left = On(hosts_, host) - On(usage_, host);
  for (const auto& [key, usage] : workloads_) left -= On(usage, host);
  for (const auto& [id, hold] : holds_) left -= On(hold.usage, host);
  return left;
}

Model::Refusal Model::Load(AmountsByHost hosts, std::map<std::string, AmountsByHost> workloads,
                           std::set<std::string>& dropped) {
  hosts_ = std::move(hosts);
  usage_.clear();
  workloads_ = std::move(workloads);
  EndLost(dropped);
  ++generation_;
  return std::nullopt;
}

Model::Refusal Model::Update(std::uint64_t base, const ModelChange& change,
                             std::set<std::string>& broken) {
  if (!IsCurrent(base)) return ErrorClass::kStale;
  if (HasUnknownHost(change)) return ErrorClass::kBadInput;
  Apply(change, broken);
  ++generation_;
  return std::nullopt;
}

Model::Refusal Model::Book(std::uint64_t base, const AmountsByHost& usage) {
  if (!IsCurrent(base)) return ErrorClass::kStale;
  Add(usage, usage_);
  ++generation_;
  return std::nullopt;
}

Model::Refusal Model::Hold(std::uint64_t base, const std::string& id, const ModelHold& hold) {
  if (!IsCurrent(base)) return ErrorClass::kStale;
  const bool held = std::ranges::any_of(
      holds_, [&](const auto& other) { return other.second.workload == hold.workload; });
  if (held) return ErrorClass::kNotFound;  // the class of all that is wrong with a hold
  holds_[id] = hold;
  ++generation_;
  return std::nullopt;
}

Model::Refusal Model::Confirm(const std::string& id, std::optional<std::uint64_t> base,
                              const ModelChange& change, bool reported, HoldClock::TimePoint now,
                              std::set<std::string>& broken) {
  if (!IsCurrent(base.value_or(generation_))) return ErrorClass::kStale;
  if (!IsLive(id, now)) return ErrorClass::kNotFound;
  const ModelHold hold = holds_.at(id);
  const auto workload = change.set_workloads.find(hold.workload);
  const bool by_key = workload != change.set_workloads.end() && !workload->second.empty();
  const bool by_leaf = std::ranges::all_of(
      hold.usage, [&](const auto& entry) { return change.set_usage.contains(entry.first); });
  if (!reported && !by_key && !by_leaf) return ErrorClass::kBadInput;
  if (HasUnknownHost(change)) return ErrorClass::kBadInput;
  holds_.erase(id);
  Apply(change, broken);
  ++generation_;
  return std::nullopt;
}

Model::Refusal Model::Release(const std::string& id, HoldClock::TimePoint now) {
  if (generation_ == 0) return ErrorClass::kStale;
  if (!IsLive(id, now)) return ErrorClass::kNotFound;
  holds_.erase(id);
  ++generation_;
  return std::nullopt;
}

Model::Refusal Model::Extend(const std::string& id, HoldClock::TimePoint now,
                             HoldClock::TimePoint expires) {
  if (generation_ == 0) return ErrorClass::kStale;
  if (!IsLive(id, now)) return ErrorClass::kNotFound;
  holds_.at(id).expires = expires;
  return std::nullopt;
}

HoldClock::TimePoint Model::Expire(HoldClock::TimePoint now) {
  if (std::erase_if(holds_, [&](const auto& hold) { return hold.second.expires <= now; }) > 0) {
    ++generation_;
  }
  auto next = HoldClock::TimePoint::max();
  for (const auto& [id, hold] : holds_) next = std::min(next, hold.expires);
  return next;
}

bool Model::IsLive(const std::string& id, HoldClock::TimePoint now) const {
  const auto hold = holds_.find(id);
  return hold != holds_.end() && hold->second.expires > now;
}

bool Model::HasUnknownHost(const ModelChange& change) const {
  return std::ranges::any_of(change.remove_hosts,
                             [&](const std::string& host) { return !hosts_.contains(host); });
}

void Model::Apply(const ModelChange& change, std::set<std::string>& broken) {
  for (const std::string& host : change.remove_hosts) hosts_.erase(host);
  for (const auto& [host, amount] : change.set_hosts) hosts_[host] = amount;
  for (const auto& [host, amount] : change.set_usage) usage_[host] = amount;
  for (const auto& [key, usage] : change.set_workloads) {
    workloads_.erase(key);
    if (!usage.empty()) workloads_[key] = usage;
  }
  EndLost(broken);
}

void Model::EndLost(std::set<std::string>& ended) {
  std::erase_if(holds_, [&](const auto& hold) {
    const bool lost = std::ranges::any_of(
        hold.second.usage, [&](const auto& entry) { return !hosts_.contains(entry.first); });
    if (lost) ended.insert(hold.first);
    return lost;
  });
}

}  // namespace espalier::simulation
