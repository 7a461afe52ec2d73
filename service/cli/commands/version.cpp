#include "service/cli/commands/version.hpp"

#include <fmt/format.h>
#include <grpcpp/grpcpp.h>

#include "build_facts.hpp"
#include "host/cuda/cuda_device.hpp"

namespace espalier {

std::string_view Version() { return ESPALIER_VERSION; }
std::string_view Commit() { return ESPALIER_COMMIT; }

std::string VersionText() {
  return fmt::format("espalier {} ({})\nbuild: {}, {}\nback ends: cpu, {}emulated\ngRPC {}",
                     Version(), Commit(), ESPALIER_BUILD_TYPE, ESPALIER_COMPILER,
                     CudaIsCompiled() ? "cuda, " : "", grpc::Version());
}

}  // namespace espalier
