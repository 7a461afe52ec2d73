// Finds objects that are in the input twice.
#pragma once

#include <map>
#include <string_view>
#include <tuple>

#include "host/readers/json_fields.hpp"
#include "host/readers/object_index.hpp"

namespace espalier {

// Returns whether two objects say the same, whatever the order of their keys, and whatever the API
// server noted of its own work in their metadata (resourceVersion and the like).
bool SaySame(JsonValue a, JsonValue b);

// Reports to the context of `second` that it has the identity of `first`: a warning where both say
// the `same`, so that it counts once, and an error otherwise. Returns `same`.
bool ReportTwin(const IndexedObject& first, const IndexedObject& second, bool same,
                const ObjectIndex& index, const ReadContext& context);

// Knows objects by group, kind, namespace and name.
class SeenObjects {
 public:
  // Returns the object of the same identity that was added before, or null, and adds this one then.
  // An object without a name has no identity.
  const IndexedObject* FindOrAdd(std::string_view group, std::string_view kind,
                                 const IndexedObject& object);

  const IndexedObject* FindOrAdd(const SourceObject& object);

 private:
  using Key = std::tuple<std::string_view, std::string_view, std::string_view, std::string_view>;

  std::map<Key, IndexedObject> seen_;
};

}  // namespace espalier
