#include "host/packing/node_columns.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <functional>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "host/model/excerpt.hpp"
#include "host/packing/bytes_of.hpp"
#include "host/packing/name_index.hpp"
#include "host/packing/parallel_for.hpp"

namespace espalier {
namespace {

// Returns the positions of distinct texts in their byte-wise order. Reads texts once for eight
// bytes behind what all of them begin with, which tell most apart.
std::vector<std::int32_t> OrderOf(std::span<const std::string_view> texts) {
  struct Keyed {
    std::uint64_t bytes;  // the first one highest, 0 behind the end
    std::int32_t position;
  };
  std::size_t common = texts.empty() ? 0 : texts.front().size();
  for (const std::string_view text : texts) {
    const auto [end, unused] = std::ranges::mismatch(text, texts.front().substr(0, common));
    common = static_cast<std::size_t>(end - text.begin());
  }
  std::vector<Keyed> keyed(texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    std::uint64_t bytes = 0;
    for (std::size_t b = common; b < common + sizeof(bytes); ++b) {
      bytes = bytes << 8 | (b < texts[i].size() ? static_cast<unsigned char>(texts[i][b]) : 0U);
    }
    keyed[i] = {bytes, static_cast<std::int32_t>(i)};
  }
  std::ranges::sort(keyed, [&](const Keyed& a, const Keyed& b) {
    if (a.bytes != b.bytes) return a.bytes < b.bytes;
    return texts[static_cast<std::size_t>(a.position)] <
           texts[static_cast<std::size_t>(b.position)];
  });
  std::vector<std::int32_t> order(texts.size());
  std::ranges::transform(keyed, order.begin(), &Keyed::position);
  return order;
}

// Grows one label column node by node. Neighbours tend to share values, so the last one is tried
// before the table. Hostnames tend to come in order, which takes no table.
class LabelColumnBuilder {
 public:
  LabelColumnBuilder(std::string_view key, WorkBudget& budget) : key_(key), budget_(budget) {}

  void Set(std::size_t node, std::string_view value) {
    if (last_ < 0 || values_[static_cast<std::size_t>(last_)] != value) last_ = NumberOf(value);
    value_of_.resize(node, -1);
    value_of_.push_back(last_);
  }

  LabelColumn Finish(std::size_t nodes) {
    value_of_.resize(nodes, -1);
    LabelColumn column;
    column.key = key_;
    if (ascends_) {
      column.values.assign(values_.begin(), values_.end());
      column.value_of = std::move(value_of_);
      return column;
    }
    const std::vector<std::int32_t> order = OrderOf(values_);
    std::vector<std::int32_t> rank(values_.size());
    column.values.reserve(values_.size());
    for (const std::int32_t i : order) {
      rank[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(column.values.size());
      column.values.emplace_back(values_[static_cast<std::size_t>(i)]);
    }
    for (std::int32_t& value : value_of_) {
      if (value >= 0) value = rank[static_cast<std::size_t>(value)];
    }
    column.value_of = std::move(value_of_);
    return column;
  }

 private:
  std::int32_t NumberOf(std::string_view value) {
    if (ascends_ && (values_.empty() || values_.back() < value)) return Add(value);
    if (std::exchange(ascends_, false)) {
      for (std::size_t i = 0; i < values_.size(); ++i) {
        index_.AddNew(static_cast<std::int32_t>(i), NameIndex::Hash(values_[i]));
      }
    }
    const std::uint32_t hash = NameIndex::Hash(value);
    const std::int32_t known = index_.FindIf(hash, [&](std::int32_t number) {
      return values_[static_cast<std::size_t>(number)] == value;
    });
    if (known >= 0) return known;
    const std::int32_t number = Add(value);
    index_.AddNew(number, hash);
    return number;
  }

  std::int32_t Add(std::string_view value) {
    budget_.Charge(BytesOf<std::string>(1) + static_cast<std::int64_t>(value.size()));
    values_.push_back(value);
    return static_cast<std::int32_t>(values_.size()) - 1;
  }

  std::string_view key_;
  WorkBudget& budget_;
  bool ascends_ = true;                   // each value is greater than the one before it
  NameIndex index_;                       // of the values, where they do not ascend
  std::vector<std::string_view> values_;  // distinct, in the order in which they came
  std::vector<std::int32_t> value_of_;    // by node; -1: none
  std::int32_t last_ = -1;
};

// Binds lists of keys to columns, each list once: most nodes share theirs.
class ColumnsOfKeys {
 public:
  // Returns the columns of the keys of a map, in their order; column_of(key) is asked for those of
  // a list that is new. Maps outlive this object.
  template <class Value, class ColumnOf>
  const std::vector<std::size_t>& operator()(const FlatMap<Value>& map, const ColumnOf& column_of) {
    if (last_ != nullptr && last_list_ == map.keys().get()) return *last_;
    last_list_ = map.keys().get();
    const auto [it, fresh] = columns_.try_emplace(last_list_);
    last_ = &it->second;
    if (fresh && !map.empty()) {
      for (const std::string& key : *map.keys()) last_->push_back(column_of(key));
    }
    return *last_;
  }

