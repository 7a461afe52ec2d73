#include "host/webhooks/violation.hpp"

#include <fmt/format.h>

#include "host/model/go_texts.hpp"

namespace espalier {

void Violations::Add(std::string field, std::string_view value, std::string_view type,
                     std::string_view printed, std::string_view message) {
  std::string text = fmt::format("{}: {}", field, type);
  for (const std::string_view part : {printed, message}) {
    if (!part.empty()) text += fmt::format(": {}", part);
  }
  found_.push_back({object_, std::move(field), std::string(value), std::string(message), text});
}

void Violations::Invalid(std::string field, std::string_view value, std::string_view message) {
  Add(std::move(field), value, "Invalid value", Quoted(value), message);
}

void Violations::Invalid(std::string field, std::int64_t value, std::string_view message) {
  const std::string printed = fmt::format("{}", value);
  Add(std::move(field), printed, "Invalid value", printed, message);
}

void Violations::InvalidJson(std::string field, std::string_view json, std::string_view message) {
  Add(std::move(field), json, "Invalid value", json, message);
}

void Violations::InvalidWithoutValue(std::string field, std::string_view message) {
  Add(std::move(field), "", "Invalid value", "", message);
}

void Violations::Duplicate(std::string field, std::string_view value) {
  Add(std::move(field), value, "Duplicate value", Quoted(value), "");
  found_.back().message = "Duplicate value";  // Kueue's line has no other words
}

void Violations::Forbidden(std::string field, std::string_view message, std::string_view value) {
  Add(std::move(field), value, "Forbidden", "", message);
}

void Violations::Required(std::string field, std::string_view message) {
  Add(std::move(field), "", "Required value", "", message);
}

void Violations::Replace(std::string_view message) {
  found_ = {{object_, "", "", std::string(message), std::string(message)}};
}

void Violations::AppendToMessages(std::size_t from, std::string_view text) {
  for (std::size_t i = from; i < found_.size(); ++i) {
    Violation& violation = found_[i];
    if (!violation.text.ends_with(violation.message)) violation.text += ": ";
    violation.message += text;
    violation.text += text;
  }
}

void Violations::TooMany(std::string field, std::size_t items, std::size_t most) {
  const std::string printed = fmt::format("{}", items);
  Add(std::move(field), printed, "Too many", printed,
      fmt::format("must have at most {} items", most));
}

void Violations::AddFrom(std::string_view prefix, std::vector<Violation> inner) {
  for (Violation& violation : inner) {
    violation.field.insert(0, prefix);
    found_.push_back(std::move(violation));
  }
}

}  // namespace espalier
