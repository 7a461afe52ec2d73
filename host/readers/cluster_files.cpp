#include "host/readers/cluster_files.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <optional>
#include <set>
#include <system_error>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "host/gangs/gang_counts.hpp"
#include "host/gangs/gang_units.hpp"
#include "host/model/excerpt.hpp"
#include "host/model/kueue_keys.hpp"
#include "host/model/pod_phase.hpp"
#include "host/readers/device_charges.hpp"
#include "host/readers/input_bytes.hpp"
#include "host/readers/kai_queues.hpp"
#include "host/readers/key_check.hpp"
#include "host/readers/kubernetes_objects.hpp"
#include "host/readers/kueue_configuration.hpp"
#include "host/readers/object_converter.hpp"
#include "host/readers/object_index.hpp"
#include "host/readers/object_metadata.hpp"
#include "host/readers/sources/asked_by_owner.hpp"
#include "host/readers/sources/left_out.hpp"
#include "host/readers/sources/source_kinds.hpp"
#include "host/readers/sources/sources.hpp"
#include "host/readers/twins.hpp"
#include "host/readers/volcano_objects.hpp"
#include "host/readers/workload_webhook.hpp"

namespace espalier {
namespace {

using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

void CheckFlavors(const Cluster& cluster, const ObjectIndex& index, Diagnostics& diagnostics) {
  std::set<std::string_view> topologies;
  for (const Topology& topology : cluster.topologies) topologies.insert(topology.name);
  const std::vector<IndexedObject>& objects = index.Of(ObjectKind::kResourceFlavor);
  for (std::size_t i = 0; i < objects.size(); ++i) {
    const auto& name = cluster.flavors[i].topology_name;
    if (!name || topologies.contains(*name)) continue;
    index.ContextOf(ObjectKind::kResourceFlavor, objects[i], diagnostics)
        .Warn(*Member(*Member(objects[i].value, "spec"), "topologyName"),
              "this Topology is not in the input, so nothing can be placed on the flavor",
              "the output of `kubectl get topologies -o json` among the files");
  }
}

// Without Kueue's Configuration quota counts every resource. Warns where a workload shows that it
// did not: it was admitted with a resource that it requests and no flavor gives.
void WarnOfUncounted(const Cluster& cluster, const ObjectIndex& index, Diagnostics& diagnostics) {
  const std::vector<IndexedObject>& objects = index.Of(ObjectKind::kWorkload);
  for (std::size_t i = 0; i < std::min(objects.size(), cluster.workloads.size()); ++i) {
    const Workload& workload = cluster.workloads[i];
    if (!workload.admission || HasCondition(workload, "Finished")) continue;
    for (const PodSetAssignment& assigned : workload.admission->pod_set_assignments) {
      const auto pod_set = std::ranges::find(workload.pod_sets, assigned.name, &PodSet::name);
      if (pod_set == workload.pod_sets.end() || assigned.flavors.empty()) continue;
      const Resources& requests = pod_set->pod_template.requests;
      const auto uncounted = std::ranges::find_if(requests, [&](const auto& request) {
        return request.second > 0 && !assigned.flavors.Contains(request.first);
      });
      if (uncounted == requests.end()) continue;
      return index.ContextOf(ObjectKind::kWorkload, objects[i], diagnostics)
          .Warn(objects[i].value,
                fmt::format("it was admitted without a flavor for {}, which Kueue's Configuration "
                            "leaves out of quota; that is not in the input, so that quota counts "
                            "every resource",
                            Excerpt((*uncounted).first)),
                fmt::format("ConfigMap {} of Kueue among the files, or --kueue-config",
                            kConfigurationName));
    }
  }
}

// Puts the levels of what a workload was assigned in the order of their topologies.
void OrderLevels(const Cluster& cluster, Workload& workload) {
  if (!workload.admission) return;
  for (PodSetAssignment& assigned : workload.admission->pod_set_assignments) {
    if (!assigned.topology_assignment) continue;
    for (const auto& [resource, name] : assigned.flavors) {
      const auto flavor = std::ranges::find(cluster.flavors, name, &ResourceFlavor::name);
      if (flavor == cluster.flavors.end() || !flavor->topology_name) continue;
      const auto topology =
          std::ranges::find(cluster.topologies, *flavor->topology_name, &Topology::name);
      if (topology == cluster.topologies.end()) continue;
      if (topology->levels == assigned.topology_assignment->levels) continue;
      OrderLevels(topology->levels, assigned.topology_assignment.Mutable());
    }
  }
}

// A pod with errors, and which those are.
struct PodWithErrors {
  Pod pod;
  std::string why;
};

// Adds pods with errors that have not ended. What one with a node uses is not known, so that its
// node counts as full; one without is a workload that is refused.
void AddLeftOut(std::vector<PodWithErrors> pods, ClusterRead& read) {
  Cluster& cluster = read.cluster;
  std::map<std::string_view, const Node*> nodes;
  for (const Node& node : cluster.nodes) nodes.emplace(node.name, &node);
  for (auto& [pod, why] : pods) {
    if (HasEnded(pod)) continue;
    if (pod.node_name.empty()) {
      read.gang_workloads.push_back(LeftOutPod(pod, why));
      Workload& unit = cluster.workloads.emplace_back(read.gang_workloads.back().head);
      unit.refusal = std::move(why);
      continue;
    }
    const auto node = nodes.find(pod.node_name);
    if (node == nodes.end()) continue;
    pod.annotations = StringMap();  // it counts by itself, whatever they say
    pod.requests = node->second->allocatable;
    cluster.pods.push_back(std::move(pod));
  }
}

// Pods of gangs that no Workload of Kueue's stands for use what they request, also where their
// annotations say that a Workload's assignment tells it.
void LetRunningPodsCount(const std::vector<GangWorkload>& workloads, Cluster& cluster) {
  std::set<ObjectKey> running;
  for (const GangWorkload& workload : workloads) {
    for (const GangGroup& gang : workload.gang_groups) {
      for (const EqGroup* group : GroupsOf(gang)) {
        for (const RunningPods& on_node : group->running) {
          for (const std::string& name : on_node.names) {
            running.insert({workload.head.key.namespace_, name});
          }
        }
      }
    }
  }
  if (running.empty()) return;
  std::set<ObjectKey> of_kueue;
  for (const Workload& workload : cluster.workloads) of_kueue.insert(workload.key);
  for (Pod& pod : cluster.pods) {
    if (!running.contains(pod.key)) continue;
    const std::string* workload = pod.annotations.Find(kWorkloadAnnotation);
    const bool is_counted =
        workload != nullptr && of_kueue.contains({pod.key.namespace_, *workload});
    if (!is_counted) pod.annotations = StringMap();
  }
}

// Returns the units that are placed of the gang workloads that were read.
std::vector<Workload> MakeUnits(SourcesRead& sources, Trees trees, const ObjectIndex& index,
                                Diagnostics& diagnostics) {
  // Of one unit, with its template, its texts and what is answered.
  constexpr std::size_t kBytesOfAUnit = std::size_t{8} << 10;
  const auto has_room = [&](std::size_t position, std::int64_t parts) {
    const std::optional<SourceObject>& object = sources.read_from[position];
    return !object ||
           index.ContextOf(*object, diagnostics)
               .Charge(object->object.value, static_cast<std::size_t>(parts), kBytesOfAUnit);
  };
  std::vector<Workload> units = UnitsOf(sources.workloads, trees, has_room);
  for (Workload& unit : units) {
    std::ranges::move(SliceSizeErrors(unit.pod_sets), std::back_inserter(unit.webhook_errors));
    std::ranges::sort(unit.webhook_errors);
  }
  return units;
}

// Fills the places of objects that Kueue validates.
void AddPlaces(const ObjectIndex& index, ClusterRead& read) {
  const auto add = [&](std::string_view kind, const std::vector<IndexedObject>& objects,
                       const auto& values, auto name_of) {
    // Values that no object of this kind stands for come last.
    for (std::size_t i = 0; i < std::min(values.size(), objects.size()); ++i) {
      read.places.emplace(fmt::format("{} {}", kind, name_of(values[i])),
                          index.PlaceOf(objects[i]));
    }
  };
  const auto by_name = [](const auto& value) { return value.name; };
  add("Topology", index.Of(ObjectKind::kTopology), read.cluster.topologies, by_name);
  add("ResourceFlavor", index.Of(ObjectKind::kResourceFlavor), read.cluster.flavors, by_name);
  add("Workload", index.Of(ObjectKind::kWorkload), read.cluster.workloads,
      [](const Workload& workload) { return workload.key.ToString(); });
  Diagnostics said;  // what is wrong with their names is reported where they are read
  const auto add_job = [&](std::string_view kind, const IndexedObject& object,
                           const ReadContext& context) {
    const ObjectKey key = ReadObjectKey(object.value, context);
    read.places.emplace(fmt::format("{} {}", kind, key.ToString()), index.PlaceOf(object));
  };
  for (const IndexedObject& job : index.Of(ObjectKind::kJob)) {
    add_job("Job", job, index.ContextOf(ObjectKind::kJob, job, said));
  }
  for (const SourceObject& source_object : index.source_objects()) {
    add_job(source_object.kind, source_object.object, index.ContextOf(source_object, said));
  }
}

// Makes all of a ClusterRead of the objects, but for facts about their texts.
class Conversion {
 public:
  Conversion(ObjectIndex& index, const ReadProgress& progress, const ReadOptions& options,
             ClusterRead& result)
      : index_(index),
        progress_(progress),
        options_(options),
        result_(result),
        cluster_(result.cluster),
        diagnostics_(result.diagnostics),
        converter_(index, diagnostics_) {
    for (std::size_t i = 0; i < kObjectKinds; ++i) total_ += index.Of(ObjectKind(i)).size();
  }

