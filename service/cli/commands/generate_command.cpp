// espalier generate: clusters and queues of the benchmark suite as files.
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench/scenarios/loaded_scenario.hpp"
#include "bench/scenarios/queues.hpp"
#include "service/backends/backends.hpp"
#include "service/cli/commands/commands.hpp"
#include "service/cli/reports/cluster_objects.hpp"
#include "service/cli/reports/sequence_writer.hpp"
#include "service/cli/terminal/exit_code.hpp"
#include "service/cli/terminal/output_file.hpp"
#include "service/cli/terminal/report_error.hpp"
#include "service/cli/terminal/standard_output.hpp"
#include "service/cli/terminal/text_table.hpp"

namespace espalier {
namespace {

struct GenerateOptions {
  Scenario scenario;
  int queues = 1;
  std::string mode = "sequential";
  std::string file;
  std::string folder;
  bool list = false;
};

constexpr const char* kGenerateExamples = R"(Examples:
  What is there?
    espalier generate --list

  A cluster of 2,048 nodes, nine tenths full, with 500 pending jobs of a recorded mix of sizes:
    espalier generate T-DGXB200 --prefill P90 --mix X-ACME --gangs 500 --output-dir demo
    espalier place demo

  The same in one file:
    espalier generate T-DGXB200 --prefill P90 --mix X-ACME --gangs 500 -o demo.json.gz

  With eight resources, 256 different shapes, four queues, and another seed:
    espalier generate T-131K --resources 8 --mix 'X-SHAPES(256)' --gangs 5000 --queues 4 \
      --seed 7 --output-dir large

  As a compact sequence with today's answers, to hold later ones against:
    espalier generate T-DGXB200 --prefill SLOTS70 --mix X-LEADER --gangs 500 -o s.jsonl.gz
    espalier conformance s.jsonl.gz

The same arguments give the same bytes everywhere. What runs is written as admitted Workloads with
their topology assignments. Names that end in .gz are packed; .jsonl is a sequence.

Exit codes: 0 written; 2 wrong command line; 3 nothing of that name, or a file cannot be made;
4 no memory, or output lost, as on a full disk; 5 internal error.)";

std::string TopologiesText() {
  const auto rows = [](const std::vector<TopologyLine>& lines) {
    std::vector<TableRow> table;
    for (const TopologyLine& line : lines) {
      table.push_back({std::string(line.name), std::string(line.what)});
    }
    return table;
  };
  return RenderTable({"TOPOLOGY", "WHAT"}, rows(TopologyLines())) + "\n" +
         RenderTable({"MIX", "WHAT"}, rows(MixLines())) + "\n" +
         RenderTable({"PREFILL", "WHAT"},
                     {{"P0", "nothing runs"},
                      {"P1 to P100", "jobs fill that percentage; some ended and small ones came"},
                      {"SLOTS1 to SLOTS100", "that percentage of the nodes is partly used"},
                      {"P90+PODS",
                       "any of these, and on every node two pods of no workload, "
                       "whose amounts differ from node to node"}});
}

// A v1 List, one object a line.
class ListFile {
 public:
  explicit ListFile(OutputFile file) : file_(std::move(file)) {
    file_.Write(R"({"apiVersion": "v1", "kind": "List", "items": [)");
  }

  template <class Object>
  void Add(const Object& object) {
    const auto out = MakeJsonLineWriter();
    WriteObject(object, *out);
    std::string line = out->Finish();
    line.pop_back();
    file_.Write(first_ ? "\n" : ",\n");
    file_.Write(line);
    first_ = false;
  }

  template <class Object>
  void Add(const std::vector<Object>& objects) {
    for (const Object& object : objects) Add(object);
  }

  Result<void> Close() {
    file_.Write("\n]}\n");
    return file_.Close();
  }

