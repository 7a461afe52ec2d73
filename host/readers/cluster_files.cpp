#include "host/readers/cluster_files.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <numeric>
#include <optional>
#include <set>
#include <system_error>
#include <tuple>
#include <type_traits>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <tbb/parallel_for.h>

#include "host/gangs/gang_counts.hpp"
#include "host/model/excerpt.hpp"
#include "host/model/kueue_keys.hpp"
#include "host/readers/device_charges.hpp"
#include "host/readers/input_bytes.hpp"
#include "host/readers/kai_queues.hpp"
#include "host/readers/key_check.hpp"
#include "host/readers/kubernetes_objects.hpp"
#include "host/readers/kueue_configuration.hpp"
#include "host/readers/object_index.hpp"
#include "host/readers/object_metadata.hpp"
#include "host/readers/sources/left_out.hpp"
#include "host/readers/sources/source_kinds.hpp"
#include "host/readers/sources/sources.hpp"
#include "host/readers/twins.hpp"
#include "host/readers/volcano_objects.hpp"

namespace espalier {
namespace {

using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Returns whether an object of the kind that is wrong is left out alone. On others the answer of
// all depends: without a flavor or queue another one would be chosen in silence.
constexpr bool IsLeftOutAlone(ObjectKind kind) {
  return kind == ObjectKind::kNode || kind == ObjectKind::kPod || kind == ObjectKind::kDaemonSet ||
         kind == ObjectKind::kWorkload;
}

// Returns whether what an admitted Workload uses rests on a field. Its labels and annotations, and
// those of its templates, only say what was asked for.
bool TellsUsage(std::string_view field) {
  return !field.starts_with("metadata") && field.find(".metadata") == field.npos &&
         field.find(".topologyRequest") == field.npos;
}

// From indexed objects to model values, in their order.
class Converter {
 public:
  Converter(ObjectIndex& index, Diagnostics& diagnostics)
      : index_(index), diagnostics_(diagnostics) {}

  // The objects of a kind that have errors, by their index, each with the reason. Only those that
  // are left out alone.
  using LeftOut = std::map<std::size_t, std::string>;

  // What pods and workloads depend on: to be called before they are read.
  void ReadDefaults(const Cluster& cluster, const std::vector<NetworkTier>& tiers) {
    defaults_.network_tiers = tiers;
    ReadClaims(cluster);
    for (const LocalQueue& queue : cluster.local_queues) {
      if (queue.key.name != kDefaultLocalQueue) continue;
      defaults_.namespaces_with_default_queue.insert(queue.key.namespace_);
    }
    ForEach(ObjectKind::kRuntimeClass, [&](JsonValue object, const ReadContext& context) {
      ReadRuntimeClass(object, context, defaults_);
    });
    // Of two defaults of a namespace that of the LimitRange whose name is first counts.
    std::vector<IndexedObject> limit_ranges = index_.Of(ObjectKind::kLimitRange);
    std::ranges::stable_sort(limit_ranges, {}, [](const IndexedObject& object) {
      const auto metadata = Member(object.value, "metadata");
      return metadata ? TextOf(*metadata, "name") : std::string_view();
    });
    ForEach(ObjectKind::kLimitRange, limit_ranges,
            [&](JsonValue object, const ReadContext& context) {
              ReadLimitRange(object, context, defaults_);
            });
    ForEach(ObjectKind::kPriorityClass, [&](JsonValue object, const ReadContext& context) {
      ReadPriorityClass(object, context, defaults_);
    });
    for (const WorkloadPriorityClass& priority_class : cluster.priority_classes) {
      defaults_.workload_priority_classes.emplace(priority_class.name, priority_class.value);
    }
  }

  const ClusterDefaults& defaults() const { return defaults_; }

