#include "host/readers/scale_request.hpp"

#include <limits>
#include <utility>

#include <fmt/format.h>
#include <simdjson.h>

#include "host/model/excerpt.hpp"
#include "host/model/kueue_keys.hpp"

namespace espalier {

Result<std::map<std::string, std::int64_t>> ParseScaleRequest(std::string_view json) {
  simdjson::dom::parser parser;
  simdjson::dom::object object;
  if (const auto code = parser.parse(json.data(), json.size()).get(object)) {
    return BadInput(simdjson::error_message(code));
  }
  std::map<std::string, std::int64_t> counts;
  for (const auto [name, value] : object) {
    std::int64_t count = 0;
    if (value.get(count) != simdjson::SUCCESS || count < 0 ||
        count > std::numeric_limits<std::int32_t>::max()) {
      return BadInput(fmt::format("the count of \"{}\" is not an integer from 0 to {}",
                                  Excerpt(name), std::numeric_limits<std::int32_t>::max()));
    }
    counts[std::string(name)] = count;
  }
  return counts;
}

Result<std::map<ObjectKey, std::map<std::string, std::int64_t>>> ReadScaleRequests(
    std::string_view cluster, std::span<const Workload> workloads) {
  std::map<ObjectKey, std::map<std::string, std::int64_t>> requests;
  for (const Workload& workload : workloads) {
    const std::string* text = workload.annotations.Find(kScaleRequestAnnotation);
    if (text == nullptr || text->empty()) continue;
    auto counts = ParseScaleRequest(*text);
    if (!counts) {
      return BadInput(
          fmt::format("{}: Workload {}: metadata.annotations[{}]: {}; want counts by pod "
                      "set, as {{\"small-group\": 5}}",
                      Excerpt(cluster), Excerpt(workload.key.ToString()), kScaleRequestAnnotation,
                      counts.error().message));
    }
    requests[workload.key] = *std::move(counts);
  }
  return requests;
}

}  // namespace espalier
