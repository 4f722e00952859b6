// Tasks on the machine's own files: lab 17 judged as on a GPU, with the emulator in its place.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "grader/build/build.hpp"
#include "grader/build/check_module.hpp"
#include "grader/judge/case_judge.hpp"
#include "grader/judge/task_judge.hpp"
#include "grader/measure/timing.hpp"
#include "grader/worker/real_files.hpp"
#include "late_device.hpp"
#include "support/catch.hpp"
#include "support/run.hpp"

using namespace ridge;

namespace {

// The emulator's device, in the place of a GPU.
class Gpu : public test::LateDevice {
 public:
  std::vector<std::byte> take_sample() override {
    auto sample = LateDevice::take_sample();
    sample.back() ^= std::byte{1};  // back to what it was
    return sample;
  }
};

// A file of numbered 4-byte words.
lab::RealFile numbered(const std::string& name, std::size_t bytes) {
  return {name, bytes, [](std::size_t offset, std::span<std::byte> to) {
            for (std::size_t i = 0; i < to.size(); ++i) to[i] = static_cast<std::byte>((offset + i) * 7 % 251);
          }};
}

class PastTheCache : public lab::UsesFiles {
 public:
  std::unique_ptr<ridge::files::Service> make_files(const lab::Case&, std::size_t) const override { return nullptr; }
  lab::Verdict verify_files(const lab::Case&, lab::ConstBuffers, lab::ConstBuffers,
                            const ridge::files::Service&) const override {
    return {};
  }
  bool past_the_page_cache() const override { return true; }
};

std::int64_t open_of(RealFiles& files, const char* name, std::uint32_t flags, int& fd) {
  std::vector<std::byte> window(4096);
  ridge::files::Request r;
  r.op = ridge::files::Op::open;
  r.flags = flags;
  std::strcpy(r.path, name);
  const ridge::files::Reply reply = files.call(r, window);
  CHECK(reply.in_place == 1);
  fd = files.take_descriptor();
  return reply.result;
}

struct Fixture {
  test::Folder home;
  Lab lab;
  Fixture() {
    setenv("RIDGE_ROOT", test::repository().c_str(), 1);
    lab = find_lab("17");
  }
  // The solution with a text of one of its files replaced.
  fs::path build(const std::string& name, const std::string& file = {}, const std::string& old = {},
                 const std::string& text = {}) const {
    const fs::path from = home / (name + "_source");
    fs::create_directories(from);
    for (const auto& f : fs::directory_iterator(fs::path(test::repository()) / "solutions/17_input_pipeline"))
      fs::copy(f.path(), from);
    if (!file.empty()) {
      std::string source = test::read_file(from / file);
      const std::size_t at = source.find(old);
      REQUIRE(at != std::string::npos);
      source.replace(at, old.size(), text);
      test::write_file(from / file, source);
    }
    return build_worker(lab, {from, {}, {}}, lab::Backend::cpu, fs::path(home / name)).program;
  }
  std::unique_ptr<lab::TaskCheck> check(const std::string& id) const {
    lab::TaskChecks checks = load_checks(lab, [](const std::string&) {});
    return std::move(*std::find_if(checks.begin(), checks.end(), [&](const auto& c) { return c->id() == id; }));
  }
};

// All cases that are not timed: the first gate that failed.
Gate judged(const Fixture& f, const std::string& task, const fs::path& program) {
  const auto check = f.check(task);
  JudgeOptions options;
  options.backend = lab::Backend::cuda;
  Gpu gpu;
  JudgeTime time;
  const fs::path none;
  CaseJudge cases(*check, options, gpu, program, none, program, 7, 30, time);
  std::uint64_t number = 0;
  for (const lab::Case& c : check->cases({lab::Mode::check, lab::Backend::cuda, 1u << 30, 11, {}}))
    if (!c.measured)
      if (const Gate g = cases.judge(c, ++number, false).gate; !g.check.empty()) return g;
  CHECK(number >= 2);
  return {};
}

// A timed session on a small case.
TimedRun timed(const Fixture& f, const std::string& task, const lab::Case& c, const fs::path& submission,
               const fs::path& baseline) {
  const auto check = f.check(task);
  TimedOptions o;
  o.stop = {3, 4, 60, 0.01};
  o.limit_seconds = 30;
  o.seed = 42;
  o.slowed_baseline = 1e9;
  o.turn_seconds = o.least_seconds = 1e-6;
  o.explain = [](const Reply& r) { return std::string("fate ") + std::to_string(static_cast<int>(r.fate)); };
  const auto starter = [](const fs::path& program) {
    return [program] { return std::make_unique<SubmissionWorkers>(program, 0, lab::Backend::cuda, false); };
  };
  Gpu gpu;
  const std::vector<Device*> devices = {&gpu};
  return time_case(devices, *check, c, {starter(submission), starter(baseline), {}}, o);
}

bool cannot_run() {
  const std::string why = RealFiles::why_not();
  if (!why.empty()) WARN("skipped: " << why);
  return !why.empty();
}

}  // namespace

TEST_CASE("a set's files are on the storage, and give way to the next ones") {
  if (cannot_run()) return;
  RealFiles files;
  files.replace(0, {numbered("a", 100000)});
  files.replace(1, {numbered("b", 5000), numbered("a", 100000)});
  int fd = -1;
  CHECK(open_of(files, "a", 0, fd) == 0);
  std::vector<unsigned char> got(100000);
  CHECK(pread(fd, got.data(), got.size(), 0) == 100000);
  for (std::size_t i = 0; i < got.size(); ++i) REQUIRE(got[i] == i * 7 % 251);
  close(fd);
  files.replace(0, {});
  CHECK(open_of(files, "a", 0, fd) == 0);  // the other set's
  close(fd);
  files.replace(1, {numbered("c", 1)});
  CHECK(open_of(files, "a", 0, fd) == -ENOENT);
  CHECK(fd == -1);
  CHECK(open_of(files, "c", ridge::files::kWrite, fd) == -EACCES);
  CHECK(open_of(files, "../c", 0, fd) == -ENOENT);
}

