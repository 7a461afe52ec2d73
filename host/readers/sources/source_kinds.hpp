// The kinds of objects that describe a gang, and the reader of each.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "host/readers/sources/source_reader.hpp"

namespace espalier {

// Adds the gang workloads that an object describes to `workloads`: mostly one, or several when its
// parts start one after the other.
using ReadSource = void (*)(JsonValue object, const SourceContext& context,
                            std::vector<GangWorkload>& workloads);

struct SourceKind {
  std::string_view kind;
  std::string_view group;
  std::string_view versions;  // versions that are read, separated by blanks
  ReadSource read;            // null: it is read along with other objects
};

// Returns the row of a kind, or null when the kind describes no gang. `api_version` may be empty.
const SourceKind* FindSourceKind(std::string_view kind, std::string_view api_version);

// Returns the rows of all kinds.
std::span<const SourceKind> SourceKinds();

// Reads one family of kinds, as does each reader below.
void ReadBatchJob(JsonValue, const SourceContext&, std::vector<GangWorkload>&);
void ReadCronJob(JsonValue, const SourceContext&, std::vector<GangWorkload>&);
void ReadJobSet(JsonValue, const SourceContext&, std::vector<GangWorkload>&);
void ReadTrainJob(JsonValue, const SourceContext&, std::vector<GangWorkload>&);
void ReadReplicatedPods(JsonValue, const SourceContext&, std::vector<GangWorkload>&);
void ReadStatefulSet(JsonValue, const SourceContext&, std::vector<GangWorkload>&);
void ReadLeaderWorkerSet(JsonValue, const SourceContext&, std::vector<GangWorkload>&);
void ReadTrainingJob(JsonValue, const SourceContext&, std::vector<GangWorkload>&);
void ReadRay(JsonValue, const SourceContext&, std::vector<GangWorkload>&);
void ReadSparkApplication(JsonValue, const SourceContext&, std::vector<GangWorkload>&);
void ReadAppWrapper(JsonValue, const SourceContext&, std::vector<GangWorkload>&);
void ReadVolcanoJob(JsonValue, const SourceContext&, std::vector<GangWorkload>&);

}  // namespace espalier
