// Tells how a server fares, for people and for scripts.
#pragma once

#include <optional>
#include <string>

#include "espalier/v1/server.pb.h"
#include "service/cli/reports/object_writer.hpp"
#include "service/cli/terminal/terminal.hpp"

namespace espalier {

// The answers of one server.
struct ServerReport {
  std::string address;
  v1::ServerInfoResponse info;
  v1::ServerStatusResponse status;
};

// The conditions under which a server counts as serving.
struct ServingRule {
  std::optional<std::string> state;       // that has to be loaded; absent: any, and none too old
  std::optional<double> max_age_seconds;  // of a state since its last change; absent: any
};

// Returns why the server does not count as serving, in words; empty when it does.
std::string WhyNotServing(const v1::ServerStatusResponse& status, const ServingRule& rule);

// Returns the report as lines and tables; ends in a newline. `why_not` is as above.
std::string RenderStatus(const ServerReport& report, const std::string& why_not,
                         const TextStyle& style);

// Writes the fields of the report into a map.
void WriteStatus(const ServerReport& report, const std::string& why_not, ObjectWriter& out);

}  // namespace espalier
