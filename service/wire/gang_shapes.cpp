#include "service/wire/gang_shapes.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "service/wire/tables.hpp"
#include "service/wire/types.hpp"

namespace espalier {
namespace {

template <class Number>
void AddNumber(Number number, std::string& text) {
  text.append(reinterpret_cast<const char*>(&number), sizeof(number));
}

// Behind its length, so that what follows cannot be taken for a part of it.
void AddText(std::string_view part, std::string& text) {
  AddNumber(part.size(), text);
  text.append(part);
}

// The entry of a column that may be empty.
template <class Column>
auto At(const Column& column, int i) {
  return column.empty() ? typename Column::value_type{} : column[i];
}

}  // namespace

std::shared_ptr<const ResolvedGangShape> KnownGangShapes::Find(const std::string& words) const {
  const std::lock_guard lock(mutex_);
  const auto it = shapes_.find(words);
  return it == shapes_.end() ? nullptr : it->second;
}

void KnownGangShapes::Keep(std::string words, std::shared_ptr<const ResolvedGangShape> shape) {
  if (words.size() > kMostBytes) return;
  const std::lock_guard lock(mutex_);
  if (shapes_.size() == kMostShapes || bytes_ + words.size() > kMostBytes) {
    shapes_.clear();
    bytes_ = 0;
  }
  const std::size_t bytes = words.size();
  if (shapes_.emplace(std::move(words), std::move(shape)).second) bytes_ += bytes;
}

ShapeWords::ShapeWords(const v1::WorkloadBatch& message, const FeatureGates& gates,
                       ExpansionBudget budget)
    : message_(message) {
  static_assert(std::has_unique_object_representations_v<FeatureGates>);
  AddNumber(gates, gates_);
  for (const v1::ResourceVector& row : message.resources()) {
    resources_.push_back({Text(row), false});
  }
  // The others are few: read, and written with strings of their own.
  const FieldPath path("workloads");
  const auto rewritten = [&](const auto& row, const auto& write) -> std::optional<std::string> {
    Decoder decoder(message.strings(), budget);
    v1::WorkloadBatch own;
    StringTable strings(own.mutable_strings());
    write(FromProto(row, path, decoder), own, strings);
    if (!decoder.ok()) return std::nullopt;
    return own.SerializeAsString();
  };
  for (const v1::TopologyRequest& row : message.topology_requests()) {
    const auto write = [](const TopologyRequest& request, auto& own, auto& strings) {
      *own.add_topology_requests() = ToProto(request, strings);
    };
    topology_requests_.push_back({rewritten(row, write), false});
  }
  for (const v1::NodeConstraints& row : message.node_constraints()) {
    const auto write = [](const PodTemplate& pod_template, auto& own, auto& strings) {
      *own.add_node_constraints() = NodeConstraintsToProto(pod_template, strings);
    };
    node_constraints_.push_back({rewritten(row, write), false});
  }
}

bool ShapeWords::Read(int w, std::string& text) {
  text = gates_;
  bool sound = true;
  const auto end = static_cast<int>(message_.pod_set_offsets(w + 1));
  for (auto p = static_cast<int>(message_.pod_set_offsets(w)); p < end && sound; ++p) {
    AddNumber(static_cast<char>(At(message_.pod_set_implied(), p)), text);
    sound = AddString(message_.pod_set_names(p), text) &&
            AddString(message_.pod_set_flavors(p), text) &&
            AddString(At(message_.pod_set_groups(), p), text) &&
            AddRow(resources_, message_.pod_set_requests(p), text) &&
            AddRow(topology_requests_, At(message_.pod_set_topology_requests(), p), text) &&
            AddRow(node_constraints_, At(message_.pod_set_node_constraints(), p), text);
  }
  return sound;
}

bool ShapeWords::UsedAllRows() const {
  const auto all = [](const Rows& rows) { return std::ranges::all_of(rows, &Row::used); };
  return message_.assignments().empty() && all(resources_) && all(topology_requests_) &&
         all(node_constraints_);
}

// Present or not, then what stands there.
bool ShapeWords::AddString(std::uint32_t reference, std::string& text) const {
  AddNumber(static_cast<char>(reference != 0), text);
  if (reference == 0) return true;
  if (reference > static_cast<std::uint32_t>(message_.strings_size())) return false;
  AddText(message_.strings(static_cast<int>(reference - 1)), text);
  return true;
}

bool ShapeWords::AddRow(Rows& rows, std::uint32_t reference, std::string& text) {
  AddNumber(static_cast<char>(reference != 0), text);
  if (reference == 0) return true;
  if (reference > rows.size()) return false;
  Row& row = rows[reference - 1];
  row.used = true;
  if (row.text) AddText(*row.text, text);
  return row.text.has_value();
}

std::optional<std::string> ShapeWords::Text(const v1::ResourceVector& row) const {
  if (row.names_size() != row.amounts_size()) return std::nullopt;
  constexpr std::size_t kBytesOfEntry = 40;  // of most
  std::string text;
  text.reserve(static_cast<std::size_t>(row.names_size()) * kBytesOfEntry);
  for (int i = 0; i < row.names_size(); ++i) {
    if (!AddString(row.names(i), text)) return std::nullopt;
    AddNumber(row.amounts(i), text);
  }
  return text;
}

}  // namespace espalier
