// A rule of Kueue's webhooks or schemas that an object breaks.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace espalier {

struct Violation {
  std::string object;   // kind namespace/name
  std::string field;    // path from the object's root; empty: no field of it
  std::string value;    // as written in the object; empty when absent
  std::string message;  // Kueue's own text where it has one
  std::string text;     // the whole line that Kueue answers, field and value in it
  bool operator==(const Violation&) const = default;
};

// Collects what is wrong with one object, in the forms of the field errors of Kubernetes.
class Violations {
 public:
  // `object`: its kind, namespace and name, as in a Violation.
  explicit Violations(std::string object) : object_(std::move(object)) {}

  void Invalid(std::string field, std::string_view value, std::string_view message);
  void Invalid(std::string field, std::int64_t value, std::string_view message);
  // Constrained, so that no pointer to characters counts as a bool.
  void Invalid(std::string field, std::same_as<bool> auto value, std::string_view message) {
    const std::string_view text = value ? "true" : "false";
    Add(std::move(field), text, "Invalid value", text, message);
  }
  // The value is JSON, which Kueue's line has as it is.
  void InvalidJson(std::string field, std::string_view json, std::string_view message);
  void InvalidWithoutValue(std::string field, std::string_view message);
  void Duplicate(std::string field, std::string_view value);
  // The value is not part of Kueue's line.
  void Forbidden(std::string field, std::string_view message, std::string_view value = {});
  void Required(std::string field, std::string_view message);
  void TooMany(std::string field, std::size_t items, std::size_t most);
  // Replaces all that was found by an error that names no field, which ends a webhook.
  void Replace(std::string_view message);
  // Appends a text to the messages of all but the first `from` violations.
  void AppendToMessages(std::size_t from, std::string_view text);

  // Adds what was found in an object that lies in this one, at fields that begin with `prefix`. The
  // lines that Kueue answers stay those of the inner object.
  void AddFrom(std::string_view prefix, std::vector<Violation> inner);

  const std::string& object() const { return object_; }
  std::size_t size() const { return found_.size(); }
  std::vector<Violation> Take() { return std::move(found_); }

 private:
  void Add(std::string field, std::string_view value, std::string_view type,
           std::string_view printed, std::string_view message);

  std::string object_;
  std::vector<Violation> found_;
};

}  // namespace espalier
