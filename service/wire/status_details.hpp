// Reads the details that a refused call comes with.
#pragma once

#include <optional>

#include <grpcpp/support/status.h>

#include "espalier/v1/error.pb.h"

namespace espalier {

// Returns the details of a refusal, if they are of that type.
template <class Detail>
std::optional<Detail> DetailIn(const grpc::Status& status) {
  v1::ErrorStatus details;
  Detail detail;
  if (!details.ParseFromString(status.error_details()) || details.details_size() != 1 ||
      !details.details(0).UnpackTo(&detail)) {
    return std::nullopt;
  }
  return detail;
}

}  // namespace espalier