  // Each step reads what those before it have left.
  void Run() {
    for (const ObjectKind kind : kOfDefaults) converter_.DropTwins(kind);
    cluster_.configuration = options_.configuration != nullptr
                                 ? *options_.configuration
                                 : FindKueueConfiguration(index_, diagnostics_);
    ReadTopologies();
    ReadFlavorsAndQueues();
    converter_.ReadDefaults(cluster_, tiers_);
    ReadAll(ObjectKind::kNode, cluster_.nodes, ReadClusterNode, kByName);
    LabelWithHyperNodes(hyper_nodes_, tiers_, cluster_.nodes);
    ReadPods();
    ReadWorkloads();
    ReadJobs();
    for (const ObjectKind kind : kOfDefaults) Advance(kind);
    Advance(ObjectKind::kConfigMap);
    Advance(ObjectKind::kKueueConfiguration);
    if (!cluster_.configuration) WarnOfUncounted(cluster_, index_, diagnostics_);
    if (options_.keep_errors) {
      AddPlaces(index_, result_);
    } else {
      AddKai(kai_, cluster_, diagnostics_);
    }
  }

 private:
  static constexpr ObjectKind kOfDefaults[] = {
      ObjectKind::kRuntimeClass,          ObjectKind::kPriorityClass, ObjectKind::kLimitRange,
      ObjectKind::kResourceClaimTemplate, ObjectKind::kDeviceClass,   ObjectKind::kResourceClaim,
  };
  static constexpr auto kByName = [](const auto& value) -> const std::string& {
    return value.name;
  };
  static constexpr auto kByKey = [](const auto& value) -> const ObjectKey& { return value.key; };

