// The fields that objects have in Kubernetes and Kueue, as far as decisions depend on them. Their
// tables are in `fields`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "host/readers/object_index.hpp"

namespace espalier {

// The fields an object may have. The fields inside a field are those of its value, or of the items
// of its list.
class KnownFields {
 public:
  // The objects in which no reader looks at a field, so that it is left out when they are kept.
  // Pods without a node are still to be placed, so more of their fields matter.
  enum Unread : std::uint8_t {
    kNowhere = 0,
    kInNodes = 1,
    kInBoundPods = 2,
    kInPendingPods = 4,
    kInPods = kInBoundPods | kInPendingPods,
    kInOthers = 8,
    kEverywhere = kInNodes | kInPods | kInOthers,
    kIfEmpty = 16,  // where it is an empty list
    kInBoundPodsOrIfEmpty = kInBoundPods | kIfEmpty,
  };

  struct Field {
    constexpr Field(std::string_view of, const KnownFields* below = nullptr,
                    Unread where = kNowhere)
        : name(of), inside(below), unread(where) {}
    constexpr Field(std::string_view of, Unread where) : name(of), unread(where) {}

    std::string_view name;
    const KnownFields* inside = nullptr;  // null: not known, or not an object
    Unread unread = kNowhere;
  };

  // What other fields than the known ones are.
  enum class Others : std::uint8_t {
    kNewer,   // than what is known
    kMatter,  // they could change where pods go
    kLabels,  // any key is allowed; the known ones are those of Kueue
  };

  KnownFields() = default;
  template <std::size_t kCount>
  constexpr KnownFields(const Field (&fields)[kCount], Others others = Others::kNewer)
      : fields_(fields), others_(others) {
    for (std::size_t i = 0; i < kCount; ++i) {
      const bool inside = fields[i].inside != nullptr && !fields[i].inside->with_unread_.empty();
      if (inside || fields[i].unread != kNowhere) with_unread_ = std::span(fields, i + 1);
    }
  }

  std::span<const Field> all() const { return fields_; }
  // Returns the first fields, up to the last one that is unread somewhere or has such a field
  // inside. Tables begin with those, as they are looked through for every field of a large input.
  std::span<const Field> with_unread() const { return with_unread_; }
  Others others() const { return others_; }

 private:
  std::span<const Field> fields_;
  std::span<const Field> with_unread_;
  Others others_ = Others::kNewer;
};

KnownFields KnownFieldsOf(ObjectKind kind);

// Returns the fields of a PodTemplateSpec.
KnownFields KnownTemplateFields();

// Returns the apiVersions that are read, separated by blanks.
std::string_view KnownVersionsOf(ObjectKind kind);

}  // namespace espalier
