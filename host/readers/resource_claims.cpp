#include "host/readers/resource_claims.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "host/model/excerpt.hpp"
#include "host/readers/kubernetes_objects.hpp"
#include "host/readers/object_metadata.hpp"

namespace espalier {
namespace {

std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == text.npos) return "";
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

// Takes `word` off the front of the text; false when it does not begin with it.
bool Skip(std::string_view& text, std::string_view word) {
  text = Trimmed(text);
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  return true;
}

// Takes a text in quotes off the front; nullopt when there is none.
std::optional<std::string> SkipQuoted(std::string_view& text) {
  text = Trimmed(text);
  if (text.empty() || (text[0] != '"' && text[0] != '\'')) return std::nullopt;
  const std::size_t end = text.find(text[0], 1);
  if (end == text.npos || text.substr(0, end).find('\\') != text.npos) return std::nullopt;
  std::string quoted(text.substr(1, end - 1));
  text.remove_prefix(end + 1);
  return quoted;
}

// Takes `device.attributes["DOMAIN"]` off the front and returns the domain.
std::optional<std::string> SkipDomain(std::string_view& text) {
  if (!Skip(text, "device.attributes") || !Skip(text, "[")) return std::nullopt;
  auto domain = SkipQuoted(text);
  return domain && Skip(text, "]") ? domain : std::nullopt;
}

// Takes `device.attributes["DOMAIN"].NAME` off the front and returns "DOMAIN/NAME".
std::optional<std::string> SkipAttribute(std::string_view& text) {
  auto domain = SkipDomain(text);
  if (!domain) return std::nullopt;
  if (Skip(text, "[")) {
    const auto name = SkipQuoted(text);
    if (!name || !Skip(text, "]")) return std::nullopt;
    return *domain + "/" + *name;
  }
  if (!Skip(text, ".")) return std::nullopt;
  constexpr std::string_view kIdentifier =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
  const std::size_t size = std::min(text.find_first_not_of(kIdentifier), text.size());
  const std::string_view name = text.substr(0, size);
  text.remove_prefix(size);
  if (name.empty()) return std::nullopt;
  return fmt::format("{}/{}", *domain, name);
}

// Splits a CEL expression at `&&`; one with an alternative is one part.
std::vector<std::string_view> Conjuncts(std::string_view expression) {
  std::vector<std::string_view> parts;
  if (expression.find("||") != expression.npos) return {Trimmed(expression)};
  while (true) {
    const std::size_t end = std::min(expression.find("&&"), expression.size());
    parts.push_back(Trimmed(expression.substr(0, end)));
    if (end == expression.size()) return parts;
    expression.remove_prefix(end + 2);
  }
}

// A part of an expression that is understood.
struct AttributeTest {
  std::string attribute;                // "DOMAIN/NAME"
  std::optional<std::string> equal_to;  // absent: that the device has it
};

std::optional<AttributeTest> ReadAttributeTest(std::string_view part) {
  std::string_view text = part;
  if (Skip(text, "has(")) {
    auto attribute = SkipAttribute(text);
    if (attribute && Trimmed(text) == ")") return AttributeTest{*std::move(attribute), {}};
    return std::nullopt;
  }
  if (const auto name = SkipQuoted(text)) {
    if (!Skip(text, "in ")) return std::nullopt;
    const auto domain = SkipDomain(text);
    if (domain && Trimmed(text).empty()) return AttributeTest{*domain + "/" + *name, {}};
    return std::nullopt;
  }
  auto attribute = SkipAttribute(text);
  if (!attribute || !Skip(text, "==")) return std::nullopt;
  auto value = SkipQuoted(text);
  if (!value || !Trimmed(text).empty()) return std::nullopt;
  return AttributeTest{*std::move(attribute), std::move(value)};
}

// Returns the key as it is compared: attributes of devices have no `-` in their names.
std::string Plain(std::string_view key) {
  std::string plain(key);
  std::ranges::replace(plain, '_', '-');
  return plain;
}

// Returns whether the expression has both halves of the level's key in it.
bool Mentions(std::string_view expression, std::string_view level) {
  const std::string plain = Plain(expression);
  const std::size_t slash = std::min(level.find('/'), level.size());
  return plain.find(Plain(level.substr(0, slash))) != plain.npos &&
         (slash == level.size() || plain.find(Plain(level.substr(slash + 1))) != plain.npos);
}

class ClaimReader {
 public:
  ClaimReader(const ClaimSurroundings& around, const ReadContext& context)
      : around_(around), context_(context) {}