  // Counts the objects of a kind as converted.
  void Advance(ObjectKind kind) {
    const std::size_t count = index_.Of(kind).size();
    if (count > 0 && kind != ObjectKind::kJob) {
      result_.facts.objects[std::string(KindName(kind))] += count;
    }
    done_ += count;
    index_.Pause();
    if (progress_) progress_("converting", done_, total_);
  }

  // Reads all objects of a kind; leaves out those with errors.
  void ReadAll(ObjectKind kind, auto& values, auto reader, auto key_of) {
    const auto drop = [](const auto&, const IndexedObject&, const std::string&) { return false; };
    values = converter_.AllDistinct(kind, reader, key_of, drop);
    Advance(kind);
  }

  // Reads topologies, those of KAI and Volcano too, with the queues of these.
  void ReadTopologies() {
    ReadAll(ObjectKind::kTopology, cluster_.topologies, ReadTopology, kByName);
    ReadAll(ObjectKind::kKaiTopology, kai_.topologies, ReadTopology, kByName);
    ReadAll(ObjectKind::kKaiQueue, kai_.queues, ReadKaiQueue, kByName);
    std::vector<KaiQueue> volcano_queues;
    ReadAll(ObjectKind::kVolcanoQueue, volcano_queues, ReadVolcanoQueue, kByName);
    std::ranges::move(volcano_queues, std::back_inserter(kai_.queues));
    ReadAll(ObjectKind::kHyperNode, hyper_nodes_, ReadHyperNode, kByName);
    tiers_ = TiersOf(hyper_nodes_);
    if (auto topology = HyperNodeTopology(tiers_)) kai_.topologies.push_back(*std::move(topology));
    AddKaiTopologies(kai_, cluster_, diagnostics_);
  }

