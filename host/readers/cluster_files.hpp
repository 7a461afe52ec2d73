// From the files of a cluster to its model: what `espalier place FILES...` reads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "host/model/cluster.hpp"
#include "host/model/result.hpp"
#include "host/readers/diagnostics.hpp"
#include "host/readers/input_bytes.hpp"

namespace espalier {

struct ReadOptions {
  bool strict = false;  // warnings are errors
  // Errors, and the places of what Kueue validates, are kept beside a cluster of what could be
  // read.
  bool keep_errors = false;
  // Bytes that may be read in all, unpacked; objects may take four times as many.
  std::uint64_t max_input = kMostInputBytes;
  // Bytes of a JSON text that are parsed at a time; the result does not depend on it. 0: all of it.
  std::size_t piece_bytes = std::size_t{1} << 18;  // what a piece is parsed into fits a cache
};

// What was read and how fast.
struct ReadFacts {
  std::size_t files = 0;
  std::uint64_t bytes = 0;                     // of JSON and YAML text, unpacked
  std::map<std::string, std::size_t> objects;  // kind -> number of objects read
  std::map<std::string, std::size_t> skipped;  // kind -> number of objects of no use here
  std::vector<std::string> skipped_files;      // found in a folder, without any Kubernetes object
  double load_seconds = 0;                     // files and gzip
  double parse_seconds = 0;                    // text to JSON
  double convert_seconds = 0;                  // JSON to model
};

// "skipped: 10 Namespace, 3 Service", or empty when nothing was.
std::string SkippedLine(const ReadFacts& facts);
// Names the files that were skipped; empty when none was.
std::string SkippedFilesLine(const ReadFacts& facts);
// "2 files, 12.3 MB, 1615 objects; parsed at 812 MB/s, read at 600 MB/s"
std::string SpeedLine(const ReadFacts& facts);

struct ClusterRead {
  Cluster cluster;
  Diagnostics diagnostics;  // warnings, and errors where they are kept
  ReadFacts facts;
  // "Workload team/train" -> "queues.yaml, object 3", for Topologies, ResourceFlavors and
  // Workloads; only where errors are kept.
  std::map<std::string, std::string> places;
};

// What is being done ("reading", "converting") and how much of it is done; called from the reading
// thread.
using ReadProgress =
    std::function<void(std::string_view phase, std::uint64_t done, std::uint64_t total)>;

// Reads files, folders (see ExpandPaths) and `-` for standard input. Each input is JSON or YAML,
// plain or gzip (told apart by content), and holds one object, a List, or several of them one after
// the other. An error's message has one line for each thing that is wrong, up to 100; input above
// the limit is an error of its own and ends the reading. The result does not depend on the number
// of threads.
Result<ClusterRead> ReadClusterFiles(const std::vector<std::string>& paths,
                                     const ReadOptions& options = {},
                                     const ReadProgress& progress = {});

// The same for one input that is in memory; `name` stands for the file in messages.
Result<ClusterRead> ReadClusterText(std::string name, std::string bytes,
                                    const ReadOptions& options = {});

}  // namespace espalier