 private:
  OutputFile file_;
  bool first_ = true;
};

Result<void> WriteList(const std::string& path, const std::function<void(ListFile&)>& add) {
  Result<OutputFile> file = OutputFile::Create(path);
  if (!file) return tl::unexpected(file.error());
  ListFile list(*std::move(file));
  add(list);
  return list.Close();
}

// Pending workloads are made one by one: there may be more than fit the memory.
Result<void> WriteObjects(const LoadedScenario& loaded, const GenerateOptions& options) {
  Cluster all = EmptyQueuesOf(loaded, options.queues);
  AddNodesAndRunning(loaded, all);
  const auto add_cluster = [&](ListFile& list) {
    list.Add(all.topologies);
    list.Add(all.flavors);
    list.Add(all.nodes);
    list.Add(all.pods);
  };
  const auto add_queues = [&](ListFile& list) {
    list.Add(all.cluster_queues);
    list.Add(all.local_queues);
    for (std::size_t i = 0; i < loaded.mix.gangs.size(); ++i) {
      list.Add(PendingWorkload(loaded, i, options.queues));
    }
    list.Add(all.workloads);
  };
  if (!options.file.empty()) {
    return WriteList(options.file, [&](ListFile& list) {
      add_cluster(list);
      add_queues(list);
    });
  }
  const std::filesystem::path folder(options.folder);
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return BadInput(fmt::format("{}: {}", options.folder, error.message()));
  if (auto written = WriteList((folder / "cluster.json.gz").string(), add_cluster); !written) {
    return written;
  }
  return WriteList((folder / "queues.json.gz").string(), add_queues);
}

Result<void> WriteAsSequence(const LoadedScenario& loaded, const GenerateOptions& options) {
  const auto backend = MakeBackend("cpu", 0);
  if (!backend) return tl::unexpected(backend.error());
  Result<OutputFile> file = OutputFile::Create(options.file);
  if (!file) return tl::unexpected(file.error());
  const PlacementMode mode =
      options.mode == "nominate" ? PlacementMode::kNominate : PlacementMode::kSequential;
  if (auto written = WriteSequence(loaded, PrefillSeed(options.scenario), mode, **backend, *file);
      !written) {
    return written;
  }
  return file->Close();
}

ExitCode RunGenerate(const GenerateOptions& options) {
  if (options.list) {
    WriteOutput(TopologiesText());
    return kExitOk;
  }
  const Result<LoadedScenario> loaded = LoadScenario(options.scenario, 0);
  if (!loaded) return ReportError(loaded.error());
  const bool sequence = options.file.ends_with(".jsonl") || options.file.ends_with(".jsonl.gz");
  const Result<void> written =
      sequence ? WriteAsSequence(*loaded, options) : WriteObjects(*loaded, options);
  if (!written) return ReportError(written.error());
  return kExitOk;
}

}  // namespace

void AddGenerateCommand(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<GenerateOptions>();
  Scenario& scenario = options->scenario;
  scenario.name = "generate";
  scenario.mix = "X-ACME";
  CLI::App* generate =
      app.add_subcommand("generate", "Write a cluster and a queue of the benchmark suite as files");
  generate->footer(kGenerateExamples);
  CLI::Option* topology =
      generate->add_option("TOPOLOGY", scenario.topology.name, "T-DGXB200, T-131K and so on");
  generate->add_option("--resources", scenario.topology.resources, "4, 8 or 30, where there are")
      ->check(CLI::IsMember({4, 8, 30}))
      ->capture_default_str();
  generate->add_option("--nodes", scenario.topology.nodes, "Only the first so many; 0: all")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  generate->add_option("--seed", scenario.topology.seed, "Of everything that is drawn")
      ->capture_default_str();
  generate->add_option("--prefill", scenario.prefill, "What runs: P0 to P100, SLOTS1 to SLOTS100")
      ->capture_default_str();
  generate->add_option("--mix", scenario.mix, "What is pending")->capture_default_str();
  generate->add_option("--gangs", scenario.gangs, "How many are pending")
      ->check(CLI::Range(0, 10000000))
      ->capture_default_str();
  generate->add_option("--queues", options->queues, "Queues that they are dealt to")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  generate->add_option("--mode", options->mode, "Of a sequence: sequential or nominate")
      ->check(CLI::IsMember({"sequential", "nominate"}))
      ->capture_default_str();
  CLI::Option* file = generate->add_option("-o,--output", options->file,
                                           "One file: .json or .jsonl, also with .gz");
  CLI::Option* folder =
      generate->add_option("--output-dir", options->folder,
                           "A folder, made if need be, for cluster.json.gz and queues.json.gz");
  file->excludes(folder);
  CLI::Option* list =
      generate->add_flag("--list", options->list, "List topologies, mixes and prefills");
  generate->callback([=, &exit_code] {
    if (!*list && (!*topology || !(*file || *folder))) {
      throw CLI::ValidationError(
          "generate", "needs a TOPOLOGY and one of --output and --output-dir; or --list");
    }
    exit_code = RunGenerate(*options);
  });
}

}  // namespace espalier
