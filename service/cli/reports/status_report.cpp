#include "service/cli/reports/status_report.hpp"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <vector>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "host/kueue/objects/quantity_text.hpp"
#include "host/model/excerpt.hpp"
#include "host/model/work_budget.hpp"
#include "service/cli/reports/amount_text.hpp"
#include "service/cli/reports/count_with_noun.hpp"
#include "service/cli/terminal/text_table.hpp"

namespace espalier {
namespace {

constexpr std::int64_t kMillisecondsOfSecond = 1000;

// "3d 4h", "5m 20s", "7s".
std::string DurationText(std::int64_t milliseconds) {
  constexpr std::int64_t kMinute = 60;
  constexpr std::int64_t kHour = 60 * kMinute;
  constexpr std::int64_t kDay = 24 * kHour;
  const std::int64_t seconds = std::max(milliseconds, std::int64_t{0}) / kMillisecondsOfSecond;
  if (seconds < kMinute) return fmt::format("{}s", seconds);
  if (seconds < kHour) return fmt::format("{}m {}s", seconds / kMinute, seconds % kMinute);
  if (seconds < kDay) return fmt::format("{}h {}m", seconds / kHour, seconds % kHour / kMinute);
  return fmt::format("{}d {}h", seconds / kDay, seconds % kDay / kHour);
}

// Returns a time, given in milliseconds since 1970, in UTC as Kubernetes writes it.
std::string TimeText(std::int64_t milliseconds) {
  const std::time_t seconds = milliseconds / kMillisecondsOfSecond;
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(seconds));
}

bool IsLoaded(const v1::StateStatus& state) { return state.state().generation() != 0; }

std::string NameText(const v1::StateStatus& state) {
  return state.state_name().empty() ? "-" : state.state_name();
}

std::string ChecksumText(const v1::StateStatus& state) {
  return state.has_checksum() ? fmt::format("{:016x}", state.checksum()) : "changing";
}

std::string StateText(const v1::StateStatus& state) {
  return state.state_name().empty() ? "the state"
                                    : fmt::format("state {}", Excerpt(state.state_name()));
}

std::string ErrorText(const std::string& error) {
  return error.empty() ? "" : fmt::format("; the present files cannot be used: {}", error);
}

std::string ExpiryText(std::int64_t expires_ms, std::int64_t now_ms) {
  if (expires_ms <= now_ms) return fmt::format("expired at {}", TimeText(expires_ms));
  return fmt::format("expires in {}, at {}", DurationText(expires_ms - now_ms),
                     TimeText(expires_ms));
}

std::string TlsText(const v1::ServerStatusResponse& status) {
  const v1::TlsState& tls = status.tls();
  return fmt::format(
      "the certificate {}; {}{}", ExpiryText(tls.expires_ms(), status.now_ms()),
      tls.client_ca_expires_ms() == 0
          ? "clients show none"
          : "the authority of clients " + ExpiryText(tls.client_ca_expires_ms(), status.now_ms()),
      ErrorText(tls.error()));
}

std::string AccessText(const v1::AccessState& access) {
  return fmt::format("{}; {} denied{}",
                     access.has_file() ? CountWithNoun(access.rules(), "rule") : "by default",
                     CountWithNoun(access.denied_calls(), "call"), ErrorText(access.error()));
}

void WriteReloads(std::int64_t reloads, std::int64_t failed, const std::string& error,
                  ObjectWriter& out) {
  out.Field("reloads", reloads);
  out.Field("failedReloads", failed);
  if (!error.empty()) out.Field("error", std::string_view(error));
}

void WriteFiles(const v1::ServerStatusResponse& status, ObjectWriter& out) {
  if (status.has_tls()) {
    const v1::TlsState& tls = status.tls();
    out.Key("tls");
    out.BeginMap();
    out.Field("expires", std::string_view(TimeText(tls.expires_ms())));
    if (tls.client_ca_expires_ms() != 0) {
      out.Field("clientCaExpires", std::string_view(TimeText(tls.client_ca_expires_ms())));
    }
    WriteReloads(tls.reloads(), tls.failed_reloads(), tls.error(), out);
    out.EndMap();
  }
  const v1::AccessState& access = status.access();
  out.Key("access");
  out.BeginMap();
  if (access.has_file()) out.Field("rules", std::int64_t{access.rules()});
  WriteReloads(access.reloads(), access.failed_reloads(), access.error(), out);
  out.Field("deniedCalls", std::int64_t{access.denied_calls()});
  out.EndMap();
}

// The limits that were used up say which flag moves them.
std::string Lines(const ServerReport& report) {
  const v1::ServerInfoResponse& info = report.info;
  const v1::ServerStatusResponse& status = report.status;
  const v1::ServerLimits& limits = info.limits();
  std::string lines;
  const auto line = [&](std::string_view name, const std::string& text) {
    lines += fmt::format("{:<9} {}\n", name, EscapeControls(text));
  };
  line("server",
       fmt::format("{}: espalier {}, commit {}", report.address, info.version(), info.commit()));
  line("up", fmt::format("{}, since {}", DurationText(status.now_ms() - info.started_ms()),
                         TimeText(info.started_ms())));
  line("listens",
       fmt::format("{}{}", fmt::join(info.addresses(), ", "),
                   info.metrics_address().empty()
                       ? ""
                       : fmt::format("; metrics on http://{}/metrics", info.metrics_address())));
  if (status.has_tls()) line("tls", TlsText(status));
  line("access", AccessText(status.access()));
  line("decides", fmt::format("on {}", info.backend()));
  if (status.has_device()) {
    const v1::DeviceState& device = status.device();
    line("device",
         fmt::format("{}, failed {} times{}{}",
                     device.ready() ? "answers" : "is away, the CPU answers", device.faults(),
                     device.last_fault().empty() ? "" : ", last: ", device.last_fault()));
  }
  line("calls", fmt::format("{} under way, {} of them waiting; {} at once and {} waiting may be",
                            status.calls_under_way(), status.calls_waiting(), limits.calls(),
                            limits.queued_calls()));
  line("memory",
       fmt::format("{} held of {}; {} may be for one call, {} in one message",
                   BytesText(status.memory_held_bytes()), BytesText(limits.memory_bytes()),
                   BytesText(limits.call_memory_bytes()), BytesText(limits.message_bytes())));
  return lines;
}

void AddUse(const v1::StateStatus& state, std::vector<TableRow>& resources,
            std::vector<TableRow>& levels) {
  for (const v1::FlavorUse& flavor : state.flavors()) {
    for (const v1::ResourceUse& use : flavor.resources()) {
      if (use.capacity() == 0 && use.used() == 0) continue;
      const double share = use.capacity() <= 0 ? 100.0
                                               : 100.0 * static_cast<double>(use.used()) /
                                                     static_cast<double>(use.capacity());
      resources.push_back({NameText(state), flavor.name(), std::to_string(flavor.nodes()),
                           use.resource(), fmt::format("{:.0f}%", share),
                           AmountsText(use.resource(), use.used(), use.capacity())});
    }
    for (const v1::LevelUse& level : flavor.levels()) {
      std::vector<std::string> most;
      const int known = std::min(level.most_free_size(), flavor.resources_size());
      for (int i = 0; i < known; ++i) {
        if (level.most_free(i) == 0) continue;
        const std::string& resource = flavor.resources(i).resource();
        most.push_back(fmt::format("{}={}", resource, QuantityText(resource, level.most_free(i))));
      }
      levels.push_back({NameText(state), flavor.name(), level.level(),
                        std::to_string(level.domains()), std::to_string(level.unused_domains()),
                        most.empty() ? "nothing" : fmt::format("{}", fmt::join(most, ", "))});
    }
  }
}

void WriteUse(const v1::FlavorUse& flavor, ObjectWriter& out) {
  out.BeginMap();
  out.Field("name", std::string_view(flavor.name()));
  out.Field("nodes", std::int64_t{flavor.nodes()});
  out.Key("resources");
  out.BeginList();
  for (const v1::ResourceUse& use : flavor.resources()) {
    out.BeginMap();
    out.Field("resource", std::string_view(use.resource()));
    out.Field("capacity", std::string_view(QuantityText(use.resource(), use.capacity())));
    out.Field("used", std::string_view(QuantityText(use.resource(), use.used())));
    out.EndMap();
  }
  out.EndList();
  out.Key("levels");
  out.BeginList();
  for (const v1::LevelUse& level : flavor.levels()) {
    out.BeginMap();
    out.Field("level", std::string_view(level.level()));
    out.Field("domains", std::int64_t{level.domains()});
    out.Field("unusedDomains", std::int64_t{level.unused_domains()});
    out.Key("mostFree");
    out.BeginMap();
    const int known = std::min(level.most_free_size(), flavor.resources_size());
    for (int i = 0; i < known; ++i) {
      const std::string& resource = flavor.resources(i).resource();
      out.Field(resource, std::string_view(QuantityText(resource, level.most_free(i))));
    }
    out.EndMap();
    out.EndMap();
  }
  out.EndList();
  out.EndMap();
}

void WriteState(const v1::StateStatus& state, std::int64_t now_ms, ObjectWriter& out) {
  out.BeginMap();
  out.Field("name", std::string_view(state.state_name()));
  out.Key("loaded");
  out.Flag(IsLoaded(state));
  // The epoch is a text, because not all who read JSON keep numbers of 64 bits.
  out.Field("epoch", std::string_view(fmt::format("{:016x}", state.state().epoch())));
  out.Field("generation", static_cast<std::int64_t>(state.state().generation()));
  if (state.has_checksum()) out.Field("checksum", std::string_view(ChecksumText(state)));
  if (IsLoaded(state)) {
    out.Field("changed", std::string_view(TimeText(state.changed_ms())));
    out.Field("ageMilliseconds", std::max(now_ms - state.changed_ms(), std::int64_t{0}));
  }
  out.Field("nodes", std::int64_t{state.nodes()});
  out.Field("workloads", std::int64_t{state.workloads()});
  out.Field("holds", std::int64_t{state.holds()});
  out.Field("warmShapes", std::int64_t{state.warm_shapes()});
  out.Key("flavors");
  out.BeginList();
  for (const v1::FlavorUse& flavor : state.flavors()) WriteUse(flavor, out);
  out.EndList();
  out.EndMap();
}

void WriteLimits(const v1::ServerLimits& limits, ObjectWriter& out) {
  out.BeginMap();
  out.Field("memoryBytes", std::int64_t{limits.memory_bytes()});
  out.Field("connectionMemoryBytes", std::int64_t{limits.connection_memory_bytes()});
  out.Field("callMemoryBytes", std::int64_t{limits.call_memory_bytes()});
  out.Field("messageBytes", std::int64_t{limits.message_bytes()});
  out.Field("calls", std::int64_t{limits.calls()});
  out.Field("queuedCalls", std::int64_t{limits.queued_calls()});
  out.Field("namedStates", std::int64_t{limits.named_states()});
  out.Field("idleMilliseconds", std::int64_t{limits.idle_ms()});
  out.EndMap();
}

// Returns what is kept on disk, and what of it was of no use.
std::string RenderStateDir(const v1::ServerStatusResponse& status, const TextStyle& style) {
  const v1::StateDirStatus& folder = status.state_dir();
  std::vector<TableRow> rows;
  for (const v1::KeptState& kept : folder.kept()) {
    rows.push_back(
        {kept.state_name().empty() ? "-" : kept.state_name(),
         std::to_string(kept.state().generation()), fmt::format("{:016x}", kept.state().epoch()),
         kept.written_ms() == 0 ? "before the start"
                                : DurationText(status.now_ms() - kept.written_ms()) + " ago",
         BytesText(kept.bytes())});
  }
  std::string text =
      rows.empty()
          ? std::string()
          : RenderTable({"ON DISK", "GENERATION", "EPOCH", "WRITTEN", "SIZE"}, rows, style);
  text += fmt::format("states are kept in {}\n", EscapeControls(folder.folder()));
  for (const v1::IgnoredStateFile& file : folder.ignored()) {
    text += fmt::format("ignored: {}\n", EscapeControls(file.why()));
  }
  if (!folder.failure().empty()) {
    text += style.Paint("not written: " + EscapeControls(folder.failure()), Color::kBad) + "\n";
  }
  return text;
}

void WriteStateDir(const v1::StateDirStatus& folder, ObjectWriter& out) {
  out.Key("stateDir");
  out.BeginMap();
  out.Field("folder", std::string_view(folder.folder()));
  out.Key("kept");
  out.BeginList();
  for (const v1::KeptState& kept : folder.kept()) {
    out.BeginMap();
    out.Field("name", std::string_view(kept.state_name()));
    out.Field("epoch", std::string_view(fmt::format("{:016x}", kept.state().epoch())));
    out.Field("generation", static_cast<std::int64_t>(kept.state().generation()));
    if (kept.written_ms() > 0) {
      out.Field("written", std::string_view(TimeText(kept.written_ms())));
    }
    out.Field("bytes", std::int64_t{kept.bytes()});
    out.EndMap();
  }
  out.EndList();
  out.Key("ignored");
  out.BeginList();
  for (const v1::IgnoredStateFile& file : folder.ignored()) {
    out.BeginMap();
    out.Field("path", std::string_view(file.path()));
    out.Field("reason", std::string_view(file.why()));
    out.EndMap();
  }
  out.EndList();
  if (!folder.failure().empty()) out.Field("failure", std::string_view(folder.failure()));
  out.EndMap();
}

}  // namespace

