// Tests who may do what: by default, by the file of --access, and what those are told who may not.
#include "service/server/access.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/dynamic_message.h>
#include <unistd.h>

#include "espalier/v1/server.grpc.pb.h"
#include "service/client/raw_call.hpp"
#include "service/client/remote_holds.hpp"
#include "service/server/method_permissions.hpp"
#include "tests/server/captured_log.hpp"
#include "tests/server/health_client.hpp"
#include "tests/server/process.hpp"
#include "tests/server/raw_stream.hpp"
#include "tests/server/tls_files.hpp"

namespace espalier::access_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr std::chrono::milliseconds kLong = std::chrono::minutes(1);

// Returns all services of the schema.
std::vector<const google::protobuf::ServiceDescriptor*> AllServices() {
  std::vector<const google::protobuf::ServiceDescriptor*> services;
  const std::regex service("(^|\n)service (\\w+) ");
  for (const auto& file :
       std::filesystem::directory_iterator(ESPALIER_SOURCE_DIR "/proto/espalier/v1")) {
    std::stringstream text;
    text << std::ifstream(file.path()).rdbuf();
    const std::string schema = text.str();
    for (std::sregex_iterator it(schema.begin(), schema.end(), service), end; it != end; ++it) {
      const std::string name = "espalier.v1." + (*it)[2].str();
      services.push_back(
          google::protobuf::DescriptorPool::generated_pool()->FindServiceByName(name));
      EXPECT_NE(services.back(), nullptr) << name;
    }
  }
  return services;
}

std::string MethodName(const google::protobuf::MethodDescriptor& method) {
  return method.service()->full_name() + "/" + method.name();
}

TEST(MethodPermissions, EveryMethodHasOneAndEveryCommitNeedsCommit) {
  std::set<std::string> methods;
  for (const auto* service : AllServices()) {
    for (int i = 0; i < service->method_count(); ++i) {
      const auto& method = *service->method(i);
      methods.insert(MethodName(method));
      const MethodPermission* row = FindMethodPermission(MethodName(method));
      ASSERT_NE(row, nullptr) << MethodName(method) << " is not in method_permissions.cpp";
      const auto& request = *method.input_type();
      if (request.FindFieldByName("commit") != nullptr) {
        EXPECT_EQ(row->field, "commit") << row->method;
        EXPECT_EQ(row->field_needs, Permission::kCommit) << row->method;
      }
      if (!row->field.empty()) {
        EXPECT_NE(request.FindFieldByName(std::string(row->field)), nullptr) << row->method;
      }
    }
  }
  EXPECT_GT(methods.size(), 25u);
  for (const MethodPermission& row : MethodPermissions()) {
    EXPECT_TRUE(methods.contains(std::string(row.method))) << row.method << " does not exist";
  }
}

class AccessTest : public TlsFiles {
 protected:
  std::string Rules(const std::string& rules) const { return Write("access.yaml", rules); }

  // A server that takes clients with a certificate, and rules.
  ServerOptions MutualOptions(const std::string& access = "") const {
    WriteAll();
    ServerOptions options = Options();
    options.access = access;
    return options;
  }

  std::shared_ptr<grpc::Channel> Channel(const std::string& address,
                                         const TestCertificate& certificate) const {
    grpc::SslCredentialsOptions tls{authority_.Pem(), certificate.KeyPem(), certificate.Pem()};
    grpc::ChannelArguments arguments;
    arguments.SetSslTargetNameOverride("espalier.test");
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    return grpc::CreateCustomChannel(address, grpc::SslCredentials(tls), arguments);
  }

  static grpc::Status Call(const std::shared_ptr<grpc::Channel>& channel, const std::string& method,
                           const std::string& request = "") {
    return CallRaw(channel, "espalier.v1." + method, {request}, kLong).status;
  }
  static bool IsDenied(const grpc::Status& status) {
    return status.error_code() == grpc::StatusCode::PERMISSION_DENIED;
  }
};

