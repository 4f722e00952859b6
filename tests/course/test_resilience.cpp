// Lab 16: what a submission may not do to look as if it had survived.
#include "edited.hpp"

using namespace ridge::test;

namespace {

Graded changed(const Folder& home, const std::string& task, const Edits& edits) {
  return check_edited(home, "16_resilience", task, edits);
}

void check_fails(const std::string& task, const Edits& edits, const std::string& name, const std::string& says) {
  const Folder home;
  const Graded g = changed(home, task, edits);
  INFO(g.run.out + g.run.err);
  CHECK(first_failed(g.task(task))["name"] == name);
  CHECK(said(g).find(says) != std::string::npos);
}

// A right solution of another design has all points.
void check_passes(const std::string& task, const Edits& edits) {
  const Folder home;
  const Graded g = changed(home, task, edits);
  INFO(g.run.out + g.run.err);
  CHECK(first_failed(g.task(task))["name"] == "");
  CHECK(g.run.out.find("PASS " + task) != std::string::npos);
}

// A note to the judge past ridge_files_mark, which is entry.cu's.
std::string note(int number, int value) {
  return "{\n  files::wire::Request r;\n  r.op = files::wire::Op::mark;\n  r.offset = " + std::to_string(number) +
         ";\n  r.ticket = " + std::to_string(value) +
         ";\n  files::wire::Reply reply;\n  ridge_files_lock(true);\n  ridge_files_call(&r, &reply);\n"
         "  ridge_files_lock(false);\n}\n";
}

}  // namespace

TEST_CASE("a note of the submission's own fails the check", "[resilience]") {
  const std::string says = "other marks than entry.cu's";
  const std::string poll = "void poll(Agent& me, World& world) {\n";
  const std::string save = "bool commit(long long step, const std::vector<Part>& parts) {\n";
  const std::string load = "bool load_trainer(Trainer& trainer, const char* path, cudaStream_t stream) {\n";
  const std::string own = "long long own_elements(const Model& model, Grid grid, int rank) {\n";
  check_fails("save", {{save, save + note(2, 0)}}, "correct", says);     // the save has ended
  check_fails("resume", {{load, load + note(2, 0)}}, "correct", "");     // the next file
  check_fails("reshard", {{own, own + note(1, 0)}}, "correct", "");      // the next checkpoint
  check_fails("elastic", {{poll, poll + note(2, 0)}}, "correct", says);  // the next second
  check_fails("elastic", {{poll, poll + note(6, 3)}}, "correct", says);  // rank 3 has died
  check_fails("elastic", {{poll, poll + note(1, 1)}}, "correct", says);  // the next scenario
}

TEST_CASE("a rank cannot die where it suits it", "[resilience]") {
  check_fails("elastic",
              {{"  if (!world.all_reduce",
                "  if (me.rank == 1 && me.step == 5) ridge_files_died();\n"
                "  if (!world.all_reduce"}},
              "correct", "other marks than entry.cu's");
}

TEST_CASE("steps come from collectives of all micro-batches", "[resilience]") {
  // The state from all gradients, without the others.
  check_fails(
      "elastic",
      {{"  if (!world.all_reduce(me, mine, sum)) return;\n", "  sum = world.gradient(me, 0, kMicroBatches);\n"}},
      "correct", "0 steps made");
}

TEST_CASE("a count of calls does not tell which file is damaged", "[resilience]") {
  check_fails("resume",
              {{" || hash != hash_of(bytes.data() + 8, bytes.size() - 8)) return false;",
                ") return false;\n  static int loads = 0;\n  if (loads++ % 10 >= 2) return false;"}},
              "correct", "the file is whole");
}

TEST_CASE("a new process has nothing but its file", "[resilience]") {
  // The file has a number alone, and memory the rest.
  const Edits edits = {
      {"  const std::string made = std::string(path)",
       "  kept().push_back(bytes);\n  bytes.assign(8, static_cast<char>(kept().size() - 1));\n"
       "  const std::string made = std::string(path)"},
      {"// What lies in the file",
       "std::vector<std::string>& kept() {\n  static std::vector<std::string> all;\n"
       "  return all;\n}\n// What lies in the file"},
      {"#include <string>", "#include <string>\n#include <vector>"},
      {"  std::size_t n = 0;\n",
       "  char number = -1;\n  const bool there = files::pread(fd, &number, 1, 0) == 1;\n"
       "  if (there && number >= 0 && number < static_cast<char>(kept().size())) bytes = kept()[number];\n"
       "  std::size_t n = there ? bytes.size() : 0;\n"}};
  check_fails("resume", edits, "correct", "");
}

