// Notes on a gang workload what the units that are placed for it do not honour.
#pragma once

#include <string>
#include <vector>

#include "host/gangs/gang_workload.hpp"

namespace espalier {

// Returns what a request by level asks for: "required example.com/rack".
std::string LevelText(const TopologyRequest& request);

// Returns whether pods may not be elsewhere than a request says.
bool IsRequirement(const TopologyRequest& request);

// Collects notes on a workload, each once.
class LeftOutNotes {
 public:
  // The workload must outlive this.
  explicit LeftOutNotes(GangWorkload& workload) : workload_(workload) {}

  // Returns whether anything was left out.
  bool any() const { return any_; }
  // Returns what was left out so that pods may go against a request.
  const std::vector<std::string>& broken() const { return broken_; }

  // Notes what neither flat requests nor trees say.
  void NoteWhatNoneHonours();
  // Notes what flat requests do not say, but for that which does not fit into a pod set's one
  // request, as whoever makes that finds it.
  void NoteWhatFlatUnitsLeaveOut();
  // Notes what trees do with preferred levels of pods that are best effort.
  void NotePreferences(const GangGroup& gang);
  // Notes what a tree would say; `broken`: where pods go may be against it.
  void LeaveOut(std::string text, bool broken = false);

 private:
  void NoteSpareGroups(const GangGroup& gang);
  void NoteRanks(const RankRequest& ranks, const std::string& of);
  void NoteApart(const EqGroup& group, bool several);
  void NoteSegments(const GroupTopologyRequest& request, const std::string& of);
  void NoteGang(const GangGroup& gang);
  void NotePreference(const GroupTopologyRequest& request, const std::string& of);
  void Note(std::string text);

  GangWorkload& workload_;
  bool any_ = false;
  std::vector<std::string> broken_;
};

}  // namespace espalier
