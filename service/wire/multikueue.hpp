// Converts the messages in multikueue.proto.
#pragma once

#include <vector>

#include "espalier/v1/multikueue.pb.h"
#include "host/kueue/multikueue/multikueue_flow.hpp"

namespace espalier {

v1::PlanFlowResponse ToProto(const std::vector<FlowStep>& steps);

}  // namespace espalier
