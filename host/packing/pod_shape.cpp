#include "host/packing/pod_shape.hpp"

#include <iterator>

#include <fmt/compile.h>

namespace espalier {
namespace {

void AppendVector(fmt::memory_buffer& out, const RequestVector& vector) {
  for (std::size_t i = 0; i < vector.names.size(); ++i) {
    fmt::format_to(std::back_inserter(out), FMT_COMPILE("{}={};"), vector.names[i],
                   vector.amounts[i]);
  }
  out.push_back('|');
}

std::size_t BytesOf(const RequestVector& vector) {
  std::size_t bytes =
      vector.columns.size() * sizeof(std::int32_t) + vector.amounts.size() * sizeof(Amount);
  for (const std::string& name : vector.names) bytes += sizeof(std::string) + name.size();
  return bytes;
}

}  // namespace

std::int64_t PodShape::Bytes() const {
  return static_cast<std::int64_t>(sizeof(PodShape) + BytesOf(workers) + BytesOf(leader) +
                                   leader_on_workers.size() * sizeof(Amount) +
                                   2 * constraints_key.size());
}

std::string PodShape::Key() const {
  fmt::memory_buffer out;
  AppendVector(out, workers);
  AppendVector(out, leader);
  fmt::format_to(std::back_inserter(out), FMT_COMPILE("{}x{}|"), slice.level, slice.size);
  for (const Count size : slice.inner_size) {
    fmt::format_to(std::back_inserter(out), FMT_COMPILE("{},"), size);
  }
  for (std::int32_t layer = 0; layer < slice.layer_count; ++layer) {
    fmt::format_to(std::back_inserter(out), FMT_COMPILE("|{}x{}"), slice.layer_level[layer],
                   slice.layer_size[layer]);
  }
  fmt::format_to(std::back_inserter(out), FMT_COMPILE("|{}|{}"), constraints != nullptr,
                 constraints_key);
  return fmt::to_string(out);
}

}  // namespace espalier
