// Encryption: which certificates a server and a client take, and what is said of others.
#include <filesystem>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include "service/server/server_tls.hpp"
#include "service/tls/pem_files.hpp"
#include "tests/server/captured_log.hpp"
#include "tests/server/process.hpp"
#include "tests/server/tls_files.hpp"

namespace espalier::tls_test {
namespace {

using testing::HasSubstr;

using Tls = TlsFiles;

TEST_F(Tls, ServesThoseWithACertificate) {
  WriteAll();
  const auto started = Server::Start(Options(), MakeCpuBackend(1));
  ASSERT_TRUE(started) << started.error().message;
  const std::string address = (*started)->addresses()[0];
  EXPECT_EQ(ConnectError(address, ClientPaths()), "no error");

  ClientTls without = ClientPaths();
  without.certificate = without.key = "";
  EXPECT_THAT(ConnectError(address, without),
              HasSubstr("no server answers at " + address +
                        " over TLS, or it wants a certificate (--tls-cert, --tls-key): "));
  EXPECT_THAT(ConnectError(address, {}), HasSubstr("no server answers at " + address));

  const TestCertificate other({.common_name = "authority", .is_authority = true});
  WriteIdentity("foreign", TestCertificate({.common_name = "client"}, &other));
  ClientTls foreign = ClientPaths();
  foreign.certificate = Path("foreign.crt");
  foreign.key = Path("foreign.key");
  EXPECT_THAT(ConnectError(address, foreign), HasSubstr("or it refuses the certificate"));

  ClientTls wrong_name = ClientPaths();
  wrong_name.server_name = "another.test";
  EXPECT_THAT(ConnectError(address, wrong_name), HasSubstr("no server answers at " + address));

  ClientTls wrong_authority = ClientPaths();
  wrong_authority.ca = Write("other-ca.crt", other.Pem());
  EXPECT_THAT(ConnectError(address, wrong_authority), HasSubstr("no server answers at " + address));
}

// The server decides, not what the client thinks of its own files.
TEST_F(Tls, AnExpiredClientIsSentAway) {
  WriteAll();
  const auto started = Server::Start(Options(), MakeCpuBackend(1));
  ASSERT_TRUE(started) << started.error().message;
  const auto summary = [&](const TestCertificate& shown) {
    grpc::ChannelArguments arguments;
    arguments.SetSslTargetNameOverride("espalier.test");
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    const auto channel = grpc::CreateCustomChannel(
        (*started)->addresses()[0],
        grpc::SslCredentials({authority_.Pem(), shown.KeyPem(), shown.Pem()}), arguments);
    grpc::ClientContext context;
    v1::GetStateSummaryResponse response;
    return v1::ClusterState::NewStub(channel)->GetStateSummary(&context, {}, &response);
  };
  using std::chrono::seconds;
  EXPECT_TRUE(summary(client_).ok());
  EXPECT_EQ(summary(TestCertificate({.ends = seconds(-60)}, &authority_)).error_code(),
            grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(summary(TestCertificate({.begins = seconds(3000)}, &authority_)).error_code(),
            grpc::StatusCode::UNAVAILABLE);
  // The command names such files of its own.
  WriteIdentity("client", TestCertificate({.ends = seconds(-60)}, &authority_));
  EXPECT_THAT(ConnectError((*started)->addresses()[0], ClientPaths()),
              HasSubstr("client.crt: the certificate expired at 2"));
}

TEST_F(Tls, AsksNoCertificateWithoutAnAuthorityForIt) {
  WriteAll();
  ServerOptions options = Options();
  options.tls.client_ca = "";
  const auto started = Server::Start(options, MakeCpuBackend(1));
  ASSERT_TRUE(started) << started.error().message;
  ClientTls without = ClientPaths();
  without.certificate = without.key = "";
  EXPECT_EQ(ConnectError((*started)->addresses()[0], without), "no error");
}

TEST_F(Tls, VersionsBefore12AreNotSpoken) {
  WriteAll();
  const auto started = Server::Start(Options(), MakeCpuBackend(1));
  ASSERT_TRUE(started) << started.error().message;
  // Returns why the handshake failed; 0: it did not.
  const auto handshake = [&](int version) {
    const std::unique_ptr<SSL_CTX, decltype(&::SSL_CTX_free)> context(
        ::SSL_CTX_new(::TLS_client_method()), ::SSL_CTX_free);
    SSL_CTX_set_min_proto_version(context.get(), version);
    SSL_CTX_set_max_proto_version(context.get(), version);
    ::SSL_CTX_set_cipher_list(context.get(), "DEFAULT@SECLEVEL=0");  // lets OpenSSL try old ones
    ::SSL_CTX_set_alpn_protos(context.get(), reinterpret_cast<const unsigned char*>("\x02h2"), 3);
    ::SSL_CTX_use_certificate_file(context.get(), Path("client.crt").c_str(), SSL_FILETYPE_PEM);
    ::SSL_CTX_use_PrivateKey_file(context.get(), Path("client.key").c_str(), SSL_FILETYPE_PEM);
    const std::unique_ptr<BIO, decltype(&::BIO_free_all)> connection(
        ::BIO_new_ssl_connect(context.get()), ::BIO_free_all);
    BIO_set_conn_hostname(connection.get(), (*started)->addresses()[0].c_str());
    ::ERR_clear_error();
    return BIO_do_connect(connection.get()) == 1 ? 0 : ERR_GET_REASON(::ERR_peek_last_error());
  };
  EXPECT_EQ(handshake(TLS1_2_VERSION), 0);
  EXPECT_EQ(handshake(TLS1_3_VERSION), 0);
  // The server ends the connection, with or without saying so; the client would have gone on.
  EXPECT_THAT(handshake(TLS1_1_VERSION), testing::AnyOf(SSL_R_TLSV1_ALERT_PROTOCOL_VERSION,
                                                        SSL_R_UNEXPECTED_EOF_WHILE_READING));
}

TEST_F(Tls, WrongFilesEndTheStart) {
  WriteAll();
  const std::string crt = Path("server.crt");
  const std::string key = Path("server.key");
  std::filesystem::remove(crt);
  EXPECT_EQ(StartError(), crt + ": cannot be read: No such file or directory");
  Write("server.crt", "nothing");
  EXPECT_EQ(StartError(), crt + ": holds no certificate; want PEM, with BEGIN CERTIFICATE");
  WriteIdentity("server", server_);
  Write("server.key", "nothing");
  EXPECT_THAT(StartError(), HasSubstr(key + ": holds no private key that can be read"));
  Write("server.key", client_.KeyPem());
  EXPECT_EQ(StartError(), key + ": is the key of another certificate than that of " + crt);
  using std::chrono::seconds;
  WriteIdentity("server", TestCertificate({.ends = seconds(-60)}, &authority_));
  EXPECT_THAT(StartError(), HasSubstr(crt + ": the certificate expired at 2"));
  WriteIdentity("server", TestCertificate({.begins = seconds(3000)}, &authority_));
  EXPECT_THAT(StartError(), HasSubstr(crt + ": the certificate is not valid before 2"));
  WriteIdentity("server", server_);
  const std::string ca = Write("client-ca.crt", "");
  EXPECT_THAT(StartError(), HasSubstr(ca + ": holds no certificate"));
  Write("client-ca.crt", TestCertificate({.ends = seconds(-60), .is_authority = true}).Pem());
  EXPECT_THAT(StartError(), HasSubstr(ca + ": the certificate expired at 2"));
}

TEST_F(Tls, AnExpiredAuthorityBesideAValidOneIsNoError) {
  const TestCertificate old(
      {.common_name = "old", .ends = std::chrono::seconds(-60), .is_authority = true});
  EXPECT_TRUE(ReadAuthorities(Write("both.crt", old.Pem() + authority_.Pem())));
}

TEST_F(Tls, AClientsWrongFilesAreNamed) {
  WriteAll();
  ClientTls wrong = ClientPaths();
  wrong.key = Path("server.key");
  EXPECT_EQ(ConnectError("127.0.0.1:1", wrong),
            wrong.key + ": is the key of another certificate than that of " + wrong.certificate);
  wrong.key = "";
  EXPECT_EQ(ConnectError("127.0.0.1:1", wrong),
            "a certificate needs both --tls-cert and --tls-key");
  EXPECT_EQ(ConnectError("unix:/nowhere", ClientPaths()),
            "a unix socket has no TLS; leave --tls-... out");
}

// A projected secret changes in this way: a link to a folder is pointed to another one.
TEST_F(Tls, FilesThatChangeAreUsedForNewConnections) {
  WriteAll();
  std::filesystem::create_directories(Path("1"));
  std::filesystem::create_directories(Path("2"));
  std::filesystem::create_directory_symlink(Path("1"), Path("now"));
  WriteIdentity("1/tls", server_);
  const TestCertificate next({.alternative_names = "DNS:next.test"}, &authority_);
  WriteIdentity("2/tls", next);
  ServerOptions options = Options();
  options.tls.certificate = Path("now/tls.crt");
  options.tls.key = Path("now/tls.key");
  const auto started = Server::Start(options, MakeCpuBackend(1));
  ASSERT_TRUE(started) << started.error().message;
  const std::string address = (*started)->addresses()[0];
  auto before = RemoteEngine::Connect(address, kCallTimeout, ClientPaths());
  ASSERT_TRUE(before) << before.error().message;

  std::filesystem::create_directory_symlink(Path("2"), Path("next"));
  std::filesystem::rename(Path("next"), Path("now"));
  ClientTls tls = ClientPaths();
  tls.server_name = "next.test";
  EXPECT_EQ(ConnectError(address, tls), "no error");
  EXPECT_TRUE(before->UseStateOfServer());  // its connection goes on
}

TEST_F(Tls, WrongFilesThatComeLaterChangeNothing) {
  WriteAll();
  const auto tls = ServerTls::Open(ServerPaths());
  ASSERT_TRUE(tls) << tls.error().message;
  const auto expires = (*tls)->status().expires;
  EXPECT_NE(expires, std::chrono::system_clock::time_point());
  (*tls)->Refresh();
  EXPECT_EQ((*tls)->status().reloads, 0);

  const auto both_wrong = [&](const std::string& error) {
    (*tls)->Refresh();
    EXPECT_THAT((*tls)->status().error, HasSubstr(error));
    EXPECT_EQ((*tls)->status().expires, expires);
  };
  Write("server.key", "a key that is only half there");
  both_wrong("holds no private key that can be read");
  std::filesystem::remove(Path("server.crt"));
  both_wrong("cannot be read: No such file");
  EXPECT_EQ((*tls)->status().failures, 2);

  WriteIdentity("server", server_);
  (*tls)->Refresh();
  EXPECT_EQ((*tls)->status().error, "");
  EXPECT_EQ((*tls)->status().reloads, 1);
}

TEST_F(Tls, WrongFilesThatComeLaterAreLogged) {
  WriteAll();
  const auto tls = *ServerTls::Open(ServerPaths());
  CapturedLog log;
  tls->Refresh();
  EXPECT_EQ(log.Take(), "");
  Write("server.key", client_.KeyPem());
  tls->Refresh();
  EXPECT_THAT(log.Take(), HasSubstr("[error] TLS: " + Path("server.key") +
                                    ": is the key of another certificate than that of " +
                                    Path("server.crt") + "; what was read before stays in use\n"));
  tls->Refresh();  // said once
  EXPECT_EQ(log.Take(), "");
  WriteIdentity("server", server_);
  tls->Refresh();
  EXPECT_THAT(log.Take(), HasSubstr("TLS: the files have changed and are in use"));
}

// Neither its connection nor its answer is lost, even where the client would not be let in anew.
TEST_F(Tls, ACallInFlightIsAnsweredAcrossAChangeOfFiles) {
  WriteAll();
  ServerOptions options = Options();
  options.access =
      Write("access.yaml", "rules: [{who: any-certificate, may: [read, place, write-state]}]");
  const auto gate = std::make_shared<GatedBackend>();
  const auto started = Server::Start(options, gate);
  ASSERT_TRUE(started) << started.error().message;
  const std::string address = (*started)->addresses()[0];
  auto engine = RemoteEngine::Connect(address, kCallTimeout, ClientPaths());
  ASSERT_TRUE(engine) << engine.error().message;
  ASSERT_TRUE(engine->Load(SmallCluster()));
  gate->Close();
  const int before = gate->entered();
  auto placed = std::async(std::launch::async, [&] {
    return engine->Place(std::vector{MakeGang("a", 8)}, PlacementMode::kNominate, FeatureGates());
  });
  gate->WaitEntered(before + 1);

  const TestCertificate authority({.common_name = "authority", .is_authority = true});
  Write("client-ca.crt", authority.Pem());
  WriteIdentity("server", TestCertificate({.alternative_names = "DNS:next.test"}, &authority_));
  ClientTls tls = ClientPaths();
  tls.server_name = "next.test";
  EXPECT_THAT(ConnectError(address, tls), HasSubstr("or it refuses the certificate"));
  WriteIdentity("client", TestCertificate({.common_name = "client"}, &authority));
  EXPECT_EQ(ConnectError(address, tls), "no error");
  gate->Open();
  const auto answers = placed.get();
  ASSERT_TRUE(answers) << answers.error().message;
  EXPECT_EQ(answers->front().FirstFailure(), nullptr);
}

TEST_F(Tls, WrongFilesEndTheProcessWithTheReason) {
  WriteAll();
  const auto expect = [&](const std::string& reason) {
    Process server({"serve", "--listen", "127.0.0.1:0", "--tls-cert", Path("server.crt"),
                    "--tls-key", Path("server.key"), "--tls-client-ca", Path("client-ca.crt")});
    EXPECT_EQ(server.ReadAll(), "");
    EXPECT_THAT(server.ReadErrors(), testing::EndsWith("\nespalier: " + reason + "\n"));
    EXPECT_EQ(server.Wait(), 4);
  };
  const std::string crt = Path("server.crt");
  std::filesystem::remove(crt);
  expect(crt + ": cannot be read: No such file or directory");
  Write("server.crt", "nothing");
  expect(crt + ": holds no certificate; want PEM, with BEGIN CERTIFICATE");
  WriteIdentity("server", server_);
  Write("server.key", client_.KeyPem());
  expect(Path("server.key") + ": is the key of another certificate than that of " + crt);
  WriteIdentity("server", server_);
  Write("client-ca.crt", "");
  expect(Path("client-ca.crt") + ": holds no certificate; want PEM, with BEGIN CERTIFICATE");
}

TEST_F(Tls, OptionsThatMeanNothingAreErrors) {
  WriteAll();
  ServerOptions options = Options();
  options.tls.key = "";
  const auto error = [&] { return Server::Start(options, MakeCpuBackend(1)).error().message; };
  EXPECT_EQ(error(), "TLS needs both --tls-cert and --tls-key");
  options = Options();
  options.listen = {SocketAddress("no-tls")};
  EXPECT_EQ(error(), "TLS is for TCP: --listen names no HOST:PORT");
  options = Options();
  options.socket_mode = 0660;
  EXPECT_EQ(error(), "--socket-mode and --socket-group are for unix sockets; --listen names none");
  options = Options();
  options.listen = {"0.0.0.0:0"};
  options.tls.client_ca = "";
  EXPECT_THAT(error(), HasSubstr("can be reached from the network"));
}

TEST_F(Tls, ASocketHasTheModeAndGroupThatItIsGiven) {
  ServerOptions options;
  options.listen = {SocketAddress("mode")};
  options.socket_mode = 0660;
  options.socket_group = std::to_string(::getegid());
  const TestServer server(options);
  struct stat status = {};
  ASSERT_EQ(::stat(options.listen[0].substr(5).c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0660u);
  EXPECT_EQ(status.st_gid, ::getegid());
  options.socket_group = "no such group";
  EXPECT_EQ(Server::Start(options, MakeCpuBackend(1)).error().message,
            "there is no group \"no such group\"; want the name or number of one");
}

}  // namespace
}  // namespace espalier::tls_test
