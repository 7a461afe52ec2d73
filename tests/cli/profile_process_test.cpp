// A gang workload that asks for more than Kueue can say, through every command: what profile kueue
// says of it, and that profile espalier places it as the tree that it is (W1.6).
#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/process.hpp"
#include "tests/cli/tas_queue.hpp"

namespace espalier {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// Two blocks of two racks of two hosts of four cpus; of `full` racks nothing is free.
std::string Cluster(const std::vector<std::string>& full) {
  std::string text = kQueues;
  for (const char* block : {"b1", "b2"}) {
    for (const char* rack : {"r1", "r2"}) {
      const std::string of_rack = std::string(block) + rack;
      for (const char* host : {"h1", "h2"}) {
        const std::string node = of_rack + host;
        text += "---\napiVersion: v1\nkind: Node\nmetadata: {name: " + node +
                ", labels: {pool: tas, cloud/block: " + block + ", cloud/rack: " + of_rack +
                ", kubernetes.io/hostname: " + node +
                "}}\nstatus: {allocatable: {cpu: '4', pods: '110'}, conditions: [{type: Ready, "
                "status: 'True'}]}\n";
        if (std::ranges::find(full, of_rack) == full.end()) continue;
        text += "---\napiVersion: v1\nkind: Pod\nmetadata: {name: fill-" + node +
                "}\nspec: {nodeName: " + node +
                ", containers: [{name: c, resources: {requests: {cpu: 4}}}]}\nstatus: {phase: "
                "Running}\n";
      }
    }
  }
  return text;
}

// Two racks of one block: flat requests can say the racks alone.
constexpr const char* kTwoLevels = R"(---
apiVersion: scheduling/v1alpha1
kind: Workload
metadata: {name: two, labels: {kueue.x-k8s.io/queue-name: q}}
spec:
  topologyRequest: {required: cloud/block}
  gangGroups:
  - name: gg
    minCount: 12
    rankedGroups:
    - name: ra
      topologyRequest: {required: cloud/rack}
      eqGroups: [{name: ea, count: 6, template: {resources: {requests: {cpu: 1}}}}]
    - name: rb
      topologyRequest: {required: cloud/rack}
      eqGroups: [{name: eb, count: 6, template: {resources: {requests: {cpu: 1}}}}]
)";

constexpr const char* kNotHonoured =
    "not as asked: topologyRequest of the workload: required cloud/block holds for each of its 2 "
    "pod sets, not for all of them together";

ProcessResult Ask(std::vector<std::string> command, const std::vector<std::string>& full) {
  return RunEspalier(command, Cluster(full) + kTwoLevels);
}

// Room in two racks of different blocks.
const std::vector<std::string> kApart = {"b1r2", "b2r2"};

// About one workload; the node that is drained is full.
const std::vector<std::vector<std::string>> kQuestions = {
    {"explain", "two", "-"}, {"what-if", "two", "-", "--drain", "b1r2h1"}, {"victims", "two", "-"}};

TEST(ProfileKueue, PlaceSaysWhatItCannotHonourAndExitsWithOne) {
  const ProcessResult said = Ask({"place", "-"}, kApart);
  EXPECT_EQ(said.exit_code, 1) << said.errors;
  EXPECT_THAT(said.output,
              AllOf(HasSubstr("b1/b1r1"), HasSubstr("b2/b2r1"), HasSubstr(kNotHonoured),
                    HasSubstr("1 of the placed not as asked")));
  const ProcessResult allowed = Ask({"place", "-", "--best-effort"}, kApart);
  EXPECT_EQ(allowed.exit_code, 0);
  EXPECT_EQ(allowed.output, said.output);
  EXPECT_THAT(Ask({"place", "-", "-o", "json"}, kApart).output,
              HasSubstr("\"espalier.dev/not-honoured\": \"topologyRequest of the workload"));
}

