// Typed access to the fields of a parsed JSON object. A value of the wrong type is reported with
// its full field path and then treated as absent, so that one pass finds every error of an object.
// JSON null counts as absent, as in Kubernetes.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <simdjson.h>

#include "host/model/flat_map.hpp"
#include "host/model/quantity.hpp"
#include "host/model/resources.hpp"
#include "host/readers/diagnostics.hpp"

namespace espalier {

class WorkBudget;

using JsonValue = simdjson::dom::element;
using QuantityMap = FlatMap<Quantity>;

// The object that is read, and where its findings go. Field paths start at `root`; they are
// searched for only when there is something to report.
struct ReadContext {
  Diagnostics& diagnostics;
  std::string_view file;
  JsonValue root;
  std::string_view kind = {};    // kind of items that do not name theirs
  std::string_view object = {};  // replaces "kind namespace/name" taken from the root
  WorkBudget* budget = nullptr;  // bounds the memory of the result; null: unbounded
  std::uint32_t number = 0;      // of the object in its file, from 1; 0: it is the only one
  // Position of the object among those of its kind, namespace and generateName, from 1.
  std::uint32_t generated = 1;
  // True: an amount such as 100GB reads as 100G, with a warning, as in descriptions that no API
  // server has checked.
  bool takes_byte_suffix = false;

  void Error(JsonValue at, std::string problem, std::string expected) const;
  // Reports, as Error does, what no server would refuse the object for.
  void ErrorOfInput(JsonValue at, std::string problem, std::string expected) const;
  void Warn(JsonValue at, std::string problem, std::string expected) const;
  // Reports that `parent` lacks the field `name`, which is required.
  void Missing(JsonValue parent, std::string_view name, std::string expected) const;
  // Reports all numbers in `root` that MarkUnreadableNumbers replaced. Returns whether there are
  // any.
  bool HasUnreadableNumber() const;
  // Charges `count` elements of `size` bytes each, which will be made of `at`, to the budget.
  // Returns false when it has no room for them, so that they must not be made, and reports the
  // first such value.
  bool Charge(JsonValue at, std::size_t count, std::size_t size) const;
};

// Returns "dump.json, object 12", or the file alone for number 0.
std::string ObjectPlace(std::string_view file, std::uint32_t number);

// Returns a title such as "Pod team-a/trainer-0" from the object's kind and metadata; `kind` stands
// in when the object does not name its kind. `generated` is as in ReadContext.
std::string ObjectTitle(JsonValue object, std::string_view kind, std::uint32_t generated = 1);

// Returns the name that an object without one gets here instead of the server's, "train-?1" for the
// first with the generateName "train-"; nullopt when it has a name or no generateName.
std::optional<std::string> GeneratedName(JsonValue metadata, std::uint32_t generated);

// Returns the fields (items) of a value that is known to be an object (a list).
simdjson::dom::object Fields(JsonValue object);
simdjson::dom::array Items(JsonValue list);

std::optional<JsonValue> Member(JsonValue parent, std::string_view name);
// Returns the member's text, or `otherwise` when it is absent or no text, which is not reported.
std::string_view TextOf(JsonValue parent, std::string_view name, std::string_view otherwise = {});
std::optional<JsonValue> ObjectMember(JsonValue parent, std::string_view name,
                                      const ReadContext& context);
std::optional<simdjson::dom::array> ArrayMember(JsonValue parent, std::string_view name,
                                                const ReadContext& context);
// Returns a view that stays valid as long as the parsed document.
std::optional<std::string_view> StringMember(JsonValue parent, std::string_view name,
                                             const ReadContext& context);
std::optional<bool> BoolMember(JsonValue parent, std::string_view name, const ReadContext& context);
std::optional<std::int64_t> Int64Member(JsonValue parent, std::string_view name,
                                        const ReadContext& context);
std::optional<std::int32_t> Int32Member(JsonValue parent, std::string_view name,
                                        const ReadContext& context, std::int32_t smallest = 0);
std::optional<std::int32_t> Int32Value(JsonValue value, const ReadContext& context,
                                       std::int32_t smallest = 0);
// Returns the Unix seconds of an RFC 3339 time.
std::optional<std::int64_t> TimeMember(JsonValue parent, std::string_view name,
                                       const ReadContext& context);

// Returns the value or the default of Kubernetes: an absent text is empty, an absent list has no
// items.
std::string TextMember(JsonValue parent, std::string_view name, const ReadContext& context);
std::vector<std::string> TextListMember(JsonValue parent, std::string_view name,
                                        const ReadContext& context);
StringMap TextMapMember(JsonValue parent, std::string_view name, const ReadContext& context);
// Returns the text; reports an absent or empty one.
std::string RequiredText(JsonValue parent, std::string_view name, const ReadContext& context);

// Returns a quantity, which is a JSON string or a number.
std::optional<Quantity> QuantityMember(JsonValue parent, std::string_view name,
                                       const ReadContext& context);
QuantityMap QuantitiesMember(JsonValue parent, std::string_view name, const ReadContext& context);
Resources ResourcesMember(JsonValue parent, std::string_view name, const ReadContext& context);
// Reads an object whose fields are the entries, such as resource name -> quantity.
QuantityMap ReadQuantities(JsonValue object, const ReadContext& context);
Resources ReadResources(JsonValue object, const ReadContext& context);
StringMap ReadTextMap(JsonValue object, const ReadContext& context);

// Converts each quantity to a canonical amount (R1.8).
Resources ToCanonical(const QuantityMap& quantities);

// Calls `read(item)` for every object in the list and returns the results; reports items that are
// no objects.
template <class Read>
auto ReadList(JsonValue parent, std::string_view name, const ReadContext& context, Read read) {
  std::vector<decltype(read(parent))> items;
  const auto list = ArrayMember(parent, name, context);
  if (!list || !context.Charge(*Member(parent, name), list->size(), sizeof(items[0]))) return items;
  items.reserve(list->size());
  for (const JsonValue item : *list) {
    if (item.is_object()) {
      items.push_back(read(item));
    } else {
      context.Error(item, "it is not an object", "an object");
    }
  }
  return items;
}

}  // namespace espalier
