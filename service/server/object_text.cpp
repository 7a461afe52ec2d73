#include "service/server/object_text.hpp"

#include <cstdint>

namespace espalier {
namespace {

constexpr std::uint64_t kMostUnpacking = 8;
constexpr std::uint64_t kSmallText = std::uint64_t{1} << 20;

}  // namespace

Result<ClusterRead> ReadObjectText(const std::string& field, const std::string& text,
                                   ReadOptions options, WorkBudget& budget) {
  options.max_input = kSmallText + kMostUnpacking * text.size();
  options.budget = &budget;
  options.leave_out = true;
  return ReadClusterText(field, text, options);
}

}  // namespace espalier
