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
#include <zlib.h>

#include "host/readers/cluster_files.hpp"

namespace espalier {

inline std::string NodeJson(std::string_view name) {
  return fmt::format(R"({{"kind": "Node", "apiVersion": "v1", "metadata": {{"name": "{}"}}}})",
                     name);
}

inline std::string Gzip(std::string_view text) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string packed(deflateBound(&stream, text.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
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