TEST(ProfileKueue, CycleExplainAndTheOthersSayTheSame) {
  const ProcessResult cycle = Ask({"cycle", "-"}, kApart);
  EXPECT_EQ(cycle.exit_code, 1);
  EXPECT_THAT(cycle.output, AllOf(HasSubstr("admitted"), HasSubstr(kNotHonoured)));
  EXPECT_EQ(Ask({"cycle", "-", "--best-effort"}, kApart).exit_code, 0);
  EXPECT_THAT(Ask({"cycle", "-", "-o", "jsonl"}, kApart).output, HasSubstr("\"notHonoured\""));
  for (std::vector<std::string> command : kQuestions) {
    const ProcessResult asked = Ask(command, kApart);
    EXPECT_EQ(asked.exit_code, 1) << command[0] << asked.errors;
    EXPECT_THAT(asked.output, HasSubstr(kNotHonoured)) << command[0];
    command.emplace_back("--best-effort");
    EXPECT_EQ(Ask(command, kApart).exit_code, 0) << command[0];
  }
}

TEST(ProfileEspalier, NoCommandBreaksTheOuterLevel) {
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"place", "-", "--profile", "espalier"},
        {"cycle", "-", "--profile", "espalier"},
        {"explain", "two", "-", "--profile", "espalier"},
        {"what-if", "two", "-", "--drain", "b1r2h1", "--profile", "espalier"},
        {"victims", "two", "-", "--profile", "espalier"},
        {"capacity", "-", "--profile", "espalier"}}) {
    const ProcessResult without_room = Ask(command, kApart);
    EXPECT_EQ(without_room.exit_code, 1) << command[0] << without_room.errors;
    EXPECT_THAT(without_room.output, Not(HasSubstr("not as asked"))) << command[0];
    const ProcessResult with_room = Ask(command, {"b1r2"});
    EXPECT_EQ(with_room.exit_code, 0) << command[0] << with_room.output << with_room.errors;
    EXPECT_THAT(with_room.output, Not(HasSubstr("b1/b1r1"))) << command[0];
  }
  EXPECT_THAT(Ask({"cycle", "-", "--profile", "espalier"}, {"b1r2"}).output,
              AllOf(HasSubstr("b2/b2r1"), HasSubstr("b2/b2r2"), HasSubstr("1 admitted")));
}

// R25.14: the pods that fill the racks may end, so that it is a matter of waiting.
TEST(ProfileEspalier, ExplainTellsWaitingFromNever) {
  EXPECT_THAT(Ask({"explain", "two", "-", "--profile", "espalier"}, kApart).output,
              AllOf(HasSubstr("no domain of cloud/block has room"),
                    HasSubstr("yes, once enough of what runs has ended")));
  const std::string large =
      std::string(kTwoLevels).replace(std::string(kTwoLevels).find("count: 6"), 8, "count: 9");
  EXPECT_THAT(
      RunEspalier({"explain", "two", "-", "--profile", "espalier"}, Cluster({}) + large).output,
      HasSubstr("never on these nodes"));
}

TEST(ProfileEspalier, CapacityCountsTreesAsTheyAre) {
  const ProcessResult all = Ask({"capacity", "-", "--profile", "espalier"}, {});
  EXPECT_EQ(all.exit_code, 0) << all.errors;
  EXPECT_THAT(all.output, testing::ContainsRegex("default/two +tas +flavor +2 +24 pods"));
  EXPECT_THAT(Ask({"capacity", "-", "--profile", "espalier"}, {"b1r2"}).output,
              testing::ContainsRegex("default/two +tas +flavor +1 +12 pods"));
}