using DefaultAccess = AccessTest;
using AccessFileOfServer = AccessTest;
using AccessRefusals = AccessTest;

TEST_F(DefaultAccess, TheOwnerOfASocketMayDoEverything) {
  ServerOptions options;
  options.listen = {SocketAddress("owner")};
  options.access = Rules("rules: []");
  TestServer server(options);
  EXPECT_TRUE(server.Load(SmallCluster()).ok());
  EXPECT_TRUE(server.Place(MakePlaceRequest({MakeGang("a", 1)})).ok());
}

TEST_F(DefaultAccess, OtherUsersOfASocketMayDoNothing) {
  const auto access = *Access::Open("");
  const CallAccess other = access->Judge(Recognise(::geteuid() + 1, true, nullptr),
                                         "espalier.v1.ClusterState/GetStateSummary");
  EXPECT_EQ(other.may.ToString(), "nothing");
  EXPECT_TRUE(IsDenied(access->Check(other)));
  EXPECT_EQ(access->Judge(Recognise(0, true, nullptr), "").may, Permissions::All());
  // Nobody that the system could not name is taken for the owner.
  EXPECT_EQ(access->Judge(Recognise(std::nullopt, true, nullptr), "").may.ToString(), "nothing");
}

// The user is that of the process as it connects.
TEST_F(AccessFileOfServer, NamesUsersOfASocket) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can be another user";
  constexpr uid_t kOther = 54321;
  ServerOptions options;
  options.listen = {SocketAddress("users")};
  options.socket_mode = 0666;
  options.access = Rules("rules: [{who: \"user:54321\", may: [read]}]");
  TestServer server(options);
  ASSERT_TRUE(server.Load(SmallCluster()).ok());
  ASSERT_EQ(::seteuid(kOther), 0);
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  const auto channel =
      grpc::CreateCustomChannel(options.listen[0], grpc::InsecureChannelCredentials(), arguments);
  const grpc::Status read = Call(channel, "ClusterState/GetStateSummary");
  const grpc::Status placed = Call(channel, "Placement/Place");
  ASSERT_EQ(::seteuid(0), 0);
  EXPECT_TRUE(read.ok()) << read.error_message();
  EXPECT_TRUE(IsDenied(placed));
  EXPECT_THAT(placed.error_message(), HasSubstr("user:54321 may read;"));
}

TEST_F(DefaultAccess, WithoutTlsEveryoneOnTcpMayDoEverything) {
  TestServer server;
  EXPECT_TRUE(server.Load(SmallCluster()).ok());
}

TEST_F(DefaultAccess, ACertificateMayReadAndPlace) {
  const TestServer server(MutualOptions());
  const auto channel = Channel(server.server->addresses()[0], client_);
  EXPECT_TRUE(Call(channel, "ClusterState/GetStateSummary").ok());
  EXPECT_FALSE(IsDenied(Call(channel, "Placement/Place")));
  v1::PlaceRequest commit;
  commit.set_commit(true);
  const grpc::Status refused = Call(channel, "Placement/Place", commit.SerializeAsString());
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_EQ(refused.error_message(),
            "espalier.v1.Placement/Place with `commit` needs the permission commit; "
            "certificate:client may read, place; a rule for it in the file of the server's "
            "--access can say otherwise");
  EXPECT_TRUE(IsDenied(Call(channel, "ClusterState/LoadState")));
}