 private:
  std::unordered_map<const std::vector<std::string>*, std::vector<std::size_t>> columns_;
  const std::vector<std::string>* last_list_ = nullptr;
  std::vector<std::size_t>* last_ = nullptr;
};

// Numbers lists of taints: equal ones get the number of the first of them, numbers are from 0.
class TaintSets {
 public:
  // `taints` outlive this object.
  std::int32_t Number(const std::vector<Taint>& taints) {
    if (last_ != nullptr && *last_ == taints) return last_number_;  // neighbours tend to be equal
    const auto [it, fresh] = numbers_.emplace(&taints, static_cast<std::int32_t>(numbers_.size()));
    last_ = &taints;
    last_number_ = it->second;
    return last_number_;
  }

 private:
  struct Hash {
    std::size_t operator()(const std::vector<Taint>* taints) const {
      std::size_t hash = taints->size();
      for (const Taint& taint : *taints) {
        for (const std::string_view word :
             {std::string_view(taint.key), std::string_view(taint.value),
              std::string_view(taint.effect)}) {
          hash = (std::rotl(hash, 5) ^ std::hash<std::string_view>()(word)) * 0x9e3779b97f4a7c15U;
        }
      }
      return hash;
    }
  };
  struct Equal {
    bool operator()(const std::vector<Taint>* a, const std::vector<Taint>* b) const {
      return *a == *b;
    }
  };
  std::unordered_map<const std::vector<Taint>*, std::int32_t, Hash, Equal> numbers_;
  const std::vector<Taint>* last_ = nullptr;
  std::int32_t last_number_ = 0;
};

// About as many labels and amounts does a node have.
constexpr std::size_t kEntriesOfNode = 8;

// So many amounts of which so many parts but one are 0 are worth another form.
constexpr std::size_t kLeastSparse = std::size_t{1} << 20;
constexpr std::size_t kSparseShare = 8;

void AddAllocatable(NodeColumns& columns, std::span<const Node> nodes, WorkBudget& budget) {
  std::unordered_map<std::string_view, std::size_t> numbers;  // of resources, as they come
  const auto number_of = [&](const std::string& name) {
    const auto [it, fresh] = numbers.emplace(name, numbers.size());
    if (fresh) budget.Charge(BytesOf(name));
    return it->second;
  };
  ColumnsOfKeys numbers_of;
  std::size_t amounts = 0;
  for (const Node& node : nodes) {
    if (budget.stopped()) return;
    amounts += node.allocatable.size();
    numbers_of(node.allocatable, number_of);
  }
  std::vector<std::size_t> rank(numbers.size());
  std::vector<std::pair<std::string_view, std::size_t>> sorted(numbers.begin(), numbers.end());
  std::ranges::sort(sorted);
  for (const auto& [name, number] : sorted) {
    rank[number] = columns.resources.size();
    columns.resources.emplace_back(name);
  }
  const std::size_t dense = columns.resources.size() * nodes.size();
  columns.sparse = dense >= kLeastSparse && amounts < dense / kSparseShare;
  if (!budget.Charge(columns.sparse ? BytesOf<NodeAmount>(amounts) : BytesOf<Amount>(dense)))
    return;
  if (columns.sparse) {
    columns.amounts.reserve(amounts);
  } else {
    columns.allocatable.assign(dense, 0);
  }
  for (std::size_t n = 0; n < nodes.size() && !budget.stopped(); ++n) {
    const std::span<const Amount> values = nodes[n].allocatable.values();
    const std::vector<std::size_t>& of_keys = numbers_of(nodes[n].allocatable, number_of);
    for (std::size_t entry = 0; entry < values.size(); ++entry) {
      const std::size_t r = rank[of_keys[entry]];
      if (!columns.sparse) {
        columns.allocatable[r * nodes.size() + n] = values[entry];
      } else if (values[entry] != 0) {
        columns.amounts.push_back(
            {static_cast<std::int32_t>(r), static_cast<std::int32_t>(n), values[entry]});
      }
    }
  }
}

void AddLabels(NodeColumns& columns, std::span<const Node> nodes, WorkBudget& budget) {
  std::vector<LabelColumnBuilder> builders;
  std::unordered_map<std::string_view, std::size_t> builder_of;
  ColumnsOfKeys builders_of;
  for (std::size_t n = 0; n < nodes.size() && !budget.stopped(); ++n) {
    const std::vector<std::size_t>& of_keys =
        builders_of(nodes[n].labels, [&](const std::string& key) {
          const auto [it, fresh] = builder_of.emplace(key, builders.size());
          if (fresh) {
            budget.Charge(BytesOf<std::int32_t>(nodes.size()));
            builders.emplace_back(key, budget);
          }
          return it->second;
        });
    const std::span<const std::string> values = nodes[n].labels.values();
    for (std::size_t entry = 0; entry < values.size(); ++entry) {
      if (budget.stopped()) return;
      builders[of_keys[entry]].Set(n, values[entry]);
    }
  }
  columns.labels.resize(builders.size());
  ParallelFor(builders.size(), builders.size() * nodes.size(), [&](std::size_t label) {
    if (!budget.stopped()) columns.labels[label] = builders[label].Finish(nodes.size());
  });
  std::ranges::sort(columns.labels, {}, &LabelColumn::key);
}

// Adds names, and what else each node has one of.
void AddNames(NodeColumns& columns, std::span<const Node> nodes, WorkBudget& budget) {
  TaintSets taint_sets;
  budget.Charge(BytesOf<std::int32_t>(nodes.size()) + BytesOf<std::uint8_t>(nodes.size()));
  for (const Node& node : nodes) {
    if (!budget.Charge(BytesOf(node.name))) return;
    columns.names.push_back(node.name);
    columns.available.push_back(!node.unschedulable && node.ready);
    const std::int32_t taints = taint_sets.Number(node.taints);
    if (taints == static_cast<std::int32_t>(columns.taint_sets.size())) {
      for (const Taint& taint : node.taints) {
        budget.Charge(BytesOf(taint.key) + BytesOf(taint.value) + BytesOf(taint.effect));
      }
      columns.taint_sets.push_back(node.taints);
    }
    columns.taint_set_of.push_back(taints);
  }
}

struct NameIn {
  const std::vector<std::string>& names;
  std::string_view operator()(std::int32_t n) const { return names[static_cast<std::size_t>(n)]; }
};

template <class Items, class Key = std::identity>
bool AscendsStrictly(const Items& items, Key key = {}) {
  return std::ranges::adjacent_find(items, std::ranges::greater_equal{}, key) == std::end(items);
}

// Returns whether the values ascend strictly. Reads them on all cores, each part with the last
// value of the one before it.
bool AscendsInParts(const std::vector<std::string>& values) {
  constexpr std::size_t kValues = 8192;  // of a part
  std::atomic<bool> ascends = true;
  ParallelFor((values.size() + kValues - 1) / kValues, values.size(), [&](std::size_t part) {
    const std::size_t begin = part == 0 ? 0 : part * kValues - 1;
    const std::size_t end = std::min((part + 1) * kValues, values.size());
    if (!AscendsStrictly(std::span(values).subspan(begin, end - begin))) ascends = false;
  });
  return ascends;
}

// Returns whether two names are equal. Equal names have equal hashes, so each part of the hashes
// can be looked at on its own.
bool AnyTwice(const std::vector<std::string>& names) {
  constexpr std::size_t kParts = 16;
  struct Hashed {
    std::uint32_t hash;
    std::int32_t position;
  };
  std::array<std::array<std::vector<Hashed>, kParts>, kParts> hashed;  // [run of names][part]
  ParallelFor(kParts, names.size(), [&](std::size_t run) {
    const std::size_t end = (run + 1) * names.size() / kParts;
    for (std::size_t n = run * names.size() / kParts; n < end; ++n) {
      const std::uint32_t hash = NameIndex::Hash(names[n]);
      hashed[run][hash >> 28].push_back({hash, static_cast<std::int32_t>(n)});
    }
  });
  std::array<bool, kParts> twice{};
  ParallelFor(kParts, names.size(), [&](std::size_t part) {
    std::size_t size = 0;
    for (const auto& run : hashed) size += run[part].size();
    NameIndex seen(size);
    for (const auto& run : hashed) {
      for (const Hashed& name : run[part]) {
        if (!seen.Add(name.position, name.hash, NameIn{names})) twice[part] = true;
      }
    }
  });
  return std::ranges::find(twice, true) != twice.end();
}

bool InRange(const std::vector<std::int32_t>& indices, std::int32_t low, std::size_t end) {
  bool inside = true;
  for (const std::int32_t i : indices) inside &= i >= low && i < static_cast<std::int32_t>(end);
  return inside;
}

Result<void> WrongColumn(std::string_view column, std::string_view problem) {
  return BadInput(fmt::format("node columns: {} {}", column, problem));
}
std::string OneEach(std::size_t nodes) {
  return fmt::format("must have one entry for each of {} nodes", nodes);
}

Result<void> CheckLabel(const LabelColumn& label, std::size_t nodes) {
  const std::string name = fmt::format("label {}", label.key);
  if (label.value_of.size() != nodes) return WrongColumn(name, OneEach(nodes));
  if (!InRange(label.value_of, -1, label.values.size())) {
    return WrongColumn(name, "must index its values, or be -1");
  }
  if (!AscendsInParts(label.values)) {
    return WrongColumn(name, "must have sorted, distinct values");
  }
  return {};
}

}  // namespace

Result<void> CheckDistinctNames(const std::vector<std::string>& names) {
  if (AscendsStrictly(names) || !AnyTwice(names)) return {};
  NameIndex seen(names.size());
  std::int32_t n = 0;
  while (seen.Add(n, NameIn{names})) ++n;
  return BadInput(
      fmt::format("Node \"{}\" is given twice; names must be unique", Excerpt(NameIn{names}(n))));
}

std::int32_t LabelColumn::FindValue(std::string_view value) const {
  const auto it = std::ranges::lower_bound(values, value);
  return it != values.end() && *it == value ? static_cast<std::int32_t>(it - values.begin()) : -1;
}

const LabelColumn* NodeColumns::FindLabel(std::string_view key) const {
  const auto it = std::ranges::lower_bound(labels, key, {}, &LabelColumn::key);
  return it != labels.end() && it->key == key ? &*it : nullptr;
}

Result<NodeColumns> MakeNodeColumns(std::span<const Node> nodes, WorkBudget& budget) {
  NodeColumns columns;
  const std::size_t entries = nodes.size() * kEntriesOfNode;
  Result<void> distinct;
  ParallelFor(3, entries, [&](std::size_t part) {
    if (part == 0) {
      AddLabels(columns, nodes, budget);
    } else if (part == 1) {
      AddAllocatable(columns, nodes, budget);
    } else {
      AddNames(columns, nodes, budget);
      if (!budget.stopped()) distinct = CheckDistinctNames(columns.names);
    }
  });
  if (auto check = budget.Check(); !check) return tl::unexpected<Error>(check.error());
  if (!distinct) return tl::unexpected<Error>(distinct.error());
  return columns;
}

Result<void> CheckNodeColumns(const NodeColumns& columns) {
  const std::size_t nodes = columns.size();
  const std::string one_each = OneEach(nodes);
  if (columns.available.size() != nodes) return WrongColumn("available", one_each);
  if (columns.taint_set_of.size() != nodes) return WrongColumn("taint_set_of", one_each);
  if (!InRange(columns.taint_set_of, 0, columns.taint_sets.size())) {
    return WrongColumn("taint_set_of", "must index taint_sets");
  }
  if (!AscendsStrictly(columns.labels, &LabelColumn::key)) {
    return WrongColumn("labels", "must be sorted by distinct keys");
  }
  std::vector<Result<void>> labels(columns.labels.size());
  ParallelFor(labels.size(), labels.size() * nodes,
              [&](std::size_t label) { labels[label] = CheckLabel(columns.labels[label], nodes); });
  for (const Result<void>& label : labels) {
    if (!label) return label;
  }
  if (!AscendsStrictly(columns.resources)) {
    return WrongColumn("resources", "must be sorted and distinct");
  }
  if (columns.sparse) {
    const bool inside = std::ranges::all_of(columns.amounts, [&](const NodeAmount& amount) {
      return amount.resource >= 0 && amount.node >= 0 &&
             static_cast<std::size_t>(amount.resource) < columns.resources.size() &&
             static_cast<std::size_t>(amount.node) < nodes;
    });
    if (!inside) return WrongColumn("amounts", "must be of resources and nodes there are");
  } else if (columns.allocatable.size() != columns.resources.size() * nodes) {
    return WrongColumn("allocatable", "must have one entry for each resource and node");
  }
  return {};
}

}  // namespace espalier
