// Declares what `espalier place` is told on its command line.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "service/cli/options/backend_options.hpp"
#include "service/cli/options/input.hpp"
#include "service/client/client_options.hpp"

namespace espalier {

// Names no resource for --picture: the one that matters most is drawn.
inline constexpr const char* kChooseResource = "auto";

struct PlaceOptions {
  InputOptions input;
  std::string mode = "sequential";  // or nominate
  BackendOptions backend;
  std::string output = "table";  // or wide, json, yaml
  std::string color = "auto";
  std::string workload;
  std::string connect;  // address of a server; empty: decide here
  ClientTls tls;        // to that server
  std::string state;    // of the server, by name; empty: the one without a name
  bool load = false;    // make the files the state of the server
  std::string picture;  // a resource, kChooseResource, or empty for no picture
  std::string report;   // file; empty: none
  bool simulate_empty = false;
  bool guess_flavor = false;
  bool show_model = false;
  std::vector<std::string> clusters;  // NAME=FILE; empty: the files are the cluster
};

// Returns whether several states of a server are asked, which --state names with commas between.
bool AsksManyStates(const PlaceOptions& options);

// Adds the flags of `place`, examples and exit codes to its help. `options` must outlive `place`.
void AddPlaceOptions(CLI::App& place, PlaceOptions& options);

// Throws CLI::ValidationError for flags that do not go together.
void CheckPlaceOptions(const CLI::App& place, const PlaceOptions& options);

}  // namespace espalier