TEST_F(AccessFileOfServer, NamesCertificatesByAlternativeNameThenCommonNameAndSpiffeId) {
  const TestServer server(MutualOptions(Rules(R"(rules:
- {who: "certificate:controller.test", may: [write-state]}
- {who: "certificate:client", may: [commit]}
- {who: "spiffe://cluster.test/ns/a/sa/b", may: [place]}
- {who: any-certificate, may: [read]}
)")));
  const std::string address = server.server->addresses()[0];
  const auto may = [&](const TestCertificate& certificate, const std::string& method) {
    return !IsDenied(Call(Channel(address, certificate), method));
  };
  const TestCertificate controller({.common_name = "client",  // does not count beside another name
                                    .alternative_names = "DNS:other.test,DNS:controller.test"},
                                   &authority_);
  EXPECT_TRUE(may(controller, "ClusterState/UnloadState"));
  EXPECT_FALSE(may(controller, "Placement/ReleaseHolds"));
  EXPECT_TRUE(may(client_, "Placement/ReleaseHolds"));
  EXPECT_FALSE(may(client_, "ClusterState/UnloadState"));
  EXPECT_TRUE(may(client_, "ClusterState/GetStateSummary"));
  EXPECT_FALSE(may(client_, "Placement/Place"));
  const TestCertificate workload({.alternative_names = "URI:spiffe://cluster.test/ns/a/sa/b"},
                                 &authority_);
  EXPECT_TRUE(may(workload, "Placement/Place"));
  EXPECT_FALSE(may(workload, "Placement/ReleaseHolds"));
  const TestCertificate stranger({.alternative_names = "URI:spiffe://cluster.test/ns/a/sa/c"},
                                 &authority_);
  const grpc::Status refused = Call(Channel(address, stranger), "Placement/Place");
  EXPECT_THAT(refused.error_message(),
              HasSubstr("needs the permission place; spiffe://cluster.test/ns/a/sa/c may read;"));
}

TEST_F(AccessFileOfServer, GivesThoseWithoutACertificateWhatAnyoneMay) {
  ServerOptions options;
  options.access = Rules("rules: [{who: anyone, may: [read]}]");
  TestServer server(options);
  EXPECT_TRUE(Call(server.channel, "ClusterState/GetStateSummary").ok());
  const grpc::Status refused = server.Load(SmallCluster());
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_THAT(refused.error_message(), HasSubstr("anyone may read;"));
}

TEST_F(AccessRefusals, NoMethodIsForgotten) {
  ServerOptions options;
  options.access = Rules("rules: []");
  TestServer server(options);
  for (const auto* service : AllServices()) {
    for (int i = 0; i < service->method_count(); ++i) {
      const std::string method = MethodName(*service->method(i));
      const grpc::Status refused = CallRaw(server.channel, method, {""}, kLong).status;
      EXPECT_TRUE(IsDenied(refused)) << method << ": " << refused.error_message();
    }
  }
}

TEST_F(AccessRefusals, LeaveHealthAndReflectionOpen) {
  ServerOptions options;
  options.access = Rules("rules: []");
  options.reflection = true;
  TestServer server(options);
  EXPECT_TRUE(IsDenied(Call(server.channel, "ClusterState/GetStateSummary")));
  EXPECT_EQ(HealthClient(server.channel).Check(""), "SERVING");
  RawStream reflection(server.channel,
                       "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo");
  EXPECT_TRUE(reflection.Write(std::string("\x3a\x00", 2)));  // list_services of nothing
  const std::string services = reflection.Read();
  EXPECT_THAT(services, HasSubstr("espalier.v1.Placement"));
  EXPECT_TRUE(reflection.Finish().ok());
}

// A field that a request has set needs its permission in every method.
TEST_F(AccessRefusals, NoFieldIsForgotten) {
  for (const MethodPermission& row : MethodPermissions()) {
    if (row.field.empty()) continue;
    ServerOptions options;
    options.access = Rules(fmt::format("rules: [{{who: anyone, may: [{}]}}]", Name(row.needs)));
    TestServer server(options);
    const std::string method(row.method);
    const auto* descriptor = google::protobuf::DescriptorPool::generated_pool()->FindMethodByName(
        std::regex_replace(method, std::regex("/"), "."));
    ASSERT_NE(descriptor, nullptr) << method;
    const std::unique_ptr<google::protobuf::Message> request(
        google::protobuf::MessageFactory::generated_factory()
            ->GetPrototype(descriptor->input_type())
            ->New());
    EXPECT_FALSE(IsDenied(CallRaw(server.channel, method, {""}, kLong).status)) << method;
    const auto* field = descriptor->input_type()->FindFieldByName(std::string(row.field));
    if (field->cpp_type() == google::protobuf::FieldDescriptor::CPPTYPE_BOOL) {
      request->GetReflection()->SetBool(request.get(), field, true);
    } else {
      request->GetReflection()->MutableMessage(request.get(), field);
    }
    const std::string bytes = request->SerializeAsString();
    const grpc::Status refused = CallRaw(server.channel, method, {bytes}, kLong).status;
    EXPECT_TRUE(IsDenied(refused)) << method;
    EXPECT_THAT(refused.error_message(), HasSubstr(fmt::format("with `{}` needs the permission {}",
                                                               row.field, Name(row.field_needs))));
  }
}

// The server notes who calls in the metadata of the call.
TEST_F(AccessRefusals, MetadataOfAClientProvesNothing) {
  ServerOptions options;
  options.access = Rules("rules: []");
  TestServer server(options);
  for (const std::string& value :
       {std::string(8, 'A'), std::string("espalier"), std::string("1")}) {
    grpc::ClientContext context;
    context.AddMetadata("espalier-arrived", value);
    v1::GetStateSummaryResponse response;
    EXPECT_TRUE(IsDenied(server.cluster_state->GetStateSummary(&context, {}, &response)));
  }
}

TEST_F(AccessRefusals, AreCountedAndShown) {
  ServerOptions options;
  options.access = Rules("rules: [{who: anyone, may: [read]}]");
  TestServer server(options);
  EXPECT_TRUE(IsDenied(Call(server.channel, "Placement/Place")));
  EXPECT_TRUE(IsDenied(Call(server.channel, "Placement/Place")));
  v1::ServerStatusResponse status;
  grpc::ClientContext context;
  ASSERT_TRUE(v1::Server::NewStub(server.channel)->Status(&context, {}, &status).ok());
  EXPECT_TRUE(status.access().has_file());
  EXPECT_EQ(status.access().rules(), 1);
  EXPECT_EQ(status.access().denied_calls(), 2);
  EXPECT_FALSE(status.has_tls());
  ASSERT_EQ(status.refusals_size(), 1);
  EXPECT_EQ(status.refusals(0).cause(), "denied");
}

// The first is logged at once; those that follow within a moment are counted.
TEST_F(AccessRefusals, AreLoggedAndDoNotFillTheLog) {
  const auto access = *Access::Open("");
  CapturedLog lines;
  const CallAccess call =
      access->Judge(Recognise(::geteuid() + 1, true, nullptr), "espalier.v1.Placement/Place");
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(IsDenied(access->Check(call)));
  const std::string log = lines.Take();
  EXPECT_THAT(log, HasSubstr("access: refused: espalier.v1.Placement/Place needs the permission "
                             "place; user:"));
  EXPECT_LT(std::count(log.begin(), log.end(), '\n'), 100);
  ASSERT_EQ(access->status().denied.size(), 1u);
  EXPECT_EQ(access->status().denied[0].calls, 1000);
}

TEST_F(AccessFileOfServer, IsReadAnewBeforeTheNextCall) {
  ServerOptions options;
  options.access = Rules("rules: [{who: anyone, may: [read]}]");
  TestServer server(options);
  EXPECT_TRUE(IsDenied(server.Load(SmallCluster())));
  Rules("rules: [{who: anyone, may: [read, write-state]}]");
  EXPECT_TRUE(server.Load(SmallCluster()).ok());  // over the same connection
  // A projected secret changes in this way: another file under the same name.
  std::filesystem::rename(Write("next.yaml", "rules: []"), options.access);
  EXPECT_TRUE(IsDenied(server.Load(SmallCluster())));
}

TEST_F(AccessFileOfServer, ThatIsWrongLaterChangesNothingAndIsShown) {
  ServerOptions options;
  options.access = Rules("rules: [{who: anyone, may: [read]}]");
  TestServer server(options);
  const auto error = [&] {
    v1::ServerStatusResponse status;
    grpc::ClientContext context;
    EXPECT_TRUE(v1::Server::NewStub(server.channel)->Status(&context, {}, &status).ok());
    return status.access().error();
  };
  EXPECT_EQ(error(), "");
  Rules("rules: [{who: anyone, may: [everything]}]");
  EXPECT_THAT(error(), AllOf(HasSubstr("access.yaml: "), HasSubstr("rules[0].may[0]"),
                             HasSubstr("there is no such permission")));
  EXPECT_TRUE(IsDenied(server.Load(SmallCluster())));
  std::filesystem::remove(options.access);
  EXPECT_THAT(error(), HasSubstr("cannot be read: No such file"));
  Rules("rules: [{who: anyone, may: [read, write-state]}]");
  EXPECT_EQ(error(), "");
  EXPECT_TRUE(server.Load(SmallCluster()).ok());
}

TEST_F(AccessFileOfServer, ThatIsWrongLaterIsLogged) {
  const std::string path = Rules("rules: [{who: anyone, may: [read]}]");
  const auto access = *Access::Open(path);
  CapturedLog log;
  access->Refresh();
  EXPECT_EQ(log.Take(), "");
  Rules("rules: [{who: anyone, may: [everything]}]");
  access->Refresh();
  EXPECT_THAT(log.Take(), AllOf(HasSubstr("[error] access: " + path + ": "),
                                HasSubstr("there is no such permission"),
                                HasSubstr("; the rules that were read before stay in use\n")));
  access->Refresh();  // said once
  EXPECT_EQ(log.Take(), "");
  Rules("rules: []");
  access->Refresh();
  EXPECT_THAT(log.Take(), HasSubstr("access: the file has changed and is in use; rules: 0\n"));
}

TEST_F(AccessFileOfServer, ThatIsWrongEndsTheStart) {
  ServerOptions options;
  options.listen = {"127.0.0.1:0"};
  options.access = Rules("rules: [{who: nobody, may: [read]}]");
  auto started = Server::Start(options, MakeCpuBackend(1));
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().error_class, ErrorClass::kUnavailable);
  EXPECT_THAT(started.error().message, HasSubstr("rules[0].who: it names nobody, got \"nobody\""));
  options.access = Path("missing.yaml");
  started = Server::Start(options, MakeCpuBackend(1));
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().message,
            options.access + ": cannot be read: No such file or directory");
}

