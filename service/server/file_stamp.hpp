// Tells whether a file has changed.
#pragma once

#include <cstdint>
#include <string>

#include <sys/stat.h>

namespace espalier {

// A file as it is at one moment. Equal stamps: it has not changed.
struct FileStamp {
  dev_t device = 0;
  ino_t file = 0;
  off_t size = 0;
  std::int64_t written = 0;  // nanoseconds
  std::int64_t changed = 0;  // likewise: its mode or owner too
  bool operator==(const FileStamp&) const = default;

  // Follows links, so that one that is pointed elsewhere is a change. All zero where there is no
  // such file.
  static FileStamp Of(const std::string& path) {
    struct stat status = {};
    if (path.empty() || ::stat(path.c_str(), &status) != 0) return {};
    constexpr std::int64_t kSecond = 1'000'000'000;
    return {status.st_dev, status.st_ino, status.st_size,
            status.st_mtim.tv_sec * kSecond + status.st_mtim.tv_nsec,
            status.st_ctim.tv_sec * kSecond + status.st_ctim.tv_nsec};
  }
};

}  // namespace espalier
