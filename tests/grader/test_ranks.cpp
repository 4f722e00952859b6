// Ranks that end badly: what is said, how soon, and that nothing stays behind.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>

#include "graded.hpp"
#include "support/catch.hpp"

using namespace ridge::test;
namespace fs = std::filesystem;

namespace {

constexpr const char* kLab = "06_ring_allreduce";

// The solution's ring, which does `what` on rank 1 first.
Graded ring_with(const std::string& what, double& seconds, int code = 1) {
  static const Folder home;
  std::string text = read_file(repository() + "/solutions/" + kLab + "/ring.cu");
  const std::string after = "  ncclCommCount(comm, &p);\n";
  const std::size_t at = text.find(after);
  REQUIRE(at != std::string::npos);
  text.insert(at + after.size(), "  if (r == 1) {" + what + "}\n");
  // Where `what` needs it.
  const std::string buffer = "  auto* received = static_cast<float*>(workspace);  // each chunk at its own place\n";
  const std::size_t own = text.find(buffer);
  REQUIRE(own != std::string::npos);
  text.erase(own, buffer.size());
  text.insert(text.find(after), buffer);
  std::ofstream(home / "ring.cu") << "// replaces: ring.cu; on purpose\n" << text;
  const auto begin = std::chrono::steady_clock::now();
  Graded g = check(home, kLab,
                   {"--submission", repository() + "/solutions/" + kLab, "--replace", home / "ring.cu", "--task",
                    "ring", "--time-limit", "6"});
  seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  INFO(g.run.out + g.run.err);
  if (code != 0) CHECK(g.run.code == code);
  // After each run the judge looks for what its sandboxes left: a line in the report.
  CHECK(g.run.out.find("left behind") == std::string::npos);
  return g;
}

}  // namespace

TEST_CASE("the timeline has all ranks on one clock, and an arrow for each message") {
  const Folder home;
  Graded g = check(home, kLab, {"--submission", repository() + "/solutions/" + kLab, "--task", "ring"});
  INFO(g.run.out + g.run.err);
  REQUIRE(g.run.code == 0);
  const std::string file = g.task("ring")["timeline"]["file"];
  const json trace = json::parse(read_file(home / "results/" + kLab + "/" + file));
  struct Box {
    int rank;
    double begin, end;
  };
  std::vector<Box> exchanges;
  std::map<int, json> left, arrived;
  for (const json& e : trace["traceEvents"]) {
    if (e["ph"] == "X" && e["cat"] == "exchange")
      exchanges.push_back({e["pid"], e["ts"], e["ts"].get<double>() + e["dur"].get<double>()});
    if (e["ph"] == "s") left[e["id"]] = e;
    if (e["ph"] == "f") arrived[e["id"]] = e;
  }
  constexpr int kRanks = 4, kSteps = 2 * (kRanks - 1);
  CHECK(exchanges.size() == kRanks * kSteps);
  CHECK(left.size() == kRanks * kSteps);
  auto inside = [&](const json& e) {
    return std::count_if(exchanges.begin(), exchanges.end(),
                         [&](const Box& b) { return b.rank == e["pid"] && b.begin <= e["ts"] && e["ts"] <= b.end; });
  };
  for (const auto& [id, from] : left) {
    REQUIRE(arrived.count(id) == 1);
    const json& to = arrived[id];
    CHECK(to["pid"] == (from["pid"].get<int>() + 1) % kRanks);
    CHECK(from["ts"] < to["ts"]);
    CHECK(inside(from) >= 1);
    CHECK(inside(to) >= 1);
  }
}

TEST_CASE("a rank that starts late holds up those that wait for it") {
  double seconds = 0;
  // Rank 1 copies its data forty times before it begins: all ranks' steps come later.
  Graded fast = ring_with("", seconds, 0);
  Graded slow = ring_with(
      "for (int k = 0; k < 40; ++k) cudaMemcpyAsync(received, in, n * sizeof(float), cudaMemcpyDeviceToDevice, "
      "stream);",
      seconds, 0);
  const double plain = fast.task("ring")["timeline"]["seconds"], held = slow.task("ring")["timeline"]["seconds"];
  CHECK(held > plain + 20e-6);
}

TEST_CASE("a rank that crashes is named, and the others do not wait for it") {
  double seconds = 0;
  Graded g = ring_with("volatile int* nowhere = nullptr; *nowhere = 1;", seconds);
  const json failed = first_failed(g.task("ring"));
  CHECK(failed["name"] == "run");
  const std::string message = failed["message"];
  CHECK(message.find("rank 1 of 2: crashed: Segmentation fault") != std::string::npos);
  CHECK(seconds < 30);
}

