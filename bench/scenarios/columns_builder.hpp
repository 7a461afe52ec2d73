// Collects generated nodes into NodeColumns.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "host/packing/node_columns.hpp"

namespace espalier {

class ColumnsBuilder {
 public:
  // A level's key and the prefix of its values. Levels are given coarsest first; the last is the
  // hostname.
  struct Level {
    std::string key;
    std::string prefix;
  };
  ColumnsBuilder(std::vector<Level> levels, std::vector<std::string> resources);

  // Adds a node. `path[i]` >= 0 is the number after the prefix of level i; -1: the node lacks the
  // label. The last number also names the node, so it must be unique. `allocatable` is by resource,
  // in the order given to the constructor.
  void AddNode(std::span<const std::int64_t> path, std::span<const Amount> allocatable,
               bool available = true);
  // Adds a label to the last node.
  void AddLabel(const std::string& key, const std::string& value);

  std::int64_t size() const { return static_cast<std::int64_t>(available_.size()); }
  NodeColumns Finish() &&;

 private:
  LabelColumn LevelColumn(std::size_t level) const;

  std::vector<Level> levels_;
  std::vector<std::string> resources_;
  std::vector<std::int64_t> paths_;                                    // [N * levels]
  std::vector<Amount> allocatable_;                                    // [N * resources] node-major
  std::vector<std::uint8_t> available_;                                // [N]
  std::map<std::string, std::map<std::int64_t, std::string>> labels_;  // key -> node -> value
};

}  // namespace espalier
