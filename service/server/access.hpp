// Decides which calls of which clients are answered.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <grpcpp/security/auth_context.h>
#include <grpcpp/support/status.h>
#include <sys/types.h>
#include <unistd.h>

#include "host/model/access_rules.hpp"
#include "host/model/result.hpp"
#include "service/server/file_stamp.hpp"
#include "service/server/method_permissions.hpp"

namespace espalier {

// The caller of a connection, as far as the connection proves who it is.
struct Caller {
  std::optional<uid_t> user;  // at the other end of a unix socket
  bool has_certificate = false;
  // Alternative names of its certificate or, of one that has none, the common name.
  std::vector<std::string> names;
  std::string spiffe_id;  // empty: none
  bool is_local = false;  // it came through a unix socket

  // Returns, as a rule names it, the one that tells most: spiffe://a/b, certificate:NAME, user:17;
  // "anyone" for one that proves nothing.
  std::string Name() const;
  // Returns all that rules may name it by, and what its holds are marked with: the first, or
  // nothing for one that proves nothing.
  std::vector<std::string> Names() const;
  std::string Maker() const;
};

// Returns the caller of a connection: `user` is that at the other end of a unix socket, nullopt
// where it is of TCP.
Caller Recognise(std::optional<uid_t> user, bool is_local, const grpc::AuthContext* context);

// The caller of one call and what it may do. Made as the call arrives.
struct CallAccess {
  Caller caller;
  Permissions may;
  const MethodPermission* needs = nullptr;  // null: the method is none that is known
};

// The rules of a server: those of a file, which is read anew when it has changed, and the defaults.
// A unix socket's owner and root may do everything, and other users what rules give them. Whoever
// shows a certificate may read and place; a rule for any-certificate replaces that. Others on TCP
// may do what the rule for anyone gives them; without a file they may do everything, as where there
// is no TLS at all. Thread-safe.
class Access {
 public:
  // `path` may be empty: the defaults alone. Errors: kUnavailable for a file that cannot be used.
  static Result<std::unique_ptr<Access>> Open(std::string path);

  // Returns what a caller may do. Reads the file where it has changed.
  CallAccess Judge(Caller caller, std::string_view method);

  // Returns OK, or PERMISSION_DENIED with what is missing and who was recognised; counts and logs
  // that. For Check, by the method; for CheckFields, by what a request has set.
  grpc::Status Check(const CallAccess& call);
  grpc::Status CheckFields(const CallAccess& call, const google::protobuf::Message& request);
  grpc::Status Check(const CallAccess& call, Permission permission, const std::string& why = "");

  // Reads the file where it has changed since it was last looked at. One that is wrong is logged,
  // and what was read before stays in use.
  void Refresh();

  struct Denied {
    std::string method;
    Permission missing = Permission::kRead;
    std::int64_t calls = 0;
  };
  struct Status {
    bool has_file = false;
    std::int64_t rules = 0;      // in use
    std::int64_t reloads = 0;    // times that a changed file was taken up
    std::int64_t failures = 0;   // times that it could not be
    std::string error;           // of the present file; empty: it is in use
    std::vector<Denied> denied;  // ordered by method and permission
  };
  Status status() const;

 private:
  explicit Access(std::string path) : path_(std::move(path)) {}
  Permissions MayOf(const Caller& caller) const;
  void Log(const std::string& message);

  const std::string path_;
  const uid_t owner_ = ::geteuid();
  mutable std::mutex mutex_;  // guards all below
  FileStamp stamp_;
  AccessRules rules_;
  Status status_;  // without `denied`
  std::map<std::pair<std::string_view, Permission>, std::int64_t> denied_;
  std::chrono::steady_clock::time_point logged_{};  // the latest line about a refused call
  std::int64_t not_logged_ = 0;                     // refused calls since then
};

}  // namespace espalier
