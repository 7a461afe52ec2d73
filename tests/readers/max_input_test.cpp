// The bound on how much is read, which holds for every kind of input and for what it becomes.
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/readers/cluster_text.hpp"

namespace espalier::max_input_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string ErrorOf(const std::vector<std::string>& paths, std::uint64_t max_input) {
  return ErrorOf(ReadClusterFiles(paths, {.max_input = max_input}));
}

constexpr const char* kBeyond =
    ": the input is larger than 1000 bytes in all, unpacked; want less, or a higher --max-input";

TEST_F(Folder, MaxInputBoundsEveryKindOfInput) {
  const std::string spaces(1001, ' ');
  const std::string yaml = "a: " + std::string(998, 'x');
  for (const std::string& path :
       {Write("a", spaces), Write("b", Gzip(spaces)), Write("c", yaml), Write("d", Gzip(yaml)),
        Write("e", Gzip(std::string(1 << 20, ' '))), std::string("/dev/zero")}) {
    EXPECT_EQ(ErrorOf({path}, 1000), path + kBeyond);
  }
  EXPECT_EQ(ErrorOf({Write("f", spaces)}, 1001), "no error");
  EXPECT_EQ(ErrorOf({Write("g", Gzip(spaces))}, 1001), "no error");
}

TEST_F(Folder, MaxInputIsOfAllFilesTogether) {
  const std::string a = Write("a", std::string(600, ' '));
  const std::string b = Write("b", Gzip(std::string(400, ' ')));
  const std::string c = Write("c", " ");
  EXPECT_EQ(ErrorOf({a, b}, 1000), "no error");
  EXPECT_EQ(ErrorOf({a, b, c}, 1000), c + kBeyond);
}

TEST_F(Folder, MaxInputCountsTheFilesOfAFolder) {
  for (int i = 0; i < 10; ++i) Write(fmt::format("{}.json", i), "");
  EXPECT_EQ(ErrorOf({path_.string()}, 10 * 1024), "no error");
  EXPECT_THAT(ErrorOf({path_.string()}, 10 * 1024 - 1),
              AllOf(HasSubstr(path_.string()), HasSubstr("--max-input")));
}

TEST_F(Folder, MaxInputCountsTheJsonOfYaml) {
  std::string yaml = "a: &a " + std::string(100, 'x') + "\nb: [";
  for (int i = 0; i < 100; ++i) yaml += "*a, ";
  yaml += "]\n";
  const std::string path = Write("a.yaml", yaml);
  EXPECT_THAT(ErrorOf({path}, 5000), AllOf(HasSubstr(path), HasSubstr("the aliases make")));
  EXPECT_THAT(ErrorOf({path}, 50000), HasSubstr("kind: it is missing"));
}

// A few bytes each, and hundreds in memory.
TEST_F(Folder, MaxInputBoundsTheMemoryOfObjects) {
  std::string objects = "{}";
  for (int i = 0; i < 70'000; ++i) objects += ",{}";
  const std::string pods = Write("pods.json", R"({"kind": "PodList", "items": [)" + objects + "]}");
  EXPECT_EQ(ErrorOf({pods}, 1 << 20),
            pods + ": its objects take more than 64 MiB; want less, or a higher --max-input");
  std::string numbers;
  for (int i = 0; i < 70'000; ++i) numbers += "1 ";
  const std::string many = Write("many.json", "[]" + numbers);
  EXPECT_THAT(ErrorOf({many}, 1 << 20), HasSubstr("its objects take more than 64 MiB"));
  for (int i = 0; i < 200'000; ++i) objects += ",{}";
  const std::string workload =
      Write("w.json", R"({"kind": "Workload", "apiVersion": "kueue.x-k8s.io/v1beta2",
      "metadata": {"name": "w", "namespace": "n"}, "spec": {"podSets": [)" +
                          objects + "]}}");
  EXPECT_EQ(ErrorOf({workload}, 1 << 20),
            workload +
                ": Workload n/w: spec.podSets: there is no memory left for what it "
                "describes; want less input, or a higher --max-input");
}

}  // namespace
}  // namespace espalier::max_input_test