// A server answers questions about trees on its state as the files are answered.
TEST(ProfileEspalier, AServerAnswersTheSame) {
  const std::string address = SocketAddress();
  BackgroundEspalier server({"serve", "--listen", address});
  EXPECT_THAT(server.ReadLine(), HasSubstr("listening"));
  for (const std::vector<std::string>& full : {kApart, std::vector<std::string>{"b1r2"}}) {
    const ProcessResult here = Ask({"place", "-", "--profile", "espalier"}, full);
    const ProcessResult there =
        Ask({"place", "-", "--profile", "espalier", "--connect", address, "--load"}, full);
    EXPECT_EQ(there.output, here.output) << there.errors;
    EXPECT_EQ(there.exit_code, here.exit_code);
    for (std::vector<std::string> command : kQuestions) {
      command.insert(command.end(), {"--profile", "espalier"});
      const ProcessResult asked_here = Ask(command, full);
      command.insert(command.end(), {"--connect", address});
      const ProcessResult asked_there = Ask(command, full);
      EXPECT_EQ(asked_there.output, asked_here.output) << command[0] << asked_there.errors;
      EXPECT_EQ(asked_there.exit_code, asked_here.exit_code) << command[0];
    }
  }
}

// The same workload, whose pods run: those of `ra` on one host, those of `rb` on another.
std::string Running(const std::string& of_ra, const std::string& of_rb) {
  std::string text = kTwoLevels;
  for (const auto& [part, node] : {std::pair("ra", of_ra), std::pair("rb", of_rb)}) {
    const std::string group = std::string("name: ") + part + "\n";
    text.replace(text.find(group), group.size(), group + "      selector: {part: " + part + "}\n");
    text.replace(text.find("count: 6"), 8, "count: 4");
    for (int i = 0; i < 4; ++i) {
      text += std::string("---\napiVersion: v1\nkind: Pod\nmetadata: {name: ") + part + "-" +
              std::to_string(i) + ", labels: {part: " + part + "}}\nspec: {nodeName: " + node +
              ", workload: {name: two}, containers: [{name: c, resources: {requests: {cpu: 1}}}]}" +
              "\nstatus: {phase: Running}\n";
    }
  }
  return text.replace(text.find("minCount: 12"), 12, "minCount: 8");
}

ProcessResult Move(std::vector<std::string> command, const std::vector<std::string>& full,
                   const std::string& running) {
  return RunEspalier(command, Cluster(full) + running);
}

// W1.6, R25: pods that run are moved to where their tree is whole, or nowhere.
TEST(ProfileEspalier, DrainKeepsRunningPodsToEachRequiredLevel) {
  const std::string running = Running("b1r1h1", "b1r2h1");
  const std::vector<std::string> drain = {"drain", "cloud/rack=b1r1", "-", "--profile", "espalier"};
  const ProcessResult moved = Move(drain, {}, running);
  EXPECT_EQ(moved.exit_code, 0) << moved.errors;
  EXPECT_THAT(moved.output, AllOf(HasSubstr("4 of 8"), HasSubstr("1 admitted workload hit"),
                                  HasSubstr("ea: b1/b1r2"), HasSubstr("eb: b1/b1r2")));
  // There is room for all of it in the other block alone.
  const ProcessResult apart = Move(drain, {"b1r2", "b2r1"}, Running("b1r1h1", "b1r1h2"));
  EXPECT_EQ(apart.exit_code, 0) << apart.errors;
  EXPECT_THAT(apart.output, AllOf(HasSubstr("ea: b2/b2r2"), HasSubstr("eb: b2/b2r2")));
  const ProcessResult nowhere = Move({"drain", "b1r1h1", "-", "--profile", "espalier"},
                                     {"b1r2", "b2r1", "b2r2"}, Running("b1r1h1", "b1r1h2"));
  EXPECT_EQ(nowhere.exit_code, 1);
  EXPECT_THAT(nowhere.output, AllOf(HasSubstr("no domain of cloud/block has room"),
                                    HasSubstr("1 without a place")));
}

