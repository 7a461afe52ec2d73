// Makes model values of indexed objects.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <numeric>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <tbb/parallel_for.h>

#include "host/model/cluster.hpp"
#include "host/readers/key_check.hpp"
#include "host/readers/kubernetes_objects.hpp"
#include "host/readers/object_index.hpp"
#include "host/readers/twins.hpp"
#include "host/readers/volcano_objects.hpp"

namespace espalier {

// Returns whether an object of the kind that is wrong is left out alone. On others the answer of
// all depends: without a flavor or queue another one would be chosen in silence.
constexpr bool IsLeftOutAlone(ObjectKind kind) {
  return kind == ObjectKind::kNode || kind == ObjectKind::kPod || kind == ObjectKind::kDaemonSet ||
         kind == ObjectKind::kWorkload;
}

// Makes model values of indexed objects, in their order.
class ObjectConverter {
 public:
  ObjectConverter(ObjectIndex& index, Diagnostics& diagnostics)
      : index_(index), diagnostics_(diagnostics) {}

  // The objects of a kind that have errors, by their index, each with the reason: only those that
  // are left out alone.
  using LeftOut = std::map<std::size_t, std::string>;

  // Reads what pods and workloads depend on. Must be called before these are read.
  void ReadDefaults(const Cluster& cluster, const std::vector<NetworkTier>& tiers);

  const ClusterDefaults& defaults() const { return defaults_; }

  // Returns `read(object, context)` of all objects, over all threads. Those with errors that are
  // left out alone are in `left_out`; their values hold what could be read.
  template <class Read>
  auto All(ObjectKind kind, const std::vector<IndexedObject>& objects, Read read,
           LeftOut& left_out) {
    using Value = decltype(read(JsonValue(), std::declval<const ReadContext&>()));
    constexpr std::size_t kChunk = 256;
    std::vector<Value> values(objects.size());
    struct Findings {
      Diagnostics all;
      std::vector<std::pair<std::size_t, Diagnostics>> errors;  // by the object's index
    };
    std::vector<Findings> findings((objects.size() + kChunk - 1) / kChunk,
                                   Findings{Diagnostics(diagnostics_.strict()), {}});
    tbb::parallel_for(std::size_t{0}, findings.size(), [&](std::size_t chunk) {
      if (index_.abandoned()) return;
      const std::size_t end = std::min(objects.size(), (chunk + 1) * kChunk);
      index_.ChargeMade(static_cast<std::int64_t>((end - chunk * kChunk) * sizeof(Value)));
      for (std::size_t i = chunk * kChunk; i < end; ++i) {
        if constexpr (std::is_same_v<Value, Node>) {
          if (objects[i].node != nullptr) {
            values[i] = std::move(*objects[i].node);
            continue;
          }
        }
        Diagnostics found(diagnostics_.strict());
        const ReadContext context = index_.ContextOf(kind, objects[i], found);
        if (!index_.HasUnreadableNumber(objects[i], context)) {
          CheckKeys(kind, objects[i].value, context);
          values[i] = read(objects[i].value, context);
        }
        if (found.ok() || !IsLeftOutAlone(kind)) {
          findings[chunk].all.Append(std::move(found));
        } else {
          findings[chunk].errors.emplace_back(i, std::move(found));
        }
      }
    });
    for (Findings& found : findings) {
      diagnostics_.Append(std::move(found.all));
      for (auto& [i, errors] : found.errors) {
        if constexpr (std::is_same_v<Value, Workload>) {
          if (UseIsUnknown(values[i], errors)) {
            diagnostics_.Append(std::move(errors));
            continue;
          }
        }
        std::string why = diagnostics_.AppendObject(std::move(errors));
        if (!why.empty()) left_out.emplace(i, std::move(why));
      }
    }
    return values;
  }

  // Reports objects of a kind that have no values of their own and are in the input twice.
  void DropTwins(ObjectKind kind);

  // Returns the values of all objects of a kind. One with the key, `key_of(value)`, of one before
  // is dropped where it says the same, and reported otherwise. Gives those left out to
  // `take(value, object, why)`, which returns whether the value stays among the others.
  template <class Read, class KeyOf, class Take>
  auto AllDistinct(ObjectKind kind, Read read, KeyOf key_of, Take take) {
    LeftOut left_out;
    auto values = All(kind, index_.Of(kind), read, left_out);
    std::vector<bool> is_dropped(values.size());
    bool drops = false;
    for (const auto& [i, why] : left_out) {
      if (take(values[i], index_.Of(kind)[i], why)) continue;
      is_dropped[i] = true;
      drops = true;
    }
    // kubectl prints objects in order of their keys, so that there is mostly nothing to sort.
    std::vector<std::size_t> order(values.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto before = [&](std::size_t a, std::size_t b) {
      return key_of(values[a]) < key_of(values[b]);
    };
    if (!std::is_sorted(order.begin(), order.end(), before)) {
      std::stable_sort(order.begin(), order.end(), before);
    }
    const std::vector<IndexedObject>& objects = index_.Of(kind);
    for (std::size_t i = 1; i < order.size(); ++i) {
      const std::size_t first = order[i - 1];
      const std::size_t second = order[i];
      if (before(first, second) || left_out.contains(first) || left_out.contains(second)) continue;
      const ReadContext context = index_.ContextOf(kind, objects[second], diagnostics_);
      if (!ReportTwin(objects[first], objects[second], values[first] == values[second], index_,
                      context)) {
        continue;
      }
      is_dropped[second] = true;
      drops = true;
    }
    if (drops) {
      index_.Drop(kind, is_dropped);
      std::size_t kept = 0;
      for (std::size_t i = 0; i < values.size(); ++i) {
        if (is_dropped[i]) continue;
        if (kept != i) values[kept] = std::move(values[i]);
        ++kept;
      }
      values.resize(kept);
    }
    return values;
  }

 private:
  void ReadClaims(const Cluster& cluster);

  template <class Read>
  void ForEach(ObjectKind kind, Read read) {
    ForEach(kind, index_.Of(kind), read);
  }

  template <class Read>
  void ForEach(ObjectKind kind, const std::vector<IndexedObject>& objects, Read read) {
    for (const IndexedObject& object : objects) {
      const ReadContext context = index_.ContextOf(kind, object, diagnostics_);
      if (index_.HasUnreadableNumber(object, context)) continue;
      CheckKeys(kind, object.value, context);
      read(object.value, context);
    }
  }

  // Returns whether a Workload holds room, and how much cannot be read.
  static bool UseIsUnknown(const Workload& workload, const Diagnostics& findings);

  ObjectIndex& index_;
  Diagnostics& diagnostics_;
  ClusterDefaults defaults_;
};

}  // namespace espalier
