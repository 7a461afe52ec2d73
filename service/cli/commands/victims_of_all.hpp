// espalier victims --all: up to which priority would all have to go, for every pending workload?
#pragma once

#include <string>
#include <vector>

#include "host/kueue/planning/placement_plan.hpp"
#include "host/model/result.hpp"
#include "service/cli/commands/question.hpp"
#include "service/cli/reports/atlas_report.hpp"
#include "service/cli/terminal/exit_code.hpp"

namespace espalier {

struct VictimsOfAllOptions {
  QuestionOptions question;
  std::string report;  // file; empty: none
};

class VictimsOfAll {
 public:
  VictimsOfAll(const VictimsOfAllOptions& options, Question question);

  Result<ExitCode> Run();

 private:
  // Makes an entry of each request of each workload that waits.
  Result<void> Plan();
  // Asks for the rows of all entries. Leaves out flavors that a server lacks of workloads that have
  // another flavor, and says so.
  Result<void> Ask();
  Result<void> AskFor(const std::vector<std::size_t>& entries);
  Result<void> WriteReport();

  const VictimsOfAllOptions& options_;
  const Question question_;
  PlacementPlan plan_;
  AtlasReport report_;
  std::vector<const WorkloadRequest*> requests_;  // by entry; null: nothing to ask
};

}  // namespace espalier