  void ReadFlavorsAndQueues() {
    ReadAll(ObjectKind::kResourceFlavor, cluster_.flavors, ReadResourceFlavor, kByName);
    CheckFlavors(cluster_, index_, diagnostics_);
    ReadAll(ObjectKind::kClusterQueue, cluster_.cluster_queues, ReadClusterQueue, kByName);
    ReadAll(ObjectKind::kLocalQueue, cluster_.local_queues, ReadLocalQueue, kByKey);
    ReadAll(ObjectKind::kAdmissionCheck, cluster_.admission_checks, ReadAdmissionCheck, kByName);
    ReadAll(ObjectKind::kNamespace, cluster_.namespaces, ReadNamespace, kByName);
    ReadAll(ObjectKind::kWorkloadPriorityClass, cluster_.priority_classes,
            ReadWorkloadPriorityClass, kByName);
  }

  // Reads pods and DaemonSets. Pods with errors join the others once gangs are read.
  void ReadPods() {
    const ClusterDefaults& defaults = converter_.defaults();
    const auto read_pod = [&](JsonValue object, const ReadContext& context) {
      return ReadPod(object, context, defaults);
    };
    const auto keep_apart = [&](Pod& pod, const IndexedObject& object, const std::string& why) {
      if (!pod.node_name.empty()) {
        index_.ContextOf(ObjectKind::kPod, object, diagnostics_)
            .Warn(object.value,
                  fmt::format("what it uses is not known, so that its node {} counts as full",
                              Excerpt(pod.node_name)),
                  "a pod that can be read");
      }
      left_out_pods_.push_back({std::move(pod), why});
      return false;
    };
    cluster_.pods = converter_.AllDistinct(ObjectKind::kPod, read_pod, kByKey, keep_apart);
    Advance(ObjectKind::kPod);
    const auto read_daemon_set = [&](JsonValue object, const ReadContext& context) {
      return ReadDaemonSet(object, context, defaults);
    };
    ReadAll(ObjectKind::kDaemonSet, result_.daemon_sets, read_daemon_set, kByKey);
  }

  // Reads Kueue's own Workloads. Those with errors are refused.
  void ReadWorkloads() {
    const auto read_workload = [&](JsonValue object, const ReadContext& context) {
      Workload workload = ReadWorkload(object, context, converter_.defaults());
      OrderLevels(cluster_, workload);
      return workload;
    };
    const auto refuse = [&](Workload& workload, const IndexedObject& object,
                            const std::string& why) {
      Diagnostics known;  // what is wrong with it is said
      workload.key =
          ReadObjectKey(object.value, index_.ContextOf(ObjectKind::kWorkload, object, known));
      workload.refusal = why;
      if (!workload.admission) workload.pod_sets.clear();
      return true;
    };
    cluster_.workloads =
        converter_.AllDistinct(ObjectKind::kWorkload, read_workload, kByKey, refuse);
    result_.kueue_workloads = cluster_.workloads.size();
    Advance(ObjectKind::kWorkload);
  }

