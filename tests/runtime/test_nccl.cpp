// NCCL's interface on the emulator, by programs: every call in one process, in threads and in processes; and what is said
// where ranks do not come together.
#include <future>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/run.hpp"

using namespace ridge::test;

namespace {

// Built once for all cases of this process.
std::string program(const std::string& name) {
  static const Folder folder;
  const std::string made = folder / name;
  if (run({"test", "-x", made}).code == 0) return made;
  const std::string source = repository() + "/tests/runtime/nccl/" + (name == "broken" ? "broken/" : "") + name + ".cu";
  Run r = run({ridge_program(), "cc", source, "-o", made, "-lnccl"});
  INFO(r.err);
  REQUIRE(r.code == 0);
  return made;
}

// One process for each rank, with the id in a file.
std::vector<Run> ranks(const std::string& name, std::vector<std::string> arguments, int count,
                       const std::map<std::string, std::string>& environment = {}) {
  const Folder folder;
  const std::string made = program(name);
  std::vector<std::future<Run>> running;
  for (int r = 0; r < count; ++r) {
    std::vector<std::string> argv = {made};
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    argv.insert(argv.end(), {folder / "id", std::to_string(r), std::to_string(count)});
    running.push_back(std::async(std::launch::async, [=] { return run(argv, environment, 200); }));
  }
  std::vector<Run> ended;
  for (auto& r : running) ended.push_back(r.get());
  return ended;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("one thread for all devices") {
  for (const char* devices : {"1", "2", "3", "8"})
    for (const char* order : {"forward", "1", "7"}) {
      Run r = run({program("devices")}, {{"RIDGE_DEVICES", devices}, {"RIDGE_LANE_ORDER", order}}, 60);
      INFO(devices << " devices, order " << order << "\n" << r.out << r.err);
      CHECK(r.code == 0);
      CHECK(r.out == "ok\n");
    }
}

TEST_CASE("a thread for each rank") {
  for (const char* count : {"2", "5"})
    for (const char* order : {"forward", "1", "7"}) {
      Run r = run({program("ranks"), "threads", count}, {{"RIDGE_DEVICES", count}, {"RIDGE_LANE_ORDER", order}}, 60);
      INFO(count << " ranks, order " << order << "\n" << r.out << r.err);
      CHECK(r.code == 0);
      CHECK(r.out == "ok\n");
    }
}

TEST_CASE("a process for each rank") {
  for (int count : {1, 2, 3, 8})
    for (const Run& r : ranks("ranks", {}, count)) {
      INFO(count << " ranks\n" << r.out << r.err);
      CHECK(r.code == 0);
      CHECK(r.out == "ok\n");
    }
}

TEST_CASE("calls beside the collectives") {
  for (const char* devices : {"1", "2", "4"}) {
    Run r = run({program("interface")}, {{"RIDGE_DEVICES", devices}}, 60);
    INFO(devices << " devices\n" << r.out << r.err);
    CHECK(r.code == 0);
    CHECK(r.out == "ok\n");
  }
  CHECK(run({program("weak")}).out == "ok\n");
}

TEST_CASE("a timeline of calls") {
  const Folder folder;
  Run r = run({program("devices")}, {{"RIDGE_DEVICES", "2"}, {"RIDGE_TRACE", folder / "trace.json"}}, 60);
  CHECK(r.code == 0);
  const std::string trace = read_file(folder / "trace.json");
  CHECK(has(trace, "\"ncclAllReduce\""));
  CHECK(has(trace, "\"communication\""));
}

TEST_CASE("ranks that disagree are named, with their lines") {
  struct Case {
    const char *what, *first, *second;
  };
  for (const Case& c : {Case{"order", "rank 1: ncclBroadcast of 1000 ncclFloat32, root 0, #1 (broken.cu:",
                             "rank 0: ncclAllReduce of 1000 ncclFloat32 (ncclSum) (broken.cu:"},
                        Case{"count", "ncclAllReduce of 1000 ncclFloat32 (ncclSum), #1 (broken.cu:",
                             "rank 1: ncclAllReduce of 999 ncclFloat32 (ncclSum) (broken.cu:"},
                        Case{"root", "root 0, #1", "rank 1: ncclBroadcast of 1000 ncclFloat32, root 1 (broken.cu:"},
                        Case{"send_count", "rank 1: ncclRecv of 500 ncclFloat32 from rank 0 (broken.cu:",
                             "rank 0: ncclSend of 1000 ncclFloat32 to rank 1 (broken.cu:"}}) {
    Run r = run({program("broken"), c.what}, {{"RIDGE_DEVICES", "3"}}, 30);
    INFO(c.what << "\n" << r.out << r.err);
    CHECK(r.code == 86);
    CHECK(has(r.err, "ranks disagree"));
    CHECK(has(r.err, c.first));
    CHECK(has(r.err, c.second));
  }
}

TEST_CASE("a call that reaches behind its buffer is told by how much, and a count below zero as such") {
  for (const auto& [what, line] :
       {std::pair{"past_the_end", " ends 4 bytes behind an allocation of 4004"},
        std::pair{"below_zero", "18446744073709551615 (-1 as an unsigned number) ncclFloat32"},
        std::pair{"below_zero", "is more than any memory holds"}}) {
    Run r = run({program("broken"), what}, {{"RIDGE_DEVICES", "3"}, {"RIDGE_SANITIZE", "1"}}, 30);
    INFO(what << "\n" << r.out << r.err);
    CHECK(r.code == 86);
    CHECK(has(r.err, line));
  }
}

TEST_CASE("a deadlock ends the program within seconds") {
  struct Case {
    const char *what, *line;
  };
  for (const Case& c : {Case{"missing", "rank 1 is in no call of NCCL: it has not come to collective #1"},
                        Case{"no_receive", "rank 0 is in ncclSend of 1000 ncclFloat32 to rank 1 (broken.cu:"},
                        Case{"no_group", "rank 2 is in ncclSend of 1000 ncclFloat32 to rank 0 (broken.cu:"}}) {
    Run r = run({program("broken"), c.what}, {{"RIDGE_DEVICES", "3"}}, 30);
    INFO(c.what << "\n" << r.out << r.err);
    CHECK(r.code == 86);
    CHECK(has(r.err, "deadlock: every rank waits for another one"));
    CHECK(has(r.err, c.line));
    if (c.what == std::string("no_receive"))
      CHECK(has(r.err, "rank 1 is in no call of NCCL, and has called no send or receive"));
  }
  // In processes: one reports, the others end with it.
  int reports = 0;
  for (const Run& r : ranks("broken", {"no_group"}, 3)) {
    INFO(r.out << r.err);
    CHECK(r.code == 86);
    reports += has(r.err, "deadlock: every rank waits for another one") ? 1 : 0;
  }
  CHECK(reports == 1);
}

TEST_CASE("a process may end while others still read what it has sent") {
  for (const Run& r : ranks("broken", {"leaves"}, 3)) {
    INFO(r.out << r.err);
    CHECK(r.code == 0);
  }
}

TEST_CASE("a rank that is killed, and one that does not come") {
  auto killed = ranks("broken", {"killed"}, 3);
  CHECK(killed[1].code == 128 + 9);
  CHECK(killed[0].code == 86);
  CHECK(killed[2].code == 86);
  CHECK(has(killed[2].err, "a rank is gone, and others wait for it"));
  CHECK(has(killed[2].err, "rank 1 has ended: its process is gone"));

  auto asleep = ranks("broken", {"asleep"}, 2, {{"RIDGE_NCCL_TIMEOUT", "2"}});
  INFO(asleep[0].err);
  CHECK(asleep[0].code == 86);
  CHECK(has(asleep[0].err, "no rank has moved for"));
  CHECK(has(asleep[0].err, "rank 1 is in no call of NCCL: it has not come to collective #1"));

  auto split = ranks("broken", {"split"}, 2);
  INFO(split[0].err);
  CHECK(split[0].code == 0);  // late, not missing
  CHECK(has(split[0].err, "rank 0 waits for rank 1 to call ncclCommSplit"));

  auto absent = ranks("broken", {"absent"}, 2);
  INFO(absent[0].err);
  CHECK(has(absent[0].err, "rank 0 waits for rank 1 of 2 to call ncclCommInitRank"));
}
