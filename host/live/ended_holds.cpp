#include "host/live/ended_holds.hpp"

#include <functional>

namespace espalier {

void EndedHolds::Remember(const std::string& id, HoldEnd how) {
  const std::size_t hash = std::hash<std::string>()(id);
  if (!how_.insert_or_assign(hash, how).second) return;
  latest_.push_back(hash);
  if (latest_.size() <= kMost) return;
  how_.erase(latest_.front());
  latest_.pop_front();
}

std::optional<HoldEnd> EndedHolds::Find(const std::string& id) const {
  const auto found = how_.find(std::hash<std::string>()(id));
  if (found == how_.end()) return std::nullopt;
  return found->second;
}

}  // namespace espalier