  // Reads jobs and gangs of all other kinds, and adds their units to Kueue's Workloads.
  void ReadJobs() {
    const ClusterDefaults& defaults = converter_.defaults();
    // Profile kep5732 places whatever asks for it, without Kueue.
    const bool managed_only = !options_.keep_errors && options_.trees != Trees::kAll;
    SourcesRead sources = ReadSources(index_, cluster_, defaults,
                                      {.with_owned = options_.with_owned_jobs,
                                       .as_kueue = options_.trees == Trees::kNone,
                                       .now_seconds = options_.now_seconds,
                                       .on_job = options_.on_job,
                                       .managed_only = managed_only},
                                      diagnostics_);
    std::vector<Workload> units = MakeUnits(sources, options_.trees, index_, diagnostics_);
    for (const auto& [kind, count] : sources.objects) result_.facts.objects[kind] += count;
    for (const auto& [kind, count] : sources.skipped) result_.facts.skipped[kind] += count;
    if (!sources.requeued.empty()) {
      const std::set<ObjectKey> requeued(sources.requeued.begin(), sources.requeued.end());
      for (Pod& pod : cluster_.pods) {
        if (requeued.contains(pod.key)) pod.node_name.clear();
      }
    }
    if (!options_.keep_errors) TellWorkloads(sources.owned, cluster_.workloads);
    for (Workload& workload : cluster_.workloads) {
      if (!workload.admission) SayWhatSlicesLeaveOut(workload);
    }
    LetRunningPodsCount(sources.workloads, cluster_);
    std::ranges::move(units, std::back_inserter(cluster_.workloads));
    result_.gang_workloads = std::move(sources.workloads);
    result_.owned_jobs = std::move(sources.owned);
    if (!left_out_pods_.empty()) AddLeftOut(std::move(left_out_pods_), result_);
    if (managed_only) {
      ChargeDevices(defaults, options_.trees != Trees::kNone, cluster_, diagnostics_);
    }
    Advance(ObjectKind::kJob);
  }

