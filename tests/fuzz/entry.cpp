// Defines what libFuzzer calls, and what targets share.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "tests/fuzz/fuzz.hpp"

namespace espalier::fuzz {

void Expect(bool holds, std::string_view property, const std::string& details) {
  if (holds) return;
  std::fprintf(stderr, "broken property: %.*s\n%s\n", static_cast<int>(property.size()),
               property.data(), details.c_str());
  std::abort();
}

}  // namespace espalier::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  espalier::fuzz::RunOne(bytes);
  return 0;
}
