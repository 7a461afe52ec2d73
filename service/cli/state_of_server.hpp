// Files that ask about the state which a server holds, instead of replacing it.
#pragma once

#include <string>
#include <vector>

#include "host/model/cluster.hpp"
#include "host/model/result.hpp"
#include "service/client/remote_engine.hpp"

namespace espalier {

// Holds the flavors of files to those of a server's state: their topologies must have the same
// levels. Files without flavors take those of the state, those without topologies their levels.
// Returns what the user should know about the difference, a sentence each. Errors: the server holds
// no state, or another topology.
Result<std::vector<std::string>> MatchToState(const RemoteState& state, const std::string& address,
                                              Cluster& cluster);

// Returns the leaves of all flavors of the state as nodes that have the labels of their levels.
Result<std::vector<Node>> NodesOfState(const RemoteState& state, RemoteEngine& remote);

// "the state of unix:/tmp/e.sock, generation 3, has 336 nodes: 300 of flavor gpu-h100".
std::string StateLine(const RemoteState& state, const std::string& address);

}  // namespace espalier
