#include "host/kueue/cycle/quota_requests.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace espalier {
namespace {

// Products of a quantity (in units of 10^-9) and two canonical amounts (of cpu in milli) are whole
// numbers of 10^-15.
__extension__ using Wide = __int128;
constexpr Wide kUnit = 1'000'000'000'000'000;
constexpr Wide kMost = std::numeric_limits<Amount>::max();

Amount PerUnit(std::string_view resource) { return resource == "cpu" ? 1000 : 1; }

// Adds up products exactly as far as 128 bits reach, which is beyond every amount.
class ExactSum {
 public:
  // Adds `factor`, in units of 10^-9, times two amounts that have so many parts in a unit.
  void Add(Wide factor, Amount amount, Amount parts, Amount multiplier, Amount multiplier_parts) {
    Wide product = 1'000'000 / (parts * multiplier_parts);  // from 10^-9, 1/parts, 1/parts
    bool overflows = false;
    for (const Wide by : {factor, Wide{amount}, Wide{multiplier}}) {
      if (by == 0) return;
      overflows = overflows || __builtin_mul_overflow(product, by, &product);
    }
    const bool negative = (factor < 0) != ((amount < 0) != (multiplier < 0));
    Wide& sum = negative ? negative_ : positive_;
    bool& beyond = negative ? negative_beyond_ : positive_beyond_;
    beyond = beyond || overflows || __builtin_add_overflow(sum, product, &sum);
  }

  // The sum in so many parts of a unit, rounded up; at least 0.
  Amount Total(Amount parts) const {
    if (positive_beyond_) return std::numeric_limits<Amount>::max();
    if (negative_beyond_) return 0;
    const Wide sum = std::max<Wide>(positive_ + negative_, 0);
    const Wide a_part = kUnit / parts;
    return static_cast<Amount>(std::min(sum / a_part + (sum % a_part == 0 ? 0 : 1), kMost));
  }

 private:
  Wide positive_ = 0;
  Wide negative_ = 0;
  bool positive_beyond_ = false;
  bool negative_beyond_ = false;
};

bool IsExcluded(std::string_view resource, const KueueConfiguration& configuration) {
  return std::ranges::any_of(configuration.excluded_prefixes, [&](const std::string& prefix) {
    return resource.starts_with(prefix);
  });
}

const ResourceTransformation* TransformationOf(std::string_view resource,
                                               const KueueConfiguration& configuration) {
  const auto found =
      std::ranges::find(configuration.transformations, resource, &ResourceTransformation::input);
  return found == configuration.transformations.end() ? nullptr : &*found;
}

}  // namespace

Resources QuotaRequests(const Resources& requests, const KueueConfiguration* configuration) {
  if (configuration == nullptr ||
      (configuration->excluded_prefixes.empty() && configuration->transformations.empty())) {
    return requests;
  }
  Resources looked_at;
  for (const auto& [resource, amount] : requests) {
    if (!IsExcluded(resource, *configuration)) looked_at.Set(resource, amount);
  }
  Resources counted;
  std::map<std::string_view, ExactSum> outputs;
  for (const auto& [resource, amount] : looked_at) {
    const ResourceTransformation* transformation = TransformationOf(resource, *configuration);
    if (transformation == nullptr || transformation->retain) counted.Set(resource, amount);
    if (transformation == nullptr) continue;
    // One that the pod does not request multiplies by nothing.
    const std::string& by = transformation->multiply_by;
    const Amount* multiplier = by.empty() ? nullptr : looked_at.Find(by);
    for (const auto& [output, factor] : transformation->outputs) {
      outputs[output].Add(factor.nanos(), amount, PerUnit(resource),
                          multiplier == nullptr ? 1 : *multiplier,
                          multiplier == nullptr ? 1 : PerUnit(by));
    }
  }
  for (const auto& [output, sum] : outputs) {
    Amount& amount = counted[output];
    amount = SaturatingAdd(amount, sum.Total(PerUnit(output)));
  }
  return counted;
}

Resources QuotaRequests(const PodTemplate& pods, const Resources& requests,
                        const KueueConfiguration* configuration) {
  Resources counted = QuotaRequests(requests, configuration);
  for (const auto& [resource, amount] : pods.device_backed) counted.Erase(resource);
  AddTo(counted, pods.devices);
  return counted;
}

}  // namespace espalier
