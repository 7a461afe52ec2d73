// A file that is written from start to end, packed when its name ends in .gz.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "host/model/result.hpp"

namespace espalier {

class OutputFile {
 public:
  // Replaces what is there. Errors (kBadInput: it cannot be created) name the file and say why.
  static Result<OutputFile> Create(const std::string& path);
  OutputFile(OutputFile&&) noexcept;
  ~OutputFile();

  // After a failed write nothing more is written.
  void Write(std::string_view text);
  // To be called at the end; the first error of all writes, or that of closing (kUnavailable: the
  // disk is full or broken).
  Result<void> Close();

 private:
  struct Stream;
  explicit OutputFile(std::unique_ptr<Stream> stream);
  std::unique_ptr<Stream> stream_;
};

}  // namespace espalier