TEST(ProfileKueue, DrainAndDefragmentSayWhatTheyCannotHonour) {
  const std::string running = Running("b1r1h1", "b1r2h1");
  for (std::vector<std::string> command :
       {std::vector<std::string>{"drain", "b1r1h1", "-"}, {"defragment", "--level", "rack", "-"}}) {
    const ProcessResult moved = Move(command, {}, running);
    EXPECT_EQ(moved.exit_code, 1) << moved.errors;
    EXPECT_THAT(moved.output, HasSubstr(kNotHonoured)) << command[0];
    command.insert(command.end(), {"-o", "json", "--best-effort"});
    const ProcessResult allowed = Move(command, {}, running);
    EXPECT_EQ(allowed.exit_code, 0) << command[0];
    EXPECT_THAT(allowed.output, HasSubstr("\"notHonoured\"")) << command[0];
  }
}

TEST(ProfileEspalier, DefragmentMovesRunningPodsAsTheTreeThatTheyAre) {
  const std::vector<std::string> command = {"defragment", "--level",   "rack",
                                            "-",          "--profile", "espalier"};
  const ProcessResult freed = Move(command, {}, Running("b1r1h1", "b1r2h1"));
  EXPECT_EQ(freed.exit_code, 0) << freed.errors;
  EXPECT_THAT(freed.output, AllOf(HasSubstr("b1/b1r1"), HasSubstr("ea: b1/b1r2"),
                                  HasSubstr("eb: b1/b1r2"), HasSubstr("3 after 1 move")));
  // The other rack of the block has room for half of it only.
  const std::string filler =
      "---\napiVersion: v1\nkind: Pod\nmetadata: {name: f}\nspec: {nodeName: b1r2h2, containers: "
      "[{name: c, resources: {requests: {cpu: 4}}}]}\nstatus: {phase: Running}\n---\n"
      "apiVersion: v1\nkind: Pod\nmetadata: {name: g}\nspec: {nodeName: b1r1h2, containers: "
      "[{name: c, resources: {requests: {cpu: 4}}}]}\nstatus: {phase: Running}\n";
  EXPECT_EQ(Move(command, {}, Running("b1r1h1", "b1r2h1") + filler).exit_code, 1);
}

// A server knows running gangs by name once they are loaded.
TEST(ProfileEspalier, AServerMovesRunningGangsTheSame) {
  const std::string address = SocketAddress();
  BackgroundEspalier server({"serve", "--listen", address});
  EXPECT_THAT(server.ReadLine(), HasSubstr("listening"));
  const std::string running = Running("b1r1h1", "b1r2h1");
  for (const char* profile : {"kueue", "espalier"}) {
    Move({"place", "-", "--profile", profile, "--connect", address, "--load"}, {}, running);
    for (std::vector<std::string> command :
         {std::vector<std::string>{"drain", "cloud/rack=b1r1", "-", "--profile", profile},
          {"defragment", "--level", "rack", "-", "--profile", profile}}) {
      const ProcessResult here = Move(command, {}, running);
      command.insert(command.end(), {"--connect", address});
      const ProcessResult there = Move(command, {}, running);
      EXPECT_EQ(there.output, here.output) << command[0] << there.errors;
      EXPECT_EQ(there.exit_code, here.exit_code) << command[0];
    }
  }
}

// R25.12: a gang that runs whole binds the others of its workload to what they ask for together.
TEST(RunningGangs, BindThoseOfTheirWorkloadThatWait) {
  const auto gangs = [](const std::string& more) {
    std::string text =
        "---\napiVersion: scheduling/v1alpha1\nkind: Workload\nmetadata: {name: w, labels: "
        "{kueue.x-k8s.io/queue-name: q}}\nspec: {topologyRequest: {required: cloud/block}, "
        "gangGroups: [{name: g1, minCount: 2, selector: {part: a}}, {name: g2, minCount: 2, "
        "selector: {part: b}}]}\n";
    for (const char* name : {"a1", "a2", "b1", "b2"}) {
      const bool runs = name[0] == 'a';
      text += std::string("---\napiVersion: v1\nkind: Pod\nmetadata: {name: ") + name +
              ", labels: {part: " + name[0] + "}}\nspec: {workload: {name: w}, " +
              (runs ? "nodeName: b1r1h1, " : "") +
              "containers: [{name: c, resources: {requests: {cpu: " + (runs ? "1" : more) +
              "}}}]}\nstatus: {phase: " + (runs ? "Running" : "Pending") + "}\n";
    }
    return text;
  };
  for (const char* profile : {"kueue", "espalier"}) {
    const ProcessResult placed =
        RunEspalier({"place", "-", "--profile", profile}, Cluster({}) + gangs("4"));
    EXPECT_EQ(placed.exit_code, 0) << placed.errors;
    EXPECT_THAT(placed.output, AllOf(HasSubstr("b1/b1r2"), Not(HasSubstr("b2/"))));
    const ProcessResult waits =
        RunEspalier({"place", "-", "--profile", profile}, Cluster({"b1r2"}) + gangs("4"));
    EXPECT_EQ(waits.exit_code, 1) << waits.output;
  }
}

