#include "bench/scenarios/columns_builder.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

namespace espalier {

ColumnsBuilder::ColumnsBuilder(std::vector<Level> levels, std::vector<std::string> resources)
    : levels_(std::move(levels)), resources_(std::move(resources)) {}

void ColumnsBuilder::AddNode(std::span<const std::int64_t> path,
                             std::span<const Amount> allocatable, bool available) {
  paths_.insert(paths_.end(), path.begin(), path.end());
  allocatable_.insert(allocatable_.end(), allocatable.begin(), allocatable.end());
  available_.push_back(available ? 1 : 0);
}

void ColumnsBuilder::AddLabel(const std::string& key, const std::string& value) {
  labels_[key][size() - 1] = value;
}

LabelColumn ColumnsBuilder::LevelColumn(std::size_t level) const {
  const auto number = [&](std::size_t node) { return paths_[node * levels_.size() + level]; };
  std::unordered_map<std::int64_t, std::int32_t> index_of;
  std::vector<std::pair<std::string, std::int64_t>> values;
  for (std::size_t node = 0; node < available_.size(); ++node) {
    if (number(node) >= 0 && index_of.emplace(number(node), 0).second) {
      values.emplace_back(fmt::format("{}{}", levels_[level].prefix, number(node)), number(node));
    }
  }
  std::ranges::sort(values);
  LabelColumn column;
  column.key = levels_[level].key;
  for (auto& [value, its_number] : values) {
    index_of[its_number] = static_cast<std::int32_t>(column.values.size());
    column.values.push_back(std::move(value));
  }
  column.value_of.reserve(available_.size());
  for (std::size_t node = 0; node < available_.size(); ++node) {
    column.value_of.push_back(number(node) < 0 ? -1 : index_of.at(number(node)));
  }
  return column;
}

NodeColumns ColumnsBuilder::Finish() && {
  const std::size_t nodes = available_.size();
  NodeColumns columns;
  for (std::size_t node = 0; node < nodes; ++node) {
    columns.names.push_back(
        fmt::format("{}{}", levels_.back().prefix, paths_[(node + 1) * levels_.size() - 1]));
  }
  columns.available = available_;
  for (std::size_t level = 0; level < levels_.size(); ++level) {
    columns.labels.push_back(LevelColumn(level));
  }
  for (const auto& [key, value_of_node] : labels_) {
    LabelColumn& column = columns.labels.emplace_back();
    column.key = key;
    column.value_of.assign(nodes, -1);
    std::set<std::string> values;
    for (const auto& [node, value] : value_of_node) values.insert(value);
    column.values.assign(values.begin(), values.end());
    for (const auto& [node, value] : value_of_node) {
      column.value_of[static_cast<std::size_t>(node)] = column.FindValue(value);
    }
  }
  std::ranges::sort(columns.labels, {}, &LabelColumn::key);
  columns.taint_sets.emplace_back();
  columns.taint_set_of.assign(nodes, 0);

  std::vector<std::size_t> order(resources_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) -> const std::string& { return resources_[i]; });
  columns.allocatable.reserve(order.size() * nodes);
  for (const std::size_t resource : order) {
    columns.resources.push_back(resources_[resource]);
    for (std::size_t node = 0; node < nodes; ++node) {
      columns.allocatable.push_back(allocatable_[node * resources_.size() + resource]);
    }
  }
  return columns;
}

}  // namespace espalier