TEST_F(DefaultAccess, StatusTellsOfCertificates) {
  const TestServer server(MutualOptions());
  const auto stub = v1::Server::NewStub(Channel(server.server->addresses()[0], client_));
  const auto tls = [&] {
    grpc::ClientContext context;
    v1::ServerStatusResponse status;
    EXPECT_TRUE(stub->Status(&context, {}, &status).ok());
    EXPECT_TRUE(status.has_tls());
    EXPECT_GT(status.tls().expires_ms(), status.now_ms());
    EXPECT_GT(status.tls().client_ca_expires_ms(), status.now_ms());
    return status.tls();
  };
  EXPECT_EQ(tls().error(), "");
  Write("server.key", client_.KeyPem());
  const v1::TlsState wrong = tls();
  EXPECT_THAT(wrong.error(), HasSubstr("server.key: is the key of another certificate"));
  EXPECT_EQ(wrong.failed_reloads(), 1);
  WriteIdentity("server", server_);
  EXPECT_EQ(tls().error(), "");
  EXPECT_EQ(tls().reloads(), 1);
}

// Commands show the refusal as their own error.
TEST_F(AccessRefusals, EndTheCommandWithExitCodeFour) {
  const std::string dump = ESPALIER_SOURCE_DIR "/tests/cli/data/fits.yaml";
  const std::string rules = Rules("rules: [{who: any-certificate, may: [read]}]");
  WriteAll();
  Process server({"serve", "--listen", "127.0.0.1:0", "--tls-cert", Path("server.crt"), "--tls-key",
                  Path("server.key"), "--tls-client-ca", Path("client-ca.crt"), "--access", rules});
  const std::string address = server.ReadLine().substr(std::string("listening on ").size());
  const std::vector<std::string> tls = {
      "--connect",        address,     "--tls-ca",         Path("ca.crt"),      "--tls-cert",
      Path("client.crt"), "--tls-key", Path("client.key"), "--tls-server-name", "espalier.test"};
  const auto run = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), tls.begin(), tls.end());
    Process process(std::move(arguments));
    const std::string output = process.ReadAll();
    const std::string errors = process.ReadErrors();
    return std::tuple(process.Wait(), output, errors);
  };
  const auto [code, output, errors] = run({"place", dump, "--load"});
  EXPECT_EQ(code, 4);
  EXPECT_EQ(output, "");
  EXPECT_THAT(errors, HasSubstr("the server at " + address +
                                ": espalier.v1.ClusterState/LoadState "
                                "needs the permission write-state; certificate:client may read;"));
  const auto [status_code, status, status_errors] = run({"status", "--alive"});
  EXPECT_EQ(status_code, 0) << status_errors;
  EXPECT_THAT(status, AllOf(HasSubstr("access    1 rule; 1 call denied\n"),
                            HasSubstr("tls       the certificate expires in 59m ")));
  const auto [holds_code, holds, holds_errors] = run({"holds"});
  EXPECT_NE(holds_code, 0);
  EXPECT_THAT(holds_errors, HasSubstr("no cluster state is loaded"));  // which may be known
  server.Kill(SIGTERM);
  EXPECT_EQ(server.Wait(), 0);

  Rules("rules: nothing");
  Process wrong({"serve", "--listen", "127.0.0.1:0", "--access", rules});
  EXPECT_THAT(wrong.ReadErrors(), HasSubstr("access.yaml: access: rules: "));
  EXPECT_EQ(wrong.Wait(), 4);
}