// Of several gangs that share a domain all have a place in one, or none has.
TEST(RunningGangs, OfOneWorkloadMoveTogether) {
  std::string text =
      "---\napiVersion: scheduling/v1alpha1\nkind: Workload\nmetadata: {name: w, labels: "
      "{kueue.x-k8s.io/queue-name: q}}\nspec: {topologyRequest: {required: cloud/rack}, "
      "gangGroups: "
      "[{name: g1, minCount: 2, selector: {part: a}}, {name: g2, minCount: 2, selector: {part: "
      "b}}]}\n";
  for (const char* name : {"a1", "a2", "b1", "b2"}) {
    text += std::string("---\napiVersion: v1\nkind: Pod\nmetadata: {name: ") + name +
            ", labels: {part: " + name[0] + "}}\nspec: {workload: {name: w}, nodeName: b1r1h" +
            (name[0] == 'a' ? "1" : "2") +
            ", containers: [{name: c, resources: {requests: {cpu: 2}}}]}\nstatus: {phase: "
            "Running}\n";
  }
  // Half of it has room on the other host of its rack.
  const ProcessResult stays = RunEspalier({"drain", "b1r1h1", "-", "--profile", "espalier"},
                                          Cluster({"b1r2", "b2r1", "b2r2"}) + text);
  EXPECT_EQ(stays.exit_code, 1) << stays.output;
  EXPECT_THAT(stays.output, HasSubstr("1 without a place"));
  const ProcessResult moves = RunEspalier({"drain", "b1r1h1", "-", "--profile", "espalier"},
                                          Cluster({"b1r2", "b2r1"}) + text);
  EXPECT_EQ(moves.exit_code, 0) << moves.output;
  EXPECT_THAT(moves.output, AllOf(HasSubstr("g1"), HasSubstr("b2/b2r2"), Not(HasSubstr("b1/"))));
}

// W1.3: each pod that needs no other and has no place is a pod that is not placed.
TEST(BestEffort, EveryCommandTellsPodsThatAreLeft) {
  const std::string text =
      Cluster({}) +
      "---\napiVersion: scheduling/v1alpha1\nkind: Workload\nmetadata: {name: w, labels: "
      "{kueue.x-k8s.io/queue-name: q}}\nspec: {topologyRequest: {required: cloud/rack}, "
      "gangGroups: "
      "[{name: gg, gangMode: \"Off\", eqGroups: [{name: e, count: 3, template: {resources: "
      "{requests: {cpu: 3}}}}]}]}\n";
  const ProcessResult cycle = RunEspalier({"cycle", "-"}, text);
  EXPECT_EQ(cycle.exit_code, 1) << cycle.errors;
  EXPECT_THAT(cycle.output,
              AllOf(HasSubstr("2 of 3 pods"), HasSubstr("1 of the admitted in part")));
  EXPECT_EQ(RunEspalier({"cycle", "-", "--best-effort"}, text).exit_code, 0);
  EXPECT_THAT(RunEspalier({"explain", "w", "-"}, text).output,
              HasSubstr("in part: 2 of 3 pods are placed"));
}

