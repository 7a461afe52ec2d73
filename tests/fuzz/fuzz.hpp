// A fuzz target takes bytes and returns; whatever is wrong ends the process.
#pragma once

#include <string>
#include <string_view>

namespace espalier::fuzz {

// Runs one input. Each target defines it.
void RunOne(std::string_view bytes);

// Ends the process with a message when a property does not hold.
void Expect(bool holds, std::string_view property, const std::string& details = "");

}  // namespace espalier::fuzz
