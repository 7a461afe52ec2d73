#include "host/conformance/run.hpp"

#include <algorithm>
#include <optional>
#include <span>

#include <fmt/format.h>
#include <tbb/global_control.h>
#include <tbb/parallel_pipeline.h>
#include <tbb/task_arena.h>

#include "host/conformance/case_file.hpp"
#include "host/conformance/difference.hpp"
#include "host/conformance/job_difference.hpp"
#include "host/engine/engine.hpp"

namespace espalier {
namespace {

// Lines that are run one after the other: a few cases, or a whole sequence.
struct Portion {
  std::shared_ptr<const CaseFile> file;
  std::size_t first = 0;
  std::size_t count = 0;
  bool sequence = false;
};

struct PortionReport {
  std::size_t passed = 0;
  std::vector<CaseFailure> failures;
};

// Cuts files into portions, reading each when its turn comes.
class PortionSource {
 public:
  PortionSource(const std::vector<std::string>& paths, std::uint64_t max_input,
                std::vector<Error>& unreadable)
      : paths_(paths), limit_(max_input), unreadable_(unreadable) {}

  std::optional<Portion> Next() {
    while (!file_ || next_line_ >= file_->lines.size()) {
      if (next_path_ == paths_.size()) return std::nullopt;
      Open(paths_[next_path_++]);
    }
    constexpr std::size_t kCases = 16;
    const std::size_t left = file_->lines.size() - next_line_;
    Portion portion{file_, next_line_, sequence_ ? left : std::min(kCases, left), sequence_};
    next_line_ += portion.count;
    return portion;
  }

 private:
  void Open(const std::string& path) {
    next_line_ = 0;
    file_.reset();
    auto read = ReadCaseFile(path, limit_);
    if (!read) return unreadable_.push_back(std::move(read.error()));
    if (read->lines.empty()) return unreadable_.push_back(EmptyFile(path));
    file_ = std::make_shared<const CaseFile>(std::move(*read));
    sequence_ = IsSequenceHeader(file_->lines.front());
  }

  static Error EmptyFile(const std::string& path) {
    return {ErrorClass::kBadInput, path + ": there is no case in it"};
  }

  const std::vector<std::string>& paths_;
  InputLimit limit_;
  std::vector<Error>& unreadable_;
  std::size_t next_path_ = 0;
  std::shared_ptr<const CaseFile> file_;
  std::size_t next_line_ = 0;
  bool sequence_ = false;
};

// Each gives the difference, or nothing when the case passed.
class CaseRunner {
 public:
  explicit CaseRunner(std::shared_ptr<Backend> backend) : backend_(std::move(backend)) {}

  std::optional<std::string> operator()(const PlacementCase& c) const {
    auto state = ClusterState::Build(c.cluster);
    if (!state) return "the cluster cannot be built: " + state.error().message;
    const Engine engine(backend_, c.gates);
    if (auto difference = PlacementDifference(c, engine, *state)) return difference;
    if (!c.what_if) return std::nullopt;
    const auto found = FindPrefix(engine, *state, c.request, c.what_if->victims);
    if (!found) return found.error().message;
    return Difference(*c.what_if, *found, c.gates);
  }

  std::optional<std::string> operator()(const UngateCase& c) const {
    return Difference(c.expected, UngatePodSet(c.pod_set));
  }

  std::optional<std::string> operator()(const EncodeCase& c) const {
    const EncodedAssignment encoded = EncodeAssignment(c.assignment, c.gates);
    if (auto difference = Difference(c.expected, encoded)) return difference;
    const auto decoded = DecodeAssignment(encoded);
    if (!decoded) return "decoding: " + decoded.error().message;
    auto difference = Difference(c.assignment, *decoded);
    return difference ? std::optional("decoding: " + *difference) : std::nullopt;
  }

  std::optional<std::string> operator()(const JobCase& c) const { return JobDifference(c); }

 private:
  static std::optional<std::string> PlacementDifference(const PlacementCase& c,
                                                        const Engine& engine,
                                                        const ClusterState& state) {
    const WorkloadAnswer answer = engine.NominateOne(state, c.request);
    std::optional<std::string> first;
    for (const ExpectedAnswer& expected : c.any_of) {
      auto difference = Difference(expected, answer, c.gates);
      if (!difference) return std::nullopt;
      if (!first) first = std::move(difference);
    }
    if (c.any_of.size() == 1) return first;
    return fmt::format("none of {} right answers; against the first, {}", c.any_of.size(), *first);
  }

