#include "service/cli/version.hpp"

#include <fmt/format.h>
#include <grpcpp/grpcpp.h>

#include "build_facts.hpp"
#include "host/cuda/cuda_device.hpp"

namespace espalier {

std::string VersionText() {
  return fmt::format("espalier {} ({})\nbuild: {}, {}\nback ends: cpu, {}emulated\ngRPC {}",
                     ESPALIER_VERSION, ESPALIER_COMMIT, ESPALIER_BUILD_TYPE, ESPALIER_COMPILER,
                     CudaIsCompiled() ? "cuda, " : "", grpc::Version());
}

}  // namespace espalier