  ClaimedPlace Read(std::optional<JsonValue> spec, std::optional<JsonValue> status) {
    if (const auto devices = spec ? ObjectMember(*spec, "devices", context_) : std::nullopt) {
      ReadList(*devices, "requests", context_, [&](JsonValue request) { return Request(request); });
      ReadList(*devices, "constraints", context_, [&](JsonValue one) { return Constraint(one); });
    }
    if (status) ReadAllocation(*status);
    Conclude();
    return std::move(place_);
  }

 private:
  int Request(JsonValue request) {
    const auto several = ArrayMember(request, "firstAvailable", context_);
    if (several) {
      ClaimReader scratch(around_, context_);
      for (const JsonValue one : *several) scratch.Device(one);
      if (!scratch.names_.empty() || !scratch.place_.problem.empty())
        Refuse("its devices are alternatives (firstAvailable)");
      return 0;
    }
    const auto exactly = ObjectMember(request, "exactly", context_);
    Device(exactly.value_or(request));  // v1beta1 has no `exactly`
    return 0;
  }

  void Device(JsonValue device) {
    const std::string name = TextMember(device, "deviceClassName", context_);
    if (!name.empty()) Class(name);
    ReadList(device, "selectors", context_, [&](JsonValue selector) {
      if (const auto cel = ObjectMember(selector, "cel", context_)) {
        Expression(TextMember(*cel, "expression", context_));
      }
      return 0;
    });
  }

  void Class(const std::string& name) {
    classes_.push_back(name);
    for (const std::string& level : around_.levels) {
      if (name == level || name == level.substr(level.find('/') + 1)) Name(level);
    }
    const auto found = std::ranges::find(around_.classes, name, &DeviceClass::name);
    if (found == around_.classes.end()) {
      missing_classes_.push_back(name);
      return;
    }
    for (const std::string& selector : found->selectors) Expression(selector);
  }

  int Constraint(JsonValue constraint) {
    const std::string same = TextMember(constraint, "matchAttribute", context_);
    if (const std::string* level = LevelOf(same)) Name(*level);
    const std::string distinct = TextMember(constraint, "distinctAttribute", context_);
    if (LevelOf(distinct) != nullptr) {
      Refuse(fmt::format("its devices are to differ in {}", distinct));
    }
    return 0;
  }

  void Expression(const std::string& expression) {
    for (const std::string_view part : Conjuncts(expression)) {
      const auto condition = ReadAttributeTest(part);
      const std::string* level = condition ? LevelOf(condition->attribute) : nullptr;
      if (level != nullptr) {
        Name(*level);
        if (condition->equal_to) {
          Narrow({{.match_expressions = {{*level, "In", {*condition->equal_to}}},
                   .match_fields = {}}});
        }
      } else if (!condition && std::ranges::any_of(around_.levels, [&](const std::string& one) {
                   return Mentions(part, one);
                 })) {
        Refuse(fmt::format("its selector {} is not understood", Excerpt(part)));
      }
    }
  }

  void ReadAllocation(JsonValue status) {
    const auto allocation = ObjectMember(status, "allocation", context_);
    if (!allocation) return;
    place_.allocated = true;
    ReadList(status, "reservedFor", context_, [&](JsonValue user) {
      if (TextMember(user, "resource", context_) == "pods") {
        place_.reserved_for.push_back(TextMember(user, "name", context_));
      } else {
        place_.reserved_for_others = true;
      }
      return 0;
    });
    const auto selector = ObjectMember(*allocation, "nodeSelector", context_);
    if (selector) place_.allocated_nodes = ReadNodeSelectorTerms(*selector, context_);
  }

  void Narrow(std::vector<NodeSelectorTerm> terms) {
    place_.nodes = place_.nodes ? BothTerms(*place_.nodes, terms) : std::move(terms);
  }

