// Shared by the commands that answer a question about one saved cluster.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "host/engine/engine.hpp"
#include "host/engine/feature_gates.hpp"
#include "host/kueue/planning/exclusive_domains.hpp"
#include "host/kueue/planning/placement_plan.hpp"
#include "host/kueue/validation/pods_without_node.hpp"
#include "host/model/cluster.hpp"
#include "host/model/result.hpp"
#include "host/questions/questions.hpp"
#include "service/cli/options/backend_options.hpp"
#include "service/cli/options/input.hpp"
#include "service/cli/reports/domain_text.hpp"
#include "service/cli/reports/object_writer.hpp"
#include "service/cli/terminal/report_error.hpp"
#include "service/cli/terminal/terminal.hpp"
#include "service/cli/terminal/text_table.hpp"
#include "service/client/client_options.hpp"

namespace espalier {

struct QuestionOptions {
  InputOptions input;
  BackendOptions backend;
  std::string output = "table";  // or json, yaml
  std::string color = "auto";
  std::string connect;       // address of a server; empty: decide here
  ClientTls tls;             // to that server
  std::string state;         // the server's state of that name
  bool moves_gangs = false;  // gangs whose pods run count as admitted workloads (AdmitRunningGangs)
  bool needs_nodes = true;   // false: those of a server are not read, which takes long
};

// Declares FILES, --feature-gates, --output and --color; `options` must outlive the parse. Commands
// that place something also declare the back end's options.
void AddQuestionOptions(CLI::App& command, QuestionOptions& options);

// Declares --connect, --tls-... and --state.
void AddConnectOptions(CLI::App& command, QuestionOptions& options);

// Declares the positional WORKLOAD, which comes before FILES; declare it first.
void AddWorkloadArgument(CLI::App& command, std::string& workload);

// A cluster that was read, and what is needed to answer questions about it.
struct Question {
  Cluster cluster;
  std::shared_ptr<Questions> asked;  // a server's state, or the cluster as it was read
  std::shared_ptr<Backend> backend;  // null where a server is asked
  FeatureGates gates;
  TextStyle style;
  bool keeps_domains = false;  // that JobSets have to themselves, from others (W8.11)
  std::string why_not_nodes;   // why the cluster's nodes are none of the server's; empty: they are

  Engine MakeEngine() const { return Engine(backend, gates); }
};

// Returns who is asked about another moment of the question's cluster: the same server, or the
// files of that moment. Errors are those of LocalQuestions::Open.
Result<std::shared_ptr<Questions>> AskedAt(const Question& question, const Cluster& moment);

// Reads the files, and chooses the back end or connects to the server. Of a server's state the
// cluster has the flavors, topologies and leaves that the files do not have.
Result<Question> ReadQuestion(const QuestionOptions& options);

// Runs a command about a cluster: Answerer(options, question).Run(), on the question that
// `options.question` opens. Reports errors of both.
template <class Answerer, class Options>
ExitCode RunQuestion(const Options& options) {
  Result<Question> question = ReadQuestion(options.question);
  if (!question) return ReportError(question.error());
  const Result<ExitCode> done = Answerer(options, *std::move(question)).Run();
  return done ? *done : ReportError(done.error());
}

// A pending workload and its request to the engine.
struct WorkloadToPlace {
  const Workload* workload = nullptr;  // in the cluster
  std::string cluster_queue;           // empty: not known
  WorkloadRequest request;
  // The same on the flavors that the queue tries after those of `request`, in that order.
  std::vector<WorkloadRequest> others;
  std::optional<FewerPods> fewer;  // absent: all its pods are admitted, or none
  ClosedDomains closed;            // that the requests are kept out of, whoever ends
  // Why it is not placed whatever there is room for; then it has no request. Empty: it has.
  std::string refusal = {};

  // Returns all requests, in the order in which they are tried.
  std::vector<const WorkloadRequest*> Choices() const;
};

// Returns a pending workload of a cluster, which is the question's or what becomes of it, by its
// own name or its job's. Errors: none or several of that name (kNotFound); not pending, or on
// flavors without a topology (kBadInput).
Result<WorkloadToPlace> FindWorkloadToPlace(const Question& question, const Cluster& cluster,
                                            const std::string& workload);

// Prints that a workload is refused, in place of an answer, and why.
void PrintRefusal(const Question& question, const WorkloadToPlace& asked,
                  const std::string& format);

// Returns whether an answer is missing because a server does not have the flavors of a request that
// is not the first of a workload; says so.
bool IsNotTried(const WorkloadToPlace& asked, const WorkloadRequest& request, const Error& error);

// Adds to what of a workload is not honoured what PodsWithoutNode finds of an answer to one of its
// requests. Without nodes in the cluster nothing is known.
void NotePodsWithoutNode(const Cluster& cluster, const WorkloadRequest& request,
                         const WorkloadAnswer& answer, Workload& workload);

// Adds to what of an admitted workload is not honoured what a new place for it leaves out: pods
// beyond its slices, and those that no node holds.
void NoteMove(PodsWithoutNode& without, const WorkloadRequest& request,
              const WorkloadAnswer& answer, Workload& workload);
// Adds what PodsWithoutNode finds of the place that a workload has.
void NoteAdmission(PodsWithoutNode& without, Workload& workload);

// Returns a cell that shows where the pod sets of an answer go, or why they do not: a line for each
// run of domains, and with several pod sets the name of each before its first line.
TableCell AnswerCell(const WorkloadAnswer& answer, const NamesByFlavor& names);

// Writes `{"fits": ..., "podSets": [...]}`, each pod set with its reason or its topologyAssignment
// as Kueue stores it.
void WriteAnswer(const WorkloadAnswer& answer, const FeatureGates& gates, ObjectWriter& out);
// Writes `"notHonoured": [...]` where a requirement of the workload is not.
void WriteNotHonoured(const Workload& workload, ObjectWriter& out);
// Prints a map of the fields that `write` writes, as JSON or YAML.
void PrintObject(const std::string& format, const std::function<void(ObjectWriter&)>& write);

// Checks that nodes of the question's cluster can be named to its server. Errors: kBadInput.
Result<void> CheckNodes(const Question& question);

// Returns the nodes, as indices into cluster.nodes, that a text names: a node by its name, or
// LEVEL=VALUE with a level of a topology by its label or short name, and a value or the end of a
// path: rack=r05, rack=use1a-b01/r05. Errors: a name or value that does not exist (kNotFound; the
// message lists those that do), a value that several domains have (kBadInput).
Result<std::vector<std::size_t>> FindNodes(const Cluster& cluster, const std::string& text);

// Returns a line that counts the pods of the files on drained nodes beside those of admitted
// workloads; "" where there are none. Tells that a server does not know them.
std::string OtherPodsLine(const Question& question, const Cluster& cluster,
                          std::span<const std::size_t> nodes);
// Writes the same as fields of an object.
void WriteOtherPods(const Cluster& cluster, std::span<const std::size_t> nodes, ObjectWriter& out);

}  // namespace espalier