  ObjectIndex& index_;
  const ReadProgress& progress_;
  const ReadOptions& options_;
  ClusterRead& result_;
  Cluster& cluster_;          // of the result
  Diagnostics& diagnostics_;  // of the result
  ObjectConverter converter_;
  std::uint64_t total_ = 0;  // objects
  std::uint64_t done_ = 0;   // of these
  KaiObjects kai_;
  std::vector<HyperNode> hyper_nodes_;
  std::vector<NetworkTier> tiers_;
  std::vector<PodWithErrors> left_out_pods_;
};

Result<ClusterRead> Finish(ObjectIndex& index, const ReadProgress& progress,
                           Diagnostics diagnostics, ReadFacts facts, const ReadOptions& options) {
  facts.bytes = index.bytes();
  facts.skipped = index.skipped();
  facts.load_seconds += index.unpack_seconds();
  facts.parse_seconds = index.parse_seconds();
  facts.skipped_files = index.skipped_files();
  ClusterRead result;
  result.diagnostics = std::move(diagnostics);
  result.facts = std::move(facts);
  const Clock::time_point start = Clock::now();
  Conversion(index, progress, options, result).Run();
  result.facts.convert_seconds = SecondsSince(start);
  if (options.budget != nullptr) {
    if (auto done = options.budget->Check(); !done) return tl::unexpected(done.error());
  }
  const Diagnostics& found = result.diagnostics;
  if (!found.ok() && (!options.keep_errors || index.stopped())) {
    std::string errors = found.RenderErrors();
    if (found.left_out_count() > 0) errors += "\n" + found.RenderLeftOut();
    return BadInput(std::move(errors));
  }
  // Objects that are left out as memory ran out count as no errors.
  if (found.left_out_count() > 0 && index.stopped()) return BadInput(found.RenderLeftOut());
  return result;
}

std::uint64_t SizeOf(const std::string& path) {
  std::error_code no_size;
  const std::uintmax_t size = std::filesystem::file_size(path, no_size);
  return no_size ? 0 : size;
}

std::uint64_t TotalSize(const std::vector<InputFile>& files) {
  std::uint64_t total = 0;
  for (const InputFile& file : files) total += SizeOf(file.path);
  return total;
}

// Adds an input as it comes. Returns false where this way does not do.
Result<bool> AddInPieces(InputStream& stream, bool may_skip, ObjectIndex& index,
                         const InputLimit& limit,
                         const std::function<void(std::uint64_t)>& on_bytes) {
  if (SizeOf(stream.path()) > limit.left()) return false;
  stream.KeepForRewind();
  TextBlocks blocks(stream);
  return index.AddInPieces(
      InputName(stream.path()),
      [&] {
        const auto block = blocks.Next();
        on_bytes(blocks.bytes_read());
        return block;
      },
      may_skip);
}

}  // namespace

bool HasConfiguration(const ReadFacts& facts) {
  return facts.objects.contains(std::string(KindName(ObjectKind::kConfigMap))) ||
         facts.objects.contains(std::string(KindName(ObjectKind::kKueueConfiguration)));
}

std::string SkippedLine(const ReadFacts& facts) {
  std::string line;
  for (const auto& [kind, count] : facts.skipped) {
    line += fmt::format("{}{} {}", line.empty() ? "skipped: " : ", ", count, kind);
  }
  return line;
}

std::string SkippedFilesLine(const ReadFacts& facts) {
  constexpr std::size_t kMostNames = 10;
  if (facts.skipped_files.empty()) return "";
  const std::size_t named = std::min(kMostNames, facts.skipped_files.size());
  std::string line = fmt::format(
      "skipped, as they hold no Kubernetes object: {}",
      fmt::join(facts.skipped_files.begin(), facts.skipped_files.begin() + named, ", "));
  if (named < facts.skipped_files.size()) {
    line += fmt::format(" and {} more files", facts.skipped_files.size() - named);
  }
  return line;
}

std::string SpeedLine(const ReadFacts& facts) {
  std::size_t objects = 0;
  for (const auto& [kind, count] : facts.objects) objects += count;
  for (const auto& [kind, count] : facts.skipped) objects += count;
  const double megabytes = static_cast<double>(facts.bytes) / 1e6;
  constexpr double kShortest = 1e-9;  // seconds, so that nothing divides by zero
  return fmt::format("{} {}, {:.1f} MB, {} objects; parsed at {:.0f} MB/s, read at {:.0f} MB/s",
                     facts.files, facts.files == 1 ? "file" : "files", megabytes, objects,
                     megabytes / std::max(facts.parse_seconds, kShortest),
                     megabytes / std::max(facts.parse_seconds + facts.convert_seconds, kShortest));
}

Result<ClusterRead> ReadClusterFiles(const std::vector<std::string>& paths,
                                     const ReadOptions& options, const ReadProgress& progress) {
  InputLimit limit(options.max_input);
  Result<std::vector<InputFile>> files = ExpandPaths(paths, limit);
  if (!files) return tl::unexpected<Error>(files.error());
  Diagnostics diagnostics(options.strict, options.leave_out && !options.strict);
  ObjectIndex index(diagnostics, limit, options.piece_bytes, options.budget);
  ReadFacts facts;
  const std::uint64_t total = 2 * TotalSize(*files);  // each byte is loaded and parsed
  std::uint64_t loaded = 0;
  const auto tell = [&](std::uint64_t done) {
    if (progress) progress("reading", done, total == 0 ? 0 : std::max(total, done));
  };
  for (const auto& [path, from_folder] : *files) {
    ++facts.files;
    Result<InputStream> stream = InputStream::Open(path);
    if (!stream) return tl::unexpected<Error>(stream.error());
    std::uint64_t in_file = 0;
    const Result<bool> in_pieces =
        AddInPieces(*stream, from_folder, index, limit, [&](std::uint64_t got) {
          in_file = 2 * got;  // parsed as it is loaded
          tell(loaded + in_file);
        });
    if (!in_pieces) return tl::unexpected<Error>(in_pieces.error());
    if (*in_pieces) {
      loaded += in_file;
      continue;
    }
    const Clock::time_point start = Clock::now();
    if (const auto again = stream->Rewind(); !again) return tl::unexpected<Error>(again.error());
    Result<std::string> bytes =
        ReadBytes(*stream, ObjectIndex::kSpare, limit, [&](std::size_t got) {
          loaded += got;
          tell(loaded);
        });
    if (!bytes) return tl::unexpected<Error>(bytes.error());
    facts.load_seconds += SecondsSince(start);
    const std::uint64_t size = bytes->size();
    const Result<void> added = index.Add(InputName(path), std::move(*bytes), from_folder);
    if (!added) return tl::unexpected<Error>(added.error());
    loaded += size;
    tell(loaded);
  }
  return Finish(index, progress, std::move(diagnostics), std::move(facts), options);
}

Result<ClusterRead> ReadClusterText(std::string name, std::string bytes,
                                    const ReadOptions& options) {
  InputLimit limit(options.max_input);
  Diagnostics diagnostics(options.strict, options.leave_out && !options.strict);
  ObjectIndex index(diagnostics, limit, options.piece_bytes, options.budget);
  const Result<void> added = index.Add(name, std::move(bytes));
  if (!added) return tl::unexpected<Error>(added.error());
  ReadFacts facts;
  facts.files = 1;
  return Finish(index, {}, std::move(diagnostics), std::move(facts), options);
}

}  // namespace espalier
