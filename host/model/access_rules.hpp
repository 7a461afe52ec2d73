// Declares the rules of who may do what at a server.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace espalier {

enum class Permission : std::uint8_t {
  kRead,        // see states, holds and how the server fares
  kPlace,       // ask where something would go, and all other questions that change nothing
  kCommit,      // book what is placed, as usage or as holds, and end the holds that one made
  kWriteState,  // load, change and unload states
  kAdmin,       // end the holds of others
};

// Names of permissions in files and messages, by Permission.
inline constexpr std::array<std::string_view, 5> kPermissionNames = {"read", "place", "commit",
                                                                     "write-state", "admin"};

inline std::string_view Name(Permission permission) {
  return kPermissionNames[static_cast<std::size_t>(permission)];
}

// A set of permissions.
class Permissions {
 public:
  static constexpr Permissions All() {
    Permissions all;
    all.bits_ = (1u << kPermissionNames.size()) - 1;
    return all;
  }

  constexpr void Add(Permission permission) { bits_ |= 1u << static_cast<unsigned>(permission); }
  constexpr void Add(Permissions others) { bits_ |= others.bits_; }
  constexpr bool Has(Permission permission) const {
    return (bits_ >> static_cast<unsigned>(permission) & 1u) != 0;
  }
  constexpr bool operator==(const Permissions&) const = default;

  // Returns the names, as "read, place", or "nothing".
  std::string ToString() const {
    std::string text;
    for (std::size_t i = 0; i < kPermissionNames.size(); ++i) {
      if (!Has(static_cast<Permission>(i))) continue;
      if (!text.empty()) text += ", ";
      text += kPermissionNames[i];
    }
    return text.empty() ? "nothing" : text;
  }

 private:
  unsigned bits_ = 0;
};

struct AccessRule {
  enum class Who : std::uint8_t {
    kAnyone,          // however it comes
    kAnyCertificate,  // whoever shows one that an authority of --tls-client-ca signed
    kCertificate,     // of this name
    kSpiffe,          // whose certificate has this id
    kUser,            // at the other end of a unix socket
  };
  Who who = Who::kAnyone;
  std::string name;        // of kCertificate, and the id of kSpiffe
  std::uint32_t user = 0;  // number, of kUser
  Permissions may;
};

struct AccessRules {
  std::vector<AccessRule> rules;  // each who once
};

}  // namespace espalier