TEST_CASE("a file that several threads write has each byte in its place") {
  if (cannot_run()) return;
  RealFiles files;
  constexpr std::size_t bytes = (13 << 20) + 4099;
  files.replace(0, {numbered("a", bytes)});
  int fd = -1;
  REQUIRE(open_of(files, "a", 0, fd) == 0);
  std::vector<unsigned char> got(bytes + 1);
  CHECK(pread(fd, got.data(), got.size(), 0) == static_cast<ssize_t>(bytes));
  close(fd);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < bytes; ++i) wrong += got[i] != i * 7 % 251;
  CHECK(wrong == 0);
}

TEST_CASE("what went past the page cache is not in it") {
  if (cannot_run()) return;
  RealFiles files;
  constexpr std::size_t bytes = 1 << 20;
  files.replace(3, {numbered("a", bytes)});
  const std::size_t sets[] = {3};
  if (!files.cached_bytes(3)) return;  // this kernel does not tell
  CHECK(*files.cached_bytes(3) == 0);
  void* block = nullptr;
  REQUIRE(posix_memalign(&block, 4096, bytes) == 0);
  int fd = -1;
  REQUIRE(open_of(files, "a", ridge::files::kDirect, fd) == 0);
  CHECK(pread(fd, block, bytes, 0) == static_cast<ssize_t>(bytes));
  CHECK(pread(fd, block, 100, 3) < 0);  // it is what it was opened as
  close(fd);
  CHECK(files.verify(PastTheCache(), sets).ok);
  REQUIRE(open_of(files, "a", 0, fd) == 0);
  CHECK(pread(fd, block, bytes, 0) == static_cast<ssize_t>(bytes));
  close(fd);
  std::free(block);
  CHECK(*files.cached_bytes(3) == bytes);
  CHECK(files.verify(PastTheCache(), sets).check == "cache");
}

TEST_CASE("a folder in memory is no storage") {
  setenv("RIDGE_FILES", "/dev/shm", 1);
  CHECK(RealFiles::why_not().find("RIDGE_FILES") != std::string::npos);
  setenv("RIDGE_FILES", "/no such folder", 1);
  CHECK(RealFiles::why_not().find("RIDGE_FILES") != std::string::npos);
  unsetenv("RIDGE_FILES");
}

TEST_CASE("lab 17 is right on the machine's own files") {
  if (cannot_run()) return;
  const Fixture f;
  const fs::path solution = f.build("solution");
  for (const char* task : {"shards", "prefetch", "stripes", "direct"}) {
    const Gate g = judged(f, task, solution);
    INFO(task << ": " << g.check << ": " << g.message);
    CHECK(g.check.empty());
  }
  // Each call of a turn reads a file of its own, which is another one in each turn.
  TimedRun run = timed(f, "prefetch", {"small", {3, 2048, 0, 1}, true}, solution, solution);
  INFO(run.message);
  CHECK(run.ok);
  CHECK(run.timing.submission_s.size() >= 3);
  run = timed(f, "direct", {"small", {777, 200000, 0, 0, 5001, 1}, true}, solution, solution);
  INFO(run.message);
  CHECK(run.ok);
}

TEST_CASE("a buffered read, and a batch kept from an earlier call, are noticed on the machine's own files") {
  if (cannot_run()) return;
  const Fixture f;
  const fs::path buffered = f.build("buffered", "direct.cu", "files::open(path, files::kDirect)", "files::open(path)");
  const Gate g = judged(f, "direct", buffered);
  INFO(g.message);
  CHECK(g.check == "cache");
  // The first call's batches for all later ones.
  const fs::path kept =
      f.build("kept", "prefetch.cu", "    ring.wait();\n",
              "    ring.wait();\n"
              "    static std::vector<std::uint32_t> all[64];\n"
              "    if (all[b].size() != static_cast<std::size_t>(feed.words))\n"
              "      all[b].assign(slots.encoded[b % kSlots], slots.encoded[b % kSlots] + feed.words);\n"
              "    std::memcpy(slots.encoded[b % kSlots], all[b].data(), feed.bytes());\n");
  const TimedRun run = timed(f, "prefetch", {"small", {3, 2048, 0, 1}, true}, kept, f.build("solution"));
  INFO(run.message);
  CHECK_FALSE(run.ok);
  CHECK(run.check == "correct");
}

TEST_CASE("where there is no storage the tasks on it are skipped, and the others are not") {
  const Fixture f;
  setenv("RIDGE_FILES", "/dev/shm", 1);
  JudgeOptions options;
  options.backend = lab::Backend::cuda;
  Gpu gpu;
  const auto spec =
      std::find_if(f.lab.tasks.begin(), f.lab.tasks.end(), [](const Task& t) { return t.id == "direct"; });
  const TaskResult t = TaskJudge(f.lab, *spec, *f.check("direct"), options, gpu, {}, 7).run();
  unsetenv("RIDGE_FILES");
  CHECK(t.status == Status::skipped);
  CHECK(t.reason.find("cannot run here") != std::string::npos);
  CHECK(t.max == 0);
}