TEST_F(AccessRefusals, ProtectTheHoldsOfOthers) {
  const TestServer server(MutualOptions(Rules(R"(rules:
- {who: "certificate:first.test", may: [read, place, commit, write-state]}
- {who: "certificate:second.test", may: [read, place, commit, write-state]}
- {who: "certificate:operator.test", may: [commit, admin]}
)")));
  const std::string address = server.server->addresses()[0];
  const auto connect = [&](const std::string& name) {
    const TestCertificate shown({.alternative_names = "DNS:" + name}, &authority_);
    WriteIdentity(name, shown);
    ClientTls tls{Path("ca.crt"), Path(name + ".crt"), Path(name + ".key"), "espalier.test"};
    return std::pair(*RemoteHolds::Connect(address, "", kLong, tls),
                     *RemoteEngine::Connect(address, kLong, tls));
  };
  auto [first, first_engine] = connect("first.test");
  auto second = connect("second.test").first;
  auto admin = connect("operator.test").first;
  ASSERT_TRUE(first_engine.Load(SmallCluster()));
  const std::vector<WorkloadRequest> gangs = {MakeGang("a", 1), MakeGang("b", 1)};
  const auto placed = first.Place(gangs, 60, "", {});
  ASSERT_TRUE(placed) << placed.error().message;
  const auto refused = second.Release({placed->ids[0]});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message,
              HasSubstr("espalier.v1.Placement/ReleaseHolds needs the permission admin, as "
                        "certificate:first.test made the hold default/a@2; certificate:second.test "
                        "may read, place, commit, write-state"));
  EXPECT_FALSE(second.Extend({placed->ids[0]}, 60));
  EXPECT_FALSE(second.Confirm({placed->ids[0]}, {}, true));
  EXPECT_TRUE(first.Release({placed->ids[0]}));
  EXPECT_TRUE(admin.Release({placed->ids[1]}));
}

}  // namespace
}  // namespace espalier::access_test
