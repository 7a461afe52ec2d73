// Reads objects of kinds that are not known by the pod templates that they hold.
#pragma once

#include "host/gangs/gang_workload.hpp"
#include "host/readers/sources/source_reader.hpp"

namespace espalier {

// Fills the workload of an object of an unknown kind with the pods of all templates in its spec: an
// equivalence group each, in a ranked group of the name that the object beside the template has, or
// the field that holds it. How many pods there are is what the field beside the template says that
// stands for it in the kinds that are known: `replicas`, `parallelism` and the like; 1 without. The
// replicas of the workload are those of its spec. Where it has no template, the workload stays as
// it is, with why it waits.
void ReadByTemplates(JsonValue object, const SourceContext& context, GangWorkload& workload);

}  // namespace espalier
