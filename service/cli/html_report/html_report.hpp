// Writes what was decided on a cluster as one HTML file that needs no network: a tree map of the
// topology and a list of gangs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "host/kueue/validation/certificate.hpp"
#include "host/model/resources.hpp"
#include "host/model/result.hpp"
#include "host/model/shared_value.hpp"
#include "host/model/topology.hpp"
#include "host/packing/cluster_state.hpp"

namespace espalier {

// Equal pods of a gang.
struct ReportedPodSet {
  std::string name;
  std::string flavor;     // empty when it has none with a topology
  std::string requested;  // its topology request as a text
  std::int64_t pods = 0;
  Resources requests;                          // per pod, canonical
  SharedValue<TopologyAssignment> assignment;  // empty when it is not in a topology
};

// A workload as a report shows it.
struct ReportedGang {
  enum class State { kWaiting, kPlaced, kRunning };  // kPlaced: by the command itself
  std::string name;
  State state = State::kWaiting;
  std::string status;  // a short text on its outcome
  std::string cluster_queue;
  std::int64_t priority = 0;
  std::vector<ReportedPodSet> pod_sets;
  std::vector<std::string> reasons;  // why it waits or, otherwise, what is wrong with its place
  std::optional<NearMiss> nearest;
  std::string nearest_when;               // such as "now": the state that `nearest` is on
  std::vector<std::string> changes;       // each makes it fit
  std::vector<ReportedPodSet> otherwise;  // where Espalier would have placed it, if elsewhere
};

// Pictures, one for each level, of who would have to go for workloads to fit in its domains: a row
// for each workload and a column for each domain.
struct ReportedAtlas {
  struct Sheet {
    std::string name;   // of the level
    std::string about;  // what a row, a column and a cell are
    std::vector<std::string> rows;
    std::vector<std::string> columns;
    std::vector<std::vector<std::int32_t>> cells;  // by row and column: a PriorityStep
  };
  std::vector<std::int64_t> priorities;  // ascending
  std::vector<Sheet> sheets;
};

struct HtmlReport {
  std::string command;  // such as "espalier place"
  std::string facts;    // lines below the title
  std::string about;    // name of the gang that is shown first; may be empty
  // Nodes, topologies, flavors and the usage of pods of no gang. The usage of gangs comes from
  // `gangs`.
  ClusterStateInput state;
  std::vector<ReportedGang> gangs;
  std::optional<ReportedAtlas> atlas = {};
};

// Declares --report FILE.html; `file` must outlive the parse and stays empty when the option is not
// given.
void AddReportOption(CLI::App& command, std::string& file);

// Returns the data of the page: a JSON document on one line, without any `<`. Amounts are whole
// numbers in canonical units (R1.8). Errors are those of ClusterState::Build.
Result<std::string> ReportData(HtmlReport report);

// Writes the page. Errors are those of ReportData and of OutputFile.
Result<void> WriteHtmlReport(HtmlReport report, const std::string& file);

}  // namespace espalier
