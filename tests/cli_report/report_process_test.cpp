// --report of the commands that have it: what they embed, and what becomes of it where it cannot be
// written.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "tests/cli/process.hpp"

namespace espalier::report_process_test {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

const std::string kData = ESPALIER_SOURCE_DIR "/tests/cli/data/";
const std::string kSmall = kData + "small.yaml";
const std::string kQuestions = kData + "questions.yaml";
const std::string kDumps = ESPALIER_SOURCE_DIR "/tests/data/dumps/";

std::string FileContent(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

class ReportProcess : public testing::Test {
 protected:
  ReportProcess() {
    std::string name = testing::TempDir() + "espalier-report-XXXXXX";
    folder_ = ::mkdtemp(name.data());
    file_ = folder_ + "/report.html";
  }
  ~ReportProcess() override { std::filesystem::remove_all(folder_); }

  ProcessResult Run(std::vector<std::string> arguments) const {
    arguments.insert(arguments.end(), {"--report", file_});
    return RunEspalier(arguments);
  }

  // The embedded data.
  std::string Data() const {
    const std::string page = FileContent(file_);
    EXPECT_THAT(page, AllOf(StartsWith("<!doctype html>"), EndsWith("</html>\n")));
    constexpr std::string_view kBegin = "<script type=\"application/json\" id=\"data\">\n";
    const std::size_t begin = page.find(kBegin) + kBegin.size();
    return page.substr(begin, page.find("\n\n</script>", begin) + 1 - begin);
  }

  std::string folder_;
  std::string file_;
};

TEST_F(ReportProcess, OfPlaceHoldsEveryGang) {
  const auto run = Run({"place", kSmall});
  EXPECT_EQ(run.exit_code, 1) << run.errors;
  EXPECT_EQ(run.output, FileContent(kData + "small.table"));
  EXPECT_EQ(Data(), FileContent(ESPALIER_SOURCE_DIR "/tests/cli_report/data/place.json"));
}

TEST_F(ReportProcess, OfCycleSaysWhichCycle) {
  EXPECT_EQ(Run({"cycle", kQuestions, "--until-stable"}).exit_code, 1);
  EXPECT_EQ(Data(), FileContent(ESPALIER_SOURCE_DIR "/tests/cli_report/data/cycle.json"));
}

TEST_F(ReportProcess, OfExplainBeginsWithTheGang) {
  EXPECT_EQ(Run({"explain", "big", kQuestions}).exit_code, 1);
  EXPECT_EQ(Data(), FileContent(ESPALIER_SOURCE_DIR "/tests/cli_report/data/explain.json"));
}

TEST_F(ReportProcess, OfAuditHoldsWhatWasDecided) {
  EXPECT_EQ(Run({"audit", kDumps + "before.json.gz", kDumps + "after.json.gz",
                 kDumps + "extra.json", "-o", "json"})
                .exit_code,
            0);
  EXPECT_THAT(Data(), AllOf(HasSubstr(R"("status": "as here")"),
                            HasSubstr(R"("state": "waiting", "status": "waits")"),
                            Not(HasSubstr("otherwise here"))));
}

TEST_F(ReportProcess, OfVictimsOfAllHasTheAtlas) {
  const auto run = Run({"victims", "--all", kQuestions});
  EXPECT_EQ(run.exit_code, 0) << run.errors;
  EXPECT_THAT(
      Data(),
      AllOf(
          HasSubstr(R"("name": "team/big", "state": "waiting")"),
          HasSubstr(
              R"("atlas": {"priorities": ["0", "1"], "sheets": [{"name": "rack of tas", "about": )"
              R"("1 kind of pending workloads down, 3 racks of flavor tas across", )"
              R"("rows": ["team/big"], "columns": ["b1/r1", "b1/r2", "b2/r1"], )"
              R"("cells": [[2, 2, 1]]}]})")));
}

TEST_F(ReportProcess, OfAServersStateIsAsOfItsFiles) {
  const std::string address = SocketAddress();
  BackgroundEspalier server({"serve", "--listen", address});
  ASSERT_THAT(server.ReadLine(), HasSubstr(address));
  const auto loaded = RunEspalier({"place", kQuestions, "--connect", address, "--load"});
  ASSERT_THAT(loaded.errors, HasSubstr("replaced the state of"));
  const auto explained = Run({"explain", "big", kQuestions, "--connect", address});
  EXPECT_EQ(explained.exit_code, 1) << explained.errors;
  EXPECT_EQ(Data(), FileContent(ESPALIER_SOURCE_DIR "/tests/cli_report/data/explain.json"));
  const std::vector<std::string> audit = {"audit", kQuestions, kQuestions};
  EXPECT_EQ(Run(audit).exit_code, 0);
  const std::string of_files = Data();
  std::vector<std::string> there = audit;
  there.insert(there.end(), {"--connect", address});
  const auto audited = Run(there);
  EXPECT_EQ(audited.exit_code, 0) << audited.errors;
  EXPECT_EQ(Data(), of_files);
  EXPECT_EQ(server.Stop(), 0);
}

TEST_F(ReportProcess, IsTheSameEachTime) {
  Run({"place", kDumps + "before.json.gz", kDumps + "extra.json", "--threads", "1"});
  const std::string once = FileContent(file_);
  Run({"place", kDumps + "before.json.gz", kDumps + "extra.json", "--threads", "3"});
  EXPECT_EQ(once, FileContent(file_));
}

TEST_F(ReportProcess, ThatCannotBeWrittenIsAnError) {
  file_ = folder_ + "/none/report.html";
  const auto run = Run({"place", kSmall});
  EXPECT_EQ(run.exit_code, 3);
  EXPECT_THAT(run.errors, HasSubstr(file_ + ": cannot be written: No such file or directory"));
  EXPECT_EQ(run.output, FileContent(kData + "small.table"));  // that was decided all the same
  file_ = folder_ + "/full.html";
  std::filesystem::create_symlink("/dev/full", file_);
  for (const std::vector<std::string>& command : std::vector<std::vector<std::string>>{
           {"place", kSmall}, {"cycle", kSmall}, {"explain", "big", kQuestions}}) {
    const auto full = Run(command);
    EXPECT_EQ(full.exit_code, 4) << command[0];
    EXPECT_THAT(full.errors, HasSubstr("full.html: cannot be written: "));
  }
}

TEST_F(ReportProcess, NeitherWaitsForAReaderNorWritesWhatIsNoFile) {
  const auto refused = [&](const std::string& what) {
    const auto run = Run({"place", kSmall});
    EXPECT_EQ(run.exit_code, 3);
    EXPECT_THAT(run.errors, HasSubstr(file_ + ": cannot be written: it is a " + what +
                                      "; want the name of a file"));
  };
  file_ = folder_ + "/pipe.html";
  ASSERT_EQ(::mkfifo(file_.c_str(), 0600), 0);
  refused("pipe");
  file_ = folder_ + "/folder.html";
  ASSERT_EQ(::mkdir(file_.c_str(), 0700), 0);
  refused("directory");
  file_ = folder_ + "/socket.html";
  ASSERT_EQ(::mknod(file_.c_str(), S_IFSOCK | 0600, 0), 0);
  refused("socket");
}

TEST_F(ReportProcess, WrongUseIsExitCodeTwo) {
  const auto refused = [](const std::vector<std::string>& arguments, const std::string& why) {
    const auto run = RunEspalier(arguments);
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_THAT(run.errors, HasSubstr(why));
    EXPECT_THAT(run.output, IsEmpty());
  };
  refused({"place", kSmall, "--report", "report.txt"},
          "\"report.txt\" is no name of a report; want FILE.html");
  refused({"place", kSmall, "--report", file_, "--mode", "nominate"}, "needs --mode sequential");
  refused({"place", kSmall, "--report", file_, "--show-model"}, "--show-model");
  refused({"place", kSmall, "--report", file_, "--connect", "unix:/tmp/none.sock"},
          "--report: is drawn from the files: with --connect it needs --load");
}

}  // namespace
}  // namespace espalier::report_process_test
