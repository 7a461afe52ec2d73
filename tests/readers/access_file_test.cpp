// The file of --access: what it says, and what is said of one that is wrong.
#include "host/readers/access_file.hpp"

#include <filesystem>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace espalier::access_file_test {
namespace {

using testing::HasSubstr;

class AccessFile : public testing::Test {
 protected:
  ~AccessFile() override { std::filesystem::remove(path_); }

  Result<AccessRules> Read(const std::string& text) const {
    std::ofstream(path_) << text;
    return ReadAccessFile(path_);
  }
  std::string ErrorOf(const std::string& text) const {
    const auto read = Read(text);
    return read ? "no error" : read.error().message;
  }

  const std::string path_ = testing::TempDir() + "access-" + std::to_string(::getpid()) + ".yaml";
};

TEST_F(AccessFile, SaysWhoMayDoWhat) {
  const auto read = Read(R"(# who may do what
rules:
- who: certificate:kueue.kueue-system.svc
  may: [read, place, commit, write-state]
- {who: "spiffe://cluster.local/ns/a/sa/b", may: [read]}
- who: user:65532
  may: [read, place, commit, write-state, admin]
- who: any-certificate
  may: []
- who: anyone
  may: [read, read]
)");
  ASSERT_TRUE(read) << read.error().message;
  const std::vector<AccessRule>& rules = read->rules;
  ASSERT_EQ(rules.size(), 5u);
  using Who = AccessRule::Who;
  EXPECT_EQ(rules[0].who, Who::kCertificate);
  EXPECT_EQ(rules[0].name, "kueue.kueue-system.svc");
  EXPECT_EQ(rules[0].may.ToString(), "read, place, commit, write-state");
  EXPECT_EQ(rules[1].who, Who::kSpiffe);
  EXPECT_EQ(rules[1].name, "spiffe://cluster.local/ns/a/sa/b");
  EXPECT_EQ(rules[2].who, Who::kUser);
  EXPECT_EQ(rules[2].user, 65532u);
  EXPECT_EQ(rules[2].may, Permissions::All());
  EXPECT_EQ(rules[3].who, Who::kAnyCertificate);
  EXPECT_EQ(rules[3].may.ToString(), "nothing");
  EXPECT_EQ(rules[4].who, Who::kAnyone);
  EXPECT_EQ(rules[4].may.ToString(), "read");
}

TEST_F(AccessFile, IsJsonToo) {
  const auto read = Read(R"({"rules": [{"who": "anyone", "may": ["read"]}]})");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->rules.size(), 1u);
  EXPECT_TRUE(Read("rules: []"));  // the defaults alone
}

TEST_F(AccessFile, NobodyIsNamedByMistake) {
  for (const char* who : {"certifcate:a", "\"certificate:\"", "\"certificate:a b\"", "spiffe://",
                          "user:root", "user:-1", "user:4294967295", "user:4294967296",
                          "\"user: 1\"", "Anyone", "certificate:spiffe://a/b"}) {
    EXPECT_THAT(ErrorOf("rules: [{who: " + std::string(who) + ", may: [read]}]"),
                HasSubstr(path_ + ": access: rules[0].who: it names nobody, got \""))
        << who;
  }
  EXPECT_THAT(ErrorOf("rules: [{who: 17, may: [read]}]"), HasSubstr("rules[0].who: "));
}

TEST_F(AccessFile, NamesEveryFault) {
  const std::string error = ErrorOf(R"(rules:
- who: user:1
  may: [reed]
- who: user:1
  may: [read]
- who: anyone
- may: [read]
  whom: user:2
- nothing
rule: 1
)");
  EXPECT_THAT(error, HasSubstr("rules[0].may[0]: there is no such permission, got \"reed\"; want "
                               "read, place, commit, write-state, admin"));
  EXPECT_THAT(error, HasSubstr("rules[1].who: there is a rule for it before, got \"user:1\""));
  EXPECT_THAT(error, HasSubstr("rules[2].may: "));
  EXPECT_THAT(error, HasSubstr("rules[3].whom: the key whom is unknown"));
  EXPECT_THAT(error, HasSubstr("rules[3].who: "));
  EXPECT_THAT(error, HasSubstr("rules[4]: it is not an object"));
  EXPECT_THAT(error, HasSubstr("rule: the key rule is unknown"));
}

TEST_F(AccessFile, WrongTextsAreErrors) {
  EXPECT_THAT(ErrorOf(""), HasSubstr("holds 0 YAML documents"));
  EXPECT_THAT(ErrorOf("a: 1\n---\nb: 1\n"), HasSubstr("holds 2 YAML documents"));
  EXPECT_THAT(ErrorOf("- a"), HasSubstr("is not a map"));
  EXPECT_THAT(ErrorOf("rules: ["), HasSubstr(path_ + ": line 1, column "));
  EXPECT_THAT(ErrorOf("{}"), HasSubstr("rules: "));
  EXPECT_THAT(ErrorOf("rules: 1"), HasSubstr("rules: "));
  EXPECT_THAT(ErrorOf("rules: [{who: anyone, may: read}]"), HasSubstr("rules[0].may: "));
  EXPECT_THAT(ErrorOf("rules: []\nrules: []"), HasSubstr("twice"));
  std::filesystem::remove(path_);
  const auto missing = ReadAccessFile(path_);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().error_class, ErrorClass::kUnavailable);
  EXPECT_EQ(missing.error().message, path_ + ": cannot be read: No such file or directory");
}

}  // namespace
}  // namespace espalier::access_file_test
