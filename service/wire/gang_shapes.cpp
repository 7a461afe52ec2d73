#include "service/wire/gang_shapes.hpp"

#include <type_traits>
#include <utility>

#include "service/wire/columns.hpp"
#include "service/wire/tables.hpp"
#include "service/wire/types.hpp"

namespace espalier {
namespace {

const FieldPath kPath("workloads");

template <class Number>
void AddNumber(Number number, std::string& text) {
  text.append(reinterpret_cast<const char*>(&number), sizeof(number));
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
                       WorkBudget& budget)
    : message_(message), budget_(budget) {
  static_assert(std::has_unique_object_representations_v<FeatureGates>);
  AddNumber(gates, gates_);
}

bool ShapeWords::Read(int w, std::string& text) {
  text = gates_;
  bool sound = true;
  const auto end = static_cast<int>(message_.pod_set_offsets(w + 1));
  for (auto p = static_cast<int>(message_.pod_set_offsets(w)); p < end && sound; ++p) {
    AddNumber(static_cast<char>(EntryOf(message_.pod_set_implied(), p)), text);
    sound = AddString(message_.pod_set_names(p), text) &&
            AddString(message_.pod_set_flavors(p), text) &&
            AddString(EntryOf(message_.pod_set_groups(), p), text) &&
            AddRow(message_.resources(), message_.pod_set_requests(p), resources_, text) &&
            AddRow(message_.topology_requests(), EntryOf(message_.pod_set_topology_requests(), p),
                   topology_requests_, text) &&
            AddRow(message_.node_constraints(), EntryOf(message_.pod_set_node_constraints(), p),
                   node_constraints_, text);
  }
  return sound;
}

bool ShapeWords::UsedAllRows() const {
  const auto all = [](const auto& table, const Rows& used) {
    return static_cast<std::size_t>(table.size()) == used.size();
  };
  return message_.assignments().empty() && all(message_.resources(), resources_) &&
         all(message_.topology_requests(), topology_requests_) &&
         all(message_.node_constraints(), node_constraints_);
}

// Behind its length, so that what follows cannot be taken for a part of it.
bool ShapeWords::Add(std::string_view part, std::string& text) {
  if (!budget_.Charge(static_cast<std::int64_t>(part.size()))) return false;
  AddNumber(part.size(), text);
  text.append(part);
  return true;
}

// Present or not, then what stands there.
bool ShapeWords::AddString(std::uint32_t reference, std::string& text) {
  AddNumber(static_cast<char>(reference != 0), text);
  if (reference == 0) return true;
  return reference <= static_cast<std::uint32_t>(message_.strings_size()) &&
         Add(message_.strings(static_cast<int>(reference - 1)), text);
}

template <class Table>
bool ShapeWords::AddRow(const Table& table, std::uint32_t reference, Rows& rows,
                        std::string& text) {
  AddNumber(static_cast<char>(reference != 0), text);
  if (reference == 0) return true;
  if (reference > static_cast<std::uint32_t>(table.size())) return false;
  const auto [row, fresh] = rows.try_emplace(reference);
  if (fresh) row->second = Text(table[static_cast<int>(reference - 1)]);
  return row->second && Add(*row->second, text);
}

std::optional<std::string> ShapeWords::Text(const v1::ResourceVector& row) {
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

// Rows of these tables are few and deep: they are read, and written with strings of their own.
std::optional<std::string> ShapeWords::Text(const v1::TopologyRequest& row) {
  Decoder decoder(message_.strings(), budget_);
  v1::WorkloadBatch own;
  StringTable strings(own.mutable_strings());
  *own.add_topology_requests() = ToProto(FromProto(row, kPath, decoder), strings);
  if (!decoder.ok()) return std::nullopt;
  return own.SerializeAsString();
}

std::optional<std::string> ShapeWords::Text(const v1::NodeConstraints& row) {
  Decoder decoder(message_.strings(), budget_);
  v1::WorkloadBatch own;
  StringTable strings(own.mutable_strings());
  *own.add_node_constraints() = NodeConstraintsToProto(FromProto(row, kPath, decoder), strings);
  if (!decoder.ok()) return std::nullopt;
  return own.SerializeAsString();
}

}  // namespace espalier