std::string WhyNotServing(const v1::ServerStatusResponse& status, const ServingRule& rule) {
  bool any = false;
  for (const v1::StateStatus& state : status.states()) {
    if (rule.state && state.state_name() != *rule.state) continue;
    if (!IsLoaded(state)) continue;
    any = true;
    const std::int64_t age = status.now_ms() - state.changed_ms();
    if (rule.max_age_seconds &&
        static_cast<double>(age) > *rule.max_age_seconds * kMillisecondsOfSecond) {
      return fmt::format("{} changed {} ago, more than {} s", StateText(state), DurationText(age),
                         *rule.max_age_seconds);
    }
  }
  if (any) return "";
  if (!rule.state) return "no state is loaded";
  return rule.state->empty() ? "no state without a name is loaded"
                             : fmt::format("no state {} is loaded", Excerpt(*rule.state));
}

std::string RenderStatus(const ServerReport& report, const std::string& why_not,
                         const TextStyle& style) {
  const v1::ServerStatusResponse& status = report.status;
  std::string text = Lines(report);
  std::vector<TableRow> states;
  std::vector<TableRow> resources;
  std::vector<TableRow> levels;
  for (const v1::StateStatus& state : status.states()) {
    const bool loaded = IsLoaded(state);
    states.push_back({NameText(state), std::to_string(state.state().generation()),
                      fmt::format("{:016x}", state.state().epoch()), ChecksumText(state),
                      loaded ? DurationText(status.now_ms() - state.changed_ms()) : "not loaded",
                      std::to_string(state.nodes()), std::to_string(state.workloads()),
                      std::to_string(state.holds()), std::to_string(state.warm_shapes())});
    AddUse(state, resources, levels);
  }
  text += "\n" + RenderTable({"STATE", "GENERATION", "EPOCH", "CHECKSUM", "AGE", "NODES",
                              "WORKLOADS", "HOLDS", "WARM SHAPES"},
                             states, style);
  if (!resources.empty()) {
    text += "\n" +
            RenderTable({"STATE", "FLAVOR", "NODES", "RESOURCE", "USED", "OF"}, resources, style);
  }
  if (!levels.empty()) {
    text +=
        "\n" + RenderTable({"STATE", "FLAVOR", "LEVEL", "DOMAINS", "UNUSED", "MOST FREE IN ONE"},
                           levels, style);
  }
  std::vector<TableRow> refusals;
  for (const v1::Refusals& refused : status.refusals()) {
    const v1::RefusedCall& last = refused.last();
    refusals.push_back({refused.cause(), std::to_string(refused.calls()),
                        DurationText(status.now_ms() - last.time_ms()) + " ago",
                        std::to_string(last.call()), last.method(), last.message()});
  }
  if (status.has_state_dir()) text += "\n" + RenderStateDir(status, style);
  if (!refusals.empty()) {
    text += "\n" +
            RenderTable({"REFUSED", "CALLS", "LAST", "CALL", "METHOD", "MESSAGE"}, refusals, style);
  }
  return text + "\n" +
         (why_not.empty() ? style.Paint("serving", Color::kGood)
                          : style.Paint("not serving: " + why_not, Color::kBad)) +
         "\n";
}