  std::shared_ptr<Backend> backend_;
};

class PortionRunner {
 public:
  explicit PortionRunner(const ConformanceOptions& options) : options_(options) {}

  PortionReport operator()(const Portion& portion) const {
    PortionReport report;
    const std::shared_ptr<Backend> backend = options_.make_backend();
    if (portion.sequence) {
      RunSequence(portion, backend, report);
      return report;
    }
    const CaseRunner run_case(backend);
    for (std::size_t i = 0; i < portion.count; ++i) {
      const std::size_t line = portion.first + i;
      const auto read = ReadCase(portion.file->lines[line]);
      if (!read) {
        Count(portion, line, {}, read.error().message, report);
      } else if (Wanted(read->name)) {
        Count(portion, line, read->name, std::visit(run_case, read->value), report);
      }
    }
    return report;
  }

 private:
  bool Wanted(std::string_view name) const { return !options_.filter || options_.filter(name); }

  static void Count(const Portion& portion, std::size_t line, std::string_view name,
                    std::optional<std::string> difference, PortionReport& report) {
    if (!difference) {
      ++report.passed;
      return;
    }
    report.failures.push_back(
        {portion.file->path, line + 1, std::string(name), std::move(*difference)});
  }

  void RunSequence(const Portion& portion, const std::shared_ptr<Backend>& backend,
                   PortionReport& report) const {
    const std::vector<std::string>& lines = portion.file->lines;
    const auto sequence = ReadSequenceHeader(lines.front());
    if (!sequence) return FailEveryLine(portion, sequence.error().message, report);
    auto state = ClusterState::Build(sequence->cluster);
    if (!state) return FailEveryLine(portion, state.error().message, report);

    std::vector<Result<SequenceGang>> gangs;
    std::vector<WorkloadRequest> requests;
    for (std::size_t i = 1; i < lines.size(); ++i) {
      gangs.push_back(ReadGang(lines[i], *sequence));
      if (gangs.back()) requests.push_back(std::move(gangs.back()->request));
    }
    const std::vector<WorkloadAnswer> answers =
        Engine(backend, sequence->gates).Place(*state, requests, sequence->mode);
    auto answer = answers.begin();
    for (std::size_t i = 0; i < gangs.size(); ++i) {
      if (!gangs[i]) {
        Count(portion, i + 1, {}, gangs[i].error().message, report);
        continue;
      }
      const std::string name = fmt::format("{}/{}", sequence->name, gangs[i]->number);
      if (Wanted(name)) Count(portion, i + 1, name, Difference(*gangs[i], *answer), report);
      ++answer;
    }
  }

  // Without its cluster no gang of a sequence can be answered.
  static void FailEveryLine(const Portion& portion, const std::string& message,
                            PortionReport& report) {
    for (std::size_t line = 0; line < portion.count; ++line) {
      Count(portion, line, {}, line == 0 ? message : "its sequence cannot be run", report);
    }
  }

  const ConformanceOptions& options_;
};

}  // namespace

ConformanceReport RunConformance(const std::vector<std::string>& files,
                                 const ConformanceOptions& options,
                                 const std::function<void(const CaseFailure&)>& on_failure,
                                 const std::function<void(std::size_t)>& progress) {
  ConformanceReport report;
  PortionSource source(files, options.max_input, report.unreadable);
  const PortionRunner runner(options);

  const auto next = [&](tbb::flow_control& control) {
    std::optional<Portion> portion = source.Next();
    if (!portion) control.stop();
    return portion.value_or(Portion{});
  };
  const auto add = [&](const PortionReport& portion) {
    report.passed += portion.passed;
    report.failed += portion.failures.size();
    for (const CaseFailure& failure : portion.failures) {
      if (on_failure) on_failure(failure);
    }
    if (progress) progress(report.passed + report.failed);
  };
  // Without this a limit above the number of cores would not be taken.
  std::optional<tbb::global_control> limit;
  if (options.threads > 0) {
    limit.emplace(tbb::global_control::max_allowed_parallelism, options.threads);
  }
  tbb::task_arena arena(options.threads > 0 ? options.threads : tbb::task_arena::automatic);
  arena.execute([&] {
    tbb::parallel_pipeline(
        static_cast<std::size_t>(4 * arena.max_concurrency()),
        tbb::make_filter<void, Portion>(tbb::filter_mode::serial_in_order, next) &
            tbb::make_filter<Portion, PortionReport>(tbb::filter_mode::parallel, runner) &
            tbb::make_filter<PortionReport, void>(tbb::filter_mode::serial_in_order, add));
  });
  return report;
}

}  // namespace espalier