// R25.3: each replica is a gang of its own, so that one without a place is one that is not placed.
TEST(Replicas, WithoutAPlaceAreNotPlaced) {
  const std::string text = Cluster({"b2r1", "b2r2"}) + R"(---
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {name: l, labels: {kueue.x-k8s.io/queue-name: q}}
spec:
  replicas: 3
  leaderWorkerTemplate:
    size: 2
    workerTemplate:
      metadata: {annotations: {kueue.x-k8s.io/podset-required-topology: cloud/rack}}
      spec: {containers: [{name: c, resources: {requests: {cpu: 4}}}]}
)";
  for (const char* command : {"place", "cycle"}) {
    const auto run = [&](std::vector<std::string> options) {
      options.insert(options.begin(), {command, "-", "--profile", "espalier"});
      return RunEspalier(options, text);
    };
    const ProcessResult result = run({});
    EXPECT_EQ(result.exit_code, 1) << result.output;
    EXPECT_THAT(result.output, HasSubstr("in part"));
    EXPECT_EQ(run({"--best-effort"}).exit_code, 0);
  }
}

// R21.14.
TEST(ResourceLimits, HoldForEveryCommand) {
  const auto job = [](const char* name, const char* cpu) {
    return std::string("---\napiVersion: batch/v1\nkind: Job\nmetadata: {name: ") + name +
           ", labels: {kueue.x-k8s.io/queue-name: q}}\nspec: {suspend: true, template: {spec: "
           "{containers: [{name: c, resources: {requests: {cpu: " +
           cpu + "}}}]}}}\n";
  };
  const std::string text = Cluster({}) +
                           "---\napiVersion: v1\nkind: LimitRange\nmetadata: {name: l}\nspec: "
                           "{limits: [{type: Pod, max: {cpu: 3}}]}\n" +
                           job("four", "4") + job("three", "3");
  const auto says = AllOf(HasSubstr("resources didn't satisfy LimitRange constraints"),
                          HasSubstr("requests must not be above the limitRange max"));
  const ProcessResult place = RunEspalier({"place", "-"}, text);
  EXPECT_EQ(place.exit_code, 1) << place.errors;
  EXPECT_THAT(place.output, AllOf(says, HasSubstr("1 placed, 1 not placed")));
  EXPECT_THAT(RunEspalier({"explain", "four", "-"}, text).errors, says);
  EXPECT_EQ(RunEspalier({"explain", "three", "-"}, text).exit_code, 0);
  EXPECT_THAT(RunEspalier({"cycle", "-", "--until-stable"}, text).output, says);
}

// Pods of a group of Kueue's whose Workload is not in the input use their nodes all the same.
TEST(RunningGangs, OfKueueUseWhatTheyRequest) {
  std::string text = Cluster({"b1r2", "b2r1", "b2r2"});
  for (const char* name : {"a", "b", "c", "d"}) {
    const bool runs = name[0] < 'c';
    text += std::string("---\napiVersion: v1\nkind: Pod\nmetadata: {name: ") + name +
            ", labels: {kueue.x-k8s.io/queue-name: q, kueue.x-k8s.io/pod-group-name: g}, "
            "annotations: {kueue.x-k8s.io/pod-group-total-count: '4', "
            "kueue.x-k8s.io/podset-required-topology: cloud/rack}}\nspec: {" +
            (runs ? "nodeName: b1r1h1, " : "") +
            "containers: [{name: c, resources: {requests: {cpu: 2}}}]}\nstatus: {phase: " +
            (runs ? "Running" : "Pending") + "}\n";
  }
  const ProcessResult placed = RunEspalier({"place", "-"}, text);
  EXPECT_EQ(placed.exit_code, 0) << placed.errors;
  EXPECT_THAT(placed.output, HasSubstr("b1/b1r1/b1r1h2: 1 host x 2"));
}

}  // namespace
}  // namespace espalier
