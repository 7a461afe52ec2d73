// The stories of the documents behind the project, as somebody at a terminal lives them: a file of
// data/stories is a script of commands, each with what it prints and its exit code.
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/process.hpp"
#include "tests/cli_cycle/files.hpp"

namespace espalier {
namespace {

const std::string kStories = kData + "stories/";

// Words of a command; those that name a file of the stories get its path, also behind NAME=.
std::vector<std::string> WordsOf(const std::string& command) {
  std::vector<std::string> words;
  std::istringstream stream(command);
  for (std::string word; stream >> word;) {
    const std::size_t equals = word.find('=') + 1;  // 0: none
    const std::string path = kStories + word.substr(equals);
    words.push_back(std::filesystem::exists(path) ? word.substr(0, equals) + path : word);
  }
  return words;
}

// Runs the commands of a script, the lines that begin with "$ espalier ", and writes each with what
// it printed, what it told first; lines that begin with "#" stay as they are.
std::string Transcript(const std::string& script) {
  constexpr std::string_view kPrompt = "$ espalier ";
  std::string text;
  std::istringstream lines(script);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("#")) text += line + "\n";
    if (!line.starts_with(kPrompt)) continue;
    const ProcessResult result = RunEspalier(WordsOf(line.substr(kPrompt.size())));
    text += line + "\n" + result.errors + result.output;
    if (result.exit_code != 0) text += "[exit code " + std::to_string(result.exit_code) + "]\n";
    text += "\n";
  }
  return text;
}

TEST(Stories, AreTold) {
  std::size_t stories = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kStories)) {
    if (entry.path().extension() != ".txt") continue;
    ++stories;
    const std::string script = FileContent(entry.path());
    EXPECT_EQ(Transcript(script), script) << entry.path();
  }
  EXPECT_EQ(stories, 2U);
}

}  // namespace
}  // namespace espalier
