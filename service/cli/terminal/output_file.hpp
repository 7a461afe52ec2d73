// A file that is written from start to end, compressed when its name ends in .gz.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "host/model/result.hpp"

namespace espalier {

class OutputFile {
 public:
  // Creates the file, or replaces the one that exists. Errors (kBadInput: it cannot be created)
  // name the file and say why.
  static Result<OutputFile> Create(const std::string& path);
  // Does the same, but refuses a pipe, where it would wait for somebody to read, and what else is
  // there and neither a file nor a character device.
  static Result<OutputFile> CreateFile(const std::string& path);
  OutputFile(OutputFile&&) noexcept;
  ~OutputFile();

  // Writes text; does nothing after a failed write.
  void Write(std::string_view text);
  // Closes the file; must be called at the end. Returns the first error of all writes, or that of
  // closing (kUnavailable: the disk is full or broken).
  Result<void> Close();

 private:
  struct Stream;
  explicit OutputFile(std::unique_ptr<Stream> stream);
  std::unique_ptr<Stream> stream_;
};

}  // namespace espalier
