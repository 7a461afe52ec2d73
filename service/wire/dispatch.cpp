#include "service/wire/dispatch.hpp"

#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "service/wire/tables.hpp"

namespace espalier {
namespace {

v1::FitStatus ToProto(FitStatus status) {
  switch (status) {
    case FitStatus::kFits:
      return v1::FIT_STATUS_FITS;
    case FitStatus::kUnknown:
      return v1::FIT_STATUS_UNKNOWN;
    case FitStatus::kDoesNotFit:
      return v1::FIT_STATUS_DOES_NOT_FIT;
  }
  return v1::FIT_STATUS_UNSPECIFIED;
}

std::optional<FitStatus> FromProto(v1::FitStatus status) {
  switch (status) {
    case v1::FIT_STATUS_FITS:
      return FitStatus::kFits;
    case v1::FIT_STATUS_UNKNOWN:
      return FitStatus::kUnknown;
    case v1::FIT_STATUS_DOES_NOT_FIT:
      return FitStatus::kDoesNotFit;
    default:
      return std::nullopt;
  }
}

// The string that a reference names, or nothing where there is none of that number.
std::optional<std::string> StringAt(const v1::DispatchResponse& response, std::uint32_t reference) {
  if (reference == 0) return "";
  if (reference > static_cast<std::uint32_t>(response.strings_size())) return std::nullopt;
  return response.strings(static_cast<int>(reference - 1));
}

std::optional<ClusterFit> FromProto(const v1::DispatchResponse& response, const v1::StateFit& row,
                                    std::size_t states) {
  const auto status = FromProto(row.status());
  auto reason = StringAt(response, row.reason());
  if (!status || !reason || row.state() >= states) return std::nullopt;
  ClusterFit fit{row.state(), *status, *std::move(reason), {}};
  for (const v1::PodSetFit& pod_set : row.pod_sets()) {
    auto level = StringAt(response, pod_set.level());
    if (!level) return std::nullopt;
    fit.pod_sets.push_back({"", *std::move(level), 0, pod_set.domains(), pod_set.left_over()});
  }
  return fit;
}

}  // namespace

Result<std::vector<std::vector<ClusterFit>>> FromProto(const v1::DispatchResponse& response,
                                                       std::size_t workloads, std::size_t states) {
  std::vector<std::vector<ClusterFit>> fits;
  for (const v1::WorkloadFits& row : response.workloads()) {
    std::vector<ClusterFit>& of_workload = fits.emplace_back();
    for (const v1::StateFit& state : row.fits()) {
      auto fit = FromProto(response, state, states);
      if (!fit) return BadInput(fmt::format("workloads[{}]: a fit of no state", fits.size() - 1));
      of_workload.push_back(*std::move(fit));
    }
  }
  if (fits.size() == workloads) return fits;
  return BadInput(fmt::format("fits of {} workloads for {}", fits.size(), workloads));
}

v1::DispatchResponse ToProto(const std::vector<std::vector<ClusterFit>>& workloads) {
  v1::DispatchResponse response;
  StringTable strings(response.mutable_strings());
  response.mutable_workloads()->Reserve(static_cast<int>(workloads.size()));
  for (const std::vector<ClusterFit>& fits : workloads) {
    v1::WorkloadFits& row = *response.add_workloads();
    for (const ClusterFit& fit : fits) {
      v1::StateFit& state = *row.add_fits();
      state.set_state(static_cast<std::uint32_t>(fit.cluster));
      state.set_status(ToProto(fit.status));
      state.set_reason(strings.Ref(fit.reason));
      for (const PodSetFit& pod_set : fit.pod_sets) {
        v1::PodSetFit& placed = *state.add_pod_sets();
        placed.set_level(strings.Ref(pod_set.level));
        placed.set_domains(pod_set.domains);
        placed.set_left_over(pod_set.left_over);
      }
    }
  }
  return response;
}

}  // namespace espalier
