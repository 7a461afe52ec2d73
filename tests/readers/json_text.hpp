// A JSON text with a context to read it in, for tests of the readers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "host/readers/json_fields.hpp"

namespace espalier {

class JsonText {
 public:
  explicit JsonText(std::string_view text, std::string_view kind = "Object") : kind_(kind) {
    const simdjson::error_code error = parser_.parse(std::string(text)).get(root_);
    EXPECT_EQ(error, simdjson::SUCCESS) << simdjson::error_message(error) << ": " << text;
  }

  JsonValue root() const { return root_; }
  ReadContext context() { return {diagnostics, "file.json", root_, kind_}; }
  // Returns field and problem of every error.
  std::vector<std::string> Errors() const { return Findings(diagnostics.errors()); }
  std::vector<std::string> Warnings() const { return Findings(diagnostics.warnings()); }

  Diagnostics diagnostics;

 private:
  static std::vector<std::string> Findings(const std::vector<Diagnostic>& list) {
    std::vector<std::string> findings;
    for (const Diagnostic& one : list) findings.push_back(one.field + ": " + one.problem);
    return findings;
  }

  simdjson::dom::parser parser_;
  JsonValue root_;
  std::string kind_;
};

}  // namespace espalier