  void Conclude() {
    if (!place_.problem.empty()) return;
    if (names_.size() > 1) return Refuse(fmt::format("it names {}", fmt::join(names_, " and ")));
    if (!names_.empty()) place_.level = names_.front();
    if ((place_.nodes || place_.allocated_nodes) && !around_.has_host_level) {
      return Refuse(
          "it is for nodes with certain labels, and no Topology has kubernetes.io/hostname as its "
          "lowest level, without which nodes are not told apart");
    }
    if (!names_.empty() || place_.allocated) return;
    std::string why =
        "it is not allocated, and neither its device classes nor its attributes name "
        "a level of a Topology";
    if (!classes_.empty()) why += fmt::format(" (deviceClassName {})", fmt::join(classes_, ", "));
    if (!missing_classes_.empty()) {
      why += fmt::format("; DeviceClass {} is not in the input", fmt::join(missing_classes_, ", "));
    }
    Refuse(std::move(why));
    place_.names_nothing = true;
  }

  // The level that an attribute is that of; null: of none.
  const std::string* LevelOf(const std::string& attribute) const {
    const auto it = std::ranges::find_if(
        around_.levels, [&](const std::string& level) { return Plain(level) == Plain(attribute); });
    return it == around_.levels.end() ? nullptr : &*it;
  }

  void Name(const std::string& level) {
    if (std::ranges::find(names_, level) == names_.end()) names_.push_back(level);
  }

  void Refuse(std::string why) {
    if (place_.problem.empty()) place_.problem = std::move(why);
  }

  const ClaimSurroundings& around_;
  const ReadContext& context_;
  ClaimedPlace place_;
  std::vector<std::string> names_;  // of levels, each once
  std::vector<std::string> classes_;
  std::vector<std::string> missing_classes_;
};

const ClaimedPlace* FindIn(const std::map<ObjectKey, ClaimedPlace>& places, const ObjectKey& key) {
  const auto it = places.find(key);
  return it == places.end() ? nullptr : &it->second;
}

}  // namespace

const ClaimedPlace* ResourceClaims::Find(const std::string& name_space, const std::string& claim,
                                         const std::string& claim_template) const {
  return claim.empty() ? FindIn(templates, {name_space, claim_template})
                       : FindIn(claims, {name_space, claim});
}

DeviceClass ReadDeviceClass(JsonValue object, const ReadContext& context) {
  DeviceClass read{ReadObjectName(object, context), {}};
  if (const auto metadata = ObjectMember(object, "metadata", context)) {
    read.creation_seconds = TimeMember(*metadata, "creationTimestamp", context).value_or(0);
  }
  const auto spec = ObjectMember(object, "spec", context);
  if (!spec) return read;
  read.extended_resource = TextMember(*spec, "extendedResourceName", context);
  read.selectors = ReadList(*spec, "selectors", context, [&](JsonValue selector) {
    const auto cel = ObjectMember(selector, "cel", context);
    return cel ? TextMember(*cel, "expression", context) : std::string();
  });
  return read;
}

ClaimSurroundings SurroundingsOf(const std::vector<DeviceClass>& classes,
                                 const std::vector<Topology>& topologies) {
  ClaimSurroundings around{classes, {}, topologies.empty()};
  for (const Topology& topology : topologies) {
    if (!topology.levels.empty() && topology.levels.back() == kHostnameLabel) {
      around.has_host_level = true;
    }
    for (const std::string& level : topology.levels) {
      if (std::ranges::find(around.levels, level) == around.levels.end()) {
        around.levels.push_back(level);
      }
    }
  }
  return around;
}

ClaimedPlace ReadResourceClaim(JsonValue object, bool is_template, const ClaimSurroundings& around,
                               const ReadContext& context) {
  auto spec = ObjectMember(object, "spec", context);
  if (is_template && spec) spec = ObjectMember(*spec, "spec", context);
  const auto status = is_template ? std::nullopt : ObjectMember(object, "status", context);
  return ClaimReader(around, context).Read(spec, status);
}

std::vector<NodeSelectorTerm> BothTerms(const std::vector<NodeSelectorTerm>& a,
                                        const std::vector<NodeSelectorTerm>& b) {
  std::vector<NodeSelectorTerm> both;
  const auto passes_none = [](const NodeSelectorTerm& term) {
    return term.match_expressions.empty() && term.match_fields.empty();
  };
  for (const NodeSelectorTerm& first : a) {
    for (const NodeSelectorTerm& second : b) {
      if (passes_none(first) || passes_none(second)) continue;
      NodeSelectorTerm& term = both.emplace_back(first);
      const auto append = [](auto& to, const auto& from) {
        to.insert(to.end(), from.begin(), from.end());
      };
      append(term.match_expressions, second.match_expressions);
      append(term.match_fields, second.match_fields);
    }
  }
  return both;
}

}  // namespace espalier
