#include "host/readers/diagnostics.hpp"

#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "host/model/excerpt.hpp"

namespace espalier {
namespace {

void Keep(std::vector<Diagnostic>& list, std::size_t& count, Diagnostic diagnostic) {
  ++count;
  if (list.size() < Diagnostics::kKept) list.push_back(std::move(diagnostic));
}

void AppendTo(std::vector<Diagnostic>& list, std::size_t& count, std::vector<Diagnostic> later,
              std::size_t later_count) {
  count += later_count;
  for (Diagnostic& diagnostic : later) {
    if (list.size() >= Diagnostics::kKept) break;
    list.push_back(std::move(diagnostic));
  }
}

std::string Render(const std::vector<Diagnostic>& list, std::size_t count, const char* what) {
  std::string text;
  for (const Diagnostic& diagnostic : list) {
    if (!text.empty()) text += '\n';
    text += ToString(diagnostic);
  }
  if (count > list.size()) text += fmt::format("\nand {} more {}", count - list.size(), what);
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
  if (diagnostic.expected.empty()) return line;
  return line.append("; want ").append(EscapeControls(diagnostic.expected));
}

void Diagnostics::AddError(Diagnostic diagnostic) {
  Keep(errors_, error_count_, std::move(diagnostic));
}

void Diagnostics::AddWarning(Diagnostic diagnostic) {
  if (strict_) return AddError(std::move(diagnostic));
  Keep(warnings_, warning_count_, std::move(diagnostic));
}

void Diagnostics::Append(Diagnostics later) {
  AppendTo(errors_, error_count_, std::move(later.errors_), later.error_count_);
  AppendTo(warnings_, warning_count_, std::move(later.warnings_), later.warning_count_);
}

std::string Diagnostics::RenderErrors() const { return Render(errors_, error_count_, "errors"); }

std::string Diagnostics::RenderWarnings() const {
  return Render(warnings_, warning_count_, "warnings");
}

}  // namespace espalier
