#include "service/cli/version.hpp"

#include <fmt/format.h>
#include <grpcpp/grpcpp.h>

#include "build_facts.hpp"

namespace espalier {

std::string VersionText() {
  return fmt::format("espalier {} ({})\nbuild: {}, {}\nback ends: cpu\ngRPC {}", ESPALIER_VERSION,
                     ESPALIER_COMMIT, ESPALIER_BUILD_TYPE, ESPALIER_COMPILER, grpc::Version());
}

}  // namespace espalier
