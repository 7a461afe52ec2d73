// Attacks with random content. Each starts servers of its own and is the same again for the same
// seed, as far as threads and processes can be.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace espalier::attack {

// Faults that were found, a sentence each.
using Problems = std::vector<std::string>;

// Sends mutated requests of methods of every service. The server has to answer each, another client
// meanwhile, and afterwards as before.
Problems MutationRound(std::uint64_t seed, int calls);

// Kills a server so many times under clients that commit. Nothing may be booked twice in the life
// of a server, and another server has to answer the same requests in the same way.
Problems KillRound(std::uint64_t seed, int kills);

// Asks for a lot of memory in many ways at once. The server has to stay within its memory and to
// answer another client.
Problems MemoryRound(std::uint64_t seed, int batches);

}  // namespace espalier::attack
