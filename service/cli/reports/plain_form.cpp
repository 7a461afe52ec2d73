#include "service/cli/reports/plain_form.hpp"

#include <string>
#include <vector>

#include <fmt/format.h>

#include "service/cli/bench/child_process.hpp"

namespace espalier {

Result<std::string> PlainFormDigest(const std::string& scenario, std::int64_t gangs) {
  const Result<ChildResult> child =
      RunChild({"/proc/self/exe", "bench", scenario, "--gangs", std::to_string(gangs), "--threads",
                "1", "--repeat", "1", "--output", "digest", "--no-checks"},
               {"ESPALIER_SIMD=plain"});
  if (!child) return tl::unexpected(Error{ErrorClass::kInternal, child.error().message});
  if (child->exit_code != 0) {
    return tl::unexpected(
        Error{ErrorClass::kInternal, fmt::format("ended with exit code {}", child->exit_code)});
  }
  return child->output.substr(0, child->output.find(' '));
}

}  // namespace espalier
