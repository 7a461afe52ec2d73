// Reads the file of `espalier serve --access`.
#pragma once

#include <string>

#include "host/model/access_rules.hpp"
#include "host/model/result.hpp"

namespace espalier {

// Reads rules from a YAML or JSON file:
//
//   rules:
//   - who: certificate:kueue.kueue-system.svc
//     may: [read, place, commit, write-state]
//
// `who` is certificate:NAME, spiffe://..., user:NUMBER, any-certificate or anyone, each at most
// once. Nothing is passed over: an unknown key is an error too. Errors have a line for each
// finding and name the file, the field, the value and what would be right: kUnavailable for a file
// that cannot be read, else kBadInput.
Result<AccessRules> ReadAccessFile(const std::string& path);

}  // namespace espalier
