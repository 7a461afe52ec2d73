#include "service/server/access.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include "host/model/excerpt.hpp"
#include "host/readers/access_file.hpp"

namespace espalier {
namespace {

// gRPC's names of what a certificate has.
constexpr const char* kCommonName = "x509_common_name";
constexpr const char* kAlternativeName = "x509_subject_alternative_name";
constexpr const char* kSpiffeId = "peer_spiffe_id";

// Many refused calls must not fill a disk.
constexpr auto kBetweenLines = std::chrono::seconds(1);

std::vector<std::string> Values(const grpc::AuthContext& context, const char* property) {
  std::vector<std::string> values;
  for (const grpc::string_ref& value : context.FindPropertyValues(property)) {
    values.emplace_back(value.data(), value.size());
  }
  return values;
}

// For the log and tables.
std::string OnOneLine(std::string text) {
  for (std::size_t at = 0; (at = text.find('\n', at)) != text.npos;) text.replace(at, 1, "; ");
  return text;
}

bool Applies(const AccessRule& rule, const Caller& caller) {
  switch (rule.who) {
    case AccessRule::Who::kAnyone:
      return true;
    case AccessRule::Who::kAnyCertificate:
      return caller.has_certificate;
    case AccessRule::Who::kCertificate:
      return std::ranges::find(caller.names, rule.name) != caller.names.end();
    case AccessRule::Who::kSpiffe:
      return caller.spiffe_id == rule.name;
    case AccessRule::Who::kUser:
      return caller.user == rule.user;
  }
  return false;
}

}  // namespace

std::vector<std::string> Caller::Names() const {
  std::vector<std::string> all;
  if (!spiffe_id.empty()) all.push_back(spiffe_id);
  for (const std::string& name : names) {
    if (name != spiffe_id) all.push_back("certificate:" + name);
  }
  if (user) all.push_back(fmt::format("user:{}", *user));
  return all;
}

std::string Caller::Maker() const {
  const std::vector<std::string> all = Names();
  return all.empty() ? "" : all.front();
}

std::string Caller::Name() const {
  const std::string name = Maker();
  if (!name.empty()) return name;
  return has_certificate ? "any-certificate" : "anyone";
}

Caller Recognise(std::optional<uid_t> user, bool is_local, const grpc::AuthContext* context) {
  Caller caller{.user = user, .is_local = is_local};
  if (context == nullptr || !context->IsPeerAuthenticated()) return caller;
  caller.has_certificate = true;
  caller.names = Values(*context, kAlternativeName);
  if (caller.names.empty()) caller.names = Values(*context, kCommonName);
  const std::vector<std::string> ids = Values(*context, kSpiffeId);
  if (!ids.empty()) caller.spiffe_id = ids.front();
  return caller;
}

Result<std::unique_ptr<Access>> Access::Open(std::string path) {
  std::unique_ptr<Access> access(new Access(std::move(path)));
  if (access->path_.empty()) return access;
  const std::lock_guard lock(access->mutex_);
  access->stamp_ = FileStamp::Of(access->path_);
  auto rules = ReadAccessFile(access->path_);
  if (!rules) return tl::unexpected(Error{ErrorClass::kUnavailable, rules.error().message});
  access->rules_ = *std::move(rules);
  access->status_.has_file = true;
  access->status_.rules = std::ssize(access->rules_.rules);
  return access;
}

void Access::Refresh() {
  if (path_.empty()) return;
  const std::lock_guard lock(mutex_);
  // Looked at before it is read: what changes meanwhile is read again next time.
  const FileStamp stamp = FileStamp::Of(path_);
  if (stamp == stamp_) return;
  stamp_ = stamp;
  auto rules = ReadAccessFile(path_);
  ++(rules ? status_.reloads : status_.failures);
  status_.error = rules ? std::string() : OnOneLine(rules.error().message);
  if (!rules) {
    spdlog::error("access: {}; the rules that were read before stay in use", status_.error);
    return;
  }
  rules_ = *std::move(rules);
  status_.rules = std::ssize(rules_.rules);
  spdlog::info("access: the file has changed and is in use; rules: {}", status_.rules);
}

Permissions Access::MayOf(const Caller& caller) const {
  if (caller.user && (*caller.user == owner_ || *caller.user == 0)) return Permissions::All();
  if (path_.empty() && !caller.is_local && !caller.has_certificate) return Permissions::All();
  Permissions may;
  bool any_certificate_named = false;
  const std::lock_guard lock(mutex_);
  for (const AccessRule& rule : rules_.rules) {
    any_certificate_named |= rule.who == AccessRule::Who::kAnyCertificate;
    if (Applies(rule, caller)) may.Add(rule.may);
  }
  if (caller.has_certificate && !any_certificate_named) {
    may.Add(Permission::kRead);
    may.Add(Permission::kPlace);
  }
  return may;
}

CallAccess Access::Judge(Caller caller, std::string_view method) {
  Refresh();
  const Permissions may = MayOf(caller);
  return {std::move(caller), may, FindMethodPermission(method)};
}

grpc::Status Access::Check(const CallAccess& call) {
  if (call.needs == nullptr) {
    return {grpc::StatusCode::PERMISSION_DENIED, "nobody may call a method that has no permission"};
  }
  return Check(call, call.needs->needs);
}

grpc::Status Access::CheckFields(const CallAccess& call, const google::protobuf::Message& request) {
  if (call.needs == nullptr || !HasFieldOf(*call.needs, request)) return grpc::Status::OK;
  return Check(call, call.needs->field_needs);
}

grpc::Status Access::Check(const CallAccess& call, Permission permission, const std::string& why) {
  if (call.may.Has(permission)) return grpc::Status::OK;
  const std::string name = Excerpt(call.caller.Name());
  const bool is_of_field = !call.needs->field.empty() && permission != call.needs->needs &&
                           permission == call.needs->field_needs;
  std::string message = fmt::format(
      "{}{} needs the permission {}{}; {} may {}; a rule for it in the file of the server's "
      "--access "
      "can say otherwise",
      call.needs->method, is_of_field ? fmt::format(" with `{}`", call.needs->field) : "",
      espalier::Name(permission), why.empty() ? "" : ", " + why, name,
      call.may == Permissions() ? "do nothing" : call.may.ToString());
  {
    const std::lock_guard lock(mutex_);
    ++denied_[{call.needs->method, permission}];
  }
  Log(message);
  return {grpc::StatusCode::PERMISSION_DENIED, message};
}

void Access::Log(const std::string& message) {
  std::int64_t not_logged = 0;
  {
    const std::lock_guard lock(mutex_);
    const auto now = std::chrono::steady_clock::now();
    if (logged_ != std::chrono::steady_clock::time_point() && now - logged_ < kBetweenLines) {
      ++not_logged_;
      return;
    }
    logged_ = now;
    not_logged = std::exchange(not_logged_, 0);
  }
  const std::string more =
      not_logged == 0 ? "" : fmt::format("; {} more before it, since the last line", not_logged);
  spdlog::warn("access: refused: {}{}", message, more);
}

Access::Status Access::status() const {
  const std::lock_guard lock(mutex_);
  Status status = status_;
  for (const auto& [key, calls] : denied_) {
    status.denied.push_back({std::string(key.first), key.second, calls});
  }
  return status;
}

}  // namespace espalier
