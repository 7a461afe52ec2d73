// The schema understands what clients and servers of the last release send (docs/compatibility.md).
#include "tests/wire/schema_differences.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <google/protobuf/descriptor.pb.h>
#include <gtest/gtest.h>

namespace espalier::schema_differences_test {
namespace {

namespace pb = google::protobuf;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// The files of a folder, or one file of text, as protoc reads them.
class Schema {
 public:
  explicit Schema(const std::filesystem::path& root) { Read(root); }

  explicit Schema(const std::string& text) {
    const std::filesystem::path folder = NewFolder();
    std::ofstream(folder / "text.proto") << "syntax = \"proto3\"; package p; " << text;
    Read(folder);
    std::filesystem::remove_all(folder);
  }

  const std::vector<const pb::FileDescriptor*>& files() const { return files_; }

 private:
  static std::filesystem::path NewFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "schema-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) ADD_FAILURE() << name << ": " << std::strerror(errno);
    return name;
  }

  void Read(const std::filesystem::path& root) {
    const std::filesystem::path folder = NewFolder();
    std::string command = fmt::format("{} -I '{}' --include_imports --descriptor_set_out='{}/set'",
                                      ESPALIER_PROTOC, root.string(), folder.string());
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
      if (entry.path().extension() == ".proto") command += " '" + entry.path().string() + "'";
    }
    ASSERT_EQ(std::system(command.c_str()), 0) << command;
    pb::FileDescriptorSet set;
    std::ifstream file(folder / "set", std::ios::binary);
    ASSERT_TRUE(set.ParseFromIstream(&file));
    for (const pb::FileDescriptorProto& proto : set.file()) {
      files_.push_back(pool_.BuildFile(proto));
      ASSERT_NE(files_.back(), nullptr) << proto.name();
    }
    std::filesystem::remove_all(folder);
  }

  pb::DescriptorPool pool_;
  std::vector<const pb::FileDescriptor*> files_;
};

std::vector<std::string> Between(const std::string& before, const std::string& after) {
  const Schema old_schema(before);
  const Schema new_schema(after);
  return SchemaDifferences(old_schema.files(), new_schema.files());
}

TEST(WireCompatibility, UnderstandsTheLastRelease) {
  const std::filesystem::path source = ESPALIER_SOURCE_DIR;
  const Schema released(source / "tests/data/wire/released");
  const Schema current(source / "proto");
  ASSERT_THAT(released.files(), testing::Not(IsEmpty()));
  EXPECT_THAT(SchemaDifferences(released.files(), current.files()), IsEmpty())
      << "clients and servers of the last release would not understand this; see "
         "docs/compatibility.md";
}

TEST(SchemaDifferences, AllowsWhatIsAdded) {
  EXPECT_THAT(Between("message M { int32 a = 1; reserved 7; } enum E { E_ZERO = 0; } "
                      "service S { rpc Ask(M) returns (M); }",
                      "message M { int32 a = 1; string b = 2; reserved 6 to 7; message N {} } "
                      "enum E { E_ZERO = 0; E_ONE = 1; } message More {} "
                      "service S { rpc Ask(M) returns (M); rpc More(M) returns (M); }"),
              IsEmpty());
}

TEST(SchemaDifferences, FindsRemovedFields) {
  EXPECT_THAT(Between("message M { int32 a = 1; int32 b = 2; }", "message M { int32 a = 1; }"),
              ElementsAre("p.M.b: field 2 is gone"));
  // Also where its number is reserved: who still sends it would be misunderstood.
  EXPECT_THAT(Between("message M { int32 a = 1; }", "message M { reserved 1; }"),
              ElementsAre("p.M.a: field 1 is gone"));
}

TEST(SchemaDifferences, FindsRenumberedFields) {
  EXPECT_THAT(Between("message M { int32 a = 1; }", "message M { int32 a = 2; }"),
              ElementsAre("p.M.a: its number was 1 and is 2"));
}

TEST(SchemaDifferences, FindsRenamedFields) {
  EXPECT_THAT(Between("message M { int32 a_b = 1; }", "message M { int32 c = 1; }"),
              ElementsAre("p.M.a_b: its name was a_b and is c",
                          "p.M.a_b: its name in JSON was aB and is c"));
  EXPECT_THAT(
      Between("message M { int32 a = 1; }", "message M { int32 a = 1 [json_name = \"x\"]; }"),
      ElementsAre("p.M.a: its name in JSON was a and is x"));
}

