// Lets files be answered on the state that a server holds, instead of replacing it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "host/model/cluster.hpp"
#include "host/model/result.hpp"
#include "service/client/remote_engine.hpp"

namespace espalier {

// Returns Kueue's Configuration that the server at `address` holds with its state of that name;
// null: none. Errors: as RemoteEngine::Connect; another server's Configuration that cannot be read.
Result<std::shared_ptr<const KueueConfiguration>> ConfigurationOfState(
    const std::string& address, const std::string& state_name, const ClientTls& tls);

// Compares the flavors of files with those of a server's state: their topologies must have the same
// levels. Files without flavors get those of the state, those without topologies their levels.
// Returns what the user should know about the difference, a sentence each. Errors: the server holds
// no state, or another topology.
Result<std::vector<std::string>> MatchToState(const StateSummary& state, const std::string& address,
                                              Cluster& cluster);

// Returns the leaves of all flavors of the state as nodes that have the labels of their levels. A
// host of several flavors is one node with the labels of all; in a topology that ends above the
// hosts a leaf is a node of its own.
Result<std::vector<Node>> NodesOfState(const StateSummary& state, RemoteEngine& remote);

// Returns why leaves of the state do not stand for nodes that can be named to the server, or an
// empty text where they do.
std::string WhyNotNodes(const StateSummary& state, const std::string& address);

// Returns a summary of the state in one line, such as "the state of unix:/tmp/e.sock, generation 3,
// has 336 nodes: 300 of flavor gpu-h100". When some nodes are of no flavor, a second line says why,
// by the nodes and flavors of `files`, the cluster as it was read, or what cannot be known without
// them.
std::string StateLines(const StateSummary& state, const std::string& address, const Cluster& files);

}  // namespace espalier
