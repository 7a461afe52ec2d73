// Collects the errors and warnings of the input, so that one run reports all of them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace espalier {

// An error or warning; empty parts are left out when it is printed.
struct Diagnostic {
  std::string file;
  std::string object;    // kind namespace/name, as in "Pod team-a/trainer-0"
  std::string field;     // spec.podSets[0].count
  std::string value;     // as JSON, shortened; empty for objects and lists
  std::string problem;   // what is wrong
  std::string expected;  // what would be right
  // Lines that show the place in the file, each after a newline; not escaped when printed.
  std::string picture = {};
  bool is_about_input = false;  // each object is sound by itself, but not the input that has both
  bool operator==(const Diagnostic&) const = default;
};

// Returns one line, `file: object: field: problem, got value; want expected`, with excerpts of the
// input, then the picture.
std::string ToString(const Diagnostic& diagnostic);

// Keeps the first 100 errors and the first 100 warnings, of which at most 10 have the same text, so
// that a frequent one does not hide another. Counts the rest. What is said again word for word, as
// of a part that is read for two purposes, is neither kept nor counted.
class Diagnostics {
 public:
  static constexpr std::size_t kKept = 100;
  static constexpr std::size_t kKeptAlike = 10;

  // Keeps nothing yet. With `strict`, warnings become errors; with `leaves_out`, an object with
  // errors is left out alone (AppendObject).
  explicit Diagnostics(bool strict = false, bool leaves_out = false)
      : strict_(strict), leaves_out_(leaves_out) {}

  void AddError(Diagnostic diagnostic);
  void AddWarning(Diagnostic diagnostic);
  // Appends the findings of `later` to those kept here.
  void Append(Diagnostics later);
  // Appends the findings of one object. Where objects are left out alone, its errors are kept apart
  // from those that end the reading; returns then why it is left out, in one line. Returns ""
  // otherwise.
  std::string AppendObject(Diagnostics findings);

  bool strict() const { return strict_; }
  bool ok() const { return error_count_ == 0; }
  // Returns whether another error would only be counted, so that its texts need not be made.
  bool errors_full() const { return errors_.size() >= kKept; }
  bool warnings_full() const { return strict_ ? errors_full() : warnings_.size() >= kKept; }

  const std::vector<Diagnostic>& errors() const { return errors_; }
  const std::vector<Diagnostic>& warnings() const { return warnings_; }
  std::size_t error_count() const { return error_count_; }
  std::size_t warning_count() const { return warning_count_; }
  // Kept errors of objects that are left out, and how many such objects there are.
  const std::vector<Diagnostic>& left_out() const { return left_out_; }
  std::size_t left_out_count() const { return left_out_count_; }

  // Returns all kept errors, one per line without a newline at the end, and how many more there
  // were; then the kept warnings about the same objects, as a misspelled key is often why a field
  // is missing.
  std::string RenderErrors() const;
  // Returns the errors of objects that are left out in the same form.
  std::string RenderLeftOut() const;
  // Returns all kept warnings in the same form, and how many more there were.
  std::string RenderWarnings() const;
  // Returns the first kept warning of each problem, and how many more there were.
  std::string RenderDistinctWarnings() const;

 private:
  void KeepWarning(Diagnostic diagnostic);

  std::string WithWarnings(std::string text, const std::vector<Diagnostic>& errors) const;

  bool strict_;
  bool leaves_out_;
  std::vector<Diagnostic> errors_;
  std::vector<Diagnostic> warnings_;
  std::vector<Diagnostic> left_out_;
  std::size_t left_out_count_ = 0;        // objects
  std::size_t left_out_error_count_ = 0;  // their errors
  std::size_t error_count_ = 0;
  std::size_t warning_count_ = 0;
};

}  // namespace espalier
