// Functions that take the place of a library's and call it.
#pragma once

#include <array>
#include <bit>
#include <cstdio>
#include <cstdlib>

#include <dlfcn.h>

namespace espalier {

// The function of the same name that comes next in the order of the loader: the library's. Of a
// member function that is not virtual, the first word of a pointer is its address (Itanium C++
// ABI).
template <typename Function>
Function Replaced(Function ours) {
  auto words = std::bit_cast<std::array<void*, sizeof(Function) / sizeof(void*)>>(ours);
  Dl_info info;
  const char* name = dladdr(words[0], &info) != 0 ? info.dli_sname : nullptr;
  words[0] = name ? dlsym(RTLD_NEXT, name) : nullptr;
  if (!words[0]) {
    std::fprintf(stderr, "no library has %s\n", name ? name : "a function that is replaced");
    std::abort();
  }
  return std::bit_cast<Function>(words);
}

}  // namespace espalier