  // `read(object, context)` of all objects, over all threads. Those with errors that are left out
  // alone are in `left_out`; their values hold what could be read.
  template <class Read>
  auto All(ObjectKind kind, const std::vector<IndexedObject>& objects, Read read,
           LeftOut& left_out) {
    using Value = decltype(read(JsonValue(), std::declval<const ReadContext&>()));
    constexpr std::size_t kChunk = 256;
    std::vector<Value> values(objects.size());
    struct Findings {
      Diagnostics all;
      std::vector<std::pair<std::size_t, Diagnostics>> errors;  // by the object's index
    };
    std::vector<Findings> findings((objects.size() + kChunk - 1) / kChunk,
                                   Findings{Diagnostics(diagnostics_.strict()), {}});
    tbb::parallel_for(std::size_t{0}, findings.size(), [&](std::size_t chunk) {
      if (index_.abandoned()) return;
      const std::size_t end = std::min(objects.size(), (chunk + 1) * kChunk);
      index_.ChargeMade(static_cast<std::int64_t>((end - chunk * kChunk) * sizeof(Value)));
      for (std::size_t i = chunk * kChunk; i < end; ++i) {
        if constexpr (std::is_same_v<Value, Node>) {
          if (objects[i].node != nullptr) {
            values[i] = std::move(*objects[i].node);
            continue;
          }
        }
        Diagnostics found(diagnostics_.strict());
        const ReadContext context = index_.ContextOf(kind, objects[i], found);
        if (!index_.HasUnreadableNumber(objects[i], context)) {
          CheckKeys(kind, objects[i].value, context);
          values[i] = read(objects[i].value, context);
        }
        if (found.ok() || !IsLeftOutAlone(kind)) {
          findings[chunk].all.Append(std::move(found));
        } else {
          findings[chunk].errors.emplace_back(i, std::move(found));
        }
      }
    });
    for (Findings& found : findings) {
      diagnostics_.Append(std::move(found.all));
      for (auto& [i, errors] : found.errors) {
        if constexpr (std::is_same_v<Value, Workload>) {
          if (UseIsUnknown(values[i], errors)) {
            diagnostics_.Append(std::move(errors));
            continue;
          }
        }
        std::string why = diagnostics_.AppendObject(std::move(errors));
        if (!why.empty()) left_out.emplace(i, std::move(why));
      }
    }
    return values;
  }

  // Reports objects of a kind that have no values of their own and are in the input twice.
  void DropTwins(ObjectKind kind) {
    SeenObjects seen;
    const std::vector<IndexedObject>& objects = index_.Of(kind);
    std::vector<bool> is_dropped(objects.size());
    for (std::size_t i = 0; i < objects.size(); ++i) {
      const IndexedObject* first = seen.FindOrAdd("", "", objects[i]);
      if (first == nullptr) continue;
      is_dropped[i] = ReportTwin(*first, objects[i], SaySame(first->value, objects[i].value),
                                 index_, index_.ContextOf(kind, objects[i], diagnostics_));
    }
    index_.Drop(kind, is_dropped);
  }