TEST_CASE("a rank that hangs is named, within the time limit") {
  double seconds = 0;
  Graded g = ring_with("for (volatile int i = 0; i >= 0; i = 0) {}", seconds);
  const json failed = first_failed(g.task("ring"));
  const std::string name = failed["name"], message = failed["message"];
  INFO(name << ": " << message);
  // Whoever waits for it says so after some seconds; otherwise the limit ends it.
  CHECK((name == "deadlock" || name == "time-limit"));
  CHECK((message.find("rank 1 is in no call of NCCL") != std::string::npos ||
         message.find("rank 1 of 2: did not finish within 6 s") != std::string::npos));
  CHECK(seconds < 40);
}

TEST_CASE("a rank that leaves early is named") {
  double seconds = 0;
  Graded g = ring_with("return;", seconds);
  const json failed = first_failed(g.task("ring"));
  CHECK(failed["name"] == "deadlock");
  const std::string message = failed["message"];
  CHECK(message.find("(ring.cu:") != std::string::npos);
  CHECK(message.find("rank 1 is in no call of NCCL") != std::string::npos);
}

TEST_CASE("a message that nobody takes is reported by who sends it") {
  // Rank 0 has ended all its work: repeated before rank 1 had run, it would wait for rank 1 and be named instead.
  Folder home;
  Graded g = check(home, "08", {"--wrong", "one_f_one_b_gradient_left", "--task", "one_f_one_b"});
  const json failed = first_failed(g.task("one_f_one_b"));
  INFO(g.run.out);
  CHECK(failed["name"] == "deadlock");
  const std::string message = failed["message"];
  CHECK(message.find("rank 1 is in ncclSend") != std::string::npos);
  CHECK(message.find("rank 0 is in no call of NCCL: its sends and receives have ended") != std::string::npos);
}

TEST_CASE("a gradient that is wrong is named for what it is") {
  const auto said = [&](const char* task, const char* wrong) {
    Folder home;
    Graded g = check(home, "07_ddp", {"--wrong", wrong, "--task", task});
    INFO(g.run.out);
    return std::string(first_failed(g.task(task))["message"]);
  };
  CHECK(said("after", "after_mean_of_means").find("the wrong elements are the ranks' means, averaged") !=
        std::string::npos);
  CHECK(said("after", "after_updated_first").find("before the sum was there") != std::string::npos);
  CHECK(said("after", "after_no_broadcast").find("each rank took its own, not rank 0's") != std::string::npos);
  CHECK(said("overlapped", "overlapped_last_bucket").find("from wpe[0, 0] on, are this rank's own part") !=
        std::string::npos);
}

TEST_CASE("what ranks do to shared buffers and to MPI's is named, with the line") {
  const auto contains = [](const std::string& text, const char* part) { return text.find(part) != std::string::npos; };
  const auto said = [&](const char* task, const std::string& lab, const std::vector<std::string>& files,
                        const char* gate) {
    Folder home;
    Graded g = check(home, lab, files);
    INFO(g.run.out);
    const json failed = first_failed(g.task(task));
    CHECK(failed["name"] == gate);
    return std::string(failed["message"]);
  };
  const std::string ring = "06_ring_allreduce";
  CHECK(contains(said("ring", ring, {"--wrong", "ring_one_buffer", "--task", "ring"}, "memory"),
                 "what it writes is also read by ncclSend of 513 ncclFloat32 to rank "));
  CHECK(contains(said("staged", ring, {"--wrong", "staged_no_wait", "--task", "staged"}, "memory"),
                 "2 requests that nobody waits for"));
  CHECK(contains(said("staged", ring, {"--wrong", "staged_late_wait", "--task", "staged"}, "memory"),
                 "was changed before MPI_Wait"));

  // Mistakes that are made in a text of the solution.
  const auto mistaken = [&](const char* task, const std::string& lab, const std::string& right,
                            const std::string& instead, const char* gate) {
    Folder home;
    std::string text = read_file(repository() + "/solutions/" + lab + "/" + task + ".cu");
    REQUIRE(text.find(right) != std::string::npos);
    text.replace(text.find(right), right.size(), instead);
    const std::string file = home / (std::string(task) + ".cu");
    std::ofstream(file) << "// replaces: " << task << ".cu; fails: " << task << "/" << gate << "; backend: cpu\n"
                        << text;
    return said(task, lab, {"--task", task, "--submission", repository() + "/solutions/" + lab, "--replace", file},
                gate);
  };
  CHECK(contains(mistaken("staged", ring, "MPI_Sendrecv(outgoing,", "MPI_Sendrecv(in,", "memory"),
                 "MPI_Send of device memory"));
  CHECK(contains(mistaken("staged", ring, "MPI_FLOAT, right, 0,", "MPI_FLOAT, p, 0,", "launch"), "rank 2 of 2"));
  // Every call makes a communicator, and nobody ends it.
  CHECK(contains(
      mistaken("ring", ring, "  auto* received",
               "  ncclComm_t own = nullptr;\n  ncclCommSplit(comm, 0, r, &own, nullptr);\n  auto* received", "memory"),
      "every call makes 1 communicator"));
  CHECK(contains(mistaken("ring", ring, "ncclGroupEnd();", ";", "launch"), "ncclGroupStart without ncclGroupEnd"));
  // A kernel of the course's or of cuBLAS goes astray: whose line launched it?
  CHECK(contains(
      mistaken("mlp", "09_tensor_parallel", "s.act, w.B, y, N, F, C);", "s.act, w.B, y, N, F + 1, C + 1);", "memory"),
      "launched at mlp.cu:"));
}

