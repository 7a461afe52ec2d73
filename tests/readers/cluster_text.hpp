// Reads texts and files that tests write.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "host/readers/cluster_files.hpp"

namespace espalier {

inline std::string NodeJson(std::string_view name) {
  return fmt::format(R"({{"kind": "Node", "apiVersion": "v1", "metadata": {{"name": "{}"}}}})",
                     name);
}

inline std::vector<std::string> Names(const Result<ClusterRead>& read) {
  std::vector<std::string> names;
  if (!read) return {"error: " + read.error().message};
  for (const Node& node : read->cluster.nodes) names.push_back(node.name);
  return names;
}

inline Result<ClusterRead> TryRead(std::string text, bool strict = false) {
  return ReadClusterText("f", std::move(text), {.strict = strict});
}

inline std::string ErrorOf(const Result<ClusterRead>& read) {
  return read ? "no error" : read.error().message;
}

class Folder : public testing::Test {
 protected:
  Folder()
      : path_(std::filesystem::path(testing::TempDir()) / fmt::format("espalier-{}", ::getpid())) {
    std::filesystem::create_directories(path_);
  }
  ~Folder() override { std::filesystem::remove_all(path_); }

  std::string Write(const std::string& name, std::string_view text) {
    const std::filesystem::path file = path_ / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
    return file.string();
  }

  std::filesystem::path path_;
};

}  // namespace espalier
