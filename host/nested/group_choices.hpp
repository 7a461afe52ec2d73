// Trees in which some groups inside a group will do (R25.16): which of them are required.
#pragma once

#include <cstddef>
#include <vector>

#include "host/engine/nested_request.hpp"

namespace espalier {

// Maximum number of choices that are tried for one tree.
inline constexpr std::size_t kMostGroupChoices = 256;

// Returns whether some group of the tree leaves a choice.
bool LeavesChoice(const NestedGroup& root);

// The choices that a tree leaves, in the order in which they are tried: all groups first, then as
// many as have to be placed, those that come first before others. Of groups that are equal but for
// their names the first are chosen, as others would do no better.
class GroupChoices {
 public:
  // Keeps a reference to the tree.
  explicit GroupChoices(const NestedGroup& root);

  std::size_t size() const { return 1 + picks_.size(); }
  // Returns whether there are no more choices than these.
  bool complete() const { return complete_; }
  // Returns the tree of a choice. Groups that are not chosen are placed where there is room.
  NestedGroup Tree(std::size_t choice) const;

 private:
  using Chosen = std::vector<bool>;  // whether each of the groups inside one is required

  const NestedGroup& root_;
  std::vector<std::vector<Chosen>> of_groups_;   // for each group that leaves a choice, its choices
  std::vector<std::vector<std::size_t>> picks_;  // positions in these
  bool complete_ = true;
};

}  // namespace espalier
