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
void AddNumber(Number number, std::string& key) {
  key.append(reinterpret_cast<const char*>(&number), sizeof(number));
}

}  // namespace

ShapeKeyReader::ShapeKeyReader(const v1::WorkloadBatch& message, const FeatureGates& gates,
                               WorkBudget& budget)
    : message_(message), budget_(budget) {
  static_assert(std::has_unique_object_representations_v<FeatureGates>);
  AddNumber(gates, gates_);
}

bool ShapeKeyReader::Read(int w, std::string& key) {
  key = gates_;
  bool sound = true;
  const auto end = static_cast<int>(message_.pod_set_offsets(w + 1));
  for (auto p = static_cast<int>(message_.pod_set_offsets(w)); p < end && sound; ++p) {
    AddNumber(static_cast<char>(EntryOf(message_.pod_set_implied(), p)), key);
    sound = AddString(message_.pod_set_names(p), key) &&
            AddString(message_.pod_set_flavors(p), key) &&
            AddString(EntryOf(message_.pod_set_groups(), p), key) &&
            AddRow(message_.resources(), message_.pod_set_requests(p), resources_, key) &&
            AddRow(message_.topology_requests(), EntryOf(message_.pod_set_topology_requests(), p),
                   topology_requests_, key) &&
            AddRow(message_.node_constraints(), EntryOf(message_.pod_set_node_constraints(), p),
                   node_constraints_, key);
  }
  return sound;
}

bool ShapeKeyReader::UsedAllRows() const {
  const auto all = [](const auto& table, const Rows& used) {
    return static_cast<std::size_t>(table.size()) == used.size();
  };
  return message_.assignments().empty() && all(message_.resources(), resources_) &&
         all(message_.topology_requests(), topology_requests_) &&
         all(message_.node_constraints(), node_constraints_);
}

// Appends a part behind its length, so that what follows cannot be taken for a part of it.
bool ShapeKeyReader::Add(std::string_view part, std::string& key) {
  if (!budget_.Charge(static_cast<std::int64_t>(part.size()))) return false;
  AddNumber(part.size(), key);
  key.append(part);
  return true;
}

// Appends whether there is a string, then the string.
bool ShapeKeyReader::AddString(std::uint32_t reference, std::string& key) {
  AddNumber(static_cast<char>(reference != 0), key);
  if (reference == 0) return true;
  return reference <= static_cast<std::uint32_t>(message_.strings_size()) &&
         Add(message_.strings(static_cast<int>(reference - 1)), key);
}

template <class Table>
bool ShapeKeyReader::AddRow(const Table& table, std::uint32_t reference, Rows& rows,
                            std::string& key) {
  AddNumber(static_cast<char>(reference != 0), key);
  if (reference == 0) return true;
  if (reference > static_cast<std::uint32_t>(table.size())) return false;
  const auto [row, fresh] = rows.try_emplace(reference);
  if (fresh) row->second = KeyOf(table[static_cast<int>(reference - 1)]);
  return row->second && Add(*row->second, key);
}

std::optional<std::string> ShapeKeyReader::KeyOf(const v1::ResourceVector& row) {
  if (row.names_size() != row.amounts_size()) return std::nullopt;
  constexpr std::size_t kBytesOfEntry = 40;  // of most
  std::string key;
  key.reserve(static_cast<std::size_t>(row.names_size()) * kBytesOfEntry);
  for (int i = 0; i < row.names_size(); ++i) {
    if (!AddString(row.names(i), key)) return std::nullopt;
    AddNumber(row.amounts(i), key);
  }
  return key;
}

// Rows of these tables are few and deep: they are read, and written with strings of their own.
std::optional<std::string> ShapeKeyReader::KeyOf(const v1::TopologyRequest& row) {
  Decoder decoder(message_.strings(), budget_);
  v1::WorkloadBatch own;
  StringTable strings(own.mutable_strings());
  *own.add_topology_requests() = ToProto(FromProto(row, kPath, decoder), strings);
  if (!decoder.ok()) return std::nullopt;
  return own.SerializeAsString();
}

std::optional<std::string> ShapeKeyReader::KeyOf(const v1::NodeConstraints& row) {
  Decoder decoder(message_.strings(), budget_);
  v1::WorkloadBatch own;
  StringTable strings(own.mutable_strings());
  *own.add_node_constraints() = NodeConstraintsToProto(FromProto(row, kPath, decoder), strings);
  if (!decoder.ok()) return std::nullopt;
  return own.SerializeAsString();
}

}  // namespace espalier
