#include "service/wire/questions.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "host/model/excerpt.hpp"
#include "service/wire/cluster_state.hpp"
#include "service/wire/objects.hpp"

namespace espalier {
namespace {

constexpr std::int64_t kBytesOfDomain = 20;  // in an answer, besides its values

void Write(const NearMiss& miss, v1::NearMiss& message) {
  message.set_pod_set(miss.pod_set);
  message.set_flavor(miss.flavor);
  message.set_level(miss.level);
  for (const std::string& value : miss.domain) message.add_values(value);
  message.set_fit(miss.fit);
  message.set_pods(miss.pods);
  message.set_nodes(miss.nodes);
  message.set_nodes_with_room(miss.nodes_with_room);
  message.set_nodes_not_matching(miss.nodes_not_matching);
  for (const BindingResource& binding : miss.binding) {
    v1::BindingResource& row = *message.add_binding();
    row.set_resource(binding.resource);
    row.set_pods(binding.pods);
    row.set_missing(binding.missing);
  }
  for (const RuledOut& ruled_out : miss.ruled_out) {
    v1::RuledOut& row = *message.add_ruled_out();
    row.set_by(ruled_out.by);
    row.set_nodes(ruled_out.nodes);
    row.set_remedy(ruled_out.remedy);
  }
}

std::vector<std::string> TextsOf(const google::protobuf::RepeatedPtrField<std::string>& texts) {
  return {texts.begin(), texts.end()};
}

NearMiss FromProto(const v1::NearMiss& message) {
  NearMiss miss;
  miss.pod_set = message.pod_set();
  miss.flavor = message.flavor();
  miss.level = message.level();
  miss.domain.assign(message.values().begin(), message.values().end());
  miss.fit = message.fit();
  miss.pods = message.pods();
  miss.nodes = message.nodes();
  miss.nodes_with_room = message.nodes_with_room();
  miss.nodes_not_matching = message.nodes_not_matching();
  for (const v1::BindingResource& row : message.binding()) {
    miss.binding.push_back({row.resource(), row.pods(), row.missing()});
  }
  for (const v1::RuledOut& row : message.ruled_out()) {
    miss.ruled_out.push_back({row.by(), row.nodes(), row.remedy()});
  }
  return miss;
}

}  // namespace

v1::WorkloadName ToProto(const ObjectKey& key) {
  v1::WorkloadName message;
  message.set_namespace_(key.namespace_);
  message.set_name(key.name);
  return message;
}

void Write(const Certificate& certificate, v1::ExplainResponse& message) {
  message.set_fits(certificate.fits);
  message.set_never(certificate.never);
  message.set_undecided(certificate.undecided);
  if (certificate.near_miss) Write(*certificate.near_miss, *message.mutable_near_miss());
  const PossibleChanges& changes = certificate.changes;
  message.set_fewer_pods(changes.fewer_pods);
  message.set_coarser_level(changes.coarser_level);
  message.set_anywhere(changes.anywhere);
  for (const std::string& node : changes.repaired) message.add_repaired_nodes(node);
  for (const ObjectKey& key : changes.gone) *message.add_gone() = ToProto(key);
  for (const std::string& node : changes.repaired_together) message.add_repaired_together(node);
  for (const LabelledNodes& labelled : changes.labelled) {
    v1::LabelledNodes& row = *message.add_labelled();
    row.set_label(labelled.label);
    row.set_value(labelled.value);
    for (const std::string& node : labelled.nodes) row.add_nodes(node);
  }
  message.set_slice_size(changes.slice_size);
  for (const LowerRequest& lower : changes.lower_requests) {
    v1::LowerRequest& row = *message.add_lower_requests();
    row.set_resource(lower.resource);
    row.set_amount(lower.amount);
    row.set_asked(lower.asked);
  }
  for (const std::string& flavor : changes.other_flavors) message.add_other_flavors(flavor);
  for (const std::string& part : changes.without) message.add_without(part);
  for (const std::string& taint : changes.tolerated) message.add_tolerated(taint);
  for (const LeftOutNodes& left_out : certificate.left_out) {
    v1::LeftOutNodes& row = *message.add_left_out();
    row.set_cause(left_out.cause);
    for (const std::string& node : left_out.nodes) row.add_nodes(node);
  }
}

Certificate FromProto(const v1::ExplainResponse& message) {
  Certificate certificate;
  certificate.fits = message.fits();
  certificate.never = message.never();
  certificate.undecided = message.undecided();
  if (message.has_near_miss()) certificate.near_miss = FromProto(message.near_miss());
  PossibleChanges& changes = certificate.changes;
  changes.fewer_pods = message.fewer_pods();
  changes.coarser_level = message.coarser_level();
  changes.anywhere = message.anywhere();
  changes.repaired.assign(message.repaired_nodes().begin(), message.repaired_nodes().end());
  for (const v1::WorkloadName& gone : message.gone()) {
    changes.gone.push_back({gone.namespace_(), gone.name()});
  }
  changes.repaired_together = TextsOf(message.repaired_together());
  for (const v1::LabelledNodes& row : message.labelled()) {
    changes.labelled.push_back({row.label(), row.value(), TextsOf(row.nodes())});
  }
  changes.slice_size = message.slice_size();
  for (const v1::LowerRequest& row : message.lower_requests()) {
    changes.lower_requests.push_back({row.resource(), row.amount(), row.asked()});
  }
  changes.other_flavors = TextsOf(message.other_flavors());
  changes.without = TextsOf(message.without());
  changes.tolerated = TextsOf(message.tolerated());
  for (const v1::LeftOutNodes& row : message.left_out()) {
    certificate.left_out.push_back({row.cause(), TextsOf(row.nodes())});
  }
  return certificate;
}

v1::Victims ToProto(std::span<const RunningWorkload> victims) {
  v1::Victims message;
  StringTable strings(message.mutable_strings());
  for (const RunningWorkload& running : victims) {
    v1::VictimUsage& row = *message.add_usage();
    row.set_victim(static_cast<std::uint32_t>(message.names_size()));
    row.set_priority(running.priority);
    message.add_namespaces(strings.Ref(running.key.namespace_));
    message.add_names(strings.Ref(running.key.name));
    for (const FlavorLeafUsage& usage : running.victim.usage) {
      Fill(usage, strings, *row.add_usage());
    }
  }
  return message;
}

void Write(const NamedDomainVictims& domain, std::span<const std::uint32_t> positions,
           v1::DomainVictims& message) {
  message.set_flavor(domain.flavor);
  for (const std::string& value : domain.values) message.add_values(value);
  for (const VictimSet& set : domain.sets) {
    v1::VictimSet& row = *message.add_sets();
    for (const std::size_t victim : set.victims) row.add_victims(positions[victim]);
    row.set_priority(set.priority);
    row.set_accelerators(set.accelerators);
  }
  message.set_exact(domain.exact);
}

void Write(const NamedAtlas::Level& level, v1::AtlasLevel& message) {
  message.set_flavor(level.flavor);
  message.set_level(level.level);
  message.set_domains(static_cast<std::uint32_t>(level.domains.size()));
  for (const std::vector<std::string>& values : level.domains) {
    message.mutable_values()->Add(values.begin(), values.end());
  }
}

void Write(const NamedAtlas::Row& row, v1::AtlasRow& message) {
  message.mutable_workloads()->Add(row.requests.begin(), row.requests.end());
  if (row.level) message.set_level(static_cast<std::uint32_t>(*row.level));
  message.mutable_steps()->Add(row.steps.begin(), row.steps.end());
  message.set_anywhere(static_cast<std::uint32_t>(row.anywhere));
}

Result<void> AppendFromProto(const v1::AtlasResponse& message, std::size_t requests,
                             NamedAtlas& atlas) {
  atlas.priorities.insert(atlas.priorities.end(), message.priorities().begin(),
                          message.priorities().end());
  for (const v1::AtlasLevel& row : message.levels()) {
    const int values = row.values_size();
    if (row.domains() == 0 || row.domains() > static_cast<std::uint32_t>(values)) {
      return BadInput("levels: values are missing");
    }
    const auto domains = static_cast<int>(row.domains());
    const int depth = values / domains;
    if (values != depth * domains) return BadInput("levels: values are missing");
    NamedAtlas::Level& level = atlas.levels.emplace_back();
    level.flavor = row.flavor();
    level.level = row.level();
    for (int i = 0; i < domains; ++i) {
      const auto first = row.values().begin() + i * depth;
      level.domains.emplace_back(first, first + depth);
    }
  }
  const auto is_step = [&](std::uint32_t step) {
    return step <= static_cast<std::uint32_t>(atlas.never());
  };
  for (const v1::AtlasRow& row : message.rows()) {
    NamedAtlas::Row& read = atlas.rows.emplace_back();
    const auto is_known = [&](std::uint32_t workload) { return workload < requests; };
    if (!std::ranges::all_of(row.workloads(), is_known)) {
      return BadInput("rows: a workload that was not asked about");
    }
    read.requests.assign(row.workloads().begin(), row.workloads().end());
    if (row.has_level()) {
      if (row.level() >= atlas.levels.size()) return BadInput("rows: a level that was not told");
      read.level = row.level();
    }
    const std::size_t domains = read.level ? atlas.levels[*read.level].domains.size() : 0;
    if (static_cast<std::size_t>(row.steps_size()) != domains) {
      return BadInput("rows: want a step for each domain of the level");
    }
    if (!is_step(row.anywhere()) || !std::ranges::all_of(row.steps(), is_step)) {
      return BadInput("rows: a step past the last");
    }
    read.steps.assign(row.steps().begin(), row.steps().end());
    read.anywhere = static_cast<PriorityStep>(row.anywhere());
  }
  return {};
}

Result<void> Write(const GangCensus& census, const FlavorSnapshot& snapshot,
                   const std::set<std::string>& levels, CensusDomains domains, WorkBudget& budget,
                   v1::CountGangsResponse& message) {
  message.set_failure(census.failure);
  for (const LevelCensus& level : census.levels) {
    if (!levels.empty() && !levels.contains(level.level)) continue;
    v1::LevelCensus& row = *message.add_levels();
    row.set_level(level.level);
    row.set_gangs(level.gangs);
    if (domains == CensusDomains::kNone) continue;
    const auto has_row = [&](Count pods) { return domains == CensusDomains::kAll || pods > 0; };
    if (level.level.empty() && has_row(census.pods)) {
      row.add_domain_gangs(level.gangs);
      row.add_domain_pods(census.pods);
    }
    for (std::int32_t d = level.domains.begin; d < level.domains.end; ++d) {
      if (!has_row(census.PodsIn(d))) continue;
      std::int64_t bytes = kBytesOfDomain;
      for (std::string& value : snapshot.Path(DomainId(d))) {
        bytes += static_cast<std::int64_t>(value.size());
        row.add_values(std::move(value));
      }
      row.add_domain_gangs(census.GangsIn(d));
      row.add_domain_pods(census.PodsIn(d));
      if (!budget.Charge(bytes) || !budget.ChargeAnswer(bytes)) return budget.Check();
    }
  }
  return {};
}

void Write(const NamedCensus& census, CensusDomains domains, v1::CountGangsResponse& message) {
  message.set_failure(census.failure);
  for (const NamedCensus::Level& level : census.levels) {
    v1::LevelCensus& row = *message.add_levels();
    row.set_level(level.level);
    row.set_gangs(level.gangs);
    if (domains == CensusDomains::kNone) continue;
    for (const NamedCensus::Domain& domain : level.domains) {
      row.add_domain_gangs(domain.gangs);
      row.add_domain_pods(domain.pods);
    }
  }
}

void Write(const AssignmentCheck& check, v1::ValidateResponse& message) {
  message.set_workloads(static_cast<std::int64_t>(check.workloads));
  for (const AssignmentFault& fault : check.faults) {
    v1::AssignmentFault& row = *message.add_faults();
    *row.mutable_workload() = ToProto(fault.workload);
    row.set_pod_set(fault.pod_set);
    row.set_problem(fault.problem);
  }
}

AssignmentCheck FromProto(const v1::ValidateResponse& message) {
  AssignmentCheck check{static_cast<std::size_t>(message.workloads()), {}};
  for (const v1::AssignmentFault& row : message.faults()) {
    check.faults.push_back(
        {{row.workload().namespace_(), row.workload().name()}, row.pod_set(), row.problem()});
  }
  return check;
}

Result<v1::ValidateRequest> ToProto(std::span<const Workload> workloads) {
  v1::ValidateRequest message;
  WorkloadTablesWriter tables(message);
  for (const Workload& workload : workloads) *message.add_workloads() = ToProto(workload, tables);
  if (tables.error()) return tl::unexpected(*tables.error());
  return message;
}

Result<std::vector<Workload>> FromProto(const v1::ValidateRequest& message, WorkBudget& budget) {
  Decoder decoder(message.strings(), budget);
  const FieldPath root("");
  const WorkloadTables tables(message, root, decoder);
  ObjectReader reader(tables, decoder);
  std::vector<Workload> workloads =
      reader.ReadList<Workload>(message.workloads(), root, "workloads");
  std::set<ObjectKey> seen;
  for (std::size_t i = 0; i < workloads.size() && decoder.ok(); ++i) {
    if (seen.insert(workloads[i].key).second) continue;
    decoder.Fail(FieldPath(root, "workloads", static_cast<std::int64_t>(i)),
                 "is {}, as one before it is; send each workload once",
                 Excerpt(workloads[i].key.ToString()));
  }
  if (!decoder.ok()) return tl::unexpected(decoder.error());
  return workloads;
}

}  // namespace espalier