void WriteStatus(const ServerReport& report, const std::string& why_not, ObjectWriter& out) {
  const v1::ServerInfoResponse& info = report.info;
  const v1::ServerStatusResponse& status = report.status;
  out.Field("address", std::string_view(report.address));
  out.Key("serving");
  out.Flag(why_not.empty());
  if (!why_not.empty()) out.Field("reason", std::string_view(why_not));
  out.Field("version", std::string_view(info.version()));
  out.Field("commit", std::string_view(info.commit()));
  out.Field("backend", std::string_view(info.backend()));
  if (status.has_device()) {
    out.Key("device");
    out.BeginMap();
    out.Field("name", std::string_view(status.device().name()));
    out.Key("ready");
    out.Flag(status.device().ready());
    out.Field("faults", std::int64_t{status.device().faults()});
    out.Field("lastFault", std::string_view(status.device().last_fault()));
    out.EndMap();
  }
  out.Field("started", std::string_view(TimeText(info.started_ms())));
  out.Key("listens");
  out.BeginList();
  for (const std::string& address : info.addresses()) out.Value(std::string_view(address));
  out.EndList();
  out.Field("metrics", std::string_view(info.metrics_address()));
  WriteFiles(status, out);
  out.Key("limits");
  WriteLimits(info.limits(), out);
  out.Field("callsUnderWay", std::int64_t{status.calls_under_way()});
  out.Field("callsWaiting", std::int64_t{status.calls_waiting()});
  out.Field("memoryHeldBytes", std::int64_t{status.memory_held_bytes()});
  out.Key("states");
  out.BeginList();
  for (const v1::StateStatus& state : status.states()) WriteState(state, status.now_ms(), out);
  out.EndList();
  if (status.has_state_dir()) WriteStateDir(status.state_dir(), out);
  out.Key("refusals");
  out.BeginList();
  for (const v1::Refusals& refused : status.refusals()) {
    out.BeginMap();
    out.Field("cause", std::string_view(refused.cause()));
    out.Field("calls", std::int64_t{refused.calls()});
    out.Key("last");
    out.BeginMap();
    out.Field("call", std::int64_t{refused.last().call()});
    out.Field("method", std::string_view(refused.last().method()));
    out.Field("time", std::string_view(TimeText(refused.last().time_ms())));
    out.Field("message", std::string_view(refused.last().message()));
    out.EndMap();
    out.EndMap();
  }
  out.EndList();
}

}  // namespace espalier
