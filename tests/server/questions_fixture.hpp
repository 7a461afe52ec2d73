// Asks espalier.v1.Questions of a server in this process.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "espalier/v1/questions.grpc.pb.h"
#include "service/wire/cluster_state.hpp"
#include "service/wire/tables.hpp"
#include "service/wire/workloads.hpp"
#include "tests/server/small_cluster.hpp"
#include "tests/server/test_server.hpp"

namespace espalier {

// Returns `pods` pods of 4 cpu on each of some hosts.
inline AdmittedUsage Running(const std::string& name, const std::vector<std::string>& hosts,
                             std::int32_t pods = 2, std::int32_t priority = 0) {
  AdmittedUsage workload{{"team", name}, priority, 1, {}};
  for (const std::string& host : hosts) {
    workload.usage.push_back({"main", host, {{"cpu", 4000 * pods}, {"pods", pods}}});
  }
  return workload;
}

inline v1::Victims VictimsNamed(const std::vector<std::string>& names) {
  v1::Victims victims;
  StringTable strings(victims.mutable_strings());
  for (const std::string& name : names) {
    victims.add_namespaces(strings.Ref(std::string("team")));
    victims.add_names(strings.Ref(name));
  }
  return victims;
}

class QuestionsTest : public testing::Test {
 protected:
  void Load(const ClusterStateInput& input, const std::vector<AdmittedUsage>& workloads) {
    const grpc::Status status = server_.Load(input, &position_, "", workloads);
    ASSERT_TRUE(status.ok()) << status.error_message();
  }

  // Reads all messages of a call.
  template <class Request, class Response>
  std::vector<Response> Read(std::unique_ptr<grpc::ClientReader<Response>> (
                                 v1::Questions::Stub::*call)(grpc::ClientContext*, const Request&),
                             const Request& request, grpc::Status* status = nullptr) {
    grpc::ClientContext context;
    const auto reader = (stub_.get()->*call)(&context, request);
    std::vector<Response> responses;
    for (Response response; reader->Read(&response);) responses.push_back(response);
    const grpc::Status ended = reader->Finish();
    if (status != nullptr) {
      *status = ended;
    } else {
      EXPECT_TRUE(ended.ok()) << ended.error_message();
    }
    return responses;
  }

  std::vector<bool> AskWhatIf(const v1::WhatIfRequest& request, grpc::Status* status = nullptr) {
    std::vector<bool> fits;
    for (const auto& response : Read(&v1::Questions::Stub::WhatIf, request, status)) {
      fits.insert(fits.end(), response.fits().begin(), response.fits().end());
    }
    return fits;
  }

  // Expects a call to fail without any answer, with `text` in its message.
  template <class Request, class Response>
  void ExpectRefused(std::unique_ptr<grpc::ClientReader<Response>> (v1::Questions::Stub::*call)(
                         grpc::ClientContext*, const Request&),
                     const Request& request, grpc::StatusCode code, const std::string& text) {
    grpc::Status status;
    EXPECT_TRUE(Read(call, request, &status).empty());
    EXPECT_EQ(status.error_code(), code) << status.error_message();
    EXPECT_NE(status.error_message().find(text), std::string::npos) << status.error_message();
  }

  TestServer server_;
  std::unique_ptr<v1::Questions::Stub> stub_ = v1::Questions::NewStub(server_.channel);
  v1::StatePosition position_;
  FeatureGates gates_;
};

}  // namespace espalier