TEST_CASE("another rank's reads are of no use", "[resilience]") {
  // The first rank of each grid reads whole files; the others take its bytes.
  check_fails(
      "reshard",
      {{"      files::pread(fds[static_cast<std::size_t>(first.rank)], own + at, static_cast<std::size_t>(length) * 4,\n"
        "                   first.element * 4);",
        "      kept(first.rank, fds[static_cast<std::size_t>(first.rank)], own + at, length, first.element);"},
       {"}  // namespace\n",
        "void kept(int rank, int fd, float* to, long long length, long long from) {\n"
        "  static std::vector<std::vector<float>> all(64);\n"
        "  auto& mine = all[static_cast<std::size_t>(rank)];\n"
        "  files::Status status;\n"
        "  if (files::fstat(fd, &status) != 0) return;\n"
        "  if (mine.size() * 4 != static_cast<std::size_t>(status.bytes)) {\n"
        "    mine.resize(static_cast<std::size_t>(status.bytes) / 4);\n"
        "    files::pread(fd, mine.data(), mine.size() * 4, 0);\n"
        "  }\n"
        "  for (long long i = 0; i < length; ++i) to[i] = mine[static_cast<std::size_t>(from + i)];\n"
        "}\n}  // namespace\n"}},
      "correct", "expected");
}

TEST_CASE("snapshots have one buffer", "[resilience]") {
  // With another one the next copy would not wait for the storage.
  check_fails("async_save",
              {{"    all_saved = store(training, step, staging) && all_saved;",
                "    alignas(4096) static char other[1 << 20];\n"
                "    std::memcpy(other, staging, kHeadBytes + training.bytes());\n"
                "    all_saved = store(training, step, other) && all_saved;"}},
              "correct", "storage was given");
}

TEST_CASE("all steps run on the device", "[resilience]") {
  check_fails("async_save",
              {{"    for (int step = first; step < first + training.every && step <= training.steps; ++step)\n"
                "      train_step(state, step, training.words, stream);",
                "    if (first <= training.steps)\n"
                "      all_at_once<<<5, 256, 0, stream>>>(state, first, training.every, training.words);"},
               {"// The event is recorded",
                "__global__ void all_at_once(std::uint32_t* state, int first, int steps, int words) {\n"
                "  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < words; i += gridDim.x * blockDim.x) {\n"
                "    std::uint32_t w = state[i];\n"
                "    for (int s = first; s < first + steps; ++s)\n"
                "      w = w * 1664525u + static_cast<std::uint32_t>(s) * 2654435761u + 1013904223u;\n"
                "    state[i] = w;\n"
                "  }\n"
                "}\n"
                "// The event is recorded"}},
              "device", "4 launches");
}

TEST_CASE("a head from memory of its own is no snapshot", "[resilience]") {
  check_passes("async_save",
               {{"  std::memset(staging, 0, kHeadBytes);\n", "  alignas(4096) static char page[kHeadBytes] = {};\n"},
                {"  std::memcpy(staging, &head, sizeof head);\n", "  std::memcpy(page, &head, sizeof head);\n"},
                {"write_all(fd, staging, kHeadBytes + training.bytes())",
                 "files::pwrite(fd, page, kHeadBytes, 0) == kHeadBytes && [&] {\n"
                 "    for (long long at = kHeadBytes; at < kHeadBytes + training.bytes();) {\n"
                 "      const ssize_t n = files::pwrite(fd, staging + at, kHeadBytes + training.bytes() - at, at);\n"
                 "      if (n <= 0) return false;\n"
                 "      at += n;\n"
                 "    }\n"
                 "    return true;\n"
                 "  }()"}});
}

TEST_CASE("a thread of its own may write the snapshots", "[resilience]") {
  check_passes("async_save",
               {{"#include \"async_save.hpp\"\n", "#include \"async_save.hpp\"\n\n#include <thread>\n"},
                {"  bool all_saved = true;\n",
                 "  bool all_saved = true;\n"
                 "  std::thread writer;\n"},
                {"    // The copy is in the stream of the steps",
                 "    if (writer.joinable()) writer.join();\n"
                 "    // The copy is in the stream of the steps"},
                {"    all_saved = store(training, step, staging) && all_saved;\n",
                 "    writer = std::thread([&, step] { all_saved = store(training, step, staging) && all_saved; });\n"},
                {"  return all_saved;\n", "  writer.join();\n  return all_saved;\n"}});
}

TEST_CASE("parts and manifest may have temporary names", "[resilience]") {
  // A lock file, and each part renamed when it is whole.
  check_passes(
      "save",
      {{"  const int fd = files::open(path, files::kWrite | files::kCreate | files::kTruncate);\n",
        "  const std::string made = std::string(path) + (std::string(path) == kNewManifest ? \"\" : \".made\");\n"
        "  const int fd = files::open(made.c_str(), files::kWrite | files::kCreate | files::kTruncate);\n"},
       {"  return files::close(fd) == 0 && durable;\n",
        "  if (files::close(fd) != 0 || !durable) return false;\n"
        "  return made == path || files::rename(made.c_str(), path) == 0;\n"}});
}
