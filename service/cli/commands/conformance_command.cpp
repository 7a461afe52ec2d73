#include "service/cli/commands/conformance_command.hpp"

#include <iostream>
#include <memory>
#include <ostream>

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <re2/re2.h>

#include "host/conformance/run.hpp"
#include "host/model/excerpt.hpp"
#include "service/backends/backends.hpp"
#include "service/cli/commands/commands.hpp"
#include "service/cli/options/input.hpp"
#include "service/cli/terminal/exit_code.hpp"
#include "service/cli/terminal/progress_bar.hpp"
#include "service/cli/terminal/report_error.hpp"

namespace espalier {
namespace {

// Linear in the name and without recursion, whatever the expression and the names of a file.
std::shared_ptr<const RE2> Compile(const std::string& expression) {
  return std::make_shared<const RE2>(expression, RE2::Quiet);
}

std::string CheckRegularExpression(const std::string& text) {
  const std::shared_ptr<const RE2> compiled = Compile(text);
  return compiled->ok() ? std::string()
                        : fmt::format("not a regular expression: {}", compiled->error());
}

std::function<bool(std::string_view)> NameFilter(const std::string& expression) {
  if (expression.empty()) return {};
  return [compiled = Compile(expression)](std::string_view name) {
    return RE2::PartialMatch({name.data(), name.size()}, *compiled);
  };
}

// FILE:LINE: NAME and the difference below it, indented.
std::string FailureText(const CaseFailure& failure) {
  std::string text = fmt::format("{}:{}: {}\n", failure.file, failure.line,
                                 failure.name.empty() ? "cannot be read" : Excerpt(failure.name));
  std::string_view rest = failure.difference;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    text += fmt::format("  {}\n", EscapeControls(rest.substr(0, end)));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return text;
}

}  // namespace

int RunConformanceCommand(const ConformanceCommandOptions& options, std::ostream& out) {
  const auto backend = MakeBackend(options.backend.name, options.backend.threads);
  if (!backend) return ReportError(backend.error());
  // There is one device. On the CPU, threads of their own stay out of each other's way.
  const bool one_for_all = StatusOfDevice(**backend).has_value();
  ConformanceOptions run;
  run.make_backend = [&] {
    return one_for_all ? *backend : *MakeBackend("cpu", options.backend.threads);
  };
  run.threads = options.backend.threads;
  run.max_input = options.max_input;
  run.filter = NameFilter(options.filter);

  std::size_t shown = 0;
  const auto show = [&](const CaseFailure& failure) {
    if (shown++ < options.max_differences) out << FailureText(failure);
  };
  ProgressBar bar("checking", 0);
  const ConformanceReport report =
      RunConformance(options.files, run, show, [&](std::size_t done) { bar.Update(done); });
  for (const Error& error : report.unreadable) ReportError(error);
  ReportDeviceFault(**backend);
  if (shown > options.max_differences) {
    fmt::print(out, "{} more differences; --max-differences shows more\n",
               shown - options.max_differences);
  }
  fmt::print(out, "{} passed, {} failed\n", report.passed, report.failed);
  if (!report.unreadable.empty()) return kExitBadInput;
  return report.failed == 0 ? kExitOk : kExitNo;
}

void AddConformanceCommand(CLI::App& app, int& exit_code) {
  const auto options = std::make_shared<ConformanceCommandOptions>();
  CLI::App* command =
      app.add_subcommand("conformance", "Run recorded cases and show where the answers differ");
  command->add_option("FILES", options->files, "Case files (.jsonl), plain or gzip")->required();
  AddMaxInputOption(*command, options->max_input);
  AddBackendOptions(*command, options->backend);
  command
      ->add_option("--filter", options->filter,
                   "Only cases whose name contains a match of this regular expression")
      ->check(CLI::Validator(CheckRegularExpression, "REGEX"));
  command->add_option("--max-differences", options->max_differences, "How many to print")
      ->capture_default_str();
  command->footer(
      "Example:\n"
      "  espalier conformance --filter '^group-' tests/data/cases/*.gz\n"
      "\n"
      "The last line is `N passed, M failed`. Exit codes: 0 none failed, 1 some failed,\n"
      "2 wrong command line, 3 a file cannot be read, 4 no GPU or memory, or output "
      "lost.");
  command->callback(
      [options, &exit_code] { exit_code = RunConformanceCommand(*options, std::cout); });
}

}  // namespace espalier