  // Returns the values of all objects of a kind. One with the key, `key_of(value)`, of one before
  // is dropped where it says the same, and reported otherwise. Gives those left out to
  // `take(value, object, why)`, which returns whether the value stays among the others.
  template <class Read, class KeyOf, class Take>
  auto AllDistinct(ObjectKind kind, Read read, KeyOf key_of, Take take) {
    LeftOut left_out;
    auto values = All(kind, index_.Of(kind), read, left_out);
    std::vector<bool> is_dropped(values.size());
    bool drops = false;
    for (const auto& [i, why] : left_out) {
      if (take(values[i], index_.Of(kind)[i], why)) continue;
      is_dropped[i] = true;
      drops = true;
    }
    // kubectl prints objects in order of their keys, so that there is mostly nothing to sort.
    std::vector<std::size_t> order(values.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto before = [&](std::size_t a, std::size_t b) {
      return key_of(values[a]) < key_of(values[b]);
    };
    if (!std::is_sorted(order.begin(), order.end(), before)) {
      std::stable_sort(order.begin(), order.end(), before);
    }
    const std::vector<IndexedObject>& objects = index_.Of(kind);
    for (std::size_t i = 1; i < order.size(); ++i) {
      const std::size_t first = order[i - 1];
      const std::size_t second = order[i];
      if (before(first, second) || left_out.contains(first) || left_out.contains(second)) continue;
      const ReadContext context = index_.ContextOf(kind, objects[second], diagnostics_);
      if (!ReportTwin(objects[first], objects[second], values[first] == values[second], index_,
                      context)) {
        continue;
      }
      is_dropped[second] = true;
      drops = true;
    }
    if (drops) {
      index_.Drop(kind, is_dropped);
      std::size_t kept = 0;
      for (std::size_t i = 0; i < values.size(); ++i) {
        if (is_dropped[i]) continue;
        if (kept != i) values[kept] = std::move(values[i]);
        ++kept;
      }
      values.resize(kept);
    }
    return values;
  }

 private:
  void ReadClaims(const Cluster& cluster) {
    std::vector<DeviceClass> classes;
    ForEach(ObjectKind::kDeviceClass, [&](JsonValue object, const ReadContext& context) {
      classes.push_back(ReadDeviceClass(object, context));
    });
    // Of several for a resource Kubernetes takes the newest, and of those the first by name.
    for (const DeviceClass& one : classes) {
      if (one.extended_resource.empty()) continue;
      const auto [taken, is_new] = defaults_.class_of_resource.emplace(one.extended_resource, one);
      const auto order = [](const DeviceClass& device_class) {
        return std::pair(-device_class.creation_seconds, std::string_view(device_class.name));
      };
      if (!is_new && order(one) < order(taken->second)) taken->second = one;
    }
    const ClaimSurroundings around = SurroundingsOf(classes, cluster.topologies);
    const auto read = [&](ObjectKind kind, auto& places) {
      ForEach(kind, [&](JsonValue object, const ReadContext& context) {
        const bool is_template = kind == ObjectKind::kResourceClaimTemplate;
        const ObjectKey key = ReadObjectKey(object, context);
        places.emplace(key, ReadResourceClaim(object, is_template, around, context));
        if (!is_template) return;
        ClaimedDevices devices = ReadClaimedDevices(object, context);
        if (cluster.configuration && devices.has_selectors && devices.problem.empty()) {
          context.Warn(object,
                       "selectors of its requests are not evaluated for quota: Kueue also refuses "
                       "workloads while ResourceSlices have too few devices that match",
                       "");
        }
        defaults_.claimed_devices.emplace(key, std::move(devices));
      });
    };
    read(ObjectKind::kResourceClaim, defaults_.claims.claims);
    read(ObjectKind::kResourceClaimTemplate, defaults_.claims.templates);
  }

  template <class Read>
  void ForEach(ObjectKind kind, Read read) {
    ForEach(kind, index_.Of(kind), read);
  }

  template <class Read>
  void ForEach(ObjectKind kind, const std::vector<IndexedObject>& objects, Read read) {
    for (const IndexedObject& object : objects) {
      const ReadContext context = index_.ContextOf(kind, object, diagnostics_);
      if (index_.HasUnreadableNumber(object, context)) continue;
      CheckKeys(kind, object.value, context);
      read(object.value, context);
    }
  }

  // Returns whether a Workload holds room, and how much cannot be read.
  static bool UseIsUnknown(const Workload& workload, const Diagnostics& findings) {
    return workload.admission &&
           std::ranges::any_of(findings.errors(),
                               [](const Diagnostic& error) { return TellsUsage(error.field); });
  }

  ObjectIndex& index_;
  Diagnostics& diagnostics_;
  ClusterDefaults defaults_;
};

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

using Places = std::map<std::string, std::string>;

// What is read beside the cluster.
struct GangsRead {
  std::vector<GangWorkload> workloads;
  std::vector<GangWorkload> owned;
  std::vector<DaemonSet> daemon_sets;
  std::vector<Workload> made;  // as in ClusterRead
};

// A pod with errors, and which those are.
struct PodWithErrors {
  Pod pod;
  std::string why;
};

// Adds pods with errors that have not ended. What one with a node uses is not known, so that its
// node counts as full; one without is a workload that is refused.
void AddLeftOut(std::vector<PodWithErrors> pods, Cluster& cluster, GangsRead& gangs) {
  std::map<std::string_view, const Node*> nodes;
  for (const Node& node : cluster.nodes) nodes.emplace(node.name, &node);
  for (auto& [pod, why] : pods) {
    if (pod.phase == "Succeeded" || pod.phase == "Failed") continue;
    if (pod.node_name.empty()) {
      gangs.workloads.push_back(LeftOutPod(pod, why));
      Workload& unit = cluster.workloads.emplace_back(gangs.workloads.back().head);
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

// Fills `places`, where there are any wanted.
Cluster Convert(ObjectIndex& index, const ReadProgress& progress, Diagnostics& diagnostics,
                ReadFacts& facts, Places* places, const ReadOptions& options, GangsRead& gangs) {
  const auto by_name = [](const auto& value) -> const std::string& { return value.name; };
  const auto by_key = [](const auto& value) -> const ObjectKey& { return value.key; };
  std::uint64_t total = 0;
  std::uint64_t done = 0;
  for (std::size_t i = 0; i < kObjectKinds; ++i) total += index.Of(ObjectKind(i)).size();
  const auto advance = [&](ObjectKind kind) {
    const std::size_t count = index.Of(kind).size();
    if (count > 0 && kind != ObjectKind::kJob) facts.objects[std::string(KindName(kind))] += count;
    done += count;
    index.Pause();
    if (progress) progress("converting", done, total);
  };

  Converter converter(index, diagnostics);
  static constexpr auto kOfDefaults = {
      ObjectKind::kRuntimeClass,          ObjectKind::kPriorityClass, ObjectKind::kLimitRange,
      ObjectKind::kResourceClaimTemplate, ObjectKind::kDeviceClass,   ObjectKind::kResourceClaim,
  };
  for (const ObjectKind kind : kOfDefaults) {
    converter.DropTwins(kind);
  }
  const ClusterDefaults& defaults = converter.defaults();
  Cluster cluster;
  cluster.configuration = options.configuration != nullptr
                              ? *options.configuration
                              : FindKueueConfiguration(index, diagnostics);
  const auto drop = [](const auto&, const IndexedObject&, const std::string&) { return false; };
  const auto read = [&](ObjectKind kind, auto& values, auto reader, auto key_of) {
    values = converter.AllDistinct(kind, reader, key_of, drop);
    advance(kind);
  };
  read(ObjectKind::kTopology, cluster.topologies, ReadTopology, by_name);
  KaiObjects kai;
  read(ObjectKind::kKaiTopology, kai.topologies, ReadTopology, by_name);
  read(ObjectKind::kKaiQueue, kai.queues, ReadKaiQueue, by_name);
  std::vector<KaiQueue> volcano_queues;
  read(ObjectKind::kVolcanoQueue, volcano_queues, ReadVolcanoQueue, by_name);
  std::ranges::move(volcano_queues, std::back_inserter(kai.queues));
  std::vector<HyperNode> hyper_nodes;
  read(ObjectKind::kHyperNode, hyper_nodes, ReadHyperNode, by_name);
  const std::vector<NetworkTier> tiers = TiersOf(hyper_nodes);
  if (auto topology = HyperNodeTopology(tiers)) kai.topologies.push_back(*std::move(topology));
  AddKaiTopologies(kai, cluster, diagnostics);
  read(ObjectKind::kResourceFlavor, cluster.flavors, ReadResourceFlavor, by_name);
  CheckFlavors(cluster, index, diagnostics);
  read(ObjectKind::kClusterQueue, cluster.cluster_queues, ReadClusterQueue, by_name);
  read(ObjectKind::kLocalQueue, cluster.local_queues, ReadLocalQueue, by_key);
  read(ObjectKind::kAdmissionCheck, cluster.admission_checks, ReadAdmissionCheck, by_name);
  read(ObjectKind::kNamespace, cluster.namespaces, ReadNamespace, by_name);
  read(ObjectKind::kWorkloadPriorityClass, cluster.priority_classes, ReadWorkloadPriorityClass,
       by_name);
  converter.ReadDefaults(cluster, tiers);
  read(ObjectKind::kNode, cluster.nodes, ReadClusterNode, by_name);
  LabelWithHyperNodes(hyper_nodes, tiers, cluster.nodes);
  const auto read_pod = [&](JsonValue object, const ReadContext& context) {
    return ReadPod(object, context, defaults);
  };
  // Those with nodes join the others once gangs are read.
  std::vector<PodWithErrors> left_out_pods;
  const auto keep_apart = [&](Pod& pod, const IndexedObject& object, const std::string& why) {
    if (!pod.node_name.empty()) {
      index.ContextOf(ObjectKind::kPod, object, diagnostics)
          .Warn(object.value,
                fmt::format("what it uses is not known, so that its node {} counts as full",
                            Excerpt(pod.node_name)),
                "a pod that can be read");
    }
    left_out_pods.push_back({std::move(pod), why});
    return false;
  };
  cluster.pods = converter.AllDistinct(ObjectKind::kPod, read_pod, by_key, keep_apart);
  advance(ObjectKind::kPod);
  const auto read_daemon_set = [&](JsonValue object, const ReadContext& context) {
    return ReadDaemonSet(object, context, defaults);
  };
  read(ObjectKind::kDaemonSet, gangs.daemon_sets, read_daemon_set, by_key);
  const auto read_workload = [&](JsonValue object, const ReadContext& context) {
    Workload workload = ReadWorkload(object, context, defaults);
    OrderLevels(cluster, workload);
    return workload;
  };
  const auto refuse = [&](Workload& workload, const IndexedObject& object, const std::string& why) {
    Diagnostics known;  // what is wrong with it is said
    workload.key =
        ReadObjectKey(object.value, index.ContextOf(ObjectKind::kWorkload, object, known));
    workload.refusal = why;
    if (!workload.admission) workload.pod_sets.clear();
    return true;
  };
  cluster.workloads = converter.AllDistinct(ObjectKind::kWorkload, read_workload, by_key, refuse);
  advance(ObjectKind::kWorkload);
  // Profile kep5732 places whatever asks for it, without Kueue.
  const bool managed_only = places == nullptr && options.trees != Trees::kAll;
  SourcesRead sources = ReadSources(
      index, cluster, defaults,
      {options.with_owned_jobs, options.trees, options.now_seconds, options.on_job, managed_only},
      diagnostics);
  for (const auto& [kind, count] : sources.objects) facts.objects[kind] += count;
  for (const auto& [kind, count] : sources.skipped) facts.skipped[kind] += count;
  if (places != nullptr) {
    gangs.made = std::move(sources.units);
  } else {
    if (!sources.requeued.empty()) {
      const std::set<ObjectKey> requeued(sources.requeued.begin(), sources.requeued.end());
      for (Pod& pod : cluster.pods) {
        if (requeued.contains(pod.key)) pod.node_name.clear();
      }
    }
    for (Workload& workload : cluster.workloads) {  // Kueue's own, so far
      if (!workload.admission) SayWhatSlicesLeaveOut(workload);
    }
    LetRunningPodsCount(sources.workloads, cluster);
    std::ranges::move(sources.units, std::back_inserter(cluster.workloads));
    gangs.workloads = std::move(sources.workloads);
    gangs.owned = std::move(sources.owned);
    if (!left_out_pods.empty()) AddLeftOut(std::move(left_out_pods), cluster, gangs);
  }
  if (managed_only) {
    ChargeDevices(defaults, options.trees != Trees::kNone, cluster, diagnostics);
  }
  advance(ObjectKind::kJob);
  for (const ObjectKind kind : kOfDefaults) advance(kind);
  for (const ObjectKind kind : {ObjectKind::kConfigMap, ObjectKind::kKueueConfiguration}) {
    advance(kind);
  }
  if (!cluster.configuration) WarnOfUncounted(cluster, index, diagnostics);
  if (places == nullptr) AddKai(kai, cluster, diagnostics);
  if (places != nullptr) {
    const auto add = [&](std::string_view kind, const std::vector<IndexedObject>& objects,
                         const auto& values, auto name_of) {
      // Values that no object of this kind stands for come last.
      for (std::size_t i = 0; i < std::min(values.size(), objects.size()); ++i) {
        places->emplace(fmt::format("{} {}", kind, name_of(values[i])), index.PlaceOf(objects[i]));
      }
    };
    add("Topology", index.Of(ObjectKind::kTopology), cluster.topologies, by_name);
    add("ResourceFlavor", index.Of(ObjectKind::kResourceFlavor), cluster.flavors, by_name);
    add("Workload", index.Of(ObjectKind::kWorkload), cluster.workloads,
        [](const Workload& workload) { return workload.key.ToString(); });
    Diagnostics said;  // what is wrong with their names is reported where they are read
    const auto add_job = [&](std::string_view kind, const IndexedObject& object,
                             const ReadContext& context) {
      const ObjectKey key = ReadObjectKey(object.value, context);
      places->emplace(fmt::format("{} {}", kind, key.ToString()), index.PlaceOf(object));
    };
    for (const IndexedObject& job : index.Of(ObjectKind::kJob)) {
      add_job("Job", job, index.ContextOf(ObjectKind::kJob, job, said));
    }
    for (const PodAsker& asker : index.pod_askers()) {
      add_job(asker.kind, asker.object, index.ContextOf(asker, said));
    }
  }
  return cluster;
}

Result<ClusterRead> Finish(ObjectIndex& index, const ReadProgress& progress,
                           Diagnostics diagnostics, ReadFacts facts, const ReadOptions& options) {
  facts.bytes = index.bytes();
  facts.skipped = index.skipped();
  facts.load_seconds += index.unpack_seconds();
  facts.parse_seconds = index.parse_seconds();
  const Clock::time_point start = Clock::now();
  facts.skipped_files = index.skipped_files();
  Places places;
  GangsRead gangs;
  Cluster cluster = Convert(index, progress, diagnostics, facts,
                            options.keep_errors ? &places : nullptr, options, gangs);
  facts.convert_seconds = SecondsSince(start);
  if (options.budget != nullptr) {
    if (auto done = options.budget->Check(); !done) return tl::unexpected(done.error());
  }
  if (!diagnostics.ok() && (!options.keep_errors || index.stopped())) {
    std::string errors = diagnostics.RenderErrors();
    if (diagnostics.left_out_count() > 0) errors += "\n" + diagnostics.RenderLeftOut();
    return BadInput(std::move(errors));
  }
  // What there was no memory for is not wrong.
  if (diagnostics.left_out_count() > 0 && index.stopped()) {
    return BadInput(diagnostics.RenderLeftOut());
  }
  const std::size_t kueue_workloads = index.Of(ObjectKind::kWorkload).size();
  return ClusterRead{
      std::move(cluster),           std::move(gangs.workloads), std::move(gangs.owned),
      std::move(gangs.daemon_sets), std::move(gangs.made),      kueue_workloads,
      std::move(diagnostics),       std::move(facts),           std::move(places)};
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
