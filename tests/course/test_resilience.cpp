// Lab 16: what a submission may not do to look as if it had survived.
#include <utility>
#include <vector>

#include "grader/graded.hpp"
#include "support/catch.hpp"

namespace fs = std::filesystem;
using namespace ridge::test;

namespace {

using Edits = std::vector<std::pair<std::string, std::string>>;

// The solution with each first text of an edit replaced by the second one, in the task's file.
Graded changed(const Folder& home, const std::string& task, const Edits& edits) {
  const fs::path to = home / "submission";
  fs::create_directories(to);
  for (const auto& file : fs::directory_iterator(fs::path(repository()) / "solutions/16_resilience"))
    fs::copy(file.path(), to / file.path().filename(), fs::copy_options::overwrite_existing);
  std::string source = read_file(to / (task + ".cu"));
  for (const auto& [old, text] : edits) {
    const std::size_t at = source.find(old);
    REQUIRE(at != std::string::npos);
    source.replace(at, old.size(), text);
  }
  write_file(to / (task + ".cu"), source);
  const std::string file = home / "result.json";
  Graded g{
      run_ridge(home, {"check", "16", "--backend", "cpu", "--task", task, "--json", file, "--submission", to}, 200),
      nullptr};
  if (fs::exists(file)) g.result = json::parse(read_file(file));
  return g;
}

void check_fails(const std::string& task, const Edits& edits, const std::string& name, const std::string& says) {
  const Folder home;
  const Graded g = changed(home, task, edits);
  INFO(g.run.out + g.run.err);
  CHECK(first_failed(g.task(task))["name"] == name);
  CHECK((g.run.out + g.run.err).find(says) != std::string::npos);
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
  const std::string poll = "void poll(Agent& me, World& world, std::uint64_t seed) {\n";
  const std::string save = "void commit(long long step, const std::vector<Part>& parts) {\n";
  const std::string load = "bool load_trainer(Trainer& trainer, const char* path, cudaStream_t stream) {\n";
  const std::string own = "long long own_elements(const Model& model, Grid grid, int rank) {\n";
  check_fails("save", {{save, save + note(2, 0)}}, "correct", says);     // the save has ended
  check_fails("resume", {{load, load + note(2, 0)}}, "correct", "");     // the next file
  check_fails("reshard", {{own, own + note(1, 0)}}, "correct", "");      // the next checkpoint
  check_fails("elastic", {{poll, poll + note(2, 0)}}, "correct", says);  // the scenario has ended
  check_fails("elastic", {{poll, poll + note(4, 3)}}, "correct", says);  // rank 3 starts again
}

TEST_CASE("a rank cannot die where it suits it", "[resilience]") {
  check_fails("elastic",
              {{"  if (!world.all_reduce",
                "  if (me.rank == 1 && me.step == 5) ridge_files_died();\n"
                "  if (!world.all_reduce"}},
              "correct", "other marks than entry.cu's");
}

TEST_CASE("steps come from collectives of all micro-batches", "[resilience]") {
  // The state from the seed, without the others.
  check_fails("elastic",
              {{"  if (!world.all_reduce(me, mine, sum)) return;\n",
                "  for (int b = 0; b < kMicroBatches; ++b) sum += gradient_of(seed, me.step, b);\n"}},
              "correct", "0 collectives");
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
      {"  const ssize_t n = files::pread(fd, bytes.data(), bytes.size(), 0);",
       "  char number = -1;\n  const bool there = files::pread(fd, &number, 1, 0) == 1;\n"
       "  if (there && number >= 0 && number < static_cast<char>(kept().size())) bytes = kept()[number];\n"
       "  const ssize_t n = there ? static_cast<ssize_t>(bytes.size()) : 0;"}};
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
              {{"    store(training, step, staging);",
                "    alignas(4096) static char other[1 << 20];\n"
                "    std::memcpy(other, staging, kHeadBytes + training.bytes());\n"
                "    store(training, step, other);"}},
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