TEST_CASE("what NCCL refuses is said, with the line, though nobody asks for it") {
  double seconds = 0;
  const json failed =
      first_failed(ring_with("ncclSend(received, 1, ncclFloat, 7, comm, stream);", seconds).task("ring"));
  CHECK(failed["name"] == "launch");
  const std::string message = failed["message"];
  CHECK(message.find("NCCL refused a call: ncclSend: rank 7 of 2 (ring.cu:") != std::string::npos);
}

TEST_CASE("a lab without a GPU backend says so") {
  const Folder home;
  // The same lab, said to be for the emulator only.
  const fs::path root = fs::path(home / "root");
  fs::create_directories(root / "labs");
  fs::create_directory_symlink(repository() + "/runtime", root / "runtime");
  fs::copy(repository() + "/labs/" + kLab, root / "labs" / kLab, fs::copy_options::recursive);
  std::string text = read_file(root / "labs" / kLab / "lab.toml");
  const std::string both = "backends = [\"cpu\", \"cuda\"]";
  REQUIRE(text.find(both) != std::string::npos);
  std::ofstream(root / "labs" / kLab / "lab.toml")
      << text.replace(text.find(both), both.size(), "backends = [\"cpu\"]");
  Run r =
      run({ridge_program(), "check", kLab, "--backend", "cuda", "--submission", repository() + "/solutions/" + kLab},
          {{"RIDGE_ROOT", root.string()}, {"RIDGE_WORK", home / "work"}});
  CHECK(r.code == 3);
  CHECK(r.err.find("is not judged on backend cuda") != std::string::npos);
}

TEST_CASE("a failure says what its messages tell") {
  const auto said = [&](const char* lab, const char* task, const char* wrong) {
    Folder home;
    Graded g = check(home, lab, {"--wrong", wrong, "--task", task});
    return std::string(first_failed(g.task(task))["message"]);
  };
  const auto contains = [](const std::string& text, const char* part) {
    INFO(text);
    CHECK(text.find(part) != std::string::npos);
  };
  contains(said("06", "ring", "ring_off_by_one"), "rank 0 sends the one element twice, and rank 1 sends nothing");
  contains(said("06", "ring", "ring_tail_lost"), "no rank has sent a message: with n 1 and p 2, which chunk");
  contains(said("06", "hierarchical", "hierarchical_one_node"), "bit for bit, and no rank has sent a message");
  contains(said("06", "hierarchical", "hierarchical_leaders"),
           "ranks 0 and 2 send 4208 bytes each, and ranks 1 and 3 none");
  contains(said("06", "hierarchical", "hierarchical_own_nodes"), "fit nodes of 4 ranks, and `per_node` is 2");
  const std::string next = said("06", "hierarchical", "hierarchical_next_node");
  contains(next, "no two of them fit together: rank 0 receives from rank 1, but rank 1 sends to rank 2");
  contains(next, "rank 1 sends to rank 2, of another node and another place in it");
  contains(said("08", "one_f_one_b", "one_f_one_b_one_stream"),
           "its next one stands behind ncclSend of 60 ncclFloat32");
  contains(said("08", "interleaved", "interleaved_no_way_around"), "and rank 1 has not called it");
  contains(said("08", "order", "order_chunk_after_chunk"), "rank 1 so far: 0 1 2 a-, where a is");
}
