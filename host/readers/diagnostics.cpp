#include "host/readers/diagnostics.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "host/model/excerpt.hpp"

namespace espalier {
namespace {

// Returns a line for each diagnostic of the list, and how many more of the noun there are of
// `count`.
std::string Render(const std::vector<Diagnostic>& list, std::size_t count, std::string_view noun) {
  std::string text;
  for (const Diagnostic& diagnostic : list) {
    if (!text.empty()) text += '\n';
    text += ToString(diagnostic);
  }
  if (count > list.size()) {
    const std::size_t more = count - list.size();
    text += fmt::format("\nand {} more {}{}", more, noun, more == 1 ? "" : "s");
  }
  return text;
}

}  // namespace

std::string ToString(const Diagnostic& diagnostic) {
  std::string line;
  const auto add = [&](const std::string& part) {
    if (!part.empty()) line.append(part).append(": ");
  };
  add(EscapeControls(diagnostic.file));
  add(Excerpt(diagnostic.object));
  add(Excerpt(diagnostic.field));
  line += EscapeControls(diagnostic.problem);
  if (!diagnostic.value.empty()) line.append(", got ").append(Excerpt(diagnostic.value));
  if (!diagnostic.expected.empty()) {
    line.append("; want ").append(EscapeControls(diagnostic.expected));
  }
  return line + diagnostic.picture;
}

void Diagnostics::AddError(Diagnostic diagnostic) {
  if (std::ranges::find(errors_, diagnostic) != errors_.end()) return;
  ++error_count_;
  if (!errors_full()) errors_.push_back(std::move(diagnostic));
}

void Diagnostics::AddWarning(Diagnostic diagnostic) {
  if (strict_) return AddError(std::move(diagnostic));
  if (std::ranges::find(warnings_, diagnostic) != warnings_.end()) return;
  ++warning_count_;
  KeepWarning(std::move(diagnostic));
}

void Diagnostics::KeepWarning(Diagnostic diagnostic) {
  const auto alike = std::ranges::count(warnings_, diagnostic.problem, &Diagnostic::problem);
  if (warnings_.size() < kKept && static_cast<std::size_t>(alike) < kKeptAlike) {
    warnings_.push_back(std::move(diagnostic));
  }
}

void Diagnostics::Append(Diagnostics later) {
  error_count_ += later.error_count_;
  for (Diagnostic& error : later.errors_) {
    if (!errors_full()) errors_.push_back(std::move(error));
  }
  warning_count_ += later.warning_count_;
  for (Diagnostic& warning : later.warnings_) KeepWarning(std::move(warning));
}

std::string Diagnostics::AppendObject(Diagnostics findings) {
  if (findings.ok() || !leaves_out_) {
    Append(std::move(findings));
    return "";
  }
  std::string why = ToString(findings.errors_.front());
  if (findings.error_count_ > 1) why += fmt::format(" (and {} more)", findings.error_count_ - 1);
  ++left_out_count_;
  left_out_error_count_ += findings.error_count_;
  for (Diagnostic& error : findings.errors_) {
    if (left_out_.size() < kKept) left_out_.push_back(std::move(error));
  }
  findings.errors_.clear();
  findings.error_count_ = 0;
  Append(std::move(findings));
  return why;
}

std::string Diagnostics::RenderErrors() const {
  return WithWarnings(Render(errors_, error_count_, "error"), errors_);
}

std::string Diagnostics::RenderLeftOut() const {
  return WithWarnings(Render(left_out_, left_out_error_count_, "error"), left_out_);
}

std::string Diagnostics::WithWarnings(std::string text,
                                      const std::vector<Diagnostic>& errors) const {
  for (const Diagnostic& warning : warnings_) {
    const auto same_object = [&](const Diagnostic& error) {
      return !error.object.empty() && error.object == warning.object && error.file == warning.file;
    };
    if (std::ranges::any_of(errors, same_object)) text += "\nwarning: " + ToString(warning);
  }
  return text;
}

std::string Diagnostics::RenderWarnings() const {
  return Render(warnings_, warning_count_, "warning");
}

std::string Diagnostics::RenderDistinctWarnings() const {
  std::vector<Diagnostic> distinct;
  for (const Diagnostic& warning : warnings_) {
    if (std::ranges::find(distinct, warning.problem, &Diagnostic::problem) == distinct.end()) {
      distinct.push_back(warning);
    }
  }
  std::string text = Render(distinct, warning_count_, "warning");
  if (warning_count_ > distinct.size()) text += "; --verbose shows all";
  return text;
}

}  // namespace espalier