TEST(SchemaDifferences, FindsFieldsThatSwapNumbers) {
  EXPECT_THAT(
      Between("message M { int32 a = 1; int32 b = 2; }", "message M { int32 a = 2; int32 b = 1; }"),
      SizeIs(4));
}

TEST(SchemaDifferences, FindsOtherTypes) {
  EXPECT_THAT(Between("message M { int32 a = 1; }", "message M { int64 a = 1; }"),
              ElementsAre("p.M.a: its type was int32 and is int64"));
  EXPECT_THAT(Between("message A {} message B {} message M { A a = 1; }",
                      "message A {} message B {} message M { B a = 1; }"),
              ElementsAre("p.M.a: its type was p.A and is p.B"));
  EXPECT_THAT(Between("enum A { A0 = 0; } enum B { B0 = 0; } message M { A a = 1; }",
                      "enum A { A0 = 0; } enum B { B0 = 0; } message M { B a = 1; }"),
              ElementsAre("p.M.a: its type was p.A and is p.B"));
  EXPECT_THAT(
      Between("message M { map<string, int32> a = 1; }", "message M { map<string, bool> a = 1; }"),
      ElementsAre("p.M.a: its type was map<string, int32> and is map<string, bool>"));
}

TEST(SchemaDifferences, FindsOtherLabels) {
  EXPECT_THAT(Between("message M { int32 a = 1; }", "message M { repeated int32 a = 1; }"),
              ElementsAre("p.M.a: its label was singular and is repeated"));
  EXPECT_THAT(Between("message M { optional int32 a = 1; }", "message M { int32 a = 1; }"),
              ElementsAre("p.M.a: its label was optional and is singular"));
}

TEST(SchemaDifferences, FindsFieldsThatMoveIntoAOneof) {
  EXPECT_THAT(Between("message M { int32 a = 1; }", "message M { oneof o { int32 a = 1; } }"),
              ElementsAre("p.M.a: its oneof was no oneof and is oneof o"));
}

TEST(SchemaDifferences, FindsRemovedTypes) {
  EXPECT_THAT(
      Between("message M { message N {} enum E { E0 = 0; } } enum F { F0 = 0; }", "message M {}"),
      ElementsAre("p.M.N: the message is gone", "p.M.E: the enum is gone",
                  "p.F: the enum is gone"));
}

TEST(SchemaDifferences, FindsOtherValuesOfEnums) {
  EXPECT_THAT(Between("enum E { E0 = 0; E1 = 1; E2 = 2; }", "enum E { E0 = 0; E2 = 3; }"),
              ElementsAre("p.E: value E1 is gone", "p.E: the number of E2 was 2 and is 3"));
}

TEST(SchemaDifferences, FindsRemovedCallsAndServices) {
  EXPECT_THAT(Between("message M {} service S { rpc Ask(M) returns (M); } service T {}",
                      "message M {} service S {}"),
              ElementsAre("p.S.Ask: the call is gone", "p.T: the service is gone"));
}

TEST(SchemaDifferences, FindsCallsOfAnotherForm) {
  EXPECT_THAT(
      Between("message M {} message N {} service S { rpc Ask(M) returns (M); }",
              "message M {} message N {} service S { rpc Ask(stream M) returns (N); }"),
      ElementsAre("p.S.Ask: its form was (p.M) returns (p.M) and is (stream p.M) returns (p.N)"));
}

TEST(SchemaDifferences, KeepsReservedNumbersAndNames) {
  EXPECT_THAT(
      Between("message M { reserved 2, 4 to 5; reserved \"old\"; }",
              "message M { reserved 4; int32 old = 2; }"),
      ElementsAre("p.M: number 2 is reserved no longer", "p.M: number 5 is reserved no longer",
                  "p.M: name old is reserved no longer"));
  EXPECT_THAT(
      Between("enum E { E0 = 0; reserved 2 to 3; reserved \"OLD\"; }",
              "enum E { E0 = 0; reserved 2; }"),
      ElementsAre("p.E: number 3 is reserved no longer", "p.E: name OLD is reserved no longer"));
}

}  // namespace
}  // namespace espalier::schema_differences_test
